"""A scenario: everything that decides what is sent and when. Its text is read by scenario_file.py."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from simulator.core.arrival_block import MAX_TIMES as MAX_TIMES
from simulator.core.arrival_block import Arrival as Arrival
from simulator.core.arrival_block import Block, Positive
from simulator.core.arrival_block import SyntheticArrival as SyntheticArrival
from simulator.core.usage import UsageAsked

Share = Annotated[float, Field(ge=0, le=1)]
ProfileName = Literal["classic-xml", "classic-glm", "classic-native", "compact", "sdk"]
KindName = Literal["coding", "documents", "finance"]
SizeName = Literal["small", "medium", "long"]
_PROFILES: dict[ProfileName, float] = {"classic-xml": 1.0}
_TASKS: dict[KindName, float] = {"coding": 2.0, "documents": 1.0, "finance": 1.0}
_SIZES: dict[SizeName, float] = {"medium": 0.7, "long": 0.3}


class Think(Block):
    """Pauses before a turn, besides the tools: none; recorded (the plan's own); or a lognormal with this median and
    90th percentile, capped. In a file `think: none` and `think: recorded` are enough."""

    kind: Literal["none", "recorded", "lognormal"] = "lognormal"
    median_s: Positive | None = None
    p90_s: Positive | None = None
    cap_s: Positive = 60.0

    @model_validator(mode="before")
    @classmethod
    def _word(cls, value: Any) -> Any:
        return {"kind": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _ordered(self) -> Think:
        if self.kind == "lognormal":
            if self.median_s is None or self.p90_s is None:
                raise ValueError("a lognormal pause needs both `median_s` and `p90_s`")
            if self.p90_s < self.median_s:
                raise ValueError(f"p90_s ({self.p90_s:g}) is below median_s ({self.median_s:g})")
        return self


class Recording(Block):
    """Recorded sessions in place of drawn tasks. file: a trace made by `sim import`, beside the scenario. sessions:
    "once", each is played once, by the order in which they began; "drawn", as many as are wanted, all equally often in
    an order drawn by the seed, each further copy with private text of its own. gap_scale multiplies recorded pauses and
    tool latencies, gap_cap_s is the longest of either. digest, total: of the file, known once it was read."""

    file: Annotated[str, Field(min_length=1)]
    sessions: Literal["once", "drawn"] = "once"
    gap_scale: Annotated[float, Field(ge=0, le=1_000)] = 1.0
    gap_cap_s: Positive = 60.0
    digest: str = ""
    total: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="before")
    @classmethod
    def _word(cls, value: Any) -> Any:
        return {"file": value} if isinstance(value, str) else value


class Output(Block):
    """forced: the engine must produce exactly the recorded number of tokens (ignore_eos, min = max); else it stops when
    it likes, within the limit that the client itself sets, if any."""

    forced: bool = True


class Live(Block):
    """With `mode: live`, what ends a session that does not end by itself: replies, seconds, tokens generated. A
    sub-agent has the same number of replies. max_reply_tok: sent as the limit of each reply; None, none is sent."""

    max_turns: Annotated[int, Field(gt=0, le=10_000)] = 100
    max_session_s: Positive = 1800.0
    max_output_tok: Annotated[int, Field(gt=0)] = 200_000
    max_reply_tok: Annotated[int, Field(gt=0)] | None = None


#: what a live session needs where a replay has something else by default
LIVE_DEFAULTS = {"start": "beginning", "tools": "real", "live": {}}


class Warmup(Block):
    """Requests sent before anything counts: `requests` small ones, then caches are reset where the engine can."""

    requests: Annotated[int, Field(ge=0, le=1_024)] = 8


class Slo(Block):
    """What a request must meet to count as goodput, seconds. turn_s: from due to last token."""

    ttft_s: Positive | None = None
    tpot_s: Positive | None = None
    e2el_s: Positive | None = None
    turn_s: Positive | None = None


class Endpoint(Block):
    """An OpenAI-compatible server. The key is read from the environment variable named here, never from the file."""

    url: str
    model: str | None = None
    api_key_env: str = "OPENAI_API_KEY"


class Synthetic(Block):
    """Fixed-shape traffic: random token-id prompts on /v1/completions, forced length. In a closed loop `concurrency`
    requests are open at any time (256 unless told otherwise); in an open loop it is only a cap, none unless told."""

    input_tok: Annotated[int, Field(gt=0, le=1_000_000)] = 512
    output_tok: Annotated[int, Field(gt=0, le=1_000_000)] = 512
    concurrency: Annotated[int, Field(gt=0, le=16_384)] | None = None
    requests: Annotated[int, Field(gt=0, le=200_000)] = 768
    warmup_requests: Annotated[int, Field(ge=0, le=16_384)] = 32
    reset_caches: bool = True
    arrival: SyntheticArrival = SyntheticArrival()

    @model_validator(mode="before")
    @classmethod
    def _closed_by_default(cls, value: Any) -> Any:
        if isinstance(value, dict) and value.get("concurrency") is None:
            arrival = value.get("arrival")
            kind = arrival.get("kind", "closed") if isinstance(arrival, dict) else getattr(arrival, "kind", "closed")
            return {**value, "concurrency": 256 if kind == "closed" else None}
        return value


class Scenario(Block):
    """sessions: concurrent agent slots; 0 for synthetic traffic alone. In an open loop (`arrival`) it is the number of
    places, the most sessions that may be open at once: an arrival that finds none free waits, and its wait is counted.
    start: "stationary", slots (in an open loop all arrivals) begin in the middle of sessions, as a running service
    would be met; "beginning", all at their first turn. profiles, tasks, sizes:
    shares, need not add up to 1. workdir: "per_agent", each agent's path differs, so prompts share almost no prefix;
    "shared", one path for all. drain_s: requests in flight at the window's end have so long to finish, then they are
    cancelled. plan_mode: share of sessions that begin in plan mode. subagents: share of sessions that send out
    sub-agents. parallel_tool_calls: of classic clients, in a replay of native ones only; false, the client takes one
    call a reply and closes the stream after it. cached_double_count: the engine reports cached tokens and classic
    clients count them twice, so that they cut a warm session at about half its window. think: pauses before a turn,
    besides the tools.
    tools: "real", the answer is given when the tool is done; "paced", no sooner than the recorded latency.
    usage: "end", the server says a reply's tokens once, and they are spread evenly over its chunks; "every_chunk", it
    counts along, which tells the tokens of each chunk and costs the server's API process CPU a chunk.
    mode: "replay", each reply counts as the recorded one, whatever it says; "live", the model's own replies carry the
    session on, and it is checked whether they solved the task. A live session begins at its beginning, with real tools
    and replies of the length that the model likes.
    tasks_dir: a folder with tasks of one's own, counted from the scenario's folder; they join those of their kind.
    templates: only these, by name; none, all of the kinds that `tasks` asks for.
    trace: recorded sessions in place of drawn ones; then `think: recorded` and `start: beginning` are the defaults."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=64)]
    seed: Annotated[int, Field(ge=0)] = 1
    sessions: Annotated[int, Field(ge=0, le=32_768)] = 0
    window_s: Positive | None = None
    ramp_s: Annotated[float, Field(ge=0)] = 5.0
    drain_s: Annotated[float, Field(ge=0)] = 60.0
    refill: bool = True
    start: Literal["stationary", "beginning"] = "stationary"
    max_turns: Annotated[int, Field(gt=0)] | None = None
    arrival: Arrival = Arrival()
    profiles: Annotated[dict[ProfileName, Positive], Field(min_length=1)] = _PROFILES
    plan_mode: Share = 0.0
    subagents: Share = 0.0
    parallel_tool_calls: bool = True
    cached_double_count: bool = False
    mode: Literal["replay", "live"] = "replay"
    live: Live | None = None
    tasks: Annotated[dict[KindName, Positive], Field(min_length=1)] = _TASKS
    tasks_dir: Annotated[str, Field(min_length=1)] | None = None
    templates: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    sizes: Annotated[dict[SizeName, Positive], Field(min_length=1)] = _SIZES
    context_window_tok: Annotated[int, Field(ge=16_000, le=10_000_000)] = 128_000
    think: Think = Think(kind="none")
    tools: Literal["real", "paced"] = "paced"
    output: Output = Output()
    usage: UsageAsked = "end"
    workdir: Literal["per_agent", "shared"] = "per_agent"
    warmup: Warmup = Warmup()
    slo: Slo = Slo()
    trace: Recording | None = None
    endpoint: Endpoint | None = None
    time_limit_s: Positive = 3600.0
    request_timeout_s: Positive = 300.0
    synthetic: Synthetic | None = None

    @model_validator(mode="before")
    @classmethod
    def _live_defaults(cls, value: Any) -> Any:
        if not isinstance(value, dict) or value.get("mode") != "live":
            return value
        output = value.get("output") or {}
        forced = {"output": {"forced": False, **output}} if isinstance(output, dict) else {}
        given = {key: each for key, each in value.items() if not (key == "live" and each is None)}
        return {**LIVE_DEFAULTS, **given, **forced}

    @model_validator(mode="after")
    def _fits_its_mode(self) -> Scenario:
        if self.mode == "replay":
            if self.live is not None:
                raise ValueError("`live` goes with `mode: live`; leave it out, or change the mode")
            return self
        if self.output.forced:
            raise ValueError("`mode: live` needs `output.forced: false`: the model says when a reply ends")
        if self.start != "beginning":
            raise ValueError("`mode: live` needs `start: beginning`: what is said before is the model's as well")
        if self.tools != "real":
            raise ValueError("`mode: live` needs `tools: real`: there is no recorded latency to keep to")
        if self.max_turns is not None:
            raise ValueError("`max_turns` cuts recorded sessions short; in `mode: live` give `live.max_turns`")
        if not self.sessions:
            raise ValueError("`mode: live` is about agents; give `sessions` above 0")
        return self

    @model_validator(mode="before")
    @classmethod
    def _recorded(cls, value: Any) -> Any:
        """A trace is played as it was recorded unless told otherwise."""
        if not isinstance(value, dict) or value.get("trace") is None:
            return value
        for key in ("profiles", "tasks", "sizes", "plan_mode", "subagents", "workdir", "tasks_dir", "templates"):
            if key in value and (value[key] or None) != (cls.model_fields[key].default or None):
                raise ValueError(f"`{key}` says which sessions are drawn; those of a `trace` are there: leave it out")
        return {"think": "recorded", "start": "beginning", **value}

    @property
    def _played_once(self) -> bool:
        return self.trace is not None and self.trace.sessions == "once"

    @model_validator(mode="after")
    def _sensible(self) -> Scenario:
        if self.trace is not None and self.mode == "live":
            raise ValueError("`mode: live` lets a model work; a `trace` is only replayed: leave one of them out")
        if self.trace is not None and self.tools == "real":
            raise ValueError("`tools: real` cannot be: nothing that a `trace` recorded is executed; leave it out")
        if self.arrival.kind == "recorded" and self.trace is None:
            raise ValueError("`arrival.kind: recorded` needs a `trace`, whose sessions say when they began")
        if self.sessions == 0 and self.synthetic is None:
            raise ValueError("nothing to do: give `sessions` above 0, a `synthetic` block, or both")
        if self.arrival.open:
            if not self.sessions:
                raise ValueError("an open loop needs places: give `sessions`, the most that may be open at once")
            if self.window_s is None and self.arrival.total is None and self.arrival.kind not in ("trace", "recorded"):
                raise ValueError("an open loop never ends by itself: give `window_s`, or `arrival.total`")
        elif self.sessions and self.refill and self.window_s is None and not self._played_once:
            raise ValueError("`refill: true` never ends by itself: give `window_s`, or `refill: false`")
        return self


def scenario_hash(scenario: Scenario) -> str:
    """SHA-256 of the checked scenario without what does not change the measured work: name, endpoint, drain_s,
    where the tasks lie, where a trace lies whose contents are known; and `live`, `trace`, `templates` where nothing
    is."""
    unused = {"tasks_dir"} | {key for key in ("live", "trace") if getattr(scenario, key) is None}
    unused |= set() if scenario.templates else {"templates"}
    if scenario.trace is not None and scenario.trace.digest:
        scenario = scenario.model_copy(update={"trace": scenario.trace.model_copy(update={"file": "-"})})
    text = scenario.model_dump_json(exclude={"name", "endpoint", "drain_s"} | unused)
    return hashlib.sha256(text.encode()).hexdigest()
