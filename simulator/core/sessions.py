"""Sessions: where their wall time goes, how many are done an hour, and whether what they did was right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simulator.core.record import Session
from simulator.core.stats import describe, ratio
from simulator.core.window import Traffic, ok

#: the disjoint parts of a session's wall, in the order in which people read them
PARTS = ("model_s", "subagent_s", "tool_run_s", "tool_queue_s", "tool_pace_s", "think_s", "backoff_s", "client_s")
#: the parts must add up to the wall within this share of it
TOLERANCE = 0.01


def touching(sample: Traffic) -> list[Session]:
    """Sessions with a part of their life inside the window."""
    start_s, end_s = sample.window.start_s, sample.window.end_s
    if not sample.window.steady:
        return list(sample.run.sessions)
    return [s for s in sample.run.sessions if s.t_end_s > start_s and s.t_ready_s < end_s]


def wall(sample: Traffic, sessions: Sequence[Session] | None = None) -> dict[str, Any] | None:
    """Where the wall of the sessions in the window went, over their whole life in this run: {sessions, wall_s, parts,
    shares, first_token_share, unexplained_share, not_adding_up}. None without finished sessions.

    parts: seconds a part; shares: of the wall. first_token_share: the part of model time before a request's first
    output, i.e. queue and prefill. unexplained_share: 1 - the sum of shares. not_adding_up: sessions whose parts miss
    their wall by more than 1 %.
    """
    chosen = touching(sample) if sessions is None else list(sessions)
    total = sum(s.t_end_s - s.t_ready_s for s in chosen)
    if not chosen or total <= 0:
        return None
    parts = {part: float(sum(getattr(s, part) for s in chosen)) for part in PARTS}
    return {
        "sessions": len(chosen),
        "wall_s": total,
        "parts": parts,
        "shares": {part: seconds / total for part, seconds in parts.items()},
        "first_token_share": first_token_share(sample, chosen),
        "unexplained_share": 1 - sum(parts.values()) / total,
        "not_adding_up": sum(not adds_up(s) for s in chosen),
    }


def adds_up(session: Session) -> bool:
    """Whether the parts miss the wall by no more than 1 % of it (or a millisecond)."""
    life = session.t_end_s - session.t_ready_s
    missed = abs(life - sum(getattr(session, part) for part in PARTS))
    return bool(missed <= max(TOLERANCE * abs(life), 1e-3))


def first_token_share(sample: Traffic, sessions: Sequence[Session]) -> float | None:
    """Of model time: a sub-agent's requests are not in it."""
    every = sample.every
    mine = (
        ok(every) & (np.nan_to_num(every["branch"]) == 0) & every.text("session").among(*{s.session for s in sessions})
    )
    waited = float(np.nansum(every["t_first_s"][mine] - every["t_sent_s"][mine]))
    streamed = float(np.nansum(every["t_last_s"][mine] - every["t_first_s"][mine]))
    return ratio(waited, waited + streamed)


def outcomes(sample: Traffic, sessions: Sequence[Session] | None = None) -> dict[str, Any]:
    """Counts of the sessions that ended inside the window, and their rate: {completed, cut, cut_after, failed,
    stopped, verified, refuted, per_hour, wall_s, turns, edits, tool_calls, check_examples}.

    cut: of the completed, those that the scenario asked to end before their plan did, after cut_after turns (the most
    that one of them had; None when none was cut): there is nothing to check. verified / refuted: the check of the
    recorded solution passed / did not; sessions without a check are in neither. wall_s: distribution of completed
    sessions that began at their first turn; a slot that began in mid-session would read as a fast one.
    """
    pool = sample.run.sessions if sessions is None else sessions
    inside = sample.window.holds(np.array([s.t_end_s for s in pool]))
    ended = [s for s, held in zip(pool, inside, strict=True) if held]
    done = [s for s in ended if s.outcome == "completed"]
    whole = [s.t_end_s - s.t_ready_s for s in done if s.start_turn == 0]
    cut = [s.end_turn - s.start_turn for s in done if s.end_turn < s.turns]
    return {
        "completed": len(done),
        "cut": len(cut),
        "cut_after": max(cut, default=None),
        "failed": sum(s.outcome == "failed" for s in ended),
        "stopped": sum(s.outcome == "stopped" for s in ended),
        "verified": sum(s.verified is True for s in done),
        "refuted": sum(s.verified is False for s in done),
        "per_hour": ratio(float(len(done)), sample.window.length_s / 3600) if sample.window.steady else None,
        "wall_s": describe(np.array(whole, dtype=np.float64)),
        "turns": sum(s.end_turn - s.start_turn for s in ended),
        "edits": sum(s.edits for s in ended),
        "tool_calls": sum(s.tool_calls for s in ended),
        "check_examples": [f"{s.session}: {s.check}" for s in done if s.verified is False][:3],
    }
