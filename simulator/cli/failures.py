"""`sim failures`: each failure that people report, on the embedded engine, held to what must come of it."""

from __future__ import annotations

import difflib
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from simulator.cli.run import fresh_folder
from simulator.core.failure.case import Case, Found, Side, judge, parse
from simulator.core.failure.figures import ends, figures
from simulator.errors import CheckFailed, EngineError, UsageError
from simulator.store.folder import Run, RunFolder

EXPECTED = "expected.yaml"
#: the shipped cases, wherever the command is typed
DEFAULT = Path(__file__).resolve().parents[2] / "scenarios" / "failures"
#: a case takes a minute at most; one that does not end is told
LIMIT_S = 600.0


@dataclass(frozen=True, slots=True)
class Question:
    """names: cases to run, none for all. folder: where expected.yaml is. out: for the runs; None, a new folder."""

    names: tuple[str, ...]
    folder: Path = DEFAULT
    out: Path | None = None
    only_list: bool = False


def main(question: Question) -> int:
    """0, or 1 (CheckFailed) when a case did not come out as expected."""
    cases = _chosen(_read(question.folder), question.names, question.folder)
    console = Console(highlight=False)
    if question.only_list:
        console.print(_listed(cases))
        return 0
    out = question.out or fresh_folder("failures")
    wrong = []
    for name, case in cases.items():
        console.print(Text.assemble((name, "bold"), f"  {case.what}"))
        found = _run(question.folder, out, name, case)
        console.print(_table(found))
        wrong += [name] * any(not each.met for each in found)
    if wrong:
        raise CheckFailed(f"{', '.join(wrong)}: not what was expected; the runs are in {out}")
    print(f"{len(cases)} failures came out as expected; the runs are in {out}")
    return 0


def _read(folder: Path) -> dict[str, Case]:
    path = folder / EXPECTED
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file; --folder names a folder that holds it, and the scenarios") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as UTF-8 text: {error}") from None
    return parse(text, str(path))


def _chosen(cases: dict[str, Case], names: Sequence[str], folder: Path) -> dict[str, Case]:
    for name in names:
        if name not in cases:
            near = difflib.get_close_matches(name, cases, n=1)
            meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(cases)}"
            raise UsageError(f"{folder / EXPECTED} has no case {name}; {meant}")
    return {name: case for name, case in cases.items() if not names or name in names}


def _run(folder: Path, out: Path, name: str, case: Case) -> list[Found]:
    run = _measure(folder, out / name, case.scenario, case)
    beside = None
    if case.beside is not None:
        beside = figures(_measure(folder, out / f"{name}-without", case.scenario, case.beside).data())
    data = run.data()
    return judge(case, figures(data), ends(data), beside)


def _measure(folder: Path, out: Path, scenario: str, side: Side) -> Run:
    """A run in a process of its own, whose words go into a file beside its folder."""
    command = [sys.executable, "-m", "simulator.cli.main", "run", str(folder / scenario), "--plain", "--out", str(out)]
    if side.faults is not None:
        command += ["--faults", str(folder / side.faults)]
    if side.engine is not None:
        own = folder / side.engine
        command += ["--engine-params", str(own if own.exists() else side.engine)]
    out.parent.mkdir(parents=True, exist_ok=True)
    log = out.with_name(f"{out.name}.log")
    with log.open("wb") as file:
        try:
            code = subprocess.run(
                command, stdout=file, stderr=file, stdin=subprocess.DEVNULL, timeout=LIMIT_S
            ).returncode
        except subprocess.TimeoutExpired:
            raise EngineError(f"{out.name} did not end in {LIMIT_S:g} s; {log} says how far it came") from None
    if code == 130:
        raise KeyboardInterrupt
    if code:
        last = log.read_text(errors="replace").strip().splitlines()[-1:] or ["nothing"]
        raise EngineError(f"{out.name} could not be run: {last[0].removeprefix('sim: ')} ({log})")
    return RunFolder.open(out)


def _listed(cases: dict[str, Case]) -> Table:
    table = Table("case", "what", "reported")
    for name, case in cases.items():
        table.add_row(name, case.what, ", ".join(case.reported))
    return table


def _table(found: Sequence[Found]) -> Table:
    table = Table("", "expected", "came out", box=None, padding=(0, 2, 0, 2))
    for each in found:
        table.add_row(each.name, each.wanted, Text(each.got, style="" if each.met else "bold red"))
    return table
