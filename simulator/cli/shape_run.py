"""A run folder as traffic: what its agents sent, as the records have it.

Which blocks two prompts share is not in the records. A prompt that is no shorter than the one before it is taken to
extend it, a shorter one to begin anew; what the engine said was cached stands beside that.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from pathlib import Path
from typing import Any

from simulator.core.table import Table
from simulator.core.traffic.call import BLOCK_TOK, Sent, Traffic
from simulator.errors import UsageError
from simulator.store.folder import RunFolder
from simulator.view.identity import emulation, is_emulated

ASSUMED = "a run's prompts are taken to extend the one before unless they are shorter; what sessions share is not seen"


def run_traffic(folder: Path) -> Traffic:
    """UsageError when the folder is no run, or holds no agents' requests."""
    run = RunFolder.open(folder)
    table, tools = run.requests, _tools(run.tools)
    names = {key: table.text(key) for key in ("session", "kind", "purpose", "outcome")}
    rows = [
        n for n in range(table.n)
        if names["kind"].at(n) == "agent" and names["purpose"].at(n) != "warmup" and names["outcome"].at(n) == "ok"
    ]  # fmt: skip
    if not rows:
        raise UsageError(f"{folder} has no request of an agent that was answered; give a run with `sessions` above 0")
    rows.sort(key=lambda n: _at(table, n))
    calls: list[Sent] = []
    last: dict[tuple[str, int], tuple[int, float]] = {}
    names_of_blocks = itertools.count(1)
    for n in rows:
        key = names["session"].at(n), int(table["branch"][n])
        prompt = int(_known(table, "prompt_tok", n) or table["planned_prompt_tok"][n])
        at, end = _at(table, n), float(table["t_end_s"][n])
        before, ended = last.get(key, (0, math.nan))
        keep = before // BLOCK_TOK if before <= prompt else 0
        turn = int(table["turn"][n])
        calls.append(Sent(
            session=key[0], branch=key[1], turn=turn, at_s=at, order=at, took_s=end - at,
            gap_s=max(0.0, at - ended) if key in last else None, prompt_tok=prompt,
            output_tok=int(_known(table, "output_tok", n) or 0), cached_tok=_known(table, "cached_tok", n),
            tools=tuple(tools.get((*key, turn), ())), keep=keep,
            fresh=[next(names_of_blocks) for _ in range(keep, prompt // BLOCK_TOK)],
        ))  # fmt: skip
        last[key] = prompt, end
    manifest = run.manifest
    marks = (emulation(manifest),) if is_emulated(manifest) else ()
    return Traffic(folder.name, "run", tuple(calls), BLOCK_TOK, True, (ASSUMED,), marks)


def _at(table: Table, n: int) -> float:
    sent = float(table["t_sent_s"][n])
    return float(table["t_call_s"][n]) if math.isnan(sent) else sent


def _known(table: Table, key: str, n: int) -> int | None:
    value = float(table[key][n])
    return None if math.isnan(value) else int(value)


def _tools(table: Table) -> dict[tuple[Any, ...], list[str]]:
    found: dict[tuple[Any, ...], list[str]] = defaultdict(list)
    for n in range(table.n):
        key = table.text("session").at(n), int(table["branch"][n]), int(table["turn"][n])
        found[key].append(table.text("tool").at(n))
    return found
