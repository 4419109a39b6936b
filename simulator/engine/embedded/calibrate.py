"""`python -m simulator.engine.embedded.calibrate [HARDWARE.yaml ...]`: the model beside every measured figure it knows.

A hardware file's `calibration` lists what real engines gave. Each is played again in virtual time: a closed loop of two
waves through the front end and the scheduler, the known share of each prompt put into the prefix cache beforehand.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from pathlib import Path

import numpy as np

from simulator.engine.embedded.config import PARAMS_DIR, EngineParams, Hardware, beside, finish, load_hardware
from simulator.engine.embedded.config import read_extended as read
from simulator.engine.embedded.frontend import FrontEnd
from simulator.engine.embedded.prompts import hashed
from simulator.engine.embedded.request import Request
from simulator.engine.embedded.scheduler import Scheduler
from simulator.engine.embedded.settings import Measured
from simulator.errors import SimError


@dataclass(frozen=True, slots=True)
class Compared:
    """A measured figure and the model's, output tokens a second; error: the model's share above it, or below (< 0)."""

    measured: Measured
    modelled_tok_s: float

    @property
    def error(self) -> float:
        return self.modelled_tok_s / self.measured.output_tok_s - 1


def compare(hardware: Hardware, folder: Path = PARAMS_DIR) -> list[Compared]:
    """One for each entry of the hardware's calibration; `folder`: where its settings files are, else the shipped."""
    return [Compared(each, modelled(each, settings(each, hardware, folder))) for each in hardware.calibration]


def settings(measured: Measured, hardware: Hardware, folder: Path = PARAMS_DIR) -> EngineParams:
    """The engine that gave the figure, on this hardware."""
    path = beside(folder / "hardware.yaml", measured.engine)
    return finish({**read(path), **measured.changes, "hardware": hardware}, path)


def modelled(measured: Measured, params: EngineParams) -> float:
    """Output tokens a second, from the first arrival to the last token."""
    loop = _Loop(params)
    known_tok = int(measured.prompt_tok * measured.cached_share)
    if known_tok:
        # a token more than is known: a cache that works in whole blocks keeps what it can
        loop.play([loop.request(slot, known_tok, known_tok, 1) for slot in range(measured.at_once)], lambda _done: None)
    started_s, before_tok, left = loop.now_s, loop.scheduler.counters.generated_tok, measured.at_once

    def another(done: Request) -> Request | None:
        nonlocal left
        left -= 1
        slot = int(done.key)
        return None if left < 0 else loop.request(slot, known_tok, measured.prompt_tok, measured.output_tok)

    first = [
        loop.request(slot, known_tok, measured.prompt_tok, measured.output_tok) for slot in range(measured.at_once)
    ]
    loop.play(first, another)
    return (loop.scheduler.counters.generated_tok - before_tok) / (loop.now_s - started_s)


class _Loop:
    """A closed loop through front end and scheduler on a clock of its own."""

    def __init__(self, params: EngineParams) -> None:
        self.params = params
        self.scheduler = Scheduler(params)
        self.front_end = FrontEnd(params)
        self.now_s = 0.0
        self._made = 0

    def request(self, slot: int, known_tok: int, prompt_tok: int, output_tok: int) -> Request:
        """Its first known_tok tokens are the slot's own, the others nobody else's."""
        self._made += 1
        ids = np.concatenate([
            np.arange(known_tok, dtype=np.int32) + slot * 1_000_003,
            np.arange(prompt_tok - known_tok, dtype=np.int32) - self._made * 1_000_003,
        ])  # fmt: skip
        hashes, tail = hashed(ids.tobytes(), self.params.block_size)
        reply = np.full(output_tok, self._made, np.int32).tobytes()
        return Request(str(slot), prompt_tok, output_tok, hashes, tail + reply, self.now_s)

    def play(self, first: list[Request], then: Callable[[Request], Request | None]) -> None:
        """Until all have ended; `then` gives for each that ended the one that follows it, or None."""
        arriving: list[tuple[float, int, Request]] = []
        order = itertools.count()

        def arrive(request: Request, at_s: float) -> None:
            request.arrival_s = self.front_end.arrive(at_s, request.prompt_tok)
            heappush(arriving, (request.arrival_s, next(order), request))

        for request in first:
            arrive(request, self.now_s)
        scheduler, out_s = self.scheduler, self.now_s
        while arriving or scheduler.has_work:
            if not scheduler.has_work:
                self.now_s = max(self.now_s, arriving[0][0])
            while arriving and arriving[0][0] <= self.now_s:
                scheduler.add(heappop(arriving)[2])
            plan = scheduler.step(self.now_s)
            if plan is None:
                continue
            self.now_s = plan.end_s
            emissions = scheduler.complete(plan)
            out_s = self.front_end.emit_step(plan.end_s, emissions)
            for request, _new in emissions:
                if request.emitted_tok == request.reply_tok:
                    follower = then(request)
                    if follower is not None:
                        arrive(follower, out_s)
        self.now_s = max(self.now_s, out_s)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="simulator.engine.embedded.calibrate", description="Model and measurement.")
    parser.add_argument("hardware", nargs="*", type=Path, help="hardware files; none: all shipped ones")
    paths = parser.parse_args(arguments).hardware or shipped()
    try:
        for path in paths:
            sys.stdout.write("\n".join(table(load_hardware(path), path)) + "\n\n")
    except SimError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


def shipped() -> list[Path]:
    return [path for path in sorted(PARAMS_DIR.glob("*.yaml")) if "gpu" in read(path)]


def table(hardware: Hardware, path: Path) -> list[str]:
    """Markdown."""
    rows = [f"{hardware.name}: output tok/s, EMULATED beside measured", ""]
    if not hardware.calibration:
        return [rows[0], "", "no measured figure: nothing of this file has been held against a GPU"]
    rows += ["| traffic | settings | measured | modelled | error | |", "|---|---|---|---|---|---|"]
    for each in compare(hardware, path.parent):
        m = each.measured
        shape = f"{m.prompt_tok:,}/{m.output_tok} at {m.at_once}"
        shape += f", {m.cached_share:.0%} cached" if m.cached_share else ""
        note = "fitted to" if m.fitted else "not fitted"
        told = f"{m.output_tok_s:,.0f} | {each.modelled_tok_s:,.0f} | {each.error:+.1%} | {note}; {m.source}"
        rows.append(f"| {shape} | {m.name} | {told} |")
    return rows


if __name__ == "__main__":
    sys.exit(main())
