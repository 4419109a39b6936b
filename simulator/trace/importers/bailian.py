"""Bailian-style traces: a request a line, {chat_id, parent_chat_id, timestamp (s), input_length, output_length, type,
turn, hash_ids}, blocks of 16 tokens. A request whose parent came before it is that session's next."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simulator.trace.asked import Asked
from simulator.trace.draft import Draft
from simulator.trace.importers.mooncake import shape_of
from simulator.trace.text import Bad, json_lines, parsed
from simulator.trace.when import number

BLOCK_TOK = 16
Place = tuple[int, int, int]  # offset, length, line


def read(path: Path, asked: Asked) -> Iterator[Draft]:
    sessions = _sessions(path, asked)
    with path.open("rb") as file:
        for chat, places in sessions.items():
            draft = Draft(
                format="bailian", session=f"chat {chat}", clock="relative", stored=True, block_tok=BLOCK_TOK,
                block_scope="trace",
            )  # fmt: skip
            for offset, length, line in places:
                file.seek(offset)
                row = parsed(file.read(length))
                try:
                    figures, blocks = shape_of(row)
                except Bad as why:
                    asked.leave(path, why, line)
                    continue
                figures.sent_s = number(row.get("timestamp"))
                draft.shape(blocks, figures)
            if not draft.empty:
                yield draft


def _sessions(path: Path, asked: Asked) -> dict[str, list[Place]]:
    """Places of each session's rows, by the first one's chat. A parent that comes later, or is the row itself, is none,
    so that there are no circles."""
    root: dict[str, str] = {}
    places: dict[str, list[Place]] = {}
    with path.open("rb") as file:
        for line, raw in json_lines(file):
            try:
                if isinstance(raw, Bad):
                    raise raw
                chat, parent = _ids(parsed(raw))
            except Bad as why:
                asked.leave(path, why, line)
                continue
            if chat in root:
                asked.leave(path, f"chat_id {chat:.40} comes a second time", line)
                continue
            root[chat] = root.get(parent, chat)
            places.setdefault(root[chat], []).append((file.tell() - len(raw), len(raw), line))
    return places


def _ids(row: Any) -> tuple[str, str]:
    if not isinstance(row, dict) or not isinstance(row.get("chat_id"), int | str):
        raise Bad("the line has no chat_id")
    return str(row["chat_id"]), str(row.get("parent_chat_id"))
