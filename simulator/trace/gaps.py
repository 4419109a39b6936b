"""How long a recorded session waited between a reply and the next request, and how much of that were its tools."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.trace.format import TurnLine
from simulator.trace.trace_file import TracedSession

#: a reply of unknown duration: so many seconds, and so many a token
REPLY_S, TOKEN_S = 1.0, 0.02


@dataclass(frozen=True, slots=True)
class Gap:
    """pause_s: before the turn, besides the tools of the one before. calls_s: how long each of its own calls took."""

    pause_s: float
    calls_s: tuple[float, ...]


def ended_s(turn: TurnLine) -> float | None:
    """When its reply had come, estimated where the source does not say; None without times."""
    if turn.t_s is None:
        return None
    return turn.t_s + (turn.took_s if turn.took_s is not None else REPLY_S + TOKEN_S * turn.output_tok)


def gaps(session: TracedSession) -> dict[tuple[int, int], Gap]:
    """By (branch, turn). The wait for sub-agents is theirs and no pause."""
    ends: dict[int, float] = {}
    for turn in session.turns:
        end = ended_s(turn)
        if end is not None:
            ends[turn.branch] = max(ends.get(turn.branch, 0.0), end)
    out: dict[tuple[int, int], Gap] = {}
    before: dict[int, tuple[TurnLine, tuple[float, ...]]] = {}
    for turn in session.turns:
        calls = _calls(turn)
        pause = 0.0
        if turn.branch in before and turn.t_s is not None:
            last, took = before[turn.branch]
            free = ended_s(last)
            if free is not None:
                free = max([free + sum(took), *(ends.get(n, 0.0) for n in last.spawns)])
                pause = max(0.0, turn.t_s - free)
        out[turn.branch, turn.turn] = Gap(round(pause, 3), calls)
        before[turn.branch] = (turn, calls)
    return out


def _calls(turn: TurnLine) -> tuple[float, ...]:
    """Calls that start sub-agents take what those take, and nothing besides: they are the longest."""
    took = [call.took_s or 0.0 for call in turn.calls]
    for place in sorted(range(len(took)), key=lambda n: -took[n])[: len(turn.spawns)]:
        took[place] = 0.0
    return tuple(took)
