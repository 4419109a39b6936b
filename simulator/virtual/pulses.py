"""Pulses of a simulated run, made afterwards from its records: the load at each half second."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simulator.core.record import Pulse, Request, SlotState
from simulator.virtual.log import SHOWN_SLOTS
from simulator.virtual.simulate import Simulated, Stretch
from simulator.virtual.tally import PULSE_S, Times


def pulses(result: Simulated) -> list[Pulse]:
    """One every half second of simulated time, one at the end. No client ran, so its lag and CPU are 0."""
    made: list[Pulse] = []
    loads = {kind: _Load(result, kind) for kind in dict.fromkeys(stretch.kind for stretch in result.stretches)}
    for n, stretch in enumerate(result.stretches):
        after = result.stretches[n + 1].start_s if n + 1 < len(result.stretches) else result.end_s
        made += loads[stretch.kind].pulses(_ticks(stretch.start_s, after), stretch)
    last = result.stretches[-1]
    made += loads[last.kind].pulses(np.array([result.end_s]), Stretch("done", last.kind, result.end_s))
    return made


def _ticks(start_s: float, end_s: float) -> NDArray[np.float64]:
    return np.arange(np.ceil(start_s / PULSE_S), np.ceil(end_s / PULSE_S)) * PULSE_S


class _Load:
    def __init__(self, result: Simulated, kind: str) -> None:
        log, load = result.log, result.log.loads[kind]
        agent, nothing = kind == "agent", Times()
        tools = log.tool_times if agent else nothing
        ends_s = array("d", [s.t_end_s for s in log.sessions if s.outcome == "completed" and agent])
        told = (load.requests.begun_s, load.requests.ended_s, load.ok_s, load.failed_s, ends_s, tools.begun_s,
                tools.ended_s)  # fmt: skip
        self.columns = [np.sort(np.frombuffer(each)) if each else np.zeros(0) for each in told]
        self.tok = np.cumsum(load.beats)
        self.slots = _by_slot(log.shown) if agent and result.slots <= SHOWN_SLOTS else {}
        self.tasks = {s.session: (f"{s.task_kind}/{s.task_name}", s.turns) for s in log.sessions} if self.slots else {}
        self.kind = kind

    def pulses(self, at_s: NDArray[np.float64], stretch: Stretch) -> list[Pulse]:
        columns = [np.searchsorted(column, at_s, side="right").tolist() for column in self.columns]
        return [
            Pulse(
                t_s=t_s, stage=stretch.stage, ends_s=stretch.ends_s, kind=self.kind, output_tok=tok,
                requests_done=ok, requests_failed=failed, sessions_done=sessions, in_flight=sent - ended,
                tools_running=began - over, loop_lag_s=0.0, cpu_share=0.0, slots=self._states(t_s),
            )
            for t_s, tok, sent, ended, ok, failed, sessions, began, over in zip(
                at_s.tolist(), self._tokens(at_s), *columns, strict=True
            )
        ]  # fmt: skip

    def _tokens(self, at_s: NDArray[np.float64]) -> list[int]:
        """Output tokens up to each moment, which is a beat or the end."""
        if not len(self.tok):
            return [0] * len(at_s)
        beats = np.minimum(np.ceil(at_s / PULSE_S).astype(np.int64), len(self.tok) - 1)
        return self.tok[beats].tolist()  # type: ignore[no-any-return]

    def _states(self, t_s: float) -> list[SlotState]:
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


def _by_slot(records: Sequence[Request]) -> dict[int, tuple[list[float], list[Request]]]:
    rows: dict[int, list[Request]] = {}
    for record in sorted(records, key=lambda r: r.t_call_s):
        rows.setdefault(record.slot, []).append(record)
    return {slot: ([r.t_call_s for r in rows[slot]], rows[slot]) for slot in sorted(rows)}
