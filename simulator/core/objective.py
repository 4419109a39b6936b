"""Service level objectives as people write them: `ttft_p95<2s, tpot_p95<50ms, error_share<1%`.

An objective is METRIC_pNN or METRIC_mean of a latency, with < and a unit (s, ms, us); or `error_share<1%`, or
`goodput>0.95`, the share of requests that meet the scenario's own `slo`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simulator.core.stats import P99_NEEDS, QUANTILES
from simulator.errors import UsageError

LATENCIES = (
    "ttft",
    "ttft_answer",
    "ttft_from_due",
    "tpot",
    "itl",
    "icl",
    "e2el",
    "e2el_from_due",
    "turn_latency",
    "client_queue",
)
SHARES = {"goodput": ">", "error_share": "<"}
STATS = (*QUANTILES, "mean")
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6}
#: a scenario's `slo` block -> the objective that asks the same of nearly all requests
BLOCK = {"ttft_s": "ttft_p95", "tpot_s": "tpot_p95", "e2el_s": "e2el_p95", "turn_s": "turn_latency_p95"}
_FORM = re.compile(
    r"^(?P<name>[A-Za-z0-9_]+)\s*(?P<sign><=|>=|<|>|=)\s*(?P<number>[0-9.eE+-]+)\s*(?P<unit>[A-Za-zµ%]*)$"
)


@dataclass(frozen=True, slots=True)
class Objective:
    """name: as it was written, e.g. "ttft_p95". limit: seconds for a latency, else a share of 1."""

    name: str
    path: tuple[str, ...]
    unit: str
    above: bool
    limit: float

    def value(self, part: Mapping[str, Any]) -> float | None:
        """What a traffic part of a summary says; None where nothing succeeded that could have it. UsageError where the
        run is too short for it."""
        if self.name == "error_share":
            sent = part["requests"]["sent"]
            return part["requests"]["failed"] / sent if sent else None
        found: Any = part
        for key in self.path:
            found = None if found is None else found[key]
        if found is None and part["requests"]["ok"]:
            raise UsageError(f"{self.name} is undefined: {self._why(part)}")
        return None if found is None else float(found)

    def met(self, value: float | None) -> bool:
        """Without a value (nothing succeeded) it is not met."""
        return value is not None and (value > self.limit if self.above else value < self.limit)

    def _why(self, part: Mapping[str, Any]) -> str:
        if self.path[-1] == "p99":
            n = part["requests"]["sent"]
            return f"p99 needs {P99_NEEDS:,} requests and the window had {n:,}; ask for p95, or lengthen --window"
        if self.name == "goodput":
            return "the scenario states no objectives of its own; give it an `slo` block"
        return "no reply in the window was long enough to have one; lengthen --window"


def parse_slo(text: str) -> tuple[Objective, ...]:
    """Objectives, separated by commas. UsageError, a sentence that names the one at fault."""
    parts = [part.strip() for part in text.split(",")]
    found = tuple(_parse(part) for part in parts if part)
    if not found:
        raise UsageError("--slo is empty; write for example --slo 'ttft_p95<2s,tpot_p95<50ms'")
    names = [objective.name for objective in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise UsageError(f"--slo: {twice} is given twice; keep one")
    return found


def from_block(slo: Mapping[str, float]) -> tuple[Objective, ...]:
    """Of a scenario's `slo` block, each for 95 % of the requests; () when it states none."""
    return tuple(_parse(f"{BLOCK[key]}<{limit:g}s") for key, limit in slo.items() if key in BLOCK)


def to_block(objectives: Sequence[Objective]) -> dict[str, float]:
    """The reverse of from_block. UsageError for an objective that no limit on each single request stands for."""
    keys = {name: key for key, name in BLOCK.items()}
    for each in objectives:
        if each.name not in keys:
            raise UsageError(
                f"--slo: {each.name} is no limit for a single request, which goodput counts; use some of "
                f"{', '.join(f'{name}<...' for name in keys)}"
            )
    return {keys[each.name]: each.limit for each in objectives}


def _parse(text: str) -> Objective:
    form = _FORM.match(text)
    if form is None:
        raise UsageError(f"--slo: `{text}` is no objective; write METRIC_pNN<LIMIT with a unit, like ttft_p95<2s")
    name, sign, unit = form["name"].lower(), form["sign"], form["unit"]
    if sign == "=" and name in BLOCK:
        raise UsageError(f"--slo: `{text}`: objectives read {BLOCK[name]}<{form['number']}s here")
    if sign not in "<>":
        raise UsageError(f"--slo: `{text}`: write < or >, not {sign}")
    try:
        number = float(form["number"])
    except ValueError:
        raise UsageError(f"--slo: `{text}`: `{form['number']}` is no number") from None
    return _share(text, name, sign, number, unit) if name in SHARES else _latency(text, name, sign, number, unit)


def _share(text: str, name: str, sign: str, number: float, unit: str) -> Objective:
    if sign != SHARES[name]:
        raise UsageError(f"--slo: `{text}`: {name} is kept {'above' if SHARES[name] == '>' else 'below'} a limit")
    if unit not in ("", "%"):
        raise UsageError(f"--slo: `{text}`: {name} is a share, like 0.95 or 95%, and has no unit {unit}")
    limit = number / 100 if unit == "%" else number
    if not 0 <= limit <= 1:
        raise UsageError(f"--slo: `{text}`: a share lies between 0 and 1, or 0% and 100%")
    return Objective(name, (name, "share"), "share", sign == ">", limit)


def _latency(text: str, name: str, sign: str, number: float, unit: str) -> Objective:
    metric, _, stat = name.rpartition("_")
    if metric not in LATENCIES and name not in LATENCIES:
        known = [f"{each}_p95" for each in LATENCIES] + list(SHARES)
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join((*LATENCIES, *SHARES))}"
        raise UsageError(f"--slo: `{text}`: there is no metric {name}; {hint}")
    if metric not in LATENCIES or stat not in STATS:
        asked = name if metric not in LATENCIES else metric
        raise UsageError(f"--slo: `{text}`: say which statistic of {asked}: {', '.join(f'{asked}_{s}' for s in STATS)}")
    if sign != "<":
        raise UsageError(f"--slo: `{text}`: a latency is kept below a limit; write {name}<...")
    if unit not in UNITS:
        raise UsageError(f"--slo: `{text}`: give the limit a unit, s, ms or us, like {name}<{number:g}s")
    if not 0 < number < float("inf"):
        raise UsageError(f"--slo: `{text}`: the limit must be above 0")
    return Objective(name, (f"{metric}_s", stat), "s", False, number * UNITS[unit])
