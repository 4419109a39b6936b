"""One run as one page: its figures first, then how it went, then everything that report.md tells."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from simulator.core.quality import quality_of
from simulator.core.run import KINDS, RunData
from simulator.core.window import traffic
from simulator.view.ended import cut_words
from simulator.view.format import DASH, count, digits, duration, measure, percent
from simulator.view.identity import synthetic_shape, title
from simulator.view.marks import marks
from simulator.view.page import latency, over_time, swimlane
from simulator.view.page.markdown import rendered, sections
from simulator.view.page.shell import Part, page
from simulator.view.page.text import esc
from simulator.view.page.walls import walls
from simulator.view.report_md import report
from simulator.view.solved import interval

WALL, WARNINGS = "Where a session's wall time goes", "Warnings"
#: sections whose table is long
FIGURES = {"Agents beside synthetic traffic", "Figures"}
#: sections with small tables
HALVES = {"Sessions", "Tools", "Errors", "Where the limit is", "Client health", "Engine", "Arrivals", WARNINGS}
#: the bars of report.md's table, which the chart above it makes needless
BARS = re.compile(r"\| [█▏▎▍▌▋▊▉]* ?\|$|\|(  |:--)\|$")


def run_page(run: RunData, summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> str:
    """HTML that opens offline. summary: the run's own, as `sim report` folds it."""
    told = list(sections(report(summary, manifest)))
    known = {heading: Part(heading, rendered(lines), _anchor(heading)) for heading, lines in told[1:]}
    intro = [line for line in told[0][1] if not line.startswith("# ")]
    warned = known.pop(WARNINGS) if summary["warnings"] and WARNINGS in known else None
    parts = [Part("", _tiles(summary, manifest) + _beside(rendered(intro), warned), "summary")]
    samples = [sample for kind in KINDS if (sample := traffic(run, kind)) is not None]
    agent = next((sample for sample in samples if sample.kind == "agent"), None)
    slo = manifest.get("slo")
    pictures = [
        over_time.part(run, summary),
        *(swimlane.part(sample) for sample in samples),
        latency.part(samples, slo if isinstance(slo, Mapping) else {}),
        latency.context(agent),
    ]
    parts += [part for part in pictures if part is not None]
    drawn = walls(summary["agent"])
    for heading, part in known.items():
        if heading == WALL:
            lines = next(lines for title, lines in told if title == WALL)
            part = replace(part, html=drawn + rendered([BARS.sub("|", line) for line in lines]))
        if heading in FIGURES:
            part = replace(part, html=_halved(next(lines for title, lines in told if title == heading)))
        parts.append(replace(part, half=heading in HALVES))
    return page(title(manifest), parts, note="\n".join(marks(summary, manifest)))


def _halved(lines: list[str]) -> str:
    """A long table as two, side by side where there is room."""
    rows = [n for n, line in enumerate(lines) if line.startswith("|")]
    if len(rows) < 8 or rows != list(range(rows[0], rows[-1] + 1)):
        return rendered(lines)
    head, cut = rows[0], rows[0] + 2 + (len(rows) - 1) // 2
    first, second = lines[: rows[0]] + lines[head:cut], lines[head : head + 2] + lines[cut : rows[-1] + 1]
    rest = rendered(lines[rows[-1] + 1 :])
    return f'<div class="two"><div>{rendered(first)}</div><div>{rendered(second)}</div></div>{rest}'


def _beside(intro: str, warned: Part | None) -> str:
    """The first sentences, and beside them what to be warned of."""
    if warned is None:
        return intro
    return f'<div class="two"><div>{intro}</div><div id="{warned.anchor}"><h2>{WARNINGS}</h2>{warned.html}</div></div>'


def _anchor(heading: str) -> str:
    return re.sub(r"\W+", "-", heading.lower()).strip("-") or "part"


def _tiles(summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> str:
    agent, synthetic = summary["agent"], summary["synthetic"]
    rows = [_agent(agent)] if agent is not None else []
    rows += [_synthetic(synthetic, synthetic_shape(manifest))] if synthetic is not None else []
    return "".join(f'<div class="tiles">{"".join(_tile(*each) for each in row)}</div>' for row in rows)


Tile = tuple[str, str, str, str]


def _agent(agent: Mapping[str, Any]) -> list[Tile]:
    """(label, value, beside it, "lead" or "bad" or "")."""
    sessions = agent["sessions"]
    return [
        *_solved(agent),
        ("agents, output", _bare(agent["output_tok_s"]), "tok/s", "lead"),
        ("a turn, p50 / p95", *_pair(agent["turn_latency_s"]), ""),
        ("TTFT p50 / p95", *_pair(agent["ttft_s"]), ""),
        ("TPOT p50 / p95", *_pair(agent["tpot_s"]), ""),
        ("prompt tokens cached", percent(agent["cached_share"]["all"]), "", ""),
        (_sessions(sessions), count(sessions["completed"]), _hourly(sessions["per_hour"]), ""),
        *_failed(agent),
    ]


def _solved(agent: Mapping[str, Any]) -> list[Tile]:
    found = quality_of(agent)
    if found is None or found["share"] is None:
        return []
    return [
        ("tasks solved, 95 %", percent(found["share"]), interval(found), "lead"),
        ("solved an hour", digits(found["per_hour"]), "", ""),
        ("tokens a solved task", count(found["tok_per_solved"]), "", ""),
    ]


def _synthetic(part: Mapping[str, Any], shape: str) -> list[Tile]:
    return [
        (f"synthetic {shape}".strip(), _bare(part["output_tok_s"]), "tok/s", "lead"),
        ("E2EL p50 / p95", *_pair(part["e2el_s"]), ""),
        ("TTFT p50 / p95", *_pair(part["ttft_s"]), ""),
        ("TPOT p50 / p95", *_pair(part["tpot_s"]), ""),
        *_failed(part),
    ]


def _failed(part: Mapping[str, Any]) -> list[Tile]:
    sent = part["requests"]
    told = "requests failed", count(sent["failed"]), f"/ {count(sent['sent'])}", "bad"
    return [told] if sent["failed"] else []


def _bare(value: float | None) -> str:
    return measure(value, "")


def _sessions(done: Mapping[str, Any]) -> str:
    cut = done.get("cut", 0)
    if not cut:
        return "sessions completed"
    return f"sessions, {'' if cut == done['completed'] else f'{count(cut)} '}{cut_words(done)}"


def _hourly(rate: float | None) -> str:
    return "" if rate is None else f"{digits(rate)}/h"


def _pair(spread: Mapping[str, Any]) -> tuple[str, str]:
    return duration(spread["p50"]), f"/ {duration(spread['p95'])}" if spread["p95"] is not None else ""


def _tile(label: str, value: str, beside: str, kind: str) -> str:
    more = f" <small>{esc(beside)}</small>" if beside and value != DASH else ""
    return f'<div class="tile {kind}"><b>{esc(value)}{more}</b><span>{esc(label)}</span></div>'
