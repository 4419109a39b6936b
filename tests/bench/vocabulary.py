"""A tokenizer of a thousand words for peers that insist on one: one word is one token, and text goes there and back
unchanged. Written as the files that `transformers` loads; nothing is downloaded."""

from __future__ import annotations

import json
from pathlib import Path

from frames import WORDS

SPECIAL = ("<unk>", "<s>", "</s>")
FIRST = len(SPECIAL)


def write(folder: Path) -> Path:
    """The folder, with tokenizer.json, tokenizer_config.json and config.json in it."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {word: n for n, word in enumerate((*SPECIAL, *(f"w{n}" for n in range(WORDS))))}
    added = [
        {"id": n, "content": word, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
         "special": True}
        for n, word in enumerate(SPECIAL)
    ]  # fmt: skip
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "<unk>"},
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
    shape = {
        "model_type": "gpt2",
        "vocab_size": len(vocabulary),
        "n_positions": 131_072,
        "architectures": ["GPT2LMHeadModel"],
    }
    for name, content in (("tokenizer.json", tokenizer), ("tokenizer_config.json", settings), ("config.json", shape)):
        (folder / name).write_text(json.dumps(content))
    return folder


def encode(text: str) -> list[int]:
    return [_id(word) for word in text.split()]


def _id(word: str) -> int:
    known = word[:1] == "w" and word[1:].isdigit() and int(word[1:]) < WORDS
    return FIRST + int(word[1:]) if known else 0


def decode(ids: list[int]) -> str:
    return " ".join(f"w{n - FIRST}" if FIRST <= n < FIRST + WORDS else SPECIAL[0] for n in ids)
