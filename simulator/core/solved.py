"""What live sessions came to: tasks solved, and why the others were not. Plain counts; a replay solves nothing, since
its sessions carry out what was recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simulator.core.record import FAILURES, Session
from simulator.core.stats import describe, ratio
from simulator.core.table import Floats, Table
from simulator.core.window import Traffic


def solved(sample: Traffic, sessions: Sequence[Session] | None = None) -> dict[str, Any]:
    """Over the sessions that ended inside the window and whose check was asked: {judged, solved, share, unjudged,
    failures, turns, prompt_tok, output_tok, on_path, diverged_turn, recorded_share, by_kind, by_size, by_profile}.

    unjudged: ended with the run, or by a fault of ours, so nobody knows. failures: count by core.record.FAILURES, those
    that happened. turns: distribution of replies a session; prompt_tok, output_tok: of tokens a session, all its
    requests and its sub-agents' together, as far as the server said. on_path: sessions that made the recorded calls and
    no others, of those with a recording, `recorded`. diverged_turn: of the others. recorded_share: of the recorded
    calls, how many a session made.
    by_...: name -> {judged, solved}.
    """
    ended = _ended(sample, sample.run.sessions if sessions is None else sessions)
    told = [s for s in ended if s.verified is not None]
    good = sum(s.verified is True for s in told)
    failures = Counter(s.failure_class or "wrong_answer" for s in told if s.verified is False)
    recorded = [s for s in told if s.recorded_share is not None]
    astray = [float(s.diverged_turn) for s in recorded if s.diverged_turn is not None]
    return {
        "judged": len(told),
        "solved": good,
        "share": ratio(float(good), float(len(told))),
        "unjudged": len(ended) - len(told),
        "failures": {name: failures[name] for name in FAILURES if failures[name]},
        "turns": describe(_each(told, lambda s: float(s.end_turn))),
        "prompt_tok": describe(_spent(told, sample.run.requests, "prompt_tok")),
        "output_tok": describe(_spent(told, sample.run.requests, "output_tok")),
        "recorded": len(recorded),
        "on_path": len(recorded) - len(astray),
        "diverged_turn": describe(np.array(astray, dtype=np.float64)),
        "recorded_share": describe(_each(recorded, lambda s: s.recorded_share or 0.0)),
        "by_kind": _by(told, lambda s: s.task_kind),
        "by_size": _by(told, lambda s: s.task_size),
        "by_profile": _by(told, lambda s: s.profile),
    }


def judged(sample: Traffic) -> list[Session]:
    """The sessions that `solved` judges."""
    return [s for s in _ended(sample, sample.run.sessions) if s.verified is not None]


def _ended(sample: Traffic, sessions: Sequence[Session]) -> list[Session]:
    inside = sample.window.holds(np.array([s.t_end_s for s in sessions], dtype=np.float64))
    return [s for s, held in zip(sessions, inside, strict=True) if held]


def _each(sessions: Sequence[Session], figure: Callable[[Session], float]) -> Floats:
    return np.array([figure(s) for s in sessions], dtype=np.float64)


def _spent(sessions: Sequence[Session], requests: Table, column: str) -> Floats:
    """Tokens of each session's requests; shape (sessions,). 0 where the server told of none."""
    names = requests.text("session")
    sums = np.bincount(names.codes, weights=np.nan_to_num(requests[column]), minlength=len(names.names))
    total = dict(zip(names.names, sums, strict=False))
    return np.array([total.get(s.session, 0.0) for s in sessions], dtype=np.float64)


def _by(sessions: Sequence[Session], name: Callable[[Session], str]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for session in sorted(sessions, key=name):
        row = found.setdefault(name(session), {"judged": 0, "solved": 0})
        row["judged"] += 1
        row["solved"] += session.verified is True
    return found
