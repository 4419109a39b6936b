"""A tokenizer for peers that insist on one: each ASCII character is a token, and text goes there and back unchanged.
Written as the files that `transformers` loads; nothing is downloaded."""

from __future__ import annotations

import json
from pathlib import Path

SPECIAL = ("<unk>", "<s>", "</s>")
FIRST = len(SPECIAL)
CHARACTERS = "\n" + "".join(map(chr, range(32, 127)))
#: how a byte-level tokenizer writes the two that are not printable
_SHOWN = {" ": "\u0120", "\n": "\u010a"}


def write(folder: Path) -> Path:
    """The folder, with tokenizer.json, tokenizer_config.json and config.json in it."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {token: n for n, token in enumerate((*SPECIAL, *(_SHOWN.get(c, c) for c in CHARACTERS)))}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    bytewise = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": n, "content": word, "special": True, **flags} for n, word in enumerate(SPECIAL)],
        "normalizer": None,
        "pre_tokenizer": bytewise,
        "post_processor": None,
        "decoder": bytewise,
        "model": {"type": "BPE", "vocab": vocabulary, "merges": []},
    }
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "unk_token": "<unk>",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "pad_token": "</s>",
        "model_max_length": 131_072,
        "clean_up_tokenization_spaces": False,
        "chat_template": "{% for m in messages %}{{ m['content'] }} {% endfor %}",
    }
    shape = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": len(vocabulary)}
    shape |= {"n_positions": 131_072, "bos_token_id": 1, "eos_token_id": 2}
    for name, content in (("tokenizer.json", tokenizer), ("tokenizer_config.json", settings), ("config.json", shape)):
        (folder / name).write_text(json.dumps(content))
    return folder


def encode(text: str) -> list[int]:
    return [FIRST + CHARACTERS.find(c) if c in CHARACTERS else 0 for c in text]


def decode(ids: list[int]) -> str:
    return "".join(CHARACTERS[n - FIRST] if FIRST <= n < FIRST + len(CHARACTERS) else SPECIAL[0] for n in ids)
