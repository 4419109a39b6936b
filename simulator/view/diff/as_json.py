"""A comparison for programs: every run's values, so that nobody has to take our statistics on trust."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from simulator.core.compare.comparable import OneRun, kind_of
from simulator.core.compare.comparison import Comparison, Row
from simulator.core.compare.rows import spelling
from simulator.core.compare.solving import Solving
from simulator.view.diff import words

SCHEMA = 1


def as_json(found: Comparison) -> dict[str, Any]:
    """{schema, verdict, headline, marks, solved, primary, a, b, pairs, order, traffic, reasons, notes, settings}."""
    row = found.primary
    return {
        "schema": SCHEMA,
        "verdict": str(found.word),
        "headline": words.headline(found),
        "marks": words.marks(found),
        "solved": _solving(found.solving),
        "primary": {"traffic": found.kind, **_row(row)} if row is not None else None,
        "a": [_run(run) for run in found.a],
        "b": [_run(run) for run in found.b],
        "pairs": [{"a": a.name, "b": b.name, "seed": a.manifest.get("seed")} for a, b in found.pairs],
        "order": asdict(found.order),
        "within_run_intervals": found.one_pair,
        "traffic": {
            part.kind: {
                "incomparable": list(part.reasons),
                "client_limited": list(part.limited),
                "metrics": {spelling(row.metric): _row(row) for row in part.rows},
            }
            for part in found.parts
        },
        "reasons": [{**asdict(each), "allowed": each.aspect in found.question.allowed} for each in found.reasons],
        "notes": list(found.notes),
        "settings": [asdict(each) for each in found.settings],
    }


def _solving(found: Solving | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {**asdict(found), "n": found.n, "shares": list(found.shares), "word": str(found.word)}


def _run(run: OneRun) -> dict[str, Any]:
    return {
        "run": run.name,
        "path": run.path,
        "label": run.manifest.get("label"),
        "seed": run.manifest.get("seed"),
        "t0_unix_s": run.manifest.get("t0_unix_s"),
        "engine_kind": kind_of(run),
        "model": run.engine.get("model"),
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "label": row.metric.label,
        "unit": row.metric.unit,
        "better": row.metric.better or None,
        "a": row.a,
        "b": row.b,
        "values": [list(pair) for pair in row.values],
        "statistics": None if row.found is None else asdict(row.found),
        "margin": row.margin,
        "p_holm": row.p_adjusted,
        "verdict": None if row.word is None else str(row.word),
        "more": None if row.more is None else asdict(row.more),
    }
