"""`sim diff`: two sides of runs, compared, told and judged."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from simulator.cli.foreign import is_file
from simulator.cli.report import current
from simulator.cli.screen import whole_lines
from simulator.cli.sides import runs_of
from simulator.core.compare.comparable import ALLOWABLE, LIVE, OneRun
from simulator.core.compare.comparison import Comparison, Question, begun, compare
from simulator.core.compare.delivered import delivered
from simulator.core.compare.pairing import paired
from simulator.core.compare.rows import METRICS, find
from simulator.core.compare.same import Identity, alike, apart, distinct, identity
from simulator.core.compare.solving import Tasks, checked
from simulator.core.compare.verdict import Verdict
from simulator.core.compare.within import within
from simulator.core.metric import OUTPUT, SOLVED_HOUR, Metric
from simulator.core.quality import quality_of
from simulator.core.run import KINDS
from simulator.core.solved import judged
from simulator.core.summary import SCHEMA
from simulator.core.window import traffic
from simulator.errors import Incomparable, UsageError
from simulator.store.folder import Run, RunFolder
from simulator.store.manifest import write_json, write_whole
from simulator.store.source import DIGEST
from simulator.store.writer import RECORDS
from simulator.view.diff.terminal import terminal

FAIL_ON = ("regression", "worse", "inconclusive", "never")
#: how a kind of traffic is named before a metric
PREFIX = {"agent": "agent", "agents": "agent", "synthetic": "synthetic"}
#: verdicts without which `--fail-on inconclusive` fails
GOOD = (Verdict.BETTER, Verdict.EQUIVALENT)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line said."""

    a: str
    b: str
    primary: str | None = None
    fail_on: str = "regression"
    equivalence: str | None = None
    allow: tuple[str, ...] = ()
    places: tuple[Path, ...] = ()
    every: bool = False
    md: Path | None = None
    html: Path | None = None
    json: Path | None = None


def main(asked: Asked) -> int:
    """The exit code: 1 for what --fail-on names, 4 when no verdict may be drawn."""
    if asked.fail_on not in FAIL_ON:
        raise UsageError(f"--fail-on {asked.fail_on}: one of {', '.join(FAIL_ON)}")
    if is_file(asked.a) or is_file(asked.b):
        return _beside_another_tool(asked)
    question = _question(asked)
    sides, said = _sides(asked, question)
    if asked.primary is None and all(run.live for side in sides for run in side):
        question = replace(question, primary=SOLVED_HOUR)
    try:
        found = compare(*sides, question, said)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
        raise UsageError(
            f"a summary.json of {asked.a} or {asked.b} holds values that no run writes ({type(error).__name__}); "
            "`sim report DIR` makes it again"
        ) from None
    if found.question.kind and found.question.kind not in [part.kind for part in found.parts]:
        raise Incomparable(f"--primary {asked.primary}: that kind of traffic was not sent by all of the runs")
    whole_lines().print(terminal(found, short=not asked.every))
    _write(asked, found)
    return exit_code(found, asked.fail_on)


def _beside_another_tool(asked: Asked) -> int:
    from simulator.cli import foreign

    before, colon, name = (asked.primary or OUTPUT.label).rpartition(":")
    if colon and before.strip().lower() not in PREFIX:
        raise UsageError(f"--primary {asked.primary}: before the colon stands agents or synthetic")
    kind = PREFIX[before.strip().lower()] if colon else ""
    margin = None if asked.equivalence is None else _share(asked.equivalence)
    sides = foreign.Sides(asked.a, asked.b, kind, margin, frozenset(_allowed(asked.allow)), asked.places)
    found = foreign.measured(sides, foreign.find(name))
    foreign.show(found, asked.md, asked.html, asked.json)
    return foreign.exit_code(found, asked.fail_on)


