"""A realistic run folder, written with the product's own RunWriter: what a short emulated run of agents and synthetic
traffic leaves. Everything follows from the seed. The numbers obey a small model (prefill by uncached tokens, decode by
batch, contexts that grow, tools of skewed length), so that folds over it give plausible figures that fit together.

    from tests.fixtures_run import Shape, write_run
    folder = write_run(tmp_path / "run", Shape(slots=8, window_s=20))
"""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from simulator.core.record import EngineSample, Pulse, Request, Session, SlotState, ToolRun
from simulator.core.sessions import PARTS
from simulator.store.folder import RunFolder, RunWriter

KINDS = (("coding", "telemetry-gateway"), ("documents", "invoice-matcher"), ("finance", "ledger-recon"))
PROFILES = ("classic-xml", "sdk")
TOOLS = ("read_file", "search", "edit", "command")
RAMP_S = 5.0


@dataclass(frozen=True, slots=True)
class Shape:
    """slots: concurrent agents; window_s: of the agents; synthetic: requests of the fixed-shape part, 0 for none.
    fail_every: each such request of the agents fails once and is retried, 0 for none. tok_per_chunk: as under
    speculation. killed: no end in the manifest, no window, a torn last line in records.jsonl."""

    slots: int = 8
    window_s: float = 20.0
    synthetic: int = 24
    fail_every: int = 17
    tok_per_chunk: int = 3
    seed: int = 7
    kind: str = "emulated"
    killed: bool = False
    slo: dict[str, float] = field(default_factory=lambda: {"ttft_s": 1.0, "tpot_s": 0.05})


def manifest(shape: Shape, **extra: Any) -> dict[str, Any]:
    return {
        "scenario_name": f"{shape.slots}_agents",
        "scenario": {
            "name": f"{shape.slots}_agents",
            "sessions": shape.slots,
            "synthetic": {"input_tok": 512, "output_tok": 512, "concurrency": 8} if shape.synthetic else None,
        },
        "scenario_hash": "5f" * 32,
        "plan_hash": "a1" * 32,
        "seed": shape.seed,
        "label": "baseline",
        "mode": "replay",
        "tokenizer": "tekken_240911",
        "slo": shape.slo,
        "versions": {"agent-sim": "0.1.0", "python": "3.11.7"},
        "host": {"cpus": 2},
        "engine": {"kind": shape.kind, "model": "hybrid-30b-a3b", "max_model_len": 131_072},
        "command": ["sim", "run", "scenarios/agents.yaml", "--label", "baseline"],
        "pid": 1,
        "t0_unix_s": 1_790_000_000.0,
        **extra,
    }


@dataclass(slots=True)
class _Log:
    """Records of a run before they are put in order of time."""

    requests: list[tuple[Request, list[int], list[int]]] = field(default_factory=list)
    tools: list[ToolRun] = field(default_factory=list)
    sessions: list[Session] = field(default_factory=list)


def write_run(path: Path, shape: Shape | None = None, **extra: Any) -> Path:
    """Writes the folder and returns its path. extra: further manifest fields."""
    shape = shape or Shape()
    rng, log = random.Random(shape.seed), _Log()
    end_s = RAMP_S + shape.window_s
    for slot in range(shape.slots):
        _slot(rng, log, shape, slot, RAMP_S * slot / shape.slots, end_s)
    synthetic = (end_s + 10.0, end_s + 10.0)
    if shape.synthetic:
        synthetic = _synthetic(rng, log, shape, end_s + 10.0)
    began = {"t0_unix_s": 1_790_000_000.0 + zlib.crc32(path.name.encode()) / 2**20}  # no two runs begin at one moment
    writer = RunFolder.create(path, manifest(shape, **(began | extra)))
    for number, (request, deltas, tokens) in enumerate(sorted(log.requests, key=lambda item: item[0].t_end_s)):
        request.request, request.run = number, path.name
        writer.request(request, deltas, tokens)
    for tool in sorted(log.tools, key=lambda tool: tool.t_release_s):
        writer.tool(tool)
    for session in sorted(log.sessions, key=lambda session: session.t_end_s):
        writer.session(session)
    _watch(writer, log, synthetic[1])
    writer.flush()
    if shape.killed:
        with (path / "records.jsonl").open("ab") as file:
            file.write(b'{"run":"run","kind":"agent","sess')
        return path
    writer.window("agent", RAMP_S, end_s)
    if shape.synthetic:
        writer.window("synthetic", *synthetic)
    writer.finish({"stopped": ""})
    return path


