"""`sim report`: folds runs' records, finished or killed, into summary.json and report.md, and report.html where it is
asked for, and shows the headline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from simulator.cli.oracle_told import fillers, oracle_told
from simulator.cli.same_engine import named
from simulator.cli.screen import whole_lines
from simulator.core.judgement import FOLD, judged_again
from simulator.core.summary import SCHEMA, summarise
from simulator.errors import Incomparable, SimError, UsageError
from simulator.store.folder import Run, RunFolder
from simulator.store.ladder_runs import is_ladder
from simulator.store.reader import PAGE, REPORT, SUMMARY
from simulator.store.source import FOLDED_FROM
from simulator.store.writer import CHUNKS, RECORDS
from simulator.view.cells import clean
from simulator.view.final import final, in_a_line
from simulator.view.identity import is_virtual
from simulator.view.report_md import report

#: of a manifest: what of the engine's identity was another at the end
ENGINE_CHANGED = "engine_changed"
#: of a manifest: how the engine that was started for the run ended by itself
ENGINE_DEATH = "engine_death"
NO_CLIENT = "virtual: no client"
STOPPED = {
    "interrupted": "the run was interrupted before its end",
    "time limit": "the run reached its time limit before its end",
    "engine gone": "the engine stopped taking connections before the run's end",
    "client lost": "a client process died before the run's end",
    "failed": "the run failed before its end",
}


def main(folders: Sequence[Path], *, html: bool = False, out: Path | None = None) -> int:
    """out: where the files go instead of beside their run. Exit code 0, or 2 when any of several folders could not be
    read: the others are told all the same."""
    if len(folders) == 1:
        if is_ladder(folders[0]):
            _ladders().show_report(folders[0], html=html, out=out)
        else:
            _alone(folders[0], html=html, out=out)
        return 0
    if out is not None:
        raise UsageError(f"--out takes the report of one folder and {len(folders)} are given; report them one by one")
    _one_mode(folders)
    failed = 0
    for folder in folders:
        try:
            told = _line(folder, html=html)
        except SimError as error:
            failed, told = failed + 1, f"not read: {error}"
        whole_lines().print(clean(f"{folder}: {told}"), markup=False, highlight=False)
    if failed:
        raise UsageError(f"{failed} of {len(folders)} folders could not be read; the lines above say why")
    return 0


def _one_mode(folders: Sequence[Path]) -> None:
    """Incomparable when some of the runs are live and others replays: a reader would compare what is not alike."""
    modes: dict[str, Path] = {}
    for folder in folders:
        with suppress(SimError):
            modes.setdefault(str(RunFolder.open(folder).manifest.get("mode") or "replay"), folder)
    if len(modes) > 1:
        told = " and ".join(f"{folder} is {mode}" for mode, folder in sorted(modes.items()))
        raise Incomparable(f"{told}: live runs and replays are never told in one table; report them apart")


def _alone(folder: Path, *, html: bool, out: Path | None) -> None:
    written = write_report(folder, show=True, html=html, out=out)
    place = out or folder
    as_then = f"figures as they were folded before: without {CHUNKS} a new fold would know less"
    if not written.files:
        told = "folded again" if written.folded else f"with {as_then}"
        print(f"report: above, {told}; a published run's files are left as they are, --out DIR writes elsewhere")
    elif written.folded:
        print(f"report: {place / REPORT}, folded from the records with {place / SUMMARY}")
    else:
        print(f"report: {place / REPORT}, {as_then}")
    if html:
        print(f"page:   {place / PAGE} ({written.page_bytes / 1e6:.1f} MB, opens offline)")


def _ladders() -> ModuleType:
    """Reads runs by this module, so it cannot be imported by it at once."""
    from simulator.cli import ladder_report

    return ladder_report


def _line(folder: Path, *, html: bool) -> str:
    if is_ladder(folder):
        _ladders().write_ladder_report(folder, html=html)
        return f"a ladder; `sim ladder --show {folder}` has its table"
    written = write_report(folder, show=False, html=html)
    files = [REPORT] * written.files + [f"{PAGE} ({written.page_bytes / 1e6:.1f} MB)"] * html
    return "; ".join((in_a_line(written.summary, written.manifest), *([", ".join(files)] if files else [])))


def made(out: Path) -> None:
    """The folder of --out. UsageError when there can be none."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as why:
        raise UsageError(f"--out {out} is no folder and cannot be made one: {why.strerror}; give another") from None


@dataclass(frozen=True, slots=True)
class Written:
    """folded: from the records, and not the summary of a run without chunk times. files: summary and report were
    written. page_bytes: 0 without a page."""

    summary: Mapping[str, Any]
    manifest: Mapping[str, Any]
    folded: bool
    files: bool
    page_bytes: int


