"""A model folder made of a shape: every id decodes, and texts have the ids that the product counts with."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from jinja2 import Environment

from simulator import tokenizer
from simulator.engine.serving.config import MODELS
from simulator.engine.serving.shapes import TEMPLATE, made, merges, spelling, tokenizer_json
from simulator.errors import UsageError


def test_a_folder_is_made_once_and_every_id_decodes(tmp_path: Path) -> None:
    folder = made(MODELS / "nano-30b-a3b", tmp_path)
    assert sorted(path.name for path in folder.iterdir()) == ["config.json", "tokenizer.json", "tokenizer_config.json"]
    stamp = (folder / "tokenizer.json").stat().st_mtime_ns
    assert made(MODELS / "nano-30b-a3b", tmp_path) == folder and folder.name.startswith("nano-30b-a3b-")
    assert (folder / "tokenizer.json").stat().st_mtime_ns == stamp
    told = json.loads((folder / "tokenizer.json").read_text())
    vocab = told["model"]["vocab"]
    assert sorted(vocab.values()) == list(range(tokenizer.N_VOCAB)) and all(vocab)
    assert told["added_tokens"] == [] and told["decoder"] == {"type": "Fuse"}
    assert (
        not {"bos_token", "eos_token", "unk_token"} & json.loads((folder / "tokenizer_config.json").read_text()).keys()
    )
    assert not [path for path in (tmp_path / "models").iterdir() if path.name.startswith(".")]
    # a byte-level spelling of each ordinary id is the bytes that the product's own tokenizer has for it
    back = {char: byte for byte, char in enumerate(spelling())}
    own = tokenizer.load()
    by_id = {number: text for text, number in vocab.items()}
    for number in range(tokenizer.N_SPECIAL, tokenizer.N_VOCAB, 97):
        assert bytes(back[char] for char in by_id[number]) == own.decode_single_token_bytes(number)


def test_merges_build_words_as_the_product_s_tokenizer_does() -> None:
    told = tokenizer_json()["model"]
    rank = {tuple(pair.split(" ")): n for n, pair in enumerate(told["merges"])}
    spelled = spelling()
    for word in (" parsing", "Subprozess", " 世界", "qzxv", "\n\n    "):
        parts = [spelled[byte] for byte in word.encode()]
        while pairs := [(rank[pair], at) for at, pair in enumerate(itertools.pairwise(parts)) if pair in rank]:
            at = min(pairs)[1]
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        assert [told["vocab"][part] for part in parts] == tokenizer.encode(word)


def test_merges_come_in_the_order_of_ranks() -> None:
    ranks = {b"a": 0, b"b": 1, b"c": 2, b"bc": 3, b"ab": 4, b"abc": 5}
    assert merges(ranks) == [(b"b", b"c"), (b"a", b"b"), (b"a", b"bc"), (b"ab", b"c")]


def test_the_template_takes_what_agents_send() -> None:
    said = (
        Environment()
        .from_string(TEMPLATE)
        .render(
            messages=[
                {"role": "system", "content": "S"},
                {"role": "user", "content": [{"type": "text", "text": "U"}, {"type": "text", "text": "V"}]},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}],
                },
                {"role": "tool", "content": "R"},
            ],
            tools=[{"type": "function"}],
            add_generation_prompt=True,
        )
    )
    assert said.startswith("<|im_start|>system\nS\n# Tools") and '{"type": "function"}' in said
    assert "user\nUV<|im_end|>" in said and said.endswith("<|im_start|>tool\nR<|im_end|>\n<|im_start|>assistant\n")
    assert said.count("# Tools") == 1 and "<tool_call>{" in said


def test_another_vocabulary_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"vocab_size": 32000}')
    with pytest.raises(UsageError, match="for a vocab_size of 131,072 only; give the model's own folder"):
        made(tmp_path, tmp_path)