def of_its_own(path: Path) -> Path:
    """Makes of a copied folder another run, whose records and summary name it and that began at a time of its own."""
    lines = path / "records.jsonl"
    lines.write_bytes(re.sub(rb'"run":"[^"]*"', b'"run":"%s"' % path.name.encode(), lines.read_bytes()))
    told = orjson.loads((path / "manifest.json").read_bytes())
    told["t0_unix_s"] += 1.0 + sum(path.name.encode()) / 1e3
    (path / "manifest.json").write_bytes(orjson.dumps(told))
    if (path / "summary.json").exists():
        told = orjson.loads((path / "summary.json").read_bytes())
        told["folded_from"] = RunFolder.open(path).source
        (path / "summary.json").write_bytes(orjson.dumps(told))
    return path


def _slot(rng: random.Random, log: _Log, shape: Shape, slot: int, start_s: float, end_s: float) -> None:
    """Sessions one after the other until the window is over; the first begins in its middle."""
    now, number = start_s, 0
    while now < end_s:
        now = _session(rng, log, shape, slot, f"s{slot + number * shape.slots:04d}", now, end_s, mid=number == 0)
        number += 1


def _session(
    rng: random.Random, log: _Log, shape: Shape, slot: int, name: str, start_s: float, end_s: float, *, mid: bool
) -> float:
    turns = rng.randint(6, 14)
    first = rng.randint(1, turns - 3) if mid else 0
    kind, template = KINDS[slot % len(KINDS)]
    parts = dict.fromkeys(PARTS, 0.0)
    ready = now = start_s + 0.05
    context, turn, calls = 9_000 + 600 * first, first, 0
    cached = 0 if not mid else context - 800
    for turn in range(first, turns):
        if now >= end_s:
            break
        now = _turn(rng, log, shape, parts, name, slot, turn, now, context, cached)
        cached, context = context - context % 16, context + rng.randint(300, 1_200)
        done = _tool(rng, log, parts, name, slot, turn, now)
        calls, now = calls + 1, done
    else:
        turn = turns
    completed = turn == turns
    log.sessions.append(
        Session(
            session=name, slot=slot, task_template=template, task_kind=kind, task_size="medium",
            task_name=f"{template}-{slot}", profile=PROFILES[slot % 2], start_turn=first, end_turn=turn, turns=turns,
            t_start_s=start_s, t_ready_s=ready, t_end_s=now, setup_s=0.05, **parts, tool_calls=calls,
            tool_mismatches=sum(not t.matched for t in log.tools if t.session == name), edits=calls // 3,
            commits=calls // 3, outcome="completed" if completed else "stopped",
            verified=True if completed else None, diff_stat="2 files +14 -3",
        )
    )  # fmt: skip
    return now


