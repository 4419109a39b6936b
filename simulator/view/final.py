"""The last screen after a run: the headline of its report, in 80 columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from simulator.core.limit import CLIENT, FRONT_END
from simulator.core.metric import OUTPUT, Metric, value
from simulator.core.wording import counted
from simulator.view.arrivals import arrival_lines
from simulator.view.cells import clean
from simulator.view.ended import ended, to_check, verified
from simulator.view.format import count, duration, measure, percent
from simulator.view.identity import (
    RANDOM_WEIGHTS,
    emulation,
    is_emulated,
    is_random,
    lacked,
    synthetic_shape,
    title,
    tools_carried_out,
)
from simulator.view.marks import marks
from simulator.view.solved import share, took, why_not
from simulator.view.verdict import NO_COMPARISON, WHO, limits

#: cells of a line before what it says
LABEL = 11
SHOWN_WARNINGS = 3

ROWS = (
    OUTPUT,
    Metric("output, whole run", ("output_tok_s_whole_run",), "tok/s"),
    Metric("user speed p50", ("tok_s_user", "p50"), "tok/s"),
    Metric("cached share", ("cached_share", "all"), "share"),
    Metric("in flight, mean", ("in_flight_mean",), ""),
)
SPREADS = (("TTFT", "ttft_s"), ("TPOT", "tpot_s"), ("turn latency", "turn_latency_s"))


class Hanging:
    """A line of which what does not fit goes on below, beside its label."""

    def __init__(self, line: Text) -> None:
        self.line = line

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        label, said = self.line[:LABEL], self.line[LABEL:]
        for n, part in enumerate(said.wrap(console, max(1, options.max_width - LABEL))):
            yield Text.assemble(" " * LABEL if n else label, part)


def final(summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> RenderableType:
    """A renderable for 80 columns or more; what is longer is wrapped and not cut. Texts of the run are shown as they
    are: no markup of theirs is obeyed."""
    agent, synthetic = summary["agent"], summary["synthetic"]
    parts: list[RenderableType] = []
    if is_emulated(manifest):
        parts.append(Text(f" {emulation(manifest)}: not a GPU ", style="bold white on red"))
    if is_random(manifest):
        parts.append(Text(f" {RANDOM_WEIGHTS} ", style="bold white on red"))
    parts.append(Text(title(manifest), style="bold"))
    if agent is None and synthetic is None:
        parts.append(Text("No request was recorded."))
    else:
        parts.append(_table(agent, synthetic, synthetic_shape(manifest)))
    if agent is not None:
        parts += [Hanging(Text(line)) for line in _agent_lines(agent, carried_out=tools_carried_out(manifest))]
    parts += [Hanging(Text(line)) for line in arrival_lines(summary)]
    parts += _limits(summary) + _verdict(summary)
    parts += [Hanging(Text(f"{'left out':{LABEL}}{line}")) for line in lacked(manifest)]
    return Group(*parts)


def in_a_line(summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> str:
    """One run among several: what its figures must not be taken for, then the figures."""
    told = [f"[{mark.partition(':')[0]}]" for mark in marks(summary, manifest)]
    agent, synthetic = summary["agent"], summary["synthetic"]
    if agent is not None and agent.get("live"):
        told.append(f"solved {share(agent)};")
    if agent is not None:
        turn = duration(agent["turn_latency_s"]["p50"])
        told.append(f"agents {measure(agent['output_tok_s'], 'tok/s')}, a turn {turn} (p50);")
    if synthetic is not None:
        shape = f"synthetic {synthetic_shape(manifest)}".strip()
        told.append(f"{shape} {measure(synthetic['output_tok_s'], 'tok/s')};")
    if agent is None and synthetic is None:
        told.append("no request was recorded")
    return " ".join(told).removesuffix(";")


def _table(agent: Any, synthetic: Any, shape: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", width=22)
    heads = {"agents": agent, f"synthetic {shape}".strip(): synthetic}
    parts = [part for part in heads.values() if part is not None]
    for head, part in heads.items():
        if part is not None:
            table.add_column(head, justify="right", width=25, no_wrap=True)
    for metric in ROWS:
        pair = [value(part, metric) for part in parts]
        if any(each is not None for each in pair):
            shown = [measure(each, metric.unit) for each in pair]
            table.add_row(metric.label, *shown, style="bold" if metric is OUTPUT else "")
    for name, key in SPREADS:
        tail = "p99" if any(part[key]["p99"] is not None for part in parts) else "p95"
        table.add_row(f"{name} p50 / {tail}", *(_pair(part[key], tail) for part in parts))
    table.add_row("window", *(_window(part) for part in parts))
    table.add_row("requests ok / sent", *(_requests(part) for part in parts))
    return table


def _pair(spread: Mapping[str, Any], tail: str) -> str:
    return f"{duration(spread['p50'])} / {duration(spread[tail])}"


def _window(part: Mapping[str, Any]) -> str:
    length = duration(part["window"]["length_s"])
    return length if part["window"]["steady"] else f"{length}, not steady"


def _requests(part: Mapping[str, Any]) -> str:
    return f"{count(part['requests']['ok'])} / {count(part['requests']['sent'])}"


def _agent_lines(agent: Mapping[str, Any], *, carried_out: bool) -> list[str]:
    done, split, tools, live = agent["sessions"], agent["wall"], agent["tools"], agent.get("live")
    lines = [
        f"sessions   {ended(done)}"
        + (f", {count(done['failed'])} failed" if done["failed"] else "")
        + (f"; recorded solution verified: {verified(done)}" if live is None and carried_out and to_check(done) else "")
    ]
    if live is not None:
        missed = why_not(live)
        lines.append("solved     " + "; ".join(filter(None, (share(agent), missed, took(agent)))))
    if split:
        shares = split["shares"]
        tool = shares["tool_run_s"] + shares["tool_queue_s"] + shares["tool_pace_s"]
        lines.append(
            f"wall       model {percent(shares['model_s'])}, tools {percent(tool)}, "
            f"thinking {percent(shares['think_s'])}, client {percent(shares['client_s'])}"
        )
    if tools and not carried_out:
        lines.append(f"tools      {counted(tools['calls'], 'call')}, not carried out: recorded latencies")
    elif tools:
        lines.append(
            f"tools      {counted(tools['calls'], 'call')}, run p50 {duration(tools['run_s']['p50'])}, "
            f"p95 {duration(tools['run_s']['p95'])}"
            + (f"; {count(tools['mismatches'])} differ from the recording" if live is None else "")
        )
    return lines


def _limits(summary: Mapping[str, Any]) -> list[RenderableType]:
    lines: list[RenderableType] = []
    for name, where, reasons in limits(summary):
        style = {CLIENT: "bold red", FRONT_END: "yellow"}.get(where, "bold")
        told = (WHO[where], style), f"; {clean(reasons[0])}"
        lines.append(Hanging(Text.assemble(f"{'limit' if not lines else '':{LABEL}}{name}: ", *told)))
    return lines


def _verdict(summary: Mapping[str, Any]) -> list[RenderableType]:
    verdict, noted = summary["client"]["verdict"], summary["warnings"]
    style = {"ok": "green", "client-limited": "bold red"}.get(verdict, "yellow")
    lines: list[RenderableType] = [Text.assemble("client     ", (verdict, style))]
    if verdict == "client-limited":
        lines.append(Text(f"           {NO_COMPARISON}", style="bold red"))
    for each in noted[:SHOWN_WARNINGS]:
        lines.append(Hanging(Text.assemble(("warning    ", "yellow"), clean(each["what"]))))
    if len(noted) > SHOWN_WARNINGS:
        lines.append(Text(f"           and {len(noted) - SHOWN_WARNINGS} more in report.md", style="dim"))
    return lines
