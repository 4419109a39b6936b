"""`sim report`: folds a run's records, finished or killed, into summary.json and report.md and shows the headline."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simulator.cli.screen import whole_lines
from simulator.core.summary import summarise
from simulator.errors import UsageError
from simulator.store.folder import Run, RunFolder
from simulator.store.writer import CHUNKS
from simulator.view.final import final
from simulator.view.identity import is_virtual
from simulator.view.report_md import report

NO_CLIENT = "virtual: no client"
STOPPED = {
    "interrupted": "the run was interrupted before its end",
    "time limit": "the run reached its time limit before its end",
    "engine gone": "the engine stopped taking connections before the run's end",
    "client lost": "a client process died before the run's end",
    "failed": "the run failed before its end",
}


def main(folder: Path) -> int:
    folded = write_report(folder, show=True)
    if folded:
        print(f"report: {folder / 'report.md'}, folded from the records with {folder / 'summary.json'}")
    else:
        print(
            f"report: {folder / 'report.md'}, from {folder / 'summary.json'} as it was folded before: without {CHUNKS} "
            "a new fold would know less"
        )
    return 0


def write_report(folder: Path, *, show: bool) -> bool:
    """Whether the records were folded. The files are replaced whole. A published run, which keeps no chunks, is told as
    it was folded then."""
    run = RunFolder.open(folder)
    kept = run.summary
    folds = kept is None or any((folder / name).exists() for name in (CHUNKS, f"{CHUNKS}.gz"))
    summary = fold(run, folder) if folds or kept is None else kept
    if folds:
        run.write_summary(summary)
    if folds or not (folder / "report.md").exists():
        run.write_report(report(summary, run.manifest))
    if show:
        whole_lines().print(final(summary, run.manifest))
    return folds


def folded(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """(summary, manifest) of a run, folded now where that was never done; nothing is written. Raises UsageError."""
    run = RunFolder.open(folder)
    return run.summary or fold(run, folder), run.manifest


def fold(run: Run, folder: Path) -> dict[str, Any]:
    """The summary of a run's records. UsageError when they hold what no run writes."""
    try:
        summary = summarise(run.data())
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
        raise UsageError(
            f"{folder} cannot be folded: its files hold values that no run writes ({type(error).__name__}: "
            f"{error!s:.80}); restore them or run the scenario again"
        ) from None
    cut = _cut_short(run.manifest, ended=run.ended)
    if cut is not None:
        summary["warnings"].insert(0, cut)
    if is_virtual(run.manifest):
        _without_client(summary)
    engine = run.manifest.get("engine") or {}
    return {"engine_kind": engine.get("kind", "unknown"), "label": run.manifest.get("label", "")} | summary


def _without_client(summary: dict[str, Any]) -> None:
    """In virtual time no client ran, so nothing is said of its health."""
    summary["client"] |= {"verdict": NO_CLIENT, "reasons": [], "agent": None, "synthetic": None}
    summary["warnings"] = [each for each in summary["warnings"] if not each["code"].startswith("client_")]


def _cut_short(manifest: Mapping[str, Any], *, ended: bool) -> dict[str, str] | None:
    what = STOPPED.get(str(manifest.get("stopped") or "")) if ended else "the run was killed, or still goes on"
    if what is None:
        return None
    return {
        "code": "cut_short",
        "what": what,
        "why": "figures cover what came before; requests in flight then are missing or marked cancelled",
        "cure": "run it again to its end before comparing it",
    }
