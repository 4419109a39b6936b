"""Runs as rows of a list: who ran what, when and how fast; chosen and grouped. What a manifest or a summary lacks, or
holds in another form, is None or ""."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from simulator.core.choice.headline import Headline
from simulator.core.metric import OUTPUT, Metric, value

TURN_P50 = Metric("turn latency p50", ("turn_latency_s", "p50"), "s")
#: seconds since 1970 that a calendar can show
_LAST_S = 253_402_300_799.0


@dataclass(frozen=True, slots=True)
class Engine:
    """kind: "real", "emulated" or "unknown". config: the configuration it was started from, or the emulated engine's
    settings. version, model: as it told them."""

    kind: str = "unknown"
    config: str = ""
    version: str = ""
    model: str = ""
    random_weights: bool = False

    def told(self) -> str:
        """`EMULATED top`, `random weights 0.25.1 mtp3`, `real 0.33.0`: what must not be overlooked comes first."""
        kind = "EMULATED" if self.kind == "emulated" else "random weights" if self.random_weights else self.kind
        what = " ".join(part for part in (self.version, self.config) if part) or self.model
        return f"{kind} {what}".strip()


@dataclass(frozen=True, slots=True)
class Row:
    """A run. began_s: Unix seconds, when its command was given; of a run from before that was kept, when its clock
    began, after planning. note: what is to be known before it is used: killed, stopped, not folded."""

    path: str
    began_s: float | None
    label: str
    scenario: str
    engine: Engine
    agents_tok_s: float | None
    synthetic_tok_s: float | None
    turn_p50_s: float | None
    client: str
    note: str
    group: str = ""
    made_by: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Runs of one search or ladder, newest first, and what it found: a sentence, or a ladder's figures. began_s: when
    its command was given or, where that is not known, its first run began."""

    path: str
    made_by: str
    runs: tuple[Row, ...]
    said: str | Headline = ""
    began_s: float | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Patterns with * and ?, capitals alike; "" takes all. engine: one that its kind, version, configuration or model
    must match."""

    label: str = ""
    scenario: str = ""
    engine: str = ""

    def takes(self, row: Row) -> bool:
        engine = row.engine
        told = (engine.kind, engine.config, engine.version, engine.model)
        return (
            _like(row.label, self.label)
            and _like(row.scenario, self.scenario)
            and any(_like(each, self.engine) for each in told)
        )


def _like(text: str, pattern: str) -> bool:
    return not pattern or fnmatchcase(text.lower(), pattern.lower())


def row_of(
    path: str, manifest: Mapping[str, Any], summary: Mapping[str, Any] | None, group: str = "", made_by: str = ""
) -> Row:
    folded = summary or {}
    began = (dated(manifest.get(key)) for key in ("asked_unix_s", "t0_unix_s"))
    agents, synthetic = (_mapping(folded.get(kind)) for kind in ("agent", "synthetic"))
    return Row(
        path=path,
        began_s=next((each for each in began if each is not None), None),
        label=_text(manifest.get("label")),
        scenario=_text(manifest.get("scenario_name")),
        engine=_engine(_mapping(manifest.get("engine"))),
        agents_tok_s=_finite(value(agents, OUTPUT)),
        synthetic_tok_s=_finite(value(synthetic, OUTPUT)),
        turn_p50_s=_finite(value(agents, TURN_P50)),
        client=_text(_mapping(folded.get("client")).get("verdict")),
        note=_note(manifest, summary),
        group=group,
        made_by=made_by,
    )


def _engine(said: Mapping[str, Any]) -> Engine:
    settings = _text(said.get("params")).rpartition("/")[2].removesuffix(".yaml")
    return Engine(
        kind=_text(said.get("kind")) or "unknown",
        config=_text(said.get("config")) or settings,
        version=_text(said.get("version")),
        model=_text(said.get("model")),
        random_weights=said.get("random_weights") is True,
    )


def _note(manifest: Mapping[str, Any], summary: Mapping[str, Any] | None) -> str:
    stopped = _text(manifest.get("stopped"))
    notes = ["killed, or still going on"] if "ended" not in manifest else [f"stopped: {stopped}"] if stopped else []
    notes += ["another engine at its end"] if manifest.get("engine_changed") else []
    if manifest.get("mode") == "live":
        notes.insert(0, "live")
    if summary is None:
        notes.append("not folded, see `sim report`")
    elif summary.get("agent") is None and summary.get("synthetic") is None:
        notes.append("no request was recorded")
    return "; ".join(notes)


def _mapping(found: Any) -> Mapping[str, Any]:
    return found if isinstance(found, Mapping) else {}


def _text(found: Any) -> str:
    return found if isinstance(found, str) else ""


def dated(found: Any) -> float | None:
    """Seconds since 1970 that a calendar can show."""
    return found if isinstance(found, int | float) and 0 <= found <= _LAST_S else None


def _finite(found: float | None) -> float | None:
    return found if found is not None and math.isfinite(found) else None


def arrange(
    rows: Sequence[Row], said: Mapping[str, str | Headline], began: Mapping[str, float | None] | None = None
) -> list[Row | Group]:
    """Newest first, runs of one search or ladder as one Group where its newest run would stand. said: group path ->
    what it found; began: when its command was given."""
    ordered = sorted(rows, key=lambda row: (-(row.began_s or 0.0), row.path))
    together: dict[str, list[Row]] = {}
    for row in ordered:
        if row.group:
            together.setdefault(row.group, []).append(row)
    found: list[Row | Group] = []
    for row in ordered:
        if not row.group:
            found.append(row)
        elif row.group in together:
            runs = tuple(together.pop(row.group))
            first = min((run.began_s for run in runs if run.began_s is not None), default=None)
            first = (began or {}).get(row.group) or first
            found.append(Group(row.group, row.made_by, runs, said.get(row.group, ""), first))
    return found
