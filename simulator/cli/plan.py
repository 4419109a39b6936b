"""`sim plan`: what a scenario would send, without sending it."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

from simulator import tokenizer
from simulator.cli.absent import sentences
from simulator.cli.arrivals import with_traces
from simulator.cli.ladder_asked import levels
from simulator.cli.oracle_told import fillers
from simulator.cli.planning import plan
from simulator.cli.screen import PlanningScreen
from simulator.cli.solutions import write_solutions
from simulator.core.scenario_file import parse
from simulator.core.shape import Shape, Spread, shape, shared_blocks
from simulator.core.wording import counted
from simulator.errors import UsageError
from simulator.tasks.breadth import shared

MODEL = "embedded-30b-a3b"


def main(
    text: str, source: Path, overrides: tuple[str, ...], model: str | None = None, solutions: Path | None = None,
    cwd: str | None = None, concurrency: str = "",
) -> int:  # fmt: skip
    """model: the name that the sessions know, which their plans are kept by. solutions: where the recorded solutions
    go, for an oracle; cwd: the folder that its client works in, None, that of the plans. concurrency: the levels of a
    ladder, which share one plan as large as the largest needs; "" for the scenario's own run."""
    scenario = with_traces(parse(text, str(source), overrides), source)
    if not scenario.sessions:
        raise UsageError(f"{source} has no agents to plan: its `sessions` is 0")
    if solutions is not None and scenario.trace is not None:
        raise UsageError(
            f"--solutions: {source} plays a `trace`, whose sessions have no recorded solution; leave it out, or name a "
            "scenario with tasks"
        )
    most = max(level or 0 for level in levels(concurrency, scenario))
    with PlanningScreen(plain=False) as screen:
        planned = (shared(scenario), most) if most else (scenario, None)
        folder = plan(planned[0], model or MODEL, screen.progress, planned[1])
    if solutions is not None:
        number = write_solutions(solutions, folder, folder.sessions, cwd)
        print(f"{solutions}: {counted(number, 'recorded solution')}, those of sub-agents included")
        if unknown := sum(not row.turns for row in folder.sessions):
            print(fillers(unknown, len(folder.sessions)))
    found = shape(folder.load(row.session) for row in folder.sessions)
    table = Table("", "p10", "p50", "p90", "mean", title=f"{scenario.name}, seed {scenario.seed}", title_justify="left")
    for name, spread in (
        ("turns a session", found.turns),
        ("prompt tokens a call", found.prompt_tok),
        ("growth a call", found.growth_tok),
        ("output tokens a call", found.output_tok),
        ("first prompt", found.first_prompt_tok),
    ):
        table.add_row(name, *_cells(spread))
    console = Console()
    console.print(table)
    same = shared_blocks((folder.load(row.session) for row in folder.sessions), tokenizer.encode)
    console.print(
        f"{counted(found.sessions, 'session')}, {counted(found.calls, 'call')}, "
        f"{counted(found.tool_calls, 'tool call')}; {found.repeat_share:.1%} repeat an earlier one\n"
        f"{counted(found.cut_sessions, 'session cuts its', 'sessions cut their')} history "
        f"({found.cut_share:.1%} of calls)\n"
        f"{same:.1%} of 64-token blocks outside system prompt and tools stand in two sessions\n"
        f"{_clients(found)}plan hash {folder.hash}",
        highlight=False,
    )
    for line in sentences(scenario):
        console.print(line, highlight=False)
    return 0


def _clients(found: Shape) -> str:
    """Whose sessions they are, and what only some of them do; a line each."""
    lines = [", ".join(f"{number} {name}" for name, number in sorted(found.profiles.items()))]
    if found.switched_sessions:
        lines.append(f"{counted(found.switched_sessions, 'session begins', 'sessions begin')} in plan mode")
    if found.subagents:
        lines.append(
            f"{counted(found.subagents, 'sub-agent makes', 'sub-agents make')} "
            f"{counted(found.subagent_calls, 'more call')}"
        )
    if found.stopped:
        lines.append(
            f"{counted(found.stopped, 'stream is', 'streams are')} closed by the client after its first tool call"
        )
    return "\n".join(lines) + "\n"


def _cells(spread: Spread | None) -> list[str]:
    return [f"{v:,.0f}" for v in (spread.p10, spread.p50, spread.p90, spread.mean)] if spread else ["-"] * 4
