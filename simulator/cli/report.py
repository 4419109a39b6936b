"""`sim report`: folds a run's records, finished or killed, into summary.json and report.md and shows the headline."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from simulator.core.summary import summarise
from simulator.store.folder import RunFolder
from simulator.view.final import final
from simulator.view.report_md import report


def main(folder: Path) -> int:
    write_report(folder, show=True)
    return 0


def write_report(folder: Path, *, show: bool) -> None:
    """The files are replaced whole."""
    run = RunFolder.open(folder)
    engine = run.manifest.get("engine") or {}
    stamp = {"engine_kind": engine.get("kind", "unknown"), "label": run.manifest.get("label", "")}
    summary = stamp | summarise(run.data())
    run.write_summary(summary)
    run.write_report(report(summary, run.manifest))
    if show:
        Console().print(final(summary, run.manifest))
