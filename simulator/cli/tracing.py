"""Recorded sessions as a run needs them: the trace read and checked before anything starts, a session planned, tools
that only answer."""

from __future__ import annotations

import asyncio
import functools
import random
from pathlib import Path

from simulator.core.plan import SessionPlan
from simulator.core.scenario import Arrival, Recording, Scenario
from simulator.drive.tools import RecordedTools
from simulator.errors import UsageError
from simulator.tasks.mix import SessionSpec
from simulator.tasks.pace import lognormal
from simulator.trace.replay import Casting, plan
from simulator.trace.shelf import Shelf, open_shelf, recorded_starts

MAX_STARTS = 4_096


@functools.lru_cache(maxsize=2)
def _shelf(path: Path, _size: int, _mtime_ns: int) -> Shelf:
    return open_shelf(path)


def shelf(path: Path) -> Shelf:
    """The trace's sessions, read anew when the file has changed. UsageError."""
    try:
        stat = path.stat()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; `trace` names a file made by `sim import`") from None
    return _shelf(path, stat.st_size, stat.st_mtime_ns)


def with_recording(scenario: Scenario, source: Path) -> Scenario:
    """The scenario with what its trace says: an absolute path, how many sessions there are, when they began. UsageError
    when they cannot be played as it asks."""
    recording = scenario.trace
    if recording is None:
        return scenario
    path = (source.parent / recording.file).resolve()
    found = shelf(path)
    fit = [p for p in found.places if p.first_prompt_tok < scenario.context_window_tok]
    if len(fit) < len(found.places):
        longest = max(p.first_prompt_tok for p in found.places)
        raise UsageError(
            f"{path}: {len(found.places) - len(fit)} of {len(found.places)} sessions begin with more than "
            f"context_window_tok {scenario.context_window_tok:,}, the longest with {longest:,} tokens; raise it, or "
            "import fewer sessions"
        )
    known = recording.model_copy(update={"file": str(path), "digest": found.digest, "total": len(found.places)})
    changes: dict[str, object] = {"trace": known}
    if scenario.arrival.kind == "recorded":
        changes["arrival"] = _starts(scenario.arrival, found)
    elif not scenario.arrival.open and recording.sessions == "once" and scenario.sessions > known.total:
        raise UsageError(
            f"{source}: `sessions` is {scenario.sessions} and {recording.file} has {known.total} to play once; lower "
            f"it, or write `trace: {{file: {recording.file}, sessions: drawn}}`"
        )
    return scenario.model_copy(update=changes)


def drawn_only(scenario: Scenario, source: Path, verb: str) -> None:
    """UsageError when recorded sessions are played once each where other numbers of agents are to be tried."""
    recording = scenario.trace
    if recording is not None and recording.sessions == "once":
        raise UsageError(
            f"{source} plays each recorded session once, and {verb} needs more of them; write "
            f"`trace: {{file: {Path(recording.file).name}, sessions: drawn}}`"
        )


def _starts(arrival: Arrival, found: Shelf) -> Arrival:
    times = recorded_starts(found)
    if times is None:
        raise UsageError(f"{found.path} does not say when each session began; give `arrival` another `kind`")
    if len(times) > MAX_STARTS and arrival.total is None:
        raise UsageError(f"{found.path} has {len(times):,} sessions; give `arrival.total`, at most {MAX_STARTS:,}")
    return Arrival(kind="trace", times_s=times[: arrival.total or MAX_STARTS], scale=arrival.scale)


def planned(spec: SessionSpec, scenario: Scenario, model: str) -> SessionPlan:
    """The plan of the session that a spec of kind "trace" stands for."""
    recording = scenario.trace
    assert recording is not None
    found = shelf(Path(recording.file))
    if found.digest != recording.digest:
        raise UsageError(f"{recording.file} was changed meanwhile; start again")
    number, copy = spec.recorded
    casting = Casting(
        name=spec.session,
        copy=copy,
        shared=found.shared,
        model=model,
        window_tok=scenario.context_window_tok,
        age=spec.age,
        max_turns=scenario.max_turns,
        pause=_Pauses(scenario, spec.seed).pause,
        took=lambda seconds: _held(seconds, recording),
        usage=scenario.usage,
    )
    made = plan(found.take(number), casting)
    if not made.turns:
        raise UsageError(
            f"{recording.file}: session {made.task_name!r} has no request that fits context_window_tok "
            f"{scenario.context_window_tok:,}; raise it"
        )
    return made


class _Pauses:
    """Recorded pauses, scaled and capped; or those that the scenario's think model draws."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        assert scenario.trace is not None
        self._think, self._recording = scenario.think, scenario.trace
        self._rng = random.Random(f"{seed}/pace")

    def pause(self, recorded_s: float) -> float:
        think = self._think
        if think.kind == "none":
            return 0.0
        if think.kind == "recorded":
            return _held(recorded_s, self._recording)
        assert think.median_s is not None and think.p90_s is not None
        return lognormal(self._rng, think.median_s, think.p90_s, think.cap_s)


def _held(seconds: float, recording: Recording) -> float:
    return round(min(seconds * recording.gap_scale, recording.gap_cap_s), 3)


class AnsweringTools(RecordedTools):
    """Tools of recorded sessions, with the life of a tool host: there is nothing to lose, end or clean up."""

    async def watch(self) -> None:
        await asyncio.Event().wait()

    def kill_commands(self) -> None:
        return None

    def kill(self) -> None:
        return None

    async def close(self) -> None:
        return None
