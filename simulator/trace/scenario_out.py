"""A scenario that sends traffic of a given shape: the calls' sizes, sharing and times without any text, as a trace, and
the scenario that draws its sessions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from simulator import tokenizer
from simulator.core.traffic.call import Sent, Traffic
from simulator.trace.format import Call, Header, SessionLine, TurnLine
from simulator.trace.gaps import REPLY_S, TOKEN_S
from simulator.trace.trace_file import Writer

FORMAT = "shape"
#: slots when nothing says how many sessions are open at once
SLOTS, MOST_SLOTS = 8, 512


def write_shape(traffic: Traffic, path: Path) -> None:
    """The trace. Calls keep their sizes, times, tool names and which blocks they share; sessions get numbers. Gaps that
    the source does not tell are given the known ones' values, each as often as another."""
    known = sorted(call.gap_s for call in traffic.calls if call.gap_s is not None)
    lacking = _spread(known)
    by_session: dict[str, list[Sent]] = {}
    for call in traffic.calls:
        by_session.setdefault(call.session, []).append(call)
    numbers: dict[int, int] = {}
    with Writer(path, Header(made_by="sim shape", tokenizer=tokenizer.NAME)) as writer:
        for n, calls in enumerate(by_session.values(), 1):
            writer.session(*_session(f"shape-{n}", calls, traffic, numbers, lacking))


def _spread(known: Sequence[float]) -> Iterator[float]:
    """Values at evenly laid quantiles, in an order that is even from its start (van der Corput's); 0 of none."""
    for n in itertools.count(1):
        share = int(f"{n:b}"[::-1], 2) / (1 << n.bit_length())
        yield known[int(share * len(known))] if known else 0.0


def _session(
    name: str, calls: Sequence[Sent], traffic: Traffic, numbers: dict[int, int], lacking: Iterator[float]
) -> tuple[SessionLine, list[TurnLine]]:  # fmt: skip
    start = calls[0].at_s
    line = SessionLine(
        session=name, format=FORMAT, client=FORMAT, clock="relative" if start is not None else "session",
        start_s=start, block_tok=traffic.block_tok, block_scope="trace", estimated={"calls.took_s": "not kept"},
    )  # fmt: skip
    branches = {0: 0}
    counts: dict[int, int] = {}
    clocks: dict[int, float] = {}
    turns: list[TurnLine] = []
    for call in calls:
        branch = branches.setdefault(call.branch, len(branches))
        gap_s = call.gap_s if call.gap_s is not None or branch not in clocks else next(lacking)
        at = _clock(call, gap_s, clocks, branch, start)
        turns.append(TurnLine(
            session=name, branch=branch, turn=counts.get(branch, 0), purpose="subagent" if branch else "agent",
            t_s=at, took_s=_took_s(call), prompt_tok=call.prompt_tok, output_tok=call.output_tok,
            keep_blocks=call.keep, add_blocks=tuple(numbers.setdefault(b, len(numbers)) for b in call.fresh),
            calls=tuple(Call(tool=tool, took_s=0.0) for tool in call.tools),
        ))  # fmt: skip
        counts[branch] = counts.get(branch, 0) + 1
        clocks[branch] = at + _took_s(call)
    return line, _with_spawns(turns)


def _took_s(call: Sent) -> float:
    """As gaps were told from: estimated where it is not known."""
    return call.took_s if call.took_s is not None else REPLY_S + TOKEN_S * call.output_tok


def _clock(call: Sent, gap_s: float | None, clocks: dict[int, float], branch: int, start: float | None) -> float:
    """Its time; without one, the end of the reply before it and the gap."""
    if call.at_s is not None and start is not None:
        return round(call.at_s - start, 6)
    return round(clocks.get(branch, clocks.get(0, 0.0) if branch else 0.0) + (gap_s or 0.0), 6)


def _with_spawns(turns: Sequence[TurnLine]) -> list[TurnLine]:
    """Each branch belongs to the last turn of the session's own that was sent before it began."""
    spawns: dict[int, list[int]] = {}
    own = [turn for turn in turns if not turn.branch]
    for first in (turn for turn in turns if turn.branch and not turn.turn):
        earlier = [turn.turn for turn in own if (turn.t_s or 0.0) <= (first.t_s or 0.0)]
        spawns.setdefault(earlier[-1] if earlier else 0, []).append(first.branch)
    return [
        turn.model_copy(update={"spawns": tuple(spawns.get(turn.turn, ()))}) if not turn.branch else turn
        for turn in turns
    ]


@dataclass(frozen=True, slots=True)
class Facts:
    """sessions: in the trace. at_once: open on average, None where that is not known. longest_tok: of a prompt and its
    reply. longest_gap_s: no recorded pause beyond it is waited for."""

    sessions: int
    at_once: float | None
    longest_tok: int
    longest_gap_s: float

    @property
    def slots(self) -> int:
        if self.at_once is None:
            return min(SLOTS, self.sessions)
        return min(MOST_SLOTS, max(1, round(self.at_once)))

    @property
    def start(self) -> str:
        """A running service, whose sessions are open beside one another, is met in their middle."""
        return "stationary" if self.at_once is not None and self.slots > 1 else "beginning"


def scenario_text(name: str, trace: str, facts: Facts, window_s: float) -> str:
    """The scenario's YAML."""
    window_tok = max(16_000, 1_000 * math.ceil(facts.longest_tok * 1.02 / 1_000))
    return f"""\
# Traffic of a given shape: {facts.sessions} sessions' sizes, sharing and pauses, drawn by the seed, with text made up.
name: {name}
sessions: {facts.slots}
window_s: {window_s:g}
context_window_tok: {window_tok}
start: {facts.start}
think: recorded
trace:
  file: {trace}
  sessions: drawn
  gap_cap_s: {math.ceil(max(60.0, facts.longest_gap_s))}
"""
