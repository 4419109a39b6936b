"""Azure's public traces: TIMESTAMP,ContextTokens,GeneratedTokens, a request a row; neither sessions nor contents."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from simulator.trace.asked import Asked
from simulator.trace.draft import Draft, Figures
from simulator.trace.text import Bad
from simulator.trace.when import iso

COLUMNS = ["TIMESTAMP", "ContextTokens", "GeneratedTokens"]


def read(path: Path, asked: Asked) -> Iterator[Draft]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        table = csv.reader(line[:4_096] for line in file)
        head = [name.strip() for name in next(table, [])]
        if head[:3] != COLUMNS:
            raise Bad(f"its columns are {', '.join(head)[:80]} and not {', '.join(COLUMNS)}")
        for number, row in enumerate(table, 2):
            try:
                figures = _figures(row)
            except Bad as why:
                asked.leave(path, why, number)
                continue
            draft = Draft(format="azure", session=f"{path.stem}-{number - 1}", clock="unix", stored=True)
            draft.shape(None, figures)
            yield draft


def _figures(row: list[str]) -> Figures:
    sent = iso(row[0]) if len(row) >= 3 else None
    if sent is None:
        raise Bad("the row has no time and two numbers")
    if not row[1].isdecimal() or not row[2].isdecimal() or len(row[1] + row[2]) > 18 or int(row[1]) == 0:
        raise Bad("the row's numbers of tokens are none")
    return Figures(sent_s=sent, prompt_tok=int(row[1]), output_tok=int(row[2]))
