"""A model folder made of a shape, without a network: its config.json, and a tokenizer from the vocabulary that
mistral-common ships. Served with random weights.

Random weights may say any id, and an id that decodes to no text of its own makes vLLM decode the whole prompt again at
each token, which would be what is measured. So this tokenizer has no special tokens (all ids are ordinary ones), and
its decoder puts pieces together as they are spelled, half a character too.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import os
import shutil
import tempfile
from importlib import resources
from pathlib import Path
from typing import Any

import orjson

from simulator import tokenizer
from simulator.errors import NoCache, UsageError

#: names of the first ids, in the order of the model family; those after them have numbers
NAMED = (
    "<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>", "<think>", "</think>", "<tool_call>", "</tool_call>",
    "<tool_response>", "</tool_response>", "<pad>",
)  # fmt: skip
MAX_TOK = 1_048_576
#: ChatML, with tools as JSON and calls as the `hermes` parser reads them
TEMPLATE = """\
{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\\n' }}
{%- if message.content is string %}{{- message.content }}
{%- elif message.content %}{%- for part in message.content %}{{- part.text }}{%- endfor %}
{%- endif %}
{%- if tools and loop.first %}
{{- '\\n# Tools\\nCall one as <tool_call>{"name": ..., "arguments": {...}}</tool_call>\\n' }}
{%- for tool in tools %}{{- tool | tojson + '\\n' }}{%- endfor %}
{%- endif %}
{%- for call in message.tool_calls or [] %}
{{- '\\n<tool_call>' + (call.function | tojson) + '</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
"""


def made(shape: Path, cache: Path) -> Path:
    """The model folder of a shape, below `cache`; made when it is not there. Raises UsageError when its vocabulary is
    another than ours, NoCache where it cannot be made."""
    config = (shape / "config.json").read_bytes()
    if orjson.loads(config).get("vocab_size") != tokenizer.N_VOCAB:
        raise UsageError(
            f"{shape / 'config.json'}: a tokenizer can be made for a vocab_size of {tokenizer.N_VOCAB:,} only; give "
            "the model's own folder as `model.path`"
        )
    digest = hashlib.sha256(config + TEMPLATE.encode()).hexdigest()[:12]
    folder = cache / "models" / f"{shape.name}-{digest}"
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".making-"))
    except OSError as why:
        raise NoCache(folder.parent, why) from None
    try:
        (beside / "config.json").write_bytes(config)
        (beside / "tokenizer.json").write_bytes(orjson.dumps(tokenizer_json()))
        (beside / "tokenizer_config.json").write_bytes(orjson.dumps(tokenizer_config(), option=orjson.OPT_INDENT_2))
        beside.chmod(0o755)
        try:
            os.rename(beside, folder)
        except OSError:  # another process was as fast
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return folder


def tokenizer_config() -> dict[str, Any]:
    """No special token is named, as one that is named would be left out of what is decoded."""
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": MAX_TOK,
        "clean_up_tokenization_spaces": False,
        "chat_template": TEMPLATE,
    }


def tokenizer_json() -> dict[str, Any]:
    """In the form of the `tokenizers` library."""
    raw = orjson.loads(resources.files("mistral_common").joinpath(f"data/{tokenizer.NAME}.json").read_bytes())
    ordinary = raw["vocab"][: tokenizer.N_VOCAB - tokenizer.N_SPECIAL]
    ranks = {base64.b64decode(entry["token_bytes"]): entry["rank"] for entry in ordinary}
    spelled = spelling()
    names = [*NAMED, *(f"<SPECIAL_{n}>" for n in range(len(NAMED), tokenizer.N_SPECIAL))]
    vocab = {name: number for number, name in enumerate(names)}
    vocab |= {"".join(spelled[b] for b in token): rank + tokenizer.N_SPECIAL for token, rank in ranks.items()}
    split = {"type": "Split", "pattern": {"Regex": raw["config"]["pattern"]}, "behavior": "Isolated", "invert": False}
    spell = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, spell]},
        "post_processor": None,
        "decoder": {"type": "Fuse"},
        "model": {
            "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": True,
            "vocab": vocab, "merges": [f"{_spelled(a, spelled)} {_spelled(b, spelled)}" for a, b in merges(ranks)],
        },
    }  # fmt: skip


def merges(ranks: dict[bytes, int]) -> list[tuple[bytes, bytes]]:
    """Pairs in the order in which byte-pair encoding joins them: by the rank of what they become, then of the parts."""
    found = []
    for token, rank in ranks.items():
        parts = ((token[:at], token[at:]) for at in range(1, len(token)))
        known = [(rank, ranks[a], ranks[b], a, b) for a, b in parts if a in ranks and b in ranks]
        found += known
    found.sort(key=lambda each: each[:3])
    return [(a, b) for _rank, _a, _b, a, b in found]


def spelling() -> list[str]:
    """A printable character for each byte, as byte-level tokenizers spell them: itself where it prints, else one from
    256 on."""
    prints = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = itertools.count(256)
    return [chr(byte) if byte in prints else chr(next(others)) for byte in range(256)]


def _spelled(token: bytes, spelled: list[str]) -> str:
    return "".join(spelled[byte] for byte in token)
