"""What an oracle did in a run, out of the files that it left: its mistakes beside what became of the sessions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from simulator.core.run import RunData
from simulator.core.solution import from_line
from simulator.core.solved import judged
from simulator.core.window import traffic
from simulator.core.wording import counted
from simulator.engine.embedded.brain.mistakes import chance
from simulator.engine.embedded.brain.rates import checked
from simulator.store.manifest import ORACLE_LOG, SOLUTIONS
from simulator.store.regular import read_regular


def fillers(unknown: int, of: int) -> str:
    """`the oracle knows no solution for 2 of 8 sessions: they get filler replies`."""
    they = "it gets" if unknown == 1 else "they get"
    return f"the oracle knows no solution for {unknown:,} of {counted(of, 'session')}: {they} filler replies"


def oracle_told(run: RunData, manifest: Mapping[str, Any], folder: Path) -> dict[str, Any] | None:
    """Over the judged sessions, `sessions`: {sessions, predicted_share, predicted_sd, fatal_sessions, recoverable,
    not_as_logged}; None without an oracle of the run's own, its files, or judged sessions.

    predicted_share: of them solved, as the rates say, with its standard deviation; one whose solution is not known
    counts as lost. fatal_sessions: whose log has a mistake that leaves the task unsolved. recoverable: other mistakes.
    not_as_logged: sessions solved in spite of a fatal mistake, or lost without one. ValueError when a file holds what
    no run writes."""
    rates = (manifest.get("engine") or {}).get("oracle")
    sample = traffic(run, "agent")
    sessions = judged(sample) if sample is not None else []
    log, known = folder / ORACLE_LOG, folder / SOLUTIONS
    if rates is None or not sessions or not log.exists() or not known.exists():
        return None
    given = checked(rates, "engine.oracle of the manifest")
    chances = {each.session: chance(given, each) for each in map(from_line, _lines(known)) if not each.branch}
    names = {session.session for session in sessions}
    said = [line for line in map(orjson.loads, _lines(log)) if line["session"] in names]
    fatal = {line["session"] for line in said if line["fatal"]}
    lost = fatal | (names - chances.keys())
    likely = [chances.get(session.session, 0.0) for session in sessions]
    return {
        "sessions": len(sessions),
        "predicted_share": sum(likely) / len(likely),
        "predicted_sd": sum(p * (1 - p) for p in likely) ** 0.5 / len(likely),
        "fatal_sessions": len(fatal),
        "recoverable": sum(bool(line["mistake"]) and not line["fatal"] for line in said),
        "not_as_logged": sum((session.verified is True) == (session.session in lost) for session in sessions),
    }


def _lines(path: Path) -> Iterator[bytes]:
    """Whole ones: a run that was killed may leave half a line."""
    content = read_regular(path)
    yield from content[: content.rfind(b"\n") + 1].splitlines()
