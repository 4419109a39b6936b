"""`sim map`: two engines over a grid of shapes and requests at once, drawn, and gone on with where it was left."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from simulator.cli.map_real import cells as real_cells
from simulator.cli.map_real import kinds
from simulator.cli.outputs import Outputs
from simulator.cli.reading import opened
from simulator.cli.workers import pool
from simulator.core.grid import Cell, Shape, shapes
from simulator.core.grid_file import GridFile, Mark, parse
from simulator.core.wording import counted
from simulator.engine.embedded.config import EngineParams, find_settings, load_params
from simulator.errors import Interrupted, UsageError
from simulator.store.manifest import write_json
from simulator.view.map import as_json, document, progress
from simulator.virtual.calibration import Errors, checked
from simulator.virtual.children import unheard
from simulator.virtual.grid import speed

MAP = "map.json"
MOST_CELLS, MOST_AT_ONCE, MOST_TOK = 2_000, 4_096, 1_000_000
#: sizes of the grid, and what a program would call it
Step = tuple[Shape, int]


@dataclass(frozen=True, slots=True)
class Question:
    """a, b: emulated engines (shipped names or files), or names for two endpoints. Lists as the command line has them:
    "512,4096"."""

    a: str
    b: str
    at_once: str
    inputs: str
    outputs: str
    cached: str
    mark: Path | None = None
    out: Path | None = None
    endpoints: tuple[str, str] | None = None
    model: str | None = None


def draw(folder: Path, outputs: Outputs) -> int:
    """A map that was made before."""
    outputs.check()
    grid = parse((folder / MAP).read_bytes(), str(folder / MAP))
    outputs.give(document(grid, len(grid.measured)), as_json(grid))
    return 0


def main(question: Question, outputs: Outputs) -> int:
    outputs.check()
    try:
        grid, wanted = _made(question)
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted; {_kept(question)}") from None
    outputs.give(document(grid, wanted), as_json(grid))
    return 0


def _kept(question: Question) -> str:
    return "nothing was written" if question.out is None else f"the cells that were done are in {question.out / MAP}"


def _made(question: Question) -> tuple[GridFile, int]:
    """The whole grid, and how many cells were asked for."""
    mark = None if question.mark is None else marked(question.mark, cached=question.endpoints is None)
    steps = _steps(question, mark)
    made: Callable[[list[Step]], Iterator[Cell]]
    if question.endpoints is not None:
        grid = _begun(question, mark, emulated=False, asked=_asked(question, steps, " ".join(question.endpoints)))
        made = partial(real_cells, question)
    else:
        engines = [load_params(find_settings(each, "sim map")) for each in (question.a, question.b)]
        settings = " ".join(hashlib.sha256(each.model_dump_json().encode()).hexdigest() for each in engines)
        grid = _begun(question, mark, emulated=True, asked=_asked(question, steps, settings))
        if grid.error is None:
            grid.error = Errors.of(checked(engines), engines).ratios
        made = partial(_virtual_cells, engines, _kept(question))
    _measure(grid, steps, made, question.out)
    return grid, len(steps)


def _measure(
    grid: GridFile, steps: Sequence[Step], made: Callable[[list[Step]], Iterator[Cell]], out: Path | None
) -> None:
    known = {(cell.shape, cell.at_once) for cell in grid.cells}
    left = [step for step in steps if step not in known]
    if known and left:
        sys.stderr.write(f"{counted(len(known), 'cell is', 'cells are')} there already, {len(left)} left\n")
    for cell in made(left):
        grid.add(cell)
        if out is not None:
            if not grid.virtual:
                _kind(grid, out)
            write_json(out / MAP, grid.as_json())
        mark = "[EMULATED] " if grid.emulated else ""
        sys.stderr.write(f"{mark}{progress(cell, len(grid.measured), len(steps))}\n")


def _kind(grid: GridFile, out: Path) -> None:
    """What the engines behind the endpoints are, as their runs say."""
    grid.emulated, grid.random_weights = kinds(out)


def marked(folder: Path, *, cached: bool) -> Mark:
    """A run's own traffic: its agents', or where it had none its synthetic traffic. cached: whether shapes may have a
    cached share; else it is reduced to the tokens that were not cached."""
    run = opened(folder)
    kind = "agent" if run.summary["agent"] is not None else "synthetic"
    part = run.summary[kind]
    prompt = reply = at_once = None
    if part is not None:
        prompt, reply = part["prompt_tok"]["mean"], part["output_tok_per_request"]["mean"]
        at_once = part["in_flight_mean"]
    if part is None or not prompt or not reply or not at_once:
        raise UsageError(f"--mark {folder}: no request brought output, so its traffic has no shape; give another run")
    share = part["cached_share"]["all"] or 0.0
    if cached:
        why = f"mean prompt, reply and cached share ({100 * share:.1f} %, as that engine found it), no pauses between"
        return Mark(run=run.name, input_tok=round(prompt), output_tok=max(1, round(reply)), cached=round(share, 3),
                    at_once=at_once, why=why)  # fmt: skip
    why = f"without its {100 * share:.1f} % of cached prompt tokens, as no shape is cached here: it has more context"
    fresh = max(1, round(prompt * (1 - share)))
    return Mark(run=run.name, input_tok=fresh, output_tok=max(1, round(reply)), cached=0.0, at_once=at_once, why=why)


def _steps(question: Question, mark: Mark | None) -> list[Step]:
    columns = _numbers(question.at_once, "--concurrency", MOST_AT_ONCE)
    rows = shapes(
        _numbers(question.inputs, "--inputs", MOST_TOK),
        _numbers(question.outputs, "--outputs", MOST_TOK),
        _shares(question.cached, real=question.endpoints is not None),
    )
    if mark is not None:
        rows = sorted({*rows, mark.shape})
        columns = sorted({*columns, max(1, round(mark.at_once))})
    if len(rows) * len(columns) > MOST_CELLS:
        raise UsageError(f"{len(rows) * len(columns)} cells are more than {MOST_CELLS:,}; give shorter lists")
    return [(shape, n) for shape in rows for n in columns]


def _numbers(text: str, option: str, most: int) -> list[int]:
    try:
        found = sorted({int(part) for part in text.split(",")})
    except ValueError:
        found = []
    if not found or found[0] < 1 or found[-1] > most:
        raise UsageError(f"{option} {text}: give whole numbers from 1 to {most:,}, for example 1,16,256")
    return found


def _shares(text: str, *, real: bool) -> list[float]:
    try:
        found = sorted({float(part) for part in text.split(",")})
    except ValueError:
        found = []
    if not found or not all(0 <= each <= 0.99 for each in found):
        raise UsageError(f"--cached {text}: give shares from 0 to 0.99, for example 0,0.93")
    if real and found != [0.0]:
        raise UsageError(
            f"--cached {text}: requests to a real engine are distinct here; give --cached 0, or no endpoints"
        )
    return found


def _asked(question: Question, steps: Sequence[Step], engines: str) -> str:
    """What makes two questions the same, so that one may go on where the other was left."""
    text = f"{question.a} {question.b} {engines} {question.model} {sorted(steps)}"
    return hashlib.sha256(text.encode()).hexdigest()


def _begun(question: Question, mark: Mark | None, *, emulated: bool, asked: str) -> GridFile:
    names = [Path(each).stem if each.endswith((".yaml", ".yml")) else each for each in (question.a, question.b)]
    if names[0] == names[1]:
        raise UsageError(f"{question.a} and {question.b} have the same name; give each engine a name of its own")
    fresh = GridFile(a=names[0], b=names[1], emulated=emulated, virtual=emulated, asked=asked, mark=mark)
    if question.out is None:
        return fresh
    file = question.out / MAP
    if file.exists():
        old = parse(file.read_bytes(), str(file))
        if old.asked != asked:
            raise UsageError(
                f"--out {question.out} holds the map of another question (other engines, shapes or mark); give a new "
                "folder"
            )
        return old
    question.out.mkdir(parents=True, exist_ok=True)
    if any(question.out.iterdir()):
        raise UsageError(f"--out {question.out} is not empty and holds no {MAP}; give a new folder")
    return fresh


def _virtual_cells(engines: Sequence[EngineParams], kept: str, left: Sequence[Step]) -> Iterator[Cell]:
    """As they are done; the longest first, so that all cores have work to the end."""
    order = sorted(left, key=lambda step: -step[1] * (step[0].output_tok + step[0].input_tok / 64))
    if not order:
        return
    with pool(min(len(order), os.cpu_count() or 1), kept) as workers:
        with unheard():  # a worker is started with a task
            waiting = [workers.submit(_cell, tuple(engines), *step) for step in order]
        for future in as_completed(waiting):
            yield future.result()


def _cell(engines: tuple[EngineParams, EngineParams], shape: Shape, at_once: int) -> Cell:
    a, b = (speed(each, shape, at_once) for each in engines)
    return Cell(shape, at_once, a, b)
