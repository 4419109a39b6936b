"""Runs of a few hand-made requests, in memory: what the tables of metric tests are written in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from simulator.core.chunks import Chunks, pack
from simulator.core.record import EngineSample, Pulse, Request, Session, ToolRun
from simulator.core.run import RunData
from simulator.core.table import table_of


@dataclass(frozen=True, slots=True)
class Reply:
    """A request and its chunks: (milliseconds since the previous one, tokens), the first since the request was sent."""

    request: Request
    chunks: tuple[tuple[float, int], ...] = ()


def reply(sent_s: float = 0.0, stream: Sequence[tuple[float, int]] = (), **fields: Any) -> Reply:
    """A successful request sent at sent_s, due a millisecond before, whose times and tokens follow from its stream."""
    at_s = [sent_s + ms / 1e3 for ms in accumulate(ms for ms, _ in stream)]
    total = sum(tok for _, tok in stream)
    known: dict[str, Any] = dict(
        run="run", kind="agent", session="s0000", slot=0, turn=0, request=0, purpose="agent", retry=0,
        t_due_s=sent_s - 0.001, t_call_s=sent_s - 0.0005, t_sent_s=sent_s, t_first_s=at_s[0] if at_s else None,
        t_first_answer_s=at_s[0] if at_s else None, t_last_s=at_s[-1] if at_s else None,
        t_end_s=at_s[-1] if at_s else sent_s, status=200, prompt_tok=100, cached_tok=None,
        output_tok=total if at_s else None, reasoning_tok=None, output_source="continuous", planned_prompt_tok=100,
        planned_output_tok=total, chunks=len(stream), chunks_at=-1, finish="stop", outcome="ok", error="",
    )  # fmt: skip
    return Reply(Request(**{**known, **fields}), tuple(stream))


def failure(sent_s: float = 0.0, error: str = "server_error", **fields: Any) -> Reply:
    return reply(sent_s, outcome="failed", error=error, status=500, output_source="none", prompt_tok=None, **fields)


def run_of(*replies: Reply, **parts: Any) -> RunData:
    """RunData of these replies; `pulses` and `tools` may be given as lists of records."""
    packed = b""
    for number, each in enumerate(replies):
        each.request.request = number
        if each.chunks:
            each.request.chunks_at = len(packed)
            packed += pack([round(ms * 1e3) for ms, _ in each.chunks], [tok for _, tok in each.chunks])
    parts["pulses"] = table_of(Pulse, parts.get("pulses", []))
    parts["tools"] = table_of(ToolRun, parts.get("tools", []))
    words = np.frombuffer(packed, dtype="<u2")
    return RunData(table_of(Request, [each.request for each in replies]), Chunks(words), **parts)


def session(name: str = "s0000", start_s: float = 0.0, end_s: float = 10.0, **fields: Any) -> Session:
    """A completed session that spent all its time in the model, unless told otherwise."""
    known: dict[str, Any] = dict(
        session=name, slot=0, task_template="ledger", task_kind="coding", task_size="medium", task_name="ledger",
        profile="sdk", start_turn=0, end_turn=4, turns=4, t_start_s=start_s, t_ready_s=start_s, t_end_s=end_s,
        setup_s=0.0, think_s=0.0, model_s=end_s - start_s, tool_run_s=0.0, tool_queue_s=0.0, tool_pace_s=0.0,
        backoff_s=0.0, client_s=0.0, tool_calls=4, tool_mismatches=0, edits=1, commits=1, outcome="completed",
    )  # fmt: skip
    return Session(**{**known, **fields})


def pulse(t_s: float, **fields: Any) -> Pulse:
    known: dict[str, Any] = dict(
        t_s=t_s, stage="window", ends_s=None, kind="agent", output_tok=0, requests_done=0, requests_failed=0,
        sessions_done=0, in_flight=0, tools_running=0, loop_lag_s=0.001, cpu_share=0.1, slots=[],
    )  # fmt: skip
    return Pulse(**{**known, **fields})


def scrape(t_s: float, **values: float) -> EngineSample:
    """Metric names without their `vllm:`."""
    return EngineSample(t_s, {f"vllm:{name}": value for name, value in values.items()})


def tool(ready_s: float, start_s: float, end_s: float, release_s: float | None = None, **fields: Any) -> ToolRun:
    known: dict[str, Any] = dict(
        session="s0000", slot=0, turn=0, call=0, tool="search", t_ready_s=ready_s, t_start_s=start_s, t_end_s=end_s,
        t_release_s=end_s if release_s is None else release_s, recorded_s=0.1, result_chars=10, exit_code=None,
        matched=True,
    )  # fmt: skip
    return ToolRun(**{**known, **fields})
