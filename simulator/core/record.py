"""One line for each thing that happened. Everything reported is a pure fold over these.

Times ending in `_s` are seconds from the run's start on one monotonic clock; None: that point was never reached.
A failed request keeps its record, its times and its error kind; it never becomes a latency of 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field

#: error kinds of a request, the only values of Request.error besides ""
ERRORS = (
    "refused",  # no connection
    "timeout",  # no headers, or silence in the stream, past the limit
    "cut",  # the stream ended without a finish reason
    "malformed",  # the stream could not be parsed
    "empty",  # a reply without any output
    "context_overflow",  # 400 that says so
    "bad_request",  # any other 400/404/422
    "auth",  # 401/403
    "rate_limited",  # 429
    "server_error",  # 5xx
    "cancelled",  # the run was stopped
)

#: why a live session did not solve its task, the only values of Session.failure_class besides ""
FAILURES = (
    "wrong_answer",  # it said that it was done, and the check disagrees
    "gave_up",  # it ended without saying that it was done
    "loop",  # the same call over and over
    "malformed_calls",  # calls that the client could not read
    "context_overflow",
    "time_out",  # a limit of turns, tokens or seconds
    "engine_error",  # its requests failed
)


@dataclass(slots=True)
class Request:
    """One HTTP request (a retry is a line of its own, with `retry` counting from 0).

    run: folder name. kind: "agent" | "synthetic". session: "s0007" or "syn"; slot: which of the concurrent places.
    turn: the plan's turn index; request: number within the run, from 0, in order of the call. purpose: Turn.purpose.
    phase: "warmup" | "ramp" | "window" | "drain" is not stored: it follows from times and summary windows.
    t_due_s ... t_end_s: the clock points of docs/metrics.md. status: HTTP status, 0 when none came.
    prompt_tok, cached_tok, output_tok, reasoning_tok: the server's usage; None when it did not say.
    output_source: "usage" | "continuous" (per chunk, from the server) | "counted" (ours) | "scaled" (of a
        stream that was cut off: chunks times the mean tokens a chunk of this run) | "none".
    planned_prompt_tok, planned_output_tok: what the plan expected; 0 in a live session, which has none.
    chunks: output chunks received; chunks_at: byte offset of this request in chunks.bin, -1 when it has none.
    finish: finish_reason or "". outcome: "ok" | "failed" | "cancelled". error: "" or one of ERRORS. detail: a short
    sentence for people, with no secrets.
    context_tok: planned prompt tokens, so that live views show growth before usage arrives.
    server_ttft_s: the engine's own TTFT where it reports one.
    branch: 0 the session's own conversation; n, its n-th sub-agent (1 + index into SessionPlan.branches), whose turns
        count from 0.
    stopped: the client itself closed the stream after what it wanted (outcome "ok"; usage never came).
    defect: what the client objects to in a reply that came whole (core/outcome.DEFECTS), or "".
    other_model: the model that the reply names, where it is not the one that was asked for; else "".
    """

    run: str
    kind: str
    session: str
    slot: int
    turn: int
    request: int
    purpose: str
    retry: int
    t_due_s: float
    t_call_s: float
    t_sent_s: float | None
    t_first_s: float | None
    t_first_answer_s: float | None
    t_last_s: float | None
    t_end_s: float
    status: int
    prompt_tok: int | None
    cached_tok: int | None
    output_tok: int | None
    reasoning_tok: int | None
    output_source: str
    planned_prompt_tok: int
    planned_output_tok: int
    chunks: int
    chunks_at: int
    finish: str
    outcome: str
    error: str
    detail: str = ""
    server_ttft_s: float | None = None
    branch: int = 0
    stopped: bool = False
    defect: str = ""
    other_model: str = ""


@dataclass(slots=True)
class ToolRun:
    """One tool call carried out. t_ready_s: handed to the pool; t_start_s, t_end_s: the work itself; t_release_s: the
    answer given to the session (later than t_end_s when paced). matched: equal to the recorded result after the
    declared normalisers (in a live session, where nothing is compared, True); difference: the first differing line,
    shortened, "" when matched."""

    session: str
    slot: int
    turn: int
    call: int
    tool: str
    t_ready_s: float
    t_start_s: float
    t_end_s: float
    t_release_s: float
    recorded_s: float
    result_chars: int
    exit_code: int | None
    matched: bool
    difference: str = ""
    branch: int = 0


@dataclass(slots=True)
class Session:
    """One session's life in this run, written when it ends.

    start_turn..end_turn: turns [start_turn, end_turn) were done here, of `turns` planned (live, where nothing is: as
        many as it took).
    t_due_s: when an open loop wanted it to arrive; None in a closed loop. t_start_s: its slot took it (workspace set-up
        begins, in an open loop a little before it is due, so that it arrives in time); t_ready_s: workspace ready, and
        arrived; t_end_s: last turn's tools done.
    setup_s lies before t_ready_s; the other parts divide t_end_s - t_ready_s without overlap. subagent_s: the wait for
        sub-agents, whose own requests and tools are in no other part.
    outcome: "completed" (a live one: it ended by its client's rules, or at a limit of its own) | "stopped" (the run
        ended) | "failed".
    verified: the task's check passed (of a live session: the model solved it); None when it was not run. check: its
        first complaint, or "".
    failure_class: of a live session that solved nothing, one of FAILURES; else "".
    diverged_turn: the first turn of a live session whose calls are not the recorded ones; None: all were, or nothing is
        recorded. recorded_share: of the recorded calls, how many it made as well, wherever; None: nothing is recorded.
    diff_stat: "files +added -removed" of the final workspace diff.
    """

    session: str
    slot: int
    task_template: str
    task_kind: str
    task_size: str
    task_name: str
    profile: str
    start_turn: int
    end_turn: int
    turns: int
    t_start_s: float
    t_ready_s: float
    t_end_s: float
    setup_s: float
    think_s: float
    model_s: float
    tool_run_s: float
    tool_queue_s: float
    tool_pace_s: float
    backoff_s: float
    client_s: float
    tool_calls: int
    tool_mismatches: int
    edits: int
    commits: int
    outcome: str
    error: str = ""
    verified: bool | None = None
    check: str = ""
    diff_stat: str = ""
    subagent_s: float = 0.0
    t_due_s: float | None = None
    failure_class: str = ""
    diverged_turn: int | None = None
    recorded_share: float | None = None


@dataclass(slots=True)
class SlotState:
    """One concurrent place, as the live view shows it. phase: "setup" | "queue" (sent, no first chunk; the engine has
    it waiting or prefilling) | "decode" | "tool" | "think" | "backoff" | "done" | "idle"."""

    slot: int
    session: str
    task: str
    turn: int
    turns: int
    phase: str
    context_tok: int
    ttft_s: float | None
    tok_s: float


@dataclass(slots=True)
class Pulse:
    """The run at a moment, appended twice a second: what a live view needs, and the client's own health.

    stage: "setup" | "warmup" | "ramp" | "window" | "drain" | "synthetic" | "done". ends_s: when the stage is expected
    to end, None if unknown. output_tok: streamed so far in this traffic (chunks x tokens, estimated until usage
    arrives). requests_done, requests_failed, sessions_done: so far. in_flight: open requests.
    loop_lag_s: largest event-loop lag since the last pulse. lag_ticks: moments since then, 10 ms apart, at which the
        lag was taken, those that fell into a stall included; lag_over_...: how many of them found it above that.
    cpu_share: client process CPU seconds / wall since then. Of several client processes the largest, since the busiest
        one is the limit; cpu_shares: of each, empty for one. Their other figures are put together by core/pulses.py:
        counts are sums, loop_lag_s is the largest, ticks and lag_over_... are those of the process that lagged past the
        limit most often in the stage so far: one that stalls is not averaged away by others that do not.
    """

    t_s: float
    stage: str
    ends_s: float | None
    kind: str
    output_tok: int
    requests_done: int
    requests_failed: int
    sessions_done: int
    in_flight: int
    tools_running: int
    loop_lag_s: float
    cpu_share: float
    slots: list[SlotState]
    lag_ticks: int = 0
    lag_over_2ms: int = 0
    lag_over_5ms: int = 0
    lag_over_10ms: int = 0
    lag_over_20ms: int = 0
    lag_over_50ms: int = 0
    lag_over_100ms: int = 0
    lag_over_500ms: int = 0
    cpu_shares: list[float] = field(default_factory=list)


@dataclass(slots=True)
class EngineSample:
    """One scrape of /metrics. t_s: when its answer was there. values: metric name (labels summed away) -> value, for
    the names in engine/scrape.py; error: why a scrape failed, "" if it did not."""

    t_s: float
    values: dict[str, float]
    error: str = ""
