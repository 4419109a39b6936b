"""report.md and the last screen, of whole, killed and empty runs."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fixtures_fold import failure, pulse, reply, run_of, scrape, session, tool
from rich.console import Console

from simulator.core.run import empty
from simulator.core.summary import summarise
from simulator.store.folder import RunFolder
from simulator.view.final import final
from simulator.view.identity import facts
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


def test_the_last_screen_wraps_what_is_long_beside_its_label_and_cuts_nothing(make_run: MakeRun) -> None:
    summary, manifest = opened(make_run(killed=True))
    said = "a warning of many words that no line of eighty cells would hold, so that its end went missing before"
    summary["warnings"].insert(0, {"code": "x", "what": said, "why": "", "cure": ""})
    for width in (80, 10_000):
        lines = screen(summary, manifest, width)
        at = next(n for n, line in enumerate(lines) if line.startswith("warning    a warning"))
        below = next((n for n in range(at + 1, len(lines)) if lines[n][:1] != " "), len(lines))
        shown = [lines[at][11:], *(line[11:] for line in lines[at + 1 : below])]
        assert " ".join(part.strip() for part in shown).startswith(said)
        assert (below == at + 1) == (width == 10_000) and not any("…" in line for line in lines)


def test_without_a_steady_window_no_rate_of_sessions_is_made_up(make_run: MakeRun) -> None:
    ended = (session("s0", 0, 1.005, verified=True),)
    shown = screen(summarise(run_of(reply(1.0, [(10, 1)]), sessions=ended)), {})
    assert any(line.startswith("sessions   1 completed; recorded") for line in shown)


@pytest.mark.parametrize(
    ("outcomes", "told"), [([], "not checked"), ([None], "not checked"), ([True], "1/1"), ([True, False, None], "1/2")]
)
def test_a_replay_says_verified_and_of_how_many(outcomes: list[bool | None], told: str) -> None:
    ended = tuple(session(f"s{i}", 0, 1.005, verified=passed) for i, passed in enumerate(outcomes))
    summary = summarise(run_of(reply(1.0, [(10, 1)]), sessions=ended))
    assert rows(section(report(summary, {}), "Sessions"))["recorded solution verified"] == [told]
    shown = "\n".join(screen(summary, {}))
    assert f"recorded solution verified: {told}" in shown and "solved" not in shown


def test_templates_that_the_machine_could_not_play_are_told() -> None:
    summary = summarise(run_of(reply(1.0, [(10, 1)])))
    manifest = {"templates_left_out": {"coding_x": "node 22.6 or newer, and /usr/bin/node is 20.20: install Node.js"}}
    said = "coding_x is left out, for it needs node 22.6 or newer, and /usr/bin/node is 20.20: install Node.js"
    assert f"- {said}" in report(summary, manifest).replace("\\", "").splitlines()
    assert any(line.strip() == f"left out   {said}" for line in screen(summary, manifest, 200))
    assert "left out" not in "\n".join(screen(summary, {})) and "is left out" not in report(summary, {})


AS_ASKED = "cut after 3 turns, as asked"


@pytest.mark.parametrize(
    ("whole", "cut", "windowed", "told"),
    [
        (0, 8, False, f"8 {AS_ASKED}"),
        (0, 8, True, f"8 {AS_ASKED}, 2,880/h"),
        (
            2,
            6,
            True,
            f"2 completed and 6 {AS_ASKED}, together 2,880/h; recorded solution verified: 2/2",
        ),
        (8, 0, False, "8 completed; recorded solution verified: 8/8"),
    ],
)
def test_what_was_asked_to_end_early_does_not_read_as_unfinished(
    whole: int, cut: int, windowed: bool, told: str
) -> None:
    lives = [session(f"w{n}", 0, 19.0, verified=True) for n in range(whole)]
    lives += [session(f"c{n}", 0, 19.0, end_turn=3, turns=47) for n in range(cut)]
    summary = summarise(run_of(*OPEN, sessions=tuple(lives), windows=WINDOW if windowed else {}))
    shown = next(line for line in screen(summary, {}, 200) if line.startswith("sessions "))
    assert shown.removeprefix("sessions").strip() == told
    table = rows(section(report(summary, {}), "Sessions"))
    assert table["completed in the window"] == [str(whole)]
    assert table.get(AS_ASKED, ["0"]) == [str(cut)]
    assert ("recorded solution verified" in table) == bool(whole)


def test_where_no_tool_ran_nothing_is_said_to_differ_or_to_be_verified() -> None:
    ended = (session("s0", 0, 1.005, verified=None),)
    summary = summarise(run_of(reply(1.0, [(10, 1)]), sessions=ended, tools=[tool(1.0, 1.0, 1.0)]))
    for manifest in ({"scenario": {"name": "n", "trace": {"file": "t.jsonl"}}}, {"engine": {"virtual": True}}):
        shown, whole = "\n".join(screen(summary, manifest)), report(summary, manifest)
        assert "1 call, not carried out: recorded latencies" in shown and "1 call was not carried out" in whole
        for told in (shown, whole):
            assert "differ" not in told and "erified" not in told
    assert "differ from the recording" in "\n".join(screen(summary, {"scenario": {"name": "n", "trace": None}}))


WINDOW = {"agent": (10.0, 20.0)}
OPEN = [reply(10.0, [(100, 1), (9_900, 1)], session=f"s{i}") for i in range(8)]
WELL = [pulse(10 + t / 2) for t in range(20)]


@pytest.mark.parametrize(
    ("running", "waiting", "lag_s", "told"),
    [
        (8, 0, 0.001, "nobody, nothing queues (8.0 run, 0 wait)"),
        (2, 6, 0.001, "the engine, 6.0 requests wait"),
        (1, 0, 0.001, "the engine's front end, 7.0 of 8.0 open requests"),
        (2, 6, 0.3, "the client, event-loop lag p99 300 ms"),
    ],
)
def test_the_first_lines_say_who_is_the_limit(running: int, waiting: int, lag_s: float, told: str) -> None:
    samples = tuple(scrape(11.0 + t, num_requests_running=running, num_requests_waiting=waiting) for t in range(8))
    pulses = [pulse(beat.t_s, loop_lag_s=lag_s) for beat in WELL]
    summary = summarise(run_of(*OPEN, windows=WINDOW, pulses=pulses, engine=samples))
    text = report(summary, {})
    assert f"agents: {told}" in text.split("\n## ")[0]
    shown = "\n".join(screen(summary, {}))
    assert re.search(r"limit +agents: " + told.split(",")[0], shown)
    marked = "no verdict may be drawn from a comparison with this run"
    assert [marked in text.split("\n## ")[0], marked in shown] == [lag_s > 0.02] * 2


def test_the_first_lines_count_what_failed() -> None:
    ended = (session("s0", 10, 15), session("s1", 10, 16, outcome="failed"), session("s2", 10, 17, outcome="stopped"))
    summary = summarise(run_of(*OPEN, failure(12.0), windows=WINDOW, pulses=WELL, sessions=ended))
    assert "1 of 3 sessions and 1 of 9 requests failed" in report(summary, {}).split("\n## ")[0]
    assert "1 failed" in "\n".join(screen(summary, {}))
    well = report(summarise(run_of(*OPEN, windows=WINDOW, pulses=WELL)), {})
    assert "No session and no request failed" in well.split("\n## ")[0]


def test_a_backlog_below_nothing_is_called_skew() -> None:
    samples = tuple(scrape(11.0 + t, num_requests_running=8 + t % 2, num_requests_waiting=0) for t in range(8))
    summary = summarise(run_of(*OPEN, windows=WINDOW, pulses=WELL, engine=samples))
    assert summary["engine"]["agent"]["backlog_mean"] == -0.5
    assert rows(section(report(summary, {}), "Engine"))["front-end backlog, mean"] == ["0 (−0.500 by sampling skew)"]
    assert not {"other_users", "front_end_backlog"} & {w["code"] for w in summary["warnings"]}


def test_what_needs_a_word_has_it_beside_the_figure() -> None:
    many = [reply(10.0 + i / 10, [(100, 1), (20, 1)], session=f"s{i % 4}", turn=i // 4) for i in range(80)]
    summary = summarise(run_of(*many, windows=WINDOW, pulses=WELL, slo={"ttft_s": 0.5}))
    text = report(summary, {})
    for told in ("Goodput counts requests", "ttft ≤ 500 ms", "Fairness compares", "agents had 80", "Percentiles cover"):
        assert told in text
    assert "±" in rows(text)["second half against first"][0]
    few = [reply(10.0 + i, [(4_000, 2)]) for i in range(10)]
    short = report(summarise(run_of(*few, windows=WINDOW, pulses=WELL)), {})
    assert "Goodput" not in short and "may be noise" in rows(short)["second half against first"][0]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, []),
        ("None", []),
        ([], []),
        ("[]", []),
        (True, [("engine", "yes")]),
        ("False", [("engine", "no")]),
        (0, [("engine", "0")]),
        (131072.0, [("engine", "131072")]),
        (("a", 2, None), [("engine", "a, 2")]),
        ([{"id": "m", "max_model_len": None}], [("engine.id", "m")]),
        ([{"id": "m"}, {"id": "n", "on": True}], [("engine.1.id", "m"), ("engine.2.id", "n"), ("engine.2.on", "yes")]),
        ({"a": {"b": [1, 2]}}, [("engine.a.b", "1, 2")]),
    ],
)
def test_facts_are_written_as_people_do(value: object, told: list[tuple[str, str]]) -> None:
    assert facts(value, "engine") == told


def test_a_summary_from_before_the_limit_was_judged_is_shown_too(make_run: MakeRun) -> None:
    summary, manifest = opened(make_run(slots=2, window_s=5, synthetic=1))
    del summary["limit"]
    assert "Where the limit is" not in report(summary, manifest) and screen(summary, manifest)


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
