"""Requests of another tool as records of ours. What the tool does not know (due, sent, chunks' tokens) stays unknown or
is spread evenly, and nothing that rests on it is compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulator.core.chunks import Chunks, pack
from simulator.core.counts import spread
from simulator.core.record import Request
from simulator.core.table import Table, table_of


@dataclass(frozen=True, slots=True)
class Call:
    """Seconds from the first call. gaps_s: between the reply's chunks, in order; () where they were not kept. error: ""
    of one that finished."""

    call_s: float
    first_s: float | None
    last_s: float | None
    end_s: float
    prompt_tok: int | None
    output_tok: int | None
    gaps_s: tuple[float, ...] = ()
    error: str = ""


def records(calls: Sequence[Call]) -> tuple[Table, Chunks]:
    """(requests of kind "synthetic", their chunks)."""
    rows: list[Request] = []
    packed: list[bytes] = []
    at = 0
    for number, call in enumerate(calls):
        row = _record(number, call)
        if call.gaps_s and call.first_s is not None and call.output_tok:
            first_us = round((call.first_s - call.call_s) * 1e6)
            deltas = [first_us, *(round(gap * 1e6) for gap in call.gaps_s)]
            part = pack(deltas, spread(call.output_tok, len(deltas)))
            row.chunks, row.chunks_at = len(deltas), at
            packed.append(part)
            at += len(part)
        rows.append(row)
    return table_of(Request, rows), Chunks(np.frombuffer(b"".join(packed), dtype="<u2"))


def _record(number: int, call: Call) -> Request:
    done = not call.error
    return Request(
        run="", kind="synthetic", session=f"syn{number}", slot=0, turn=0, request=number, purpose="synthetic", retry=0,
        t_due_s=call.call_s, t_call_s=call.call_s, t_sent_s=None, t_first_s=call.first_s if done else None,
        t_first_answer_s=None, t_last_s=call.last_s if done else None, t_end_s=call.end_s, status=0,
        prompt_tok=call.prompt_tok, cached_tok=None, output_tok=call.output_tok if done else None, reasoning_tok=None,
        output_source="usage", planned_prompt_tok=0, planned_output_tok=0, chunks=0, chunks_at=-1, finish="",
        outcome="ok" if done else "failed", error="" if done else "server_error", detail=call.error[:200],
    )  # fmt: skip
