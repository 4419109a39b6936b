"""`sim export`: the records of one or several runs as CSV or Parquet, for other people's tools."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from simulator.core.wording import counted
from simulator.errors import UsageError
from simulator.store.arrow import SOURCES, Identity, batches, schema
from simulator.store.export import FORMATS, writing
from simulator.store.folder import RunFolder
from simulator.store.ladder_runs import is_ladder, ladder_runs
from simulator.store.writer import CHUNKS
from simulator.view.format import count


@dataclass(frozen=True, slots=True)
class Question:
    """folders: of runs, and of ladders, which are all their runs. out: a file (by its ending) or a folder. form "": by
    out's ending, else Parquet."""

    folders: tuple[Path, ...]
    out: Path
    form: str
    what: str


def main(question: Question) -> int:
    wanted = _wanted(question.what)
    form, files = _files(question, wanted)
    stood = _stood(question.folders)
    places = list(stood)
    opened = zip(places, _names(places), strict=True)  # one that is no run is told before anything is written
    who = [replace(Identity.of(name, RunFolder.open(each).manifest), **stood[each]) for each, name in opened]
    damage: dict[Path, int] = {}
    for what in wanted:
        rows = _export(files[what], form, what, places, who, damage)
        print(f"{_mark(who)}{files[what]}: {count(rows)} rows of {len(schema(what))} columns", flush=True)
    if len({(each.engine_kind, each.random_weights) for each in who}) > 1:
        print("these runs are of several kinds: tell them apart by the columns engine_kind and random_weights")
    for path, lost in damage.items():
        if lost:
            print(f"{path}: {count(lost)} damaged and left out")
    without = [name for place, name in zip(places, _names(places), strict=True) if not _has_chunks(place)]
    if "chunks" in wanted and without:
        print(f"{counted(len(without), 'run')} kept no {CHUNKS}, so there are no chunk rows of: {', '.join(without)}")
    return 0


def _has_chunks(place: Path) -> bool:
    """A published run may have left them out; that is no damage."""
    return any((place / name).exists() for name in (CHUNKS, f"{CHUNKS}.gz"))


def _stood(folders: Sequence[Path]) -> dict[Path, dict[str, str | int | None]]:
    """Run folder -> its place in its ladder, {} of a run that was named itself. Runs that a ladder has no folder of any
    more are told."""
    found: dict[Path, dict[str, str | int | None]] = {}
    for folder in folders:
        if not is_ladder(folder):
            found.setdefault(folder, {})
            continue
        runs = ladder_runs(folder)
        gone = [each for each in runs if not each.here]
        if len(gone) == len(runs):
            raise UsageError(f"{folder}: no run of this ladder is here ({len(runs)} are named), so there are no rows")
        if gone:
            names = ", ".join(each.path.name for each in gone[:3]) + ", ..." * (len(gone) > 3)
            print(f"{folder}: {len(gone)} of {counted(len(runs), 'run')} not here and left out: {names}")
        found |= {
            each.path: {"rung": each.rung, "pair": each.pair, "concurrency": each.concurrency}
            for each in runs
            if each.here
        }
    return found


def _wanted(what: str) -> list[str]:
    names = [part.strip() for part in what.split(",") if part.strip()]
    if names == ["all"]:
        return list(SOURCES)
    for name in names:
        if name not in SOURCES:
            near = difflib.get_close_matches(name, SOURCES, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise UsageError(f"--what {name}: {hint}give some of {', '.join(SOURCES)}, separated by commas, or all")
    if not names:
        raise UsageError(f"--what is empty; give some of {', '.join(SOURCES)}, or all")
    return list(dict.fromkeys(names))


def _files(question: Question, wanted: Sequence[str]) -> tuple[str, dict[str, Path]]:
    """The format, and where each part goes."""
    out, ending = question.out, question.out.suffix.lower().removeprefix(".")
    form = question.form or (ending if ending in FORMATS else "parquet")
    if form not in FORMATS:
        raise UsageError(f"--format {form}: give csv or parquet")
    if ending not in FORMATS or out.is_dir():
        return form, {what: out / f"{what}.{form}" for what in wanted}
    if ending != form:
        raise UsageError(f"-o {out} ends in .{ending} and --format says {form}; make them the same")
    if len(wanted) > 1:
        raise UsageError(f"-o {out} is one file and --what names {len(wanted)} parts; give a folder")
    return form, {wanted[0]: out}


def _names(places: Sequence[Path]) -> list[str]:
    """The folders' own names; where two are the same, what the user called them."""
    names = [place.resolve().name for place in places]
    return [str(place) if names.count(name) > 1 else name for place, name in zip(places, names, strict=True)]


def _mark(who: Sequence[Identity]) -> str:
    emulated = any(each.engine_kind == "EMULATED" for each in who)
    random = any(each.random_weights for each in who)
    marks = ["EMULATED"] * emulated + ["random weights"] * random
    return f"[{', '.join(marks)}] " if marks else ""


def _export(
    path: Path, form: str, what: str, places: Sequence[Path], who: Sequence[Identity], damage: dict[Path, int]
) -> int:
    """How many rows were written. damage: is told what could not be read, file -> lines or requests."""
    kinds = ", ".join(sorted({each.engine_kind for each in who}))
    rows = 0
    with writing(path, form, what, {"made_by": "sim export", "what": what, "engine_kind": kinds}) as put:
        for place, name in zip(places, who, strict=True):
            if what == "chunks" and not _has_chunks(place):
                continue
            run = RunFolder.open(place)
            for batch in batches(run, what, name):
                put(batch)
                rows += batch.num_rows
            damage |= {place / file: lost for file, lost in run.damage.items()}
    return rows
