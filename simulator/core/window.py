"""Which part of a run is measured, and which requests belong to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.core.run import RunData
from simulator.core.stats import known
from simulator.core.table import Floats, Mask, Table

NO_WINDOW = "no steady window"
STOPPED_BEFORE = "the run stopped before its window"
CUT_SHORT = "the run stopped inside its window"


@dataclass(frozen=True, slots=True)
class Window:
    """[start_s, end_s) from run start. steady: the load loop stated it; otherwise it is the whole of what was seen and
    `note` says so, and every request belongs to it."""

    start_s: float
    end_s: float
    steady: bool
    note: str = ""

    @property
    def length_s(self) -> float:
        return self.end_s - self.start_s

    def holds(self, t_s: Floats) -> Mask:
        """Which times (n,) lie inside."""
        if not self.steady:
            return np.ones(len(t_s), dtype=np.bool_)
        inside: Mask = (t_s >= self.start_s) & (t_s < self.end_s)
        return inside


@dataclass(frozen=True, slots=True)
class Traffic:
    """One kind of traffic of a run. every: its requests without warm-up. sent: those of them sent inside the window
    (by t_sent, or t_call where nothing could be sent): the ones whose latencies count, whenever they finish."""

    run: RunData
    kind: str
    window: Window
    every: Table
    sent: Table


def asked_s(requests: Table) -> Floats:
    """t_sent, or t_call for a request that could not be sent."""
    return np.where(np.isnan(requests["t_sent_s"]), requests["t_call_s"], requests["t_sent_s"])


def ok(requests: Table) -> Mask:
    return requests.text("outcome").among("ok")


def cancelled(requests: Table) -> Mask:
    return requests.text("outcome").among("cancelled")


def failed(requests: Table) -> Mask:
    return ~(ok(requests) | cancelled(requests))


def unanswered(requests: Table) -> int:
    """How many requests were sent of which not one was answered, 0 where one was: those besides warm-up, or warm-up
    alone where nothing came after it."""
    warm = requests.text("purpose").among("warmup")
    sent = requests if warm.all() else requests.where(~warm)
    return 0 if ok(sent).any() else sent.n


def traffic(run: RunData, kind: str) -> Traffic | None:
    """The `kind` ("agent" or "synthetic") part of a run; None when it sent nothing besides warm-up."""
    chosen = run.requests.text("kind").among(kind) & ~run.requests.text("purpose").among("warmup")
    every = run.requests.where(chosen)
    if not every.n:
        return None
    window = _stated(run, kind) or _seen(every, NO_WINDOW if run.ended else STOPPED_BEFORE)
    return Traffic(run, kind, window, every, every.where(window.holds(asked_s(every))))


def _stated(run: RunData, kind: str) -> Window | None:
    """The load loop's window. A run that was killed inside it is measured up to its last sign of life."""
    if kind not in run.windows:
        return None
    start_s, end_s = run.windows[kind]
    note = ""
    if not run.ended:
        alive = known(np.concatenate([run.requests["t_end_s"], run.pulses["t_s"]]))
        last_s = float(alive.max()) if len(alive) else start_s
        if last_s < end_s:
            end_s, note = last_s, CUT_SHORT
    return Window(start_s, end_s, True, note) if end_s > start_s else None


def _seen(every: Table, note: str) -> Window:
    """First to last output; if there was none at all, first call to last end, so that errors still have a place."""
    first, last = known(every["t_first_s"]), known(every["t_last_s"])
    if not len(first) or not len(last):
        first, last = known(every["t_call_s"]), known(every["t_end_s"])
    start_s = float(first.min()) if len(first) else 0.0
    end_s = float(last.max()) if len(last) else start_s
    return Window(start_s, end_s, False, note)