def exit_code(found: Comparison, fail_on: str) -> int:
    """incomparable and client-limited: 4, since nothing was shown; of any metric where every one is asked about. A
    solved share counts as a metric of its own."""
    share = found.solving.word if found.solving is not None else None
    if found.word in (Verdict.INCOMPARABLE, Verdict.CLIENT_LIMITED):
        return Incomparable.exit_code
    rows = [row for part in found.parts for row in part.rows]
    if fail_on == "worse" and any(row.word is Verdict.INCOMPARABLE for row in rows):
        return Incomparable.exit_code
    bad = {
        "never": False,
        "regression": found.word is Verdict.WORSE,
        "worse": Verdict.WORSE in (share, *(row.word for row in rows)),
        "inconclusive": found.word not in GOOD or (share is not None and share not in GOOD),
    }
    return int(bad[fail_on])


def _question(asked: Asked) -> Question:
    primary = asked.primary or OUTPUT.label
    kind, colon, name = primary.partition(":")
    if colon and kind.strip().lower() not in PREFIX:
        raise UsageError(f"--primary {primary}: before the colon stands agents or synthetic")
    metric = find(name if colon else primary)
    if metric is None or not metric.better:
        raise UsageError(f"--primary {primary}: {_meant(name if colon else primary, metric)}")
    return Question(
        primary=metric,
        kind=PREFIX[kind.strip().lower()] if colon else "",
        margin=None if asked.equivalence is None else _share(asked.equivalence),
        allowed=frozenset(_allowed(asked.allow)),
    )


def _meant(name: str, metric: Metric | None) -> str:
    from difflib import get_close_matches

    if metric is not None:
        return "neither more nor less of it is better; choose another"
    labels = {each.label.lower(): each.label for each in METRICS if each.better}
    near = get_close_matches(name.lower(), labels, n=1, cutoff=0.4)
    return (
        f"no such metric; did you mean {labels[near[0]]!r}?"
        if near
        else f"no such metric; {', '.join(labels.values())}"
    )


def _allowed(given: Sequence[str]) -> list[str]:
    names = [name.strip() for part in given for name in part.split(",") if name.strip()]
    for name in names:
        if name not in ALLOWABLE:
            raise UsageError(f"--allow {name}: some of {', '.join(ALLOWABLE)}")
    return names


def _share(text: str) -> float:
    try:
        number = float(text.strip().removesuffix("%"))
    except ValueError:
        number = 0.0
    share = number / 100 if text.strip().endswith("%") or number >= 1 else number
    if not 0 < share < 0.5:
        raise UsageError(f"--equivalence {text}: a share such as 2% or 0.02, below 50 %")
    return share


def _sides(asked: Asked, question: Question) -> tuple[tuple[list[OneRun], list[OneRun]], list[str]]:
    """Both sides, each run once, and what is to be said of those that were named twice."""
    folders = [runs_of(side, asked.places) for side in (asked.a, asked.b)]
    shared = {each.resolve() for each in folders[0]} & {each.resolve() for each in folders[1]}
    if shared:
        raise UsageError(f"{_near(sorted(shared)[0])} stands on both sides; a run compared with itself says nothing")
    shared = {each.resolve() for each in folders[0]} & {each.resolve() for each in folders[1]}
    if shared:
        raise UsageError(f"{_near(sorted(shared)[0])} stands on both sides; a run compared with itself says nothing")
    names = _names([folder for side in folders for folder in side])
    known = [[identity(names[each], RunFolder.open(each).manifest) for each in side] for side in folders]
    folders, said = _once(folders, known)
    told = _digested(folders, names, question)
    fewer, repeated = _once(folders, [[run.same for run in side if run.same] for side in told])
    if repeated:  # one pair is looked at in another way than several
        told = _digested(fewer, names, question)
    a, b = ([run.same for run in side if run.same] for side in told)
    return (told[0], told[1]), [*said, *repeated, *alike(a, b)]