def _turn(
    rng: random.Random, log: _Log, shape: Shape, parts: dict[str, float], name: str, slot: int, turn: int,
    due: float, context: int, cached: int,
) -> float:  # fmt: skip
    """One turn, with a failed first attempt now and then; returns when its last token came."""
    n, retry = rng.randint(40, 220), 0
    if shape.fail_every and len(log.requests) % shape.fail_every == shape.fail_every - 1:
        sent = due + 0.002
        record = _request(name, slot, turn, context, n, due=due, sent=sent, retry=0)
        record.t_end_s, record.status = sent + 0.01, 503
        record.outcome, record.error, record.detail = "failed", "server_error", "503 upstream is starting"
        log.requests.append((record, [], []))
        parts["model_s"] += 0.01
        parts["client_s"] += 0.002
        parts["backoff_s"] += 0.5
        due, retry = sent + 0.51, 1
    sent = due + rng.uniform(0.0005, 0.003)
    record = _request(name, slot, turn, context, n, due=due, sent=sent, retry=retry)
    record.prompt_tok, record.cached_tok = context, min(cached, context - 1)
    ttft = 0.03 + (context - record.cached_tok) / 20_000 * rng.uniform(0.9, 1.2)
    deltas, tokens = _chunks(rng, n, ttft, 0.012 * rng.uniform(0.9, 1.1), shape.tok_per_chunk)
    _answer(record, n, deltas, thinks=n > 150)
    log.requests.append((record, deltas, tokens))
    parts["client_s"] += sent - due + record.t_end_s - record.t_last_s
    parts["model_s"] += record.t_last_s - sent
    return record.t_end_s


def _request(name: str, slot: int, turn: int, context: int, n: int, *, due: float, sent: float, retry: int) -> Request:
    return Request(
        run="run", kind="agent", session=name, slot=slot, turn=turn, request=0, purpose="agent", retry=retry,
        t_due_s=due, t_call_s=due + 0.0002, t_sent_s=sent, t_first_s=None, t_first_answer_s=None, t_last_s=None,
        t_end_s=sent, status=200, prompt_tok=None, cached_tok=None, output_tok=None, reasoning_tok=None,
        output_source="none", planned_prompt_tok=context, planned_output_tok=n, chunks=0, chunks_at=-1,
        finish="", outcome="ok", error="",
    )  # fmt: skip


def _chunks(rng: random.Random, n: int, ttft_s: float, tpot_s: float, width: int) -> tuple[list[int], list[int]]:
    """Microsecond deltas and token counts of a reply of n tokens, 1 to `width` a chunk."""
    deltas, tokens = [round(ttft_s * 1e6)], [1]
    left = n - 1
    while left:
        brought = min(left, rng.randint(1, width))
        deltas.append(max(1, round(tpot_s * brought * rng.uniform(0.9, 1.1) * 1e6)))
        tokens.append(brought)
        left -= brought
    return deltas, tokens


