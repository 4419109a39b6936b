"""What is wrong with a search or with a trace is told in one sentence, before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.cli.arrivals import with_traces
from simulator.cli.probing import loads
from simulator.cli.run import Options
from simulator.cli.saturate import Search, main
from simulator.cli.saturate import _usable as usable
from simulator.core.scenario_file import parse
from simulator.errors import UsageError

AGENTS = "name: few\nsessions: 2\nwindow_s: 5\n"
OPEN = AGENTS + "arrival: {kind: constant, sessions_per_s: 2}\n"
TRACE = AGENTS + "arrival: {kind: trace, file: times.txt}\n"


def saturate(folder: Path, text: str = AGENTS, slo: str = "ttft_p95<2s", **asked: object) -> None:
    (folder / "few.yaml").write_text(text)
    search = {"slo": slo, "low": None, "high": None, "rate": False, "window_s": None, **asked}
    out = folder / "out" if (folder / "out").exists() else None
    options = Options(folder / "few.yaml", None, None, None, out, None, "", True, False, ())
    main(options, Search(**search))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "asked", "said"),
    [
        (AGENTS, {"slo": ""}, "few states no `slo`"),
        (AGENTS, {"slo": "goodput>0.9"}, "give few an `slo` block"),
        (AGENTS, {"low": 9.0, "high": 3.0}, "--low 9 --high 3: the span begins above 0"),
        (AGENTS, {"low": 1.5}, "numbers of agents"),
        (AGENTS, {"low": float("nan")}, "--low nan --high 512: give numbers"),
        (AGENTS, {"high": float("inf")}, "give numbers"),
        (AGENTS, {"window_s": float("nan")}, "--window nan"),
        (AGENTS, {"high": 5000.0}, "at most 4,096 agents"),
        ("name: few\nsynthetic: {}\n", {}, "few has no agents"),
        ("name: few\nsynthetic: {}\n", {"slo": ""}, "few has no agents"),
        ("name: few\nsessions: 2\nrefill: false\n", {}, "say with --window"),
        (OPEN, {}, "give --rate"),
        (AGENTS + "arrival: {kind: trace, times_s: [1]}\n", {"rate": True}, "needs arrivals by rate"),
        (OPEN, {"rate": True, "high": 900.0}, "more than 4,096 sessions would arrive"),
    ],
)
def test_a_search_that_cannot_be_is_told(tmp_path: Path, text: str, asked: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        saturate(tmp_path, text, **asked)
    assert said in str(caught.value) and "\n" not in str(caught.value)
    assert [p.name for p in tmp_path.iterdir()] == ["few.yaml"], "nothing was made"


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("x")
    with pytest.raises(UsageError, match="holds other things"):
        saturate(tmp_path)
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["mine"]


def test_loads_are_the_scenario_at_a_load() -> None:
    closed = loads(parse(AGENTS + "synthetic: {}\nrefill: false\n", "f"), rate=False, window_s=9.0)
    at = closed.at(7.0)
    assert (at.sessions, at.window_s, at.refill, at.synthetic) == (7, 9.0, True, None)
    assert closed.planned_as(3.0) == closed.planned_as(300.0) and closed.slots(7.0) == 7
    opened = loads(parse(OPEN, "f"), rate=True, window_s=None)
    assert opened.at(0.5).arrival.kind == "constant" and opened.at(0.5).arrival.sessions_per_s == 0.5
    assert opened.at(0.5).sessions == 2, "its own places"
    assert loads(parse(AGENTS, "f"), rate=True, window_s=None).at(3.0).arrival.kind == "poisson"
    assert opened.slots(4.0) == 2 * opened.slots(2.0)


def traced(folder: Path, text: str, scenario: str = TRACE) -> tuple[float, ...] | None:
    (folder / "times.txt").write_text(text)
    return with_traces(parse(scenario, "f"), folder / "few.yaml").arrival.times_s


def test_a_trace_lies_beside_its_scenario(tmp_path: Path) -> None:
    assert traced(tmp_path, "0\n\n1.5\n 2 \n") == (0.0, 1.5, 2.0)
    requests = "name: a\nsynthetic: {arrival: {kind: trace, file: times.txt, scale: 2}}\n"
    block = with_traces(parse(requests, "f"), tmp_path / "a.yaml").synthetic
    assert block is not None and block.arrival.times_s == (0.0, 1.5, 2.0) and block.arrival.scale == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0\nsoon\n", "times.txt:2: `soon` is no time"),
        ("nan\n", "times.txt:1: `nan` is no time"),
        ("-1\n", "times.txt:1: `-1` is no time"),
        ("1\n0.5\n", "arrival 2 of the trace, 0.5 s, is before its predecessor, 1 s"),
        ("", "0 arrivals; a trace has 1 to"),
    ],
)
def test_a_broken_trace_is_told(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        traced(tmp_path, text)
    assert said in str(caught.value)


def test_a_missing_trace_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"times\.txt: the arrival trace cannot be read: No such file"):
        with_traces(parse(TRACE, "f"), tmp_path / "few.yaml")


@pytest.mark.parametrize(
    ("files", "own"),
    [
        ({}, True),
        ({"probes/": ""}, True),
        ({"probes/0001-1/manifest.json": '{"probe": {"point": 1}}'}, True),
        ({"probes/0001-1/manifest.json": '{"probe": {"point": 1}}', "notes.txt": "mine"}, True),
        ({"saturate.json": '{"made_by": "sim saturate"}', "probes/": ""}, True),
        ({"probes/venus/photo.jpg": "x"}, False),
        ({"probes/a/manifest.json": '{"scenario": {}}'}, False),
        ({"probes/": "", "mine": "x"}, False),
        ({"saturate.json": '{"mine": 1}', "probes/": ""}, False),
        ({"saturate.json": "not even JSON", "probes/0001-1/manifest.json": '{"probe": {"point": 1}}'}, False),
    ],
)
def test_only_a_search_s_own_folder_is_gone_on_with(tmp_path: Path, files: dict[str, str], own: bool) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).mkdir(exist_ok=True) if name.endswith("/") else (tmp_path / name).write_text(text)
    if own:
        usable(tmp_path)
        assert (tmp_path / "probes").is_dir()
    else:
        with pytest.raises(UsageError, match="holds other things"):
            usable(tmp_path)
    assert all((tmp_path / name).read_text() == text for name, text in files.items() if not name.endswith("/"))


@pytest.mark.parametrize(
    ("arrival", "said"),
    [
        ("arrival: {kind: constant, sessions_per_s: 5.0e-324}", "`arrival.sessions_per_s` 4.94066e-324 is less than"),
        ("arrival: {kind: poisson, sessions_per_s: 1.0e-300}", "give at least 0.00028, or raise `time_limit_s`"),
        ("arrival: {kind: trace, times_s: [4000]}", "first arrival is due at 4000 s and the run ends"),
        ("arrival: {kind: trace, times_s: [0, 10], scale: 1.0e+308}\nwindow_s: null", "at an infinite time"),
        (
            "synthetic: {arrival: {kind: constant, requests_per_s: 1.0e-300}}",
            "`synthetic.arrival.requests_per_s` 1e-300",
        ),
        ("synthetic: {arrival: {kind: trace, times_s: [1, 10], scale: 5000}}", "due at 5000 s and the run ends"),
    ],
)
def test_an_arrival_that_nobody_would_see_is_told(tmp_path: Path, arrival: str, said: str) -> None:
    text = AGENTS if "window_s" not in arrival else AGENTS.replace("window_s: 5\n", "")
    with pytest.raises(UsageError) as caught:
        with_traces(parse(f"{text}{arrival}\n", "f"), tmp_path / "few.yaml")
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_a_search_from_a_rate_that_brings_nobody_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"1e-09 is less than one arrival in the run's time limit"):
        saturate(tmp_path, rate=True, low=1e-9)
    with pytest.raises(UsageError, match=r"less than one arrival in the run's time limit"):
        saturate(tmp_path, AGENTS + "time_limit_s: 1.0e-300\n", rate=True)
