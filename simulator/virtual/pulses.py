"""Pulses of a simulated run, made afterwards from its records: the load at each half second."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simulator.core.record import Pulse, Request, SlotState
from simulator.virtual.log import Log
from simulator.virtual.simulate import Simulated, Stretch

PULSE_S = 0.5
#: with more slots than this, pulses tell sums alone: thousands of rows twice a second fill a disk and no screen
SHOWN_SLOTS = 256


def pulses(result: Simulated) -> list[Pulse]:
    """One every half second of simulated time, one at the end. No client ran, so its lag and CPU are 0."""
    made: list[Pulse] = []
    for n, stretch in enumerate(result.stretches):
        after = result.stretches[n + 1].start_s if n + 1 < len(result.stretches) else result.end_s
        made += _Load(result.log, stretch.kind).pulses(_ticks(stretch.start_s, after), stretch)
    last = result.stretches[-1]
    made += _Load(result.log, last.kind).pulses(np.array([result.end_s]), Stretch("done", last.kind, result.end_s))
    return made


def _ticks(start_s: float, end_s: float) -> NDArray[np.float64]:
    return np.arange(np.ceil(start_s / PULSE_S), np.ceil(end_s / PULSE_S)) * PULSE_S


class _Load:
    def __init__(self, log: Log, kind: str) -> None:
        chosen = [r for r in log.requests if r[0].kind == kind]
        records = [r[0] for r in chosen]
        self.sent = np.sort([r.t_call_s for r in records])
        self.ended = np.sort([r.t_end_s for r in records])
        self.ok = np.sort([r.t_end_s for r in records if r.outcome == "ok"])
        self.failed = np.sort([r.t_end_s for r in records if r.outcome == "failed"])
        self.sessions = np.sort([s.t_end_s for s in log.sessions if s.outcome == "completed" and kind == "agent"])
        self.tools_from = np.sort([t.t_ready_s for t in log.tools if kind == "agent"])
        self.tools_to = np.sort([t.t_release_s for t in log.tools if kind == "agent"])
        self.at_s, self.tok = _arrivals(chosen)
        self.slots = _by_slot(records) if kind == "agent" else {}
        self.tasks = {s.session: (f"{s.task_kind}/{s.task_name}", s.turns) for s in log.sessions}
        self.kind = kind

    def pulses(self, at_s: NDArray[np.float64], stretch: Stretch) -> list[Pulse]:
        def upto(times: NDArray[np.float64]) -> list[int]:
            return np.searchsorted(times, at_s, side="right").tolist()  # type: ignore[no-any-return]

        tokens = self.tok[upto(self.at_s)].tolist()
        columns = [upto(c) for c in (self.sent, self.ended, self.ok, self.failed, self.sessions, self.tools_from,
                                     self.tools_to)]  # fmt: skip
        return [
            Pulse(
                t_s=t_s, stage=stretch.stage, ends_s=stretch.ends_s, kind=self.kind, output_tok=int(tok),
                requests_done=ok, requests_failed=failed, sessions_done=sessions, in_flight=sent - ended,
                tools_running=began - over, loop_lag_s=0.0, cpu_share=0.0, slots=self._states(t_s),
            )
            for t_s, tok, sent, ended, ok, failed, sessions, began, over in zip(
                at_s.tolist(), tokens, *columns, strict=True
            )
        ]  # fmt: skip

    def _states(self, t_s: float) -> list[SlotState]:
        if len(self.slots) > SHOWN_SLOTS:
            return []
        found = []
        for slot, (begins, records) in self.slots.items():
            n = bisect_right(begins, t_s) - 1
            if n >= 0:
                found.append(self._state(slot, records[n], t_s))
        return found

    def _state(self, slot: int, record: Request, t_s: float) -> SlotState:
        first_s, task = record.t_first_s, self.tasks.get(record.session, ("", 0))
        begun = first_s is not None and first_s <= t_s
        phase = "tool" if record.t_end_s <= t_s else "decode" if begun else "queue"
        spent_s = record.t_end_s - first_s if first_s is not None else 0.0
        ttft_s = first_s - record.t_call_s if begun and first_s is not None else None
        speed = (record.output_tok or 0) / spent_s if phase == "decode" and spent_s > 0 else 0.0
        return SlotState(
            slot, record.session, task[0], record.turn, task[1], phase, record.planned_prompt_tok, ttft_s, speed
        )


def _arrivals(
    chosen: Sequence[tuple[Request, Sequence[int], Sequence[int]]],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(times of all chunks in order, output tokens up to each, one longer)."""
    if not chosen:
        return np.zeros(0), np.zeros(1, np.int64)
    times = np.concatenate([r.t_call_s + np.cumsum(gaps) * 1e-6 for r, gaps, _tok in chosen])
    tokens = np.concatenate([np.asarray(tok, np.int64) for _r, _gaps, tok in chosen])
    order = np.argsort(times, kind="stable")
    return times[order], np.concatenate([[0], np.cumsum(tokens[order])])


def _by_slot(records: Sequence[Request]) -> dict[int, tuple[list[float], list[Request]]]:
    rows: dict[int, list[Request]] = {}
    for record in sorted(records, key=lambda r: r.t_call_s):
        if record.branch == 0:
            rows.setdefault(record.slot, []).append(record)
    return {slot: ([r.t_call_s for r in rows[slot]], rows[slot]) for slot in sorted(rows)}
