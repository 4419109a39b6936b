"""One load that was tried: what its summary says to the objectives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simulator.core.arrived import OVERLOADED
from simulator.core.certify import LIMITED
from simulator.core.objective import Objective
from simulator.core.saturation import CLIENT, MET, MISSED, Trial


@dataclass(frozen=True, slots=True)
class Probe:
    """point: agents, or sessions a second. folder: its run folder's name. output_tok_s, in_flight: means of the window.
    values: objective name -> the figure, None where nothing succeeded. client: the client's verdict on itself. why:
    what the outcome rests on, one phrase."""

    point: float
    folder: str
    outcome: str
    output_tok_s: float | None
    in_flight: float | None
    values: Mapping[str, float | None]
    client: str
    why: str

    @property
    def trial(self) -> Trial:
        return Trial(self.point, self.outcome)


def judge(point: float, folder: str, summary: Mapping[str, Any], objectives: Sequence[Objective]) -> Probe:
    """UsageError when the run cannot say whether an objective was met. A load that never came to its window, or whose
    arrivals outran the engine, has not met them, whatever its percentiles say; one that met them although sessions
    failed says so."""
    part, client = summary["agent"], summary["client"]
    if part is None:
        return Probe(point, folder, MISSED, None, None, {}, client["verdict"], "no request was recorded")
    limited = client["verdict"] == LIMITED
    steady = part["window"]["steady"]
    values = {o.name: o.value(part) for o in objectives} if steady and not limited else _where_known(part, objectives)
    arrival = part["arrival"] or {}
    missed = [o.name for o in objectives if not o.met(values[o.name])]
    if limited:
        outcome, why = CLIENT, "; ".join(client["reasons"])
    elif not steady:
        outcome, why = MISSED, "the window never opened"
    elif arrival.get("state") == OVERLOADED:
        outcome, why = MISSED, "overloaded: no steady state"
    elif missed:
        outcome, why = MISSED, ", ".join(missed)
    else:
        outcome, why = MET, _gave_up(part["sessions"])
    return Probe(point, folder, outcome, part["output_tok_s"], part["in_flight_mean"], values, client["verdict"], why)


def _gave_up(sessions: Mapping[str, Any]) -> str:
    """What a met load is marked with when part of it was not carried out to its end; "" when all of it was."""
    failed = sessions["failed"]
    return f"but {failed} session{'s' * (failed != 1)} failed" if failed else ""


def _where_known(part: Mapping[str, Any], objectives: Sequence[Objective]) -> dict[str, float | None]:
    """Figures for the table of a run that nothing is concluded from."""
    nothing = {**part, "requests": {**part["requests"], "ok": 0}}
    return {o.name: o.value(nothing) for o in objectives}