def _once(folders: list[list[Path]], known: list[list[Identity]]) -> tuple[list[list[Path]], list[str]]:
    """Each side without what stands on it twice, and what that was. UsageError when one run is on both."""
    apart(*known)
    places, said = zip(*map(distinct, known), strict=True)
    return [[side[n] for n in kept] for side, kept in zip(folders, places, strict=True)], [*said[0], *said[1]]


def _digested(folders: list[list[Path]], names: dict[Path, str], question: Question) -> list[list[OneRun]]:
    manifests = [[RunFolder.open(folder).manifest for folder in side] for side in folders]
    starts = [begun(side) for side in manifests]
    alike = {each.seed for each in starts[0]} & {each.seed for each in starts[1]}
    alone = len(paired(*starts, across_seeds="seed" in question.allowed or not alike).pairs) == 1
    return [[digest(RunFolder.open(each), names[each], alone=alone) for each in side] for side in folders]


def digest(run: Run, name: str, *, alone: bool) -> OneRun:
    """All that a comparison needs of a run; its records are given up. alone: with how sure it is of itself."""
    summary = current(run)
    schema = summary.get("schema", SCHEMA)
    if not isinstance(schema, int) or schema > SCHEMA:
        raise UsageError(
            f"{run.path / 'summary.json'} has schema {schema} and this version reads up to {SCHEMA}; upgrade agent-sim"
        )
    kinds = [kind for kind in KINDS if summary.get(kind) is not None]
    if not all(isinstance(summary[kind], dict) and isinstance(summary[kind].get("requests"), dict) for kind in kinds):
        raise UsageError(
            f"{run.path / 'summary.json'} holds values that no run writes; `sim report {run.path}` makes it again"
        )
    try:
        work = {kind: delivered(run.requests, kind) for kind in kinds if run.manifest.get("mode") != LIVE}
        samples = {kind: traffic(run.data(), kind) for kind in kinds} if alone else {}
        sure = {kind: within(sample) for kind, sample in samples.items() if sample is not None}
        tasks = _tasks(run, summary)
        unsound = run.unsound
        same = identity(name, run.manifest, run.source[DIGEST], run.requests)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
        raise UsageError(
            f"{run.path} cannot be folded: its files hold values that no run writes ({type(error).__name__}); restore "
            "them or run the scenario again"
        ) from None
    damaged = run.damage.get(RECORDS, 0)
    return OneRun(name, run.manifest, summary, run.ended, work, sure, str(run.path), damaged, tasks, unsound, same)


def _tasks(run: Run, summary: dict[str, Any]) -> Tasks:
    """Of a live run; its summary gets what older ones lack."""
    sample = traffic(run.data(), KINDS[0]) if run.manifest.get("mode") == LIVE else None
    if sample is None or summary.get(KINDS[0]) is None:
        return {}
    summary[KINDS[0]]["quality"] = quality_of(summary[KINDS[0]])
    return checked(judged(sample))


def _names(folders: Sequence[Path]) -> dict[Path, str]:
    """A folder's own name where no other has it, else its path from the current folder."""
    names = [folder.resolve().name for folder in folders]
    return {f: n if names.count(n) == 1 else _near(f) for f, n in zip(folders, names, strict=True)}


def _near(path: Path) -> str:
    """A path as short as it stays clear: from the current folder, where that is shorter."""
    try:
        near = os.path.relpath(path)
    except ValueError:
        return str(path)
    return near if len(near) < len(str(path)) else str(path)


def _write(asked: Asked, found: Comparison) -> None:
    if asked.md is not None:
        from simulator.view.diff.markdown import markdown

        write_whole(asked.md, markdown(found).encode())
        print(f"markdown: {asked.md}")
    if asked.json is not None:
        from simulator.view.diff.as_json import as_json

        write_json(asked.json, as_json(found))
        print(f"json: {asked.json}")
    if asked.html is not None:
        from simulator.view.diff.html import html

        write_whole(asked.html, html(found).encode())
        print(f"page: {asked.html}")
