"""A run folder that grows, written by a process of its own: what the live view's tests and people watch.

`python tests/view/growing_run.py DIR --slots 32 --seconds 20 --pulse-s 0.5` writes sessions that queue, decode, run
tools and think, with an engine whose gauges follow them. `--end` is how it leaves: "ended" or "hang" (until killed).
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from simulator.core.record import EngineSample, Pulse, Request, Session, SlotState
from simulator.store.folder import RunFolder, RunWriter

PHASES = ("queue", "decode", "tool", "think")
STAY_S = {"setup": 1.0, "queue": 0.8, "decode": 6.0, "tool": 2.5, "think": 3.0, "backoff": 2.0}
TASKS = ("ledger-recon", "telemetry-gateway", "invoice-matcher", "orbit", "claims-intake-service", "quiz-engine")


def manifest(**extra: object) -> dict[str, object]:
    return {
        "scenario": {"name": "32_agents"},
        "label": "baseline",
        "seed": 7,
        "pid": os.getpid(),
        "t0_unix_s": time.time(),
        "engine": {"kind": "emulated", "model": "hybrid-30b-a3b", "max_model_len": 131_072},
    } | extra


def request(**extra: object) -> Request:
    fields: dict[str, object] = dict(
        run="run", kind="agent", session="s0001", slot=0, turn=1, request=0, purpose="agent", retry=0, t_due_s=1.0,
        t_call_s=1.0, t_sent_s=1.0, t_first_s=1.4, t_first_answer_s=1.4, t_last_s=5.0, t_end_s=5.0, status=200,
        prompt_tok=30_000, cached_tok=29_000, output_tok=250, reasoning_tok=None, output_source="usage",
        planned_prompt_tok=30_000, planned_output_tok=250, chunks=0, chunks_at=-1, finish="stop",
        outcome="ok", error="",
    )  # fmt: skip
    return Request(**(fields | extra))


def session(**extra: object) -> Session:
    fields: dict[str, object] = dict(
        session="s0001", slot=0, task_template="ledger", task_kind="coding", task_size="medium", task_name="ledger",
        profile="sdk", start_turn=0, end_turn=9, turns=9, t_start_s=0.0, t_ready_s=0.1, t_end_s=9.0, setup_s=0.1,
        think_s=1.0, model_s=6.0, tool_run_s=1.0, tool_queue_s=0.0, tool_pace_s=0.0, backoff_s=0.0, client_s=0.9,
        tool_calls=9, tool_mismatches=0, edits=2, commits=2, outcome="completed", verified=True,
    )  # fmt: skip
    return Session(**(fields | extra))


def slot(number: int, phase: str = "decode", **extra: object) -> SlotState:
    fields: dict[str, object] = dict(
        slot=number, session=f"s{number:04d}", task=TASKS[number % len(TASKS)], turn=3 + number % 9, turns=34,
        phase=phase, context_tok=20_000 + 997 * number, ttft_s=0.25 + 0.01 * number, tok_s=40.0,
    )  # fmt: skip
    return SlotState(**(fields | extra))


def pulse(t_s: float, slots: list[SlotState], **extra: object) -> Pulse:
    fields: dict[str, object] = dict(
        t_s=t_s, stage="window", ends_s=180.0, kind="agent", output_tok=0, requests_done=0, requests_failed=0,
        sessions_done=0, in_flight=sum(s.phase in ("queue", "decode") for s in slots), tools_running=0,
        loop_lag_s=0.002, cpu_share=0.3, slots=slots,
    )  # fmt: skip
    return Pulse(**(fields | extra))


class Traffic:
    """Sessions that move through their phases by seeded chance."""

    def __init__(self, writer: RunWriter, slots: int, seed: int = 1) -> None:
        self.writer, self.chance = writer, random.Random(seed)
        self.slots = [slot(n, "setup", context_tok=self.chance.randrange(4_000, 110_000)) for n in range(slots)]
        self.tok = self.done = self.failed = self.sessions = 0
        self.counters = {"hits": 0.0, "queries": 0.0, "drafts": 0.0, "accepted": 0.0}

    def step(self, t_s: float, span_s: float) -> None:
        for state in self.slots:
            if state.phase == "decode":
                state.tok_s = max(4.0, state.tok_s + self.chance.gauss(0, 4))
                self.tok += round(state.tok_s * span_s)
                self.counters["drafts"] += state.tok_s * span_s / 1.8
                self.counters["accepted"] += state.tok_s * span_s / 1.8 * 0.8
            if self.chance.random() < span_s / STAY_S[state.phase]:
                self._move(state, t_s)

    def _move(self, state: SlotState, t_s: float) -> None:
        if state.phase == "queue":
            state.ttft_s = self.chance.lognormvariate(-1, 0.6)
            self.counters["queries"] += state.context_tok
            self.counters["hits"] += 0.95 * state.context_tok
        if state.phase == "decode":
            self._reply(state, t_s)
        before = PHASES.index(state.phase) if state.phase in PHASES else -1
        state.phase = PHASES[(before + 1) % len(PHASES)]
        if self.chance.random() < 0.01:
            state.phase = "backoff"
            self.failed += 1
            failure = request(session=state.session, t_end_s=t_s, outcome="failed", error="server_error", status=503)
            failure.detail = "503: engine is overloaded [bold]now[/] \x1b[31m"
            self.writer.request(failure, [], [])

    def _reply(self, state: SlotState, t_s: float) -> None:
        ttft = state.ttft_s or 0.3
        sent = t_s - 6 - ttft
        reply = request(session=state.session, slot=state.slot, request=self.done, t_sent_s=sent)
        reply.t_first_s, reply.t_last_s, reply.t_end_s = sent + ttft, t_s, t_s
        self.writer.request(reply, [], [])
        self.done += 1
        state.turn += 1
        state.context_tok = min(125_000, state.context_tok + 900)
        if state.turn >= state.turns:
            self.sessions += 1
            self.writer.session(session(session=state.session, slot=state.slot, verified=self.sessions % 9 != 0))
            state.turn, state.context_tok = 0, 8_000

    def pulse(self, t_s: float, stage: str, ends_s: float | None) -> None:
        lag, cpu = abs(self.chance.gauss(0.002, 0.004)), self.chance.uniform(0.2, 0.4)
        counts = dict(output_tok=self.tok, requests_done=self.done, requests_failed=self.failed)
        beat = pulse(t_s, self.slots, stage=stage, ends_s=ends_s, sessions_done=self.sessions, **counts)
        beat.loop_lag_s, beat.cpu_share = lag, cpu
        beat.tools_running = sum(s.phase == "tool" for s in self.slots)
        self.writer.pulse(beat)

    def sample(self, t_s: float) -> None:
        running = sum(s.phase in ("decode", "queue") for s in self.slots)
        waiting = max(0, running - 24)
        names = {
            "vllm:num_requests_running": running - waiting,
            "vllm:num_requests_waiting": waiting,
            "vllm:kv_cache_usage_perc": min(1.0, sum(s.context_tok for s in self.slots) / 6e6),
            "vllm:prefix_cache_hits_total": self.counters["hits"],
            "vllm:prefix_cache_queries_total": self.counters["queries"],
            "vllm:spec_decode_num_drafts_total": self.counters["drafts"],
            "vllm:spec_decode_num_accepted_tokens_total": self.counters["accepted"],
        }
        self.writer.engine(EngineSample(t_s, {name: float(value) for name, value in names.items()}))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("run_dir", type=Path)
    parser.add_argument("--slots", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--pulse-s", type=float, default=0.5)
    parser.add_argument("--end", choices=("ended", "hang"), default="ended")
    chosen = parser.parse_args()
    writer = RunFolder.create(chosen.run_dir, manifest())
    traffic = Traffic(writer, chosen.slots)
    start, sampled = time.monotonic(), -1.0
    while (t_s := time.monotonic() - start) < chosen.seconds:
        traffic.step(t_s, chosen.pulse_s)
        warm = t_s < chosen.seconds / 10
        traffic.pulse(t_s, "warmup" if warm else "window", chosen.seconds / 10 if warm else chosen.seconds)
        if t_s - sampled >= 1:
            sampled = t_s
            traffic.sample(t_s)
        writer.flush()
        time.sleep(chosen.pulse_s)
    if chosen.end == "hang":
        time.sleep(600)
    traffic.pulse(chosen.seconds, "done", None)
    writer.finish()


if __name__ == "__main__":
    main()