def write_report(folder: Path, *, show: bool, html: bool = False, out: Path | None = None) -> Written:
    """The files are replaced whole, beside the run or in `out`. Beside a published run none is written but a page that
    is asked for: they are somebody else's, under version control as like as not. The summary of a run without chunk
    times stays, since a new fold would know less."""
    run = RunFolder.open(folder)
    folds = run.summary is None or run.keeps_chunks
    summary = fold(run, folder) if folds else current(run)
    if out is not None:
        made(out)
    if show:  # before anything is written: a run may lie where nothing can be
        whole_lines().print(final(summary, run.manifest))
    files = out is not None or not (folder / f"{RECORDS}.gz").exists()
    if files and (folds or out is not None):
        run.write_summary(summary, out)
    if files:
        run.write_report(report(summary, run.manifest), out)
    size = _write_page(run, summary, out) if html else 0
    return Written(summary, run.manifest, folds, files, size)


def folded(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """(summary, manifest) of a run by today's rules; nothing is written. Raises UsageError."""
    run = RunFolder.open(folder)
    return current(run), run.manifest


def current(run: Run) -> dict[str, Any]:
    """The summary of a run by today's rules, whichever version folded it: as it stands where its fold was this one,
    folded again in memory where not. Of a run without chunk times, whose new fold would know less, the figures stay
    and are judged again; so does the summary of a newer version."""
    kept = run.summary
    if kept is None:
        return fold(run, run.path)
    if kept.get("fold") == FOLD or kept.get("schema", SCHEMA) != SCHEMA:
        return kept
    return fold(run, run.path) if run.keeps_chunks else judged_again(kept)


def _write_page(run: Run, summary: Mapping[str, Any], out: Path | None) -> int:
    from simulator.view.page.run_page import run_page  # Vega's library takes a second to load

    with damaged(run.path):
        content = run_page(run.data(), summary, run.manifest).encode()
    run.write_page(content, out)
    return len(content)


@contextmanager
def damaged(folder: Path) -> Iterator[None]:
    """UsageError for what folding files that no run writes raises."""
    try:
        yield
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
        raise UsageError(
            f"{folder} cannot be folded: its files hold values that no run writes ({type(error).__name__}: "
            f"{error!s:.80}); restore them or run the scenario again"
        ) from None


def fold(run: Run, folder: Path) -> dict[str, Any]:
    """The summary of a run's records. UsageError when they hold what no run writes."""
    with damaged(folder):
        data = run.data()
        summary = summarise(data)
        if (agent := summary["agent"]) is not None and agent.get("live") is not None:
            agent["live"]["oracle"] = oracle_told(data, run.manifest, folder)
    cut = _cut_short(run.manifest, ended=run.ended)
    if cut is not None:
        summary["warnings"].insert(0, cut)
    if changed := run.manifest.get(ENGINE_CHANGED):
        summary["warnings"].insert(0, _changed(changed))
    engine = run.manifest.get("engine") or {}
    if unknown := engine.get("oracle_unknown"):
        summary["warnings"].insert(0, _fillers(unknown))
    if is_virtual(run.manifest):
        _without_client(summary)
    told = {"engine_kind": engine.get("kind", "unknown"), "label": run.manifest.get("label", "")}
    return told | {FOLDED_FROM: run.source} | summary


def _without_client(summary: dict[str, Any]) -> None:
    """In virtual time no client ran, so nothing is said of its health."""
    summary["client"] |= {"verdict": NO_CLIENT, "reasons": [], "agent": None, "synthetic": None}
    summary["warnings"] = [each for each in summary["warnings"] if not each["code"].startswith("client_")]


def _changed(clauses: Sequence[str]) -> dict[str, str]:
    return {
        "code": "engine_changed",
        "what": f"the engine at the end is not the one at the start: {named([str(each) for each in clauses])}",
        "why": "figures are of two engines, or of one that was restarted in between",
        "cure": "find out who restarted or replaced it, and run it again",
    }


def _fillers(unknown: Mapping[str, Any]) -> dict[str, str]:
    return {
        "code": "oracle_unknown",
        "what": fillers(int(unknown["sessions"]), int(unknown["of"])),
        "why": "filler solves nothing, so these sessions count as unsolved and their traffic is no model's",
        "cure": "give the task a `solution`, and `sim tasks check` it; or name a real engine with --endpoint",
    }


def _cut_short(manifest: Mapping[str, Any], *, ended: bool) -> dict[str, str] | None:
    what = STOPPED.get(str(manifest.get("stopped") or "")) if ended else "the run was killed, or still goes on"
    if what is None:
        return None
    if death := manifest.get(ENGINE_DEATH):
        what = f"{what}: the engine {death}"
    return {
        "code": "cut_short",
        "what": what,
        "why": "figures cover what came before; requests in flight then are missing or marked cancelled",
        "cure": "run it again to its end before comparing it",
    }
