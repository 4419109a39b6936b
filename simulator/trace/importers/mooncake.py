"""Mooncake: a request a line, {timestamp (ms), input_length, output_length, hash_ids}, blocks of 512 tokens that name
their whole prefix. The source does not say which requests belong together, so each is a session of one call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simulator.trace.asked import Asked
from simulator.trace.draft import Draft, Figures
from simulator.trace.text import Bad, rows
from simulator.trace.when import count, millis

BLOCK_TOK = 512


def read(path: Path, asked: Asked) -> Iterator[Draft]:
    for number, row in rows(path):
        try:
            figures, blocks = shape_of(row)
            assert isinstance(row, dict)
        except Bad as why:
            asked.leave(path, why, number)
            continue
        figures.sent_s = millis(row.get("timestamp"))
        draft = Draft(
            format="mooncake", session=f"{path.stem}-{number}", clock="relative", stored=True, block_tok=BLOCK_TOK,
            block_scope="trace",
        )  # fmt: skip
        draft.shape(blocks, figures)
        yield draft


def shape_of(row: Any) -> tuple[Figures, list[int]]:
    """Token counts and blocks of a row. Bad."""
    if isinstance(row, Bad) or not isinstance(row, dict):
        raise row if isinstance(row, Bad) else Bad("the line is no object")
    prompt, output, ids = count(row.get("input_length")), count(row.get("output_length")), row.get("hash_ids")
    if not prompt or output is None:
        raise Bad("input_length or output_length is no number of tokens")
    if not isinstance(ids, list) or not all(isinstance(i, int) and not isinstance(i, bool) for i in ids):
        raise Bad("hash_ids is no list of whole numbers")
    return Figures(prompt_tok=prompt, output_tok=output), ids
