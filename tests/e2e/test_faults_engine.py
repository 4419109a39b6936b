"""Every kind of fault on a real engine process: one life of it, one session a kind, and three that meet none."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import aiohttp
import orjson
import psutil
import pytest

from simulator import tokenizer
from simulator.cli.report import write_report
from simulator.core.action import ReadFile
from simulator.core.plan import PlannedCall, SessionPlan, Turn
from simulator.core.task import Check
from simulator.drive.clock import RunClock
from simulator.drive.endpoint import TOTAL_TIMES, Endpoint
from simulator.drive.load import Load, LoadShape
from simulator.drive.meter import Meter
from simulator.drive.sender import Sender
from simulator.drive.stage import Stage
from simulator.drive.tools import RecordedTools
from simulator.engine.embedded.faults import Kind
from simulator.engine.launch import start_embedded
from simulator.store.folder import RunFolder

SILENCE_S = 4.0
OUTPUT_TOK = 24
CLASSIC, SDK = "classic-xml", "sdk"
OK = ("", "")
GOOD = [f"good-{n}" for n in range(3)]
#: a client that closes each stream once it has seen enough of it
CLOSING, CLOSED_AT_TOK, LONG_TOK = "closing", 8, 1_000


@dataclass(frozen=True)
class Case:
    """met: (error, defect) of each send of the first turn. lives: the session goes on to its end."""

    kind: str
    profile: str
    met: Sequence[tuple[str, str]]
    lives: bool
    keys: dict[str, Any] = field(default_factory=dict)

    @property
    def session(self) -> str:
        return "-".join([self.kind, *map(str, self.keys.values())])


CASES = [
    Case("refuse", CLASSIC, [("cut", ""), OK], True),
    Case("status", CLASSIC, [("server_error", ""), OK], True, {"status": 502}),
    Case("overflow", CLASSIC, [("context_overflow", ""), OK], True),
    Case("overflow", SDK, [("context_overflow", ""), OK], True, {"from_s": 0}),
    Case("bad_request", SDK, [("bad_request", "")], False),
    Case("unauthorized", CLASSIC, [("auth", "")], False),
    Case("not_found", SDK, [("bad_request", "")], False),
    Case("rate_limited", CLASSIC, [("rate_limited", ""), OK], True, {"retry_after_s": 0.1}),
    Case("rate_limited", CLASSIC, [("rate_limited", ""), OK], True),
    Case("server_error", CLASSIC, [("server_error", ""), OK], True),
    Case("unavailable", CLASSIC, [("server_error", ""), OK], True),
    Case("hang", SDK, [("timeout", "")], False),
    Case("hang", SDK, [OK], True, {"hang_s": 0.2}),
    Case("page", SDK, [("malformed", "")], False),
    Case("json_body", SDK, [("malformed", "")], False),
    Case("malformed", SDK, [("malformed", "")], False),
    Case("empty", SDK, [("empty", ""), OK], True),
    Case("reasoning_only", SDK, [("", "reasoning_only")], False),
    Case("bad_arguments", SDK, [("", "bad_arguments")], True),
    Case("bad_arguments", CLASSIC, [("", "bad_arguments"), OK], True, {"from_s": 0}),
    Case("unknown_tool", SDK, [("", "unknown_tool"), OK], True),
    Case("unknown_tool", CLASSIC, [("", "unknown_tool"), OK], True, {"from_s": 0}),
    Case("call_in_text", CLASSIC, [("", "call_in_text"), OK], True),
    Case("trickle", SDK, [("timeout", "")], False, {"gap_s": 0.3}),
    Case("cut", CLASSIC, [("cut", ""), OK], True, {"after_chunks": 3}),
    Case("cut", SDK, [("cut", "")], False, {"after_chunks": 0}),
    Case("half_close", SDK, [("cut", "")], False),
    Case("no_finish", SDK, [("cut", "")], False, {"after_chunks": 2}),
    Case("hang_in_stream", SDK, [("timeout", "")], False, {"after_chunks": 2}),
    Case("error_in_stream", CLASSIC, [("server_error", ""), OK], True, {"after_chunks": 2}),
    Case("length", CLASSIC, [("", "length"), OK], True),
    Case("usage_wrong", SDK, [OK], True),
    Case("usage_missing", SDK, [OK], True),
    Case("slow_decode", CLASSIC, [OK], True, {"gap_s": 0.1}),
    Case("slow_prefill", SDK, [OK], True, {"factor": 100}),
    Case("burst", SDK, [OK], True, {"after_chunks": 2}),
    Case("deaf", CLASSIC, [OK], True),
]


def message(role: str, text: str) -> bytes:
    return orjson.dumps({"role": role, "content": text})


def plan(
    session: str, profile: str, model: str, output_tok: int = OUTPUT_TOK, stop_after_tok: int | None = None
) -> SessionPlan:
    tools = [{"type": "function", "function": {"name": "read_file", "parameters": {}}}]
    offers = b',"tools":' + orjson.dumps(tools) + b',"tool_choice":"auto"' if profile == SDK else b""
    pool = [message("system", f"You work in session<{session}>.")]
    for n in range(8):
        pool.append(message("user", f"Step {n}: " + "and read on " * 20))
        pool.append(message("assistant", f"I read {n}."))
    views = [tuple(range(12)), tuple(range(14)), tuple(range(16))]
    call = (PlannedCall(ReadFile("a"), "a", 0.0),)
    return SessionPlan(
        session, "t", "coding", "medium", 1, "n", profile, "/home/dev/n",
        heads=(b'{"model":"%s","messages":[' % model.encode(),),
        pool=tuple(pool),
        tail=b"]" + offers + b',"stream":true,"stream_options":{"include_usage":true}',
        turns=tuple(
            Turn(i, "agent", view, "", 0, 300, output_tok, 0.0, call, stop_after_tok=stop_after_tok)
            for i, view in enumerate(views)
        ),
        check=Check("", ""),
    )  # fmt: skip


class Work:
    def __init__(self, plans: Sequence[SessionPlan]) -> None:
        self.plans, self.ready = plans, asyncio.Event()
        self.ready.set()

    def nth(self, slot: int, n: int) -> str | None:
        return self.plans[slot].session if n == 0 else None

    def load(self, session: str) -> SessionPlan:
        return next(p for p in self.plans if p.session == session)


async def drive(folder: Path) -> dict[str, Any]:
    """One engine, one load; the run lies in folder/run. Gives what the engine counted, and the state afterwards."""
    tokenizer.load()  # takes a second or two, which the loop has not
    schedule = folder / "faults.yaml"
    rules = [{"kind": c.kind, "contains": f"session<{c.session}>", "times": 1, "of": "chat", **c.keys} for c in CASES]
    schedule.write_bytes(orjson.dumps({"rules": rules}))
    engine = await start_embedded(None, folder / "engine.log", seed=1, faults=schedule)
    try:
        clock = RunClock()
        meter = Meter(clock.now)
        endpoint = Endpoint(engine.base_url, "none", clock.now, timeout_s=SILENCE_S)
        identity = {**engine.identity(), "kind": "emulated"}
        writer = RunFolder.create(folder / "run", {"scenario_name": "faults", "engine": identity})
        sender = Sender(endpoint, writer, meter, clock.now, "run", tokenizer.count)
        stage = Stage(sender, RecordedTools(), writer, meter, clock.now, clock.at, asyncio.Event(), False, True)
        plans = [plan(c.session, c.profile, engine.model) for c in CASES]
        plans += [plan(name, (CLASSIC, SDK)[n % 2], engine.model) for n, name in enumerate(GOOD)]
        plans.append(plan(CLOSING, CLASSIC, engine.model, LONG_TOK, CLOSED_AT_TOK))
        await Load(stage, LoadShape(len(plans), None, 0.0, 80.0), Work(plans), asyncio.Event()).run()
        await endpoint.close()
        writer.finish({"stopped": ""})
        async with aiohttp.ClientSession() as http, http.get(engine.metrics_url) as answer:
            metrics = await answer.text()
        return {**_counters(metrics), "in_flight": meter.in_flight, "pid": engine.pid}
    finally:
        await engine.stop()


def _counters(metrics: str) -> dict[str, float]:
    """What the engine itself says: requests that were given up, faults."""
    found = {"aborted": 0.0, "faults": 0.0}
    for line in metrics.splitlines():
        if line.startswith("vllm:request_success_total") and 'finished_reason="abort"' in line:
            found["aborted"] += float(line.split()[-1])
        elif line.startswith("embedded:faults_total"):
            found["faults"] += float(line.split()[-1])
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("faults")
    told = asyncio.run(drive(folder))
    for name in ("records", "sessions"):
        told[name] = [orjson.loads(line) for line in (folder / "run" / f"{name}.jsonl").read_bytes().splitlines()]
    return {**told, "folder": folder / "run"}


def test_every_kind_but_the_engine_s_death_has_its_session() -> None:
    assert {c.kind for c in CASES} == set(get_args(Kind)) - {"death"}
    assert len({c.session for c in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.session)
def test_a_session_meets_its_fault_and_does_as_its_client_would(run: dict[str, Any], case: Case) -> None:
    mine = [r for r in run["records"] if r["session"] == case.session]
    first = [r for r in mine if r["turn"] == 0]
    assert [(r["error"], r["defect"]) for r in first] == list(case.met), [r["detail"] for r in first]
    assert [r["retry"] for r in first] == list(range(len(first)))
    assert all(bool(r["detail"]) == bool(r["error"]) and "\n" not in r["detail"] for r in mine)
    (session,) = [s for s in run["sessions"] if s["session"] == case.session]
    assert session["outcome"] == ("completed" if case.lives else "failed"), session
    assert bool(session["error"]) != case.lives
    if case.lives:
        assert [(r["turn"], r["error"]) for r in mine if r["turn"]] == [(1, ""), (2, "")]


def test_the_others_finish_as_if_nothing_were(run: dict[str, Any]) -> None:
    for name in GOOD:
        mine = [r for r in run["records"] if r["session"] == name]
        assert [(r["turn"], r["retry"], r["outcome"], r["output_tok"]) for r in mine] == [
            (n, 0, "ok", OUTPUT_TOK) for n in range(3)
        ]
    assert {s["outcome"] for s in run["sessions"] if s["session"] in GOOD} == {"completed"}


def test_streams_that_the_client_closes_end_at_the_engine_as_well(run: dict[str, Any]) -> None:
    mine = [r for r in run["records"] if r["session"] == CLOSING]
    assert [(r["turn"], r["outcome"], r["stopped"], r["finish"]) for r in mine] == [
        (n, "ok", True, "") for n in range(3)
    ]
    for r in mine:
        assert CLOSED_AT_TOK <= r["output_tok"] < LONG_TOK / 4 and r["output_source"] in ("scaled", "counted")
        assert r["defect"] == "" and r["prompt_tok"] is None
    assert run["aborted"] >= 3
    assert {s["outcome"] for s in run["sessions"] if s["session"] == CLOSING} == {"completed"}


def test_nothing_is_lost_and_every_fault_was_met_once(run: dict[str, Any]) -> None:
    assert len({r["request"] for r in run["records"]}) == len(run["records"])
    assert len(run["sessions"]) == len(CASES) + len(GOOD) + 1
    assert run["faults"] == len(CASES)
    assert run["in_flight"] == 0


def by_kind(run: dict[str, Any], kind: str) -> dict[str, Any]:
    found: dict[str, Any] = next(r for r in run["records"] if r["session"].startswith(kind) and r["turn"] == 0)
    return found


def test_what_usage_said_and_what_was_slow(run: dict[str, Any]) -> None:
    good, wrong, none = (by_kind(run, kind) for kind in ("good", "usage_wrong", "usage_missing"))
    assert (good["output_source"], good["output_tok"]) == ("usage", OUTPUT_TOK)
    assert wrong["output_tok"] == 2 * OUTPUT_TOK
    assert none["output_source"] == "counted" and none["prompt_tok"] is None
    assert none["output_tok"] == pytest.approx(OUTPUT_TOK, abs=3)
    slow = by_kind(run, "slow_decode")
    assert slow["t_last_s"] - slow["t_first_s"] > 0.1 * (slow["chunks"] - 1) * 0.9
    trickle = by_kind(run, "trickle")
    assert trickle["t_end_s"] - trickle["t_call_s"] >= TOTAL_TIMES * SILENCE_S * 0.99


def test_the_folder_reports_and_no_process_is_left(run: dict[str, Any]) -> None:
    write_report(run["folder"], show=False)
    report = (run["folder"] / "report.md").read_text()
    lost = sum(not c.lives for c in CASES)
    assert f"{lost} of {len(CASES) + len(GOOD) + 1} sessions" in report
    assert "FAULTS ON PURPOSE" in report
    summary = orjson.loads((run["folder"] / "summary.json").read_bytes())
    assert summary["agent"]["sessions"]["failed"] == lost
    assert set(summary["agent"]["errors"]) == {error for c in CASES for error, _ in c.met if error}
    odd = Counter(defect for c in CASES for _, defect in c.met if defect)
    assert summary["agent"]["defects"] == odd and "objected to: " in report
    manifest = orjson.loads((run["folder"] / "manifest.json").read_bytes())
    assert len(manifest["engine"]["faults"]["rules"]) == len(CASES)
    assert not psutil.pid_exists(run["pid"])
