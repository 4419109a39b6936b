"""A map's cells on real engines: each is a `sim run` of synthetic traffic of its own, one endpoint after the other."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.cli.report import folded
from simulator.core.grid import Cell, Shape
from simulator.errors import EngineError, Incomparable, UsageError
from simulator.store.folder import RunFolder

if TYPE_CHECKING:
    from simulator.cli.map import Question

#: requests of a cell: so many of each place, and at least so many in all
EACH, LEAST = 4, 64
RUNS = "runs"


def cells(question: Question, left: Sequence[tuple[Shape, int]]) -> Iterator[Cell]:
    """In turn A B, B A, so that what drifts hits both alike. A run that is whole already is read and not repeated."""
    if question.out is None:
        raise UsageError("--endpoint-a and --endpoint-b: give --out, too: each cell leaves its runs there")
    for n, (shape, at_once) in enumerate(left):
        found: dict[int, float | None] = {}
        for side in (0, 1) if n % 2 == 0 else (1, 0):
            found[side] = _side(question, question.out, side, shape, at_once)
        yield Cell(shape, at_once, found[0], found[1])


def _side(question: Question, out: Path, side: int, shape: Shape, at_once: int) -> float | None:
    assert question.endpoints is not None
    name = f"{shape.input_tok}-{shape.output_tok}-{at_once}-{'ab'[side]}"
    folder = out / RUNS / name
    if not _whole(folder):
        scenario = out / RUNS / f"{name}.yaml"
        scenario.parent.mkdir(parents=True, exist_ok=True)
        scenario.write_text(_scenario(shape, at_once))
        target = ["--endpoint", question.endpoints[side]] + (["--model", question.model] if question.model else [])
        attempt = _free(folder)
        command = [sys.executable, "-m", "simulator.cli.main", "run", str(scenario), "--plain", "--out", str(attempt),
                   "--label", (question.a, question.b)[side], *target]  # fmt: skip
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode == 130:
            raise KeyboardInterrupt
        if done.returncode or not _whole(attempt):
            said = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[-1]
            raise EngineError(f"{'AB'[side]}, {shape.told()} at {at_once}: {said.removeprefix('sim: ')}")
        attempt.rename(folder)
    part = folded(folder)[0].get("synthetic") or {}
    speed = part.get("output_tok_s")
    return float(speed) if isinstance(speed, int | float) and speed > 0 else None


def kinds(out: Path) -> tuple[bool, bool]:
    """(emulated, random weights) of all engines that were measured. Incomparable when they are of two kinds or serve
    two models."""
    runs = [RunFolder.open(each).manifest.get("engine") or {} for each in (out / RUNS).iterdir() if _whole(each)]
    for fact, what in (("kind", "kinds of engine"), ("model", "models")):
        seen = sorted({str(run.get(fact)) for run in runs if run.get(fact)})
        if len(seen) > 1:
            raise Incomparable(
                f"the endpoints serve two {what} ({' and '.join(seen)}), so no map can set one against the other; give "
                "two of one"
            )
    return any(run.get("kind") == "emulated" for run in runs), any(run.get("random_weights") is True for run in runs)


def _whole(folder: Path) -> bool:
    return (folder / "summary.json").exists() and RunFolder.open(folder).ended


def _free(folder: Path) -> Path:
    """A place for an attempt; what an earlier one left half done stays beside it."""
    n = 0
    while (place := folder.with_name(f"{folder.name}.attempt-{n}")).exists():
        n += 1
    return place


def _scenario(shape: Shape, at_once: int) -> str:
    requests = max(EACH * at_once, LEAST)
    return (
        f"name: map_{shape.input_tok}_{shape.output_tok}_{at_once}\nseed: 1\nsessions: 0\ntime_limit_s: 900\n"
        f"synthetic: {{input_tok: {shape.input_tok}, output_tok: {shape.output_tok}, concurrency: {at_once}, "
        f"requests: {requests}, warmup_requests: {min(at_once, 8)}}}\n"
    )
