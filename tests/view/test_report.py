"""report.md and the last screen, of whole, killed and empty runs."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fixtures_fold import failure, pulse, reply, run_of, session, tool
from rich.console import Console

from simulator.core.run import empty
from simulator.core.summary import summarise
from simulator.store.folder import RunFolder
from simulator.view.final import final
from simulator.view.report_md import report

MakeRun = Callable[..., Path]
HOSTILE = "[red]x[/red] | \x1b[2J **b** <img src=x>\nsecond"


def opened(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    run = RunFolder.open(folder)
    return summarise(run.data()), run.manifest


def screen(summary: dict[str, Any], manifest: dict[str, Any], width: int = 80) -> list[str]:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    console.print(final(summary, manifest))
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


def cells(line: str) -> list[str]:
    return [part.strip() for part in re.split(r"(?<!\\)\|", line)[1:-1]]


def rows(text: str) -> dict[str, list[str]]:
    """First cell of each table row -> the others (the first row of that name)."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("|"):
            found.setdefault(cells(line)[0], cells(line)[1:])
    return found


def section(text: str, heading: str) -> str:
    return text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


@pytest.mark.parametrize("kind", ["emulated", "real"])
def test_an_emulated_engine_is_said_first_and_loudly(make_run: MakeRun, kind: str) -> None:
    summary, manifest = opened(make_run(slots=2, window_s=5, synthetic=0, kind=kind))
    first, shown = report(summary, manifest).splitlines()[0], screen(summary, manifest)[0]
    assert ("EMULATED" in first) == ("EMULATED" in shown) == (kind == "emulated")
    assert "EMULATED" not in report(summary, manifest | {"engine": {"kind": "real"}})


def test_the_figures_are_those_of_the_summary(make_run: MakeRun) -> None:
    summary, manifest = opened(make_run())
    text = report(summary, manifest)
    table = rows(section(text, "Agents beside synthetic traffic"))
    agent, synthetic = summary["agent"], summary["synthetic"]
    assert table["output"] == [f"{part['output_tok_s']:,.0f} tok/s" for part in (agent, synthetic)]
    assert table["TTFT p50"] == [f"{part['ttft_s']['p50'] * 1e3:.1f} ms" for part in (agent, synthetic)]
    assert table["sessions"] == [f"{agent['sessions']['per_hour']:,.0f} /h", "–"]
    n = agent["requests"]
    assert table["requests"][0] == f"{n['ok']} of {n['sent']} ok ({n['failed']} failed)"
    assert rows(section(text, "Where a session's wall time goes"))["unexplained"][0] == "0 %"
    assert rows(section(text, "By task kind")).keys() >= {"coding", "documents", "finance"}
    assert rows(section(text, "Errors"))["agent"][:2] == ["server_error", str(n["failed"])]
    assert "sim run scenarios/agents.yaml --label baseline" in section(text, "Repeat this run")
    for warned in summary["warnings"]:
        assert warned["why"] in text and warned["cure"] in text


@pytest.mark.parametrize("shape", [{}, {"killed": True}, {"synthetic": 0}, {"slots": 1, "window_s": 2, "synthetic": 1}])
def test_every_table_is_sound_and_nothing_reads_nan(make_run: MakeRun, shape: dict[str, Any]) -> None:
    summary, manifest = opened(make_run(**shape))
    text = report(summary, manifest)
    assert not re.search(r"\b(nan|None|inf)\b", text, re.IGNORECASE)
    width = 0
    for line in text.splitlines():
        if line.startswith("|"):
            assert width in (0, len(cells(line))), line
            width = len(cells(line))
        else:
            width = 0
    for line in screen(summary, manifest):
        assert len(line) <= 80
        assert not re.search(r"\b(nan|None|inf)\b", line, re.IGNORECASE)


def test_the_last_screen_has_the_headline(make_run: MakeRun) -> None:
    summary, manifest = opened(make_run())
    shown = "\n".join(screen(summary, manifest))
    agent, synthetic = summary["agent"], summary["synthetic"]
    assert re.search(rf"output +{agent['output_tok_s']:,.0f} tok/s +{synthetic['output_tok_s']:,.0f} tok/s", shown)
    for name in ("TTFT p50", "TPOT p50", "turn latency p50", "cached share", "sessions", "tools", "client"):
        assert name in shown
    assert len(shown.splitlines()) <= 24


@pytest.mark.parametrize(
    ("outcomes", "told"), [([], "not checked"), ([None], "not checked"), ([True], "1/1"), ([True, False, None], "1/2")]
)
def test_a_replay_says_verified_and_of_how_many(outcomes: list[bool | None], told: str) -> None:
    ended = tuple(session(f"s{i}", 0, 1.005, verified=passed) for i, passed in enumerate(outcomes))
    summary = summarise(run_of(reply(1.0, [(10, 1)]), sessions=ended))
    assert rows(section(report(summary, {}), "Sessions"))["recorded solution verified"] == [told]
    shown = "\n".join(screen(summary, {}))
    assert f"recorded solution verified: {told}" in shown and "solved" not in shown


def test_one_kind_of_traffic_has_one_column() -> None:
    summary = summarise(run_of(reply(1.0, [(10, 1), (10, 1)], kind="synthetic")))
    assert "synthetic" in screen(summary, {})[1] and "agents" not in screen(summary, {})[1]
    assert len(rows(section(report(summary, {}), "Figures"))["output"]) == 1


def test_an_empty_run_is_reported_too() -> None:
    summary = summarise(empty())
    assert "nothing to report" in report(summary, {"schema": 1})
    assert "No request was recorded." in "\n".join(screen(summary, {"schema": 1}))


def test_all_failed() -> None:
    summary = summarise(run_of(failure(1.0, "refused", t_sent_s=None, t_call_s=1.0, detail="connection refused")))
    text = report(summary, {})
    assert rows(section(text, "Errors"))["agent"] == ["refused", "1", "100 %", "connection refused"]
    assert rows(text)["requests"] == ["0 of 1 ok (1 failed)"]
    assert screen(summary, {})


def test_texts_of_the_run_are_data() -> None:
    run = run_of(
        reply(1.0, [(10, 1)]), failure(1.5, "timeout", detail=HOSTILE),
        tools=[tool(1.0, 1.0, 1.1, matched=False, difference=HOSTILE, tool="[red]t|u")],
        sessions=(session("s0000", 0, 1.2, verified=False, check=HOSTILE, task_kind="a|b"),),
        pulses=[pulse(1.0)],
    )  # fmt: skip
    summary = summarise(run)
    manifest = {"scenario_name": HOSTILE, "label": HOSTILE, "engine": {"model": HOSTILE}, "command": ["sim", HOSTILE]}
    text = report(summary, manifest)
    assert "\x1b" not in text and "\nsecond" not in text
    assert not re.search(r"(?<!\\)<img", text.split("## Repeat")[0])
    shown = "\n".join(screen(summary, manifest, width=200))
    assert "\x1b" not in shown and "[red]x[/red]" in shown