def _answer(record: Request, n: int, deltas: list[int], *, thinks: bool) -> None:
    sent = record.t_sent_s
    assert sent is not None
    record.t_first_s = sent + deltas[0] * 1e-6
    record.t_first_answer_s = sent + sum(deltas[: len(deltas) // 3 + 1]) * 1e-6 if thinks else record.t_first_s
    record.t_last_s = sent + sum(deltas) * 1e-6
    record.t_end_s = record.t_last_s + 0.001
    record.output_tok, record.output_source, record.finish = n, "continuous", "stop"
    record.reasoning_tok = n // 3 if thinks else 0


def _tool(
    rng: random.Random, log: _Log, parts: dict[str, float], name: str, slot: int, turn: int, ready: float
) -> float:
    start = ready + rng.uniform(0.0001, 0.002)
    end = start + min(rng.lognormvariate(-3.5, 1.0), 2.0)
    release = end + (0.2 if rng.random() < 0.3 else 0.0)
    matched = rng.random() > 0.02
    log.tools.append(
        ToolRun(
            session=name, slot=slot, turn=turn, call=0, tool=TOOLS[turn % len(TOOLS)], t_ready_s=ready, t_start_s=start,
            t_end_s=end, t_release_s=release, recorded_s=0.2, result_chars=rng.randint(50, 9_000),
            exit_code=0 if turn % len(TOOLS) == 3 else None, matched=matched,
            difference="" if matched else "line 3: Ran 4 tests in 0.01s",
        )
    )  # fmt: skip
    think = rng.uniform(0.0, 0.5)
    parts["tool_queue_s"] += start - ready
    parts["tool_run_s"] += end - start
    parts["tool_pace_s"] += release - end
    parts["think_s"] += think
    return release + think


def _synthetic(rng: random.Random, log: _Log, shape: Shape, start_s: float) -> tuple[float, float]:
    """Eight at once, 512 in and 512 out; returns the window."""
    free, last = [start_s] * 8, start_s
    for number in range(-2, shape.synthetic):
        slot = number % 8
        if number == 0:  # the window opens when the warm-up is over
            start_s = last = max(free)
            free = [start_s] * 8
        due = free[slot]
        record = _request(f"syn{number}", slot, 0, 512, 512, due=due, sent=due + 0.001, retry=0)
        record.kind, record.purpose = "synthetic", "synthetic" if number >= 0 else "warmup"
        record.prompt_tok, record.cached_tok = 512, 0
        deltas, tokens = _chunks(rng, 512, 0.08 * rng.uniform(0.8, 1.3), 0.006, shape.tok_per_chunk)
        _answer(record, 512, deltas, thinks=False)
        log.requests.append((record, deltas, tokens))
        free[slot], last = record.t_end_s, max(last, record.t_end_s)
    return start_s, last


def _watch(writer: RunWriter, log: _Log, until_s: float) -> None:
    """Pulses twice a second and scrapes once a second that agree with the requests."""
    step = 0
    while (now := step * 0.5) <= until_s + 0.5:
        kind = "agent" if any(r.kind == "agent" and r.t_end_s > now for r, _, _ in log.requests) else "synthetic"
        mine = [item for item in log.requests if item[0].kind == kind]
        done = [r for r, _, _ in mine if r.t_end_s <= now]
        open_now = [r for r, _, _ in mine if r.t_call_s <= now < r.t_end_s]
        streamed = sum(r.output_tok or 0 for r in done)
        writer.pulse(
            Pulse(
                t_s=now, stage="window" if kind == "agent" else "synthetic", ends_s=None, kind=kind,
                output_tok=streamed,
                requests_done=sum(r.outcome == "ok" for r in done),
                requests_failed=sum(r.outcome == "failed" for r in done),
                sessions_done=sum(s.t_end_s <= now for s in log.sessions), in_flight=len(open_now),
                tools_running=sum(t.t_start_s <= now < t.t_end_s for t in log.tools),
                loop_lag_s=0.001 + 0.0005 * (step % 5), cpu_share=0.2, slots=list(_slots(open_now, now)),
            )
        )  # fmt: skip
        if step % 2 == 0:
            writer.engine(EngineSample(now, _gauges(log, now)))
        step += 1


def _slots(open_now: list[Request], now: float) -> Iterator[SlotState]:
    for r in sorted(open_now, key=lambda r: r.slot):
        phase = "decode" if (r.t_first_s or now + 1) <= now else "queue"
        yield SlotState(r.slot, r.session, "task", r.turn, 12, phase, r.planned_prompt_tok, None, 80.0)


def _gauges(log: _Log, now: float) -> dict[str, float]:
    running = [r for r, _, _ in log.requests if r.t_sent_s <= now < r.t_end_s]
    done = [(r, d) for r, d, _ in log.requests if r.t_end_s <= now and r.output_tok]
    tokens = float(sum(r.output_tok or 0 for r, _ in done))
    drafts = float(sum(len(d) - 1 for _, d in done))
    return {
        "vllm:num_requests_running": float(len(running)),
        "vllm:num_requests_waiting": 0.0,
        "vllm:kv_cache_usage_perc": min(1.0, sum(r.planned_prompt_tok for r in running) / 500_000),
        "vllm:prefix_cache_queries_total": float(sum(r.prompt_tok or 0 for r, _ in done)),
        "vllm:prefix_cache_hits_total": float(sum(r.cached_tok or 0 for r, _ in done)),
        "vllm:generation_tokens_total": tokens,
        "vllm:num_preemptions_total": 0.0,
        "vllm:spec_decode_num_drafts_total": drafts,
        "vllm:spec_decode_num_accepted_tokens_total": tokens - drafts - len(done),
        "process_start_time_seconds": 1_790_000_000.0,
    }
