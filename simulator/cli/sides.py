"""Which run folders a side of a comparison means: a folder, several, a folder of them, a ladder's rung, or a label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from simulator.errors import UsageError
from simulator.store.ladder import LADDER, read_ladder
from simulator.store.manifest import MANIFEST, read_json, read_manifest

RUNS = Path("reports/runs")
LABEL = "label:"
#: how deep below a named folder runs are looked for
DEPTH = 3


def runs_of(side: str, places: Sequence[Path] = ()) -> list[Path]:
    """side: as in the command line; a comma parts several. places: where labels are looked for, besides reports/runs.
    Each folder once, in the order in which they were named. UsageError when one of them means nothing."""
    found: dict[Path, Path] = {}
    for part in (part.strip() for part in side.split(",")):
        if not part:
            raise UsageError(f"{side!r} names an empty folder; write folders with one comma between them")
        for path in _labelled(part[len(LABEL) :], places) if part.startswith(LABEL) else _meant(Path(part)):
            found.setdefault(path.resolve(), path)
    return list(found.values())


def _meant(path: Path) -> list[Path]:
    if (path / MANIFEST).exists():
        return [path]
    if path.is_dir():
        below = list(_below(path, DEPTH))
        if below:
            return below
    if not path.exists():
        if (path.parent / LADDER).exists():
            return _rung(path.parent, path.name)
        near = get_close_matches(path.name, _names(path.parent), n=1)
        meant = f"; did you mean {path.parent / near[0]}?" if near else ""
        raise UsageError(f"{path} does not exist; give a run folder, a folder of them, or {LABEL}NAME{meant}")
    read_manifest(path)  # says what is wrong with it
    return [path]


def _names(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir() if each.is_dir()] if folder.is_dir() else []


def _below(folder: Path, depth: int) -> Iterator[Path]:
    """Run folders inside a folder, by name; not those inside of runs."""
    for each in sorted(folder.iterdir()) if depth else ():
        if not each.is_dir() or each.name.startswith("."):
            continue
        if (each / MANIFEST).exists():
            yield each
        else:
            yield from _below(each, depth - 1)


def _rung(ladder: Path, name: str) -> list[Path]:
    """The runs of a rung, those left out that ended in an error."""
    rungs = {rung["name"]: rung for rung in read_ladder(ladder).get("rungs") or ()}
    if name not in rungs:
        raise UsageError(f"{ladder} is a ladder without a rung {name!r}; it has {', '.join(rungs) or 'none'}")
    repeats = rungs[name].get("repeats") or ()
    found = [ladder / each["run"] for each in repeats if each.get("run") and not each.get("error")]
    if not found:
        raise UsageError(f"rung {name!r} of {ladder} has no run without an error; run it again")
    return found


def _labelled(label: str, places: Sequence[Path]) -> list[Path]:
    where = list(dict.fromkeys((RUNS, *places)))
    labels: dict[str, list[Path]] = {}
    for place in where:
        for folder in _below(place, DEPTH) if place.is_dir() else ():
            told = read_json(folder / MANIFEST) or {}
            if told.get("label"):
                labels.setdefault(str(told["label"]), []).append(folder)
    if label in labels:
        return labels[label]
    near = get_close_matches(label, labels, n=1)
    hint = f"did you mean {LABEL}{near[0]}?" if near else "give --in DIR to look elsewhere"
    raise UsageError(f"no run with the label {label!r} in {', '.join(map(str, where))}; {hint}")
