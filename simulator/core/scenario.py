"""A scenario: everything that decides what is sent and when. Its text is read by scenario_file.py."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Positive = Annotated[float, Field(gt=0)]
ProfileName = Literal["classic-xml", "sdk"]
KindName = Literal["coding", "documents", "finance"]
SizeName = Literal["medium", "long"]


class _Block(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Think(_Block):
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


class Arrival(_Block):
    """closed: a slot's next session starts when its last one ends. The two caps keep a burst from overrunning an
    endpoint; they are no arrival process. `rate` is reserved for an open loop."""

    kind: Literal["closed"] = "closed"
    request_starts_per_s: Positive | None = None
    session_starts_per_s: Positive | None = None


class Output(_Block):
    """forced: the engine must produce exactly the recorded number of tokens (ignore_eos, min = max); else it stops when
    it likes, within the limit that the client itself sets, if any."""

    forced: bool = True


class Warmup(_Block):
    """Requests sent before anything counts: `requests` small ones, then caches are reset where the engine can."""

    requests: Annotated[int, Field(ge=0, le=1_024)] = 8


class Slo(_Block):
    """What a request must meet to count as goodput, seconds. turn_s: from due to last token."""

    ttft_s: Positive | None = None
    tpot_s: Positive | None = None
    e2el_s: Positive | None = None
    turn_s: Positive | None = None


class Endpoint(_Block):
    """An OpenAI-compatible server. The key is read from the environment variable named here, never from the file."""

    url: str
    model: str | None = None
    api_key_env: str = "OPENAI_API_KEY"


class Synthetic(_Block):
    """Fixed-shape traffic: random token-id prompts on /v1/completions, forced length, closed loop."""

    input_tok: Annotated[int, Field(gt=0, le=1_000_000)] = 512
    output_tok: Annotated[int, Field(gt=0, le=1_000_000)] = 512
    concurrency: Annotated[int, Field(gt=0, le=16_384)] = 256
    requests: Annotated[int, Field(gt=0, le=200_000)] = 768
    warmup_requests: Annotated[int, Field(ge=0, le=16_384)] = 32
    reset_caches: bool = True


class Scenario(_Block):
    """sessions: concurrent agent slots; 0 for synthetic traffic alone. start: "stationary", slots begin in the middle
    of sessions, as a running service would be met; "beginning", all at their first turn. profiles, tasks, sizes:
    shares, need not add up to 1. workdir: "per_agent", each agent's path differs, so prompts share almost no prefix;
    "shared", one path for all. think: pauses before a turn, besides the tools. tools: "real", the answer is given when
    the tool is done; "paced", no sooner than the recorded latency."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=64)]
    seed: Annotated[int, Field(ge=0)] = 1
    sessions: Annotated[int, Field(ge=0, le=4096)] = 0
    window_s: Positive | None = None
    ramp_s: Annotated[float, Field(ge=0)] = 5.0
    refill: bool = True
    start: Literal["stationary", "beginning"] = "stationary"
    max_turns: Annotated[int, Field(gt=0)] | None = None
    arrival: Arrival = Arrival()
    profiles: Annotated[dict[ProfileName, Positive], Field(min_length=1)] = {"classic-xml": 1.0}
    mode: Literal["replay"] = "replay"
    tasks: Annotated[dict[KindName, Positive], Field(min_length=1)] = {"coding": 2.0, "documents": 1.0, "finance": 1.0}
    sizes: Annotated[dict[SizeName, Positive], Field(min_length=1)] = {"medium": 0.7, "long": 0.3}
    context_window_tok: Annotated[int, Field(ge=16_000, le=10_000_000)] = 128_000
    think: Think = Think(kind="none")
    tools: Literal["real", "paced"] = "paced"
    output: Output = Output()
    workdir: Literal["per_agent", "shared"] = "per_agent"
    warmup: Warmup = Warmup()
    slo: Slo = Slo()
    endpoint: Endpoint | None = None
    time_limit_s: Positive = 3600.0
    request_timeout_s: Positive = 300.0
    synthetic: Synthetic | None = None

    @model_validator(mode="after")
    def _sensible(self) -> Scenario:
        if self.sessions == 0 and self.synthetic is None:
            raise ValueError("nothing to do: give `sessions` above 0, a `synthetic` block, or both")
        if self.sessions and self.refill and self.window_s is None:
            raise ValueError("`refill: true` never ends by itself: give `window_s`, or `refill: false`")
        return self


def scenario_hash(scenario: Scenario) -> str:
    """SHA-256 of the checked scenario without what does not change the work: name and endpoint."""
    text = scenario.model_dump_json(exclude={"name", "endpoint"})
    return hashlib.sha256(text.encode()).hexdigest()
