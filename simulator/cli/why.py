"""`sim why`: opens two runs, splits their throughput ratio, says what made it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simulator.cli.outputs import Outputs
from simulator.cli.reading import Opened, opened
from simulator.cli.sides import runs_of
from simulator.core.compare.same import apart
from simulator.core.run import KINDS
from simulator.core.why.split import Split, split
from simulator.errors import Incomparable, UsageError
from simulator.view.why import Side, as_json, document

TRAFFIC = {"agents": ("agent",), "synthetic": ("synthetic",), "both": KINDS}


def main(a: Path, b: Path, traffic: str, outputs: Outputs) -> int:
    if traffic not in TRAFFIC:
        raise UsageError(f"--traffic {traffic}: give one of {', '.join(TRAFFIC)}")
    outputs.check()
    one, other = opened(_one(a)), opened(_one(b))
    apart([one.same], [other.same])
    same_kind(one, other)
    splits = [found for kind in TRAFFIC[traffic] if (found := _split(kind, one, other, asked=traffic != "both"))]
    if not splits:
        raise UsageError(f"{a} and {b} have no traffic in common that brought output; give two runs of one scenario")
    sides = Side(one.name, one.manifest, one.summary), Side(other.name, other.manifest, other.summary)
    if one.name == other.name:
        sides = Side("A", one.manifest, one.summary), Side("B", other.manifest, other.summary)
    outputs.give(document(splits, *sides), as_json(splits, *sides))
    return 0


def _one(side: Path) -> Path:
    """A side as `sim diff` takes it, which must mean one run."""
    found = runs_of(str(side))
    if len(found) > 1:
        some = ", ".join(map(str, found[:4])) + ", ..." * (len(found) > 4)
        raise UsageError(f"{side} means {len(found)} runs, and one run is split against one; give one of {some}")
    return found[0]


def _split(kind: str, one: Opened, other: Opened, *, asked: bool) -> Split | None:
    parts = [each.measured(kind) for each in (one, other)]
    for each, part in zip((one, other), parts, strict=True):
        if asked and (part is None or part.output_tok_s is None):
            raise UsageError(
                f"{each.path} has no {'agent' if kind == 'agent' else 'synthetic'} request that brought output, so "
                "there is nothing to split; choose another --traffic or another run"
            )
    a, b = parts
    return split(kind, a, b) if a is not None and b is not None else None


def same_kind(one: Opened, other: Opened) -> None:
    """Incomparable where a ratio would say nothing: another model, or an emulation beside a real engine."""
    for fact, what in (("model", "models"), ("kind", "kinds of engine")):
        a, b = (_engine(each.manifest).get(fact) for each in (one, other))
        if a != b and a and b:
            raise Incomparable(
                f"{one.path} and {other.path} are of two {what} ({a} and {b}), so no factor of theirs can be set "
                "against the other's; give two runs of one"
            )
    modes = [str(each.manifest.get("mode") or "replay") for each in (one, other)]
    if modes[0] != modes[1]:
        raise Incomparable(
            f"{one.path} is {modes[0]} and {other.path} is {modes[1]}, which is other work; give two of one"
        )


def _engine(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    engine = manifest.get("engine")
    return engine if isinstance(engine, Mapping) else {}
