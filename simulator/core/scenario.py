"""A scenario: everything that decides what is sent and when. Text in, a checked object out, no file access.

A mistake is one sentence that names file, line, key and the nearest right spelling; `--set a.b=value` overrides are
checked the same way, before anything starts.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from simulator.errors import UsageError

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


#: spelled right, meant for later
RESERVED = {
    ("mode", "live"): "this version replays recorded sessions; use `mode: replay`",
    ("arrival.kind", "rate"): "this version runs a closed loop; use `arrival: {kind: closed}`",
}


MAX_CHARS = 100_000


def parse(text: str, source: str, overrides: Sequence[str] = ()) -> Scenario:
    """text: YAML; source: its name for messages; overrides: "a.b.c=value", the value in YAML. Raises UsageError."""
    root, data = _load(text, source)
    if not isinstance(data, dict):
        raise UsageError(f"{source}: a scenario is a mapping of keys to values; see scenarios/32_agents.yaml")
    duplicate = _duplicate(root)
    if duplicate:
        raise UsageError(f"{source}:{duplicate[1]}: key `{duplicate[0]}` is given twice; keep one")
    for override in overrides:
        _override(data, override)
    try:
        return Scenario.model_validate(data)
    except ValidationError as error:
        raise UsageError(_explain(error, source, root, data, overrides)) from None


def _load(text: str, source: str) -> tuple[yaml.Node | None, Any]:
    """The file's nodes and values. Anchors, and what YAML's richer types make of a value, are refused."""
    if len(text) > MAX_CHARS:
        raise UsageError(f"{source}: {len(text):,} characters are no scenario; the largest taken is {MAX_CHARS:,}")
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                line = event.start_mark.line + 1 if event.start_mark else 1
                raise UsageError(f"{source}:{line}: `*{event.anchor}` is an alias; write the value out")
        return yaml.compose(text, Loader=yaml.SafeLoader), yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{source}:{mark.line + 1}" if mark else source
        raise UsageError(f"{where}: not valid YAML: {getattr(error, 'problem', None) or error}") from None
    except (ValueError, KeyError, RecursionError) as error:
        raise UsageError(f"{source}: a value that YAML cannot read ({type(error).__name__}: {error!s:.80})") from None


def scenario_hash(scenario: Scenario) -> str:
    """SHA-256 of the checked scenario without what does not change the work: name and endpoint."""
    text = scenario.model_dump_json(exclude={"name", "endpoint"})
    return hashlib.sha256(text.encode()).hexdigest()


def _override(data: dict[str, Any], override: str) -> None:
    key, sep, value = override.partition("=")
    if not sep or not key.strip():
        raise UsageError(f"--set {override}: write it as key=value, for example --set synthetic.requests=512")
    *path, last = key.strip().split(".")
    node: Any = data
    for part in path:
        node = node.setdefault(part, {}) if isinstance(node, dict) else None
        if node is None:
            node = {}
        if not isinstance(node, dict):
            raise UsageError(f"--set {override}: `{part}` is a single value here and has no keys below it")
    try:
        node[last] = yaml.safe_load(value)
    except (yaml.YAMLError, ValueError, KeyError, RecursionError):
        raise UsageError(f"--set {override}: `{value}` is not a valid YAML value") from None


def _duplicate(node: yaml.Node | None) -> tuple[str, int] | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    seen: set[str] = set()
    for key, value in node.value:
        if key.value in seen:
            return str(key.value), key.start_mark.line + 1
        seen.add(key.value)
        below = _duplicate(value)
        if below:
            return below
    return None


def _line(root: yaml.Node | None, path: Sequence[str | int]) -> int | None:
    """1-based line of the deepest part of `path` that the file has."""
    line, node = None, root
    for part in path:
        if not isinstance(node, yaml.MappingNode):
            break
        found = [(k, v) for k, v in node.value if k.value == str(part)]
        if not found:
            break
        line, node = found[0][0].start_mark.line + 1, found[0][1]
    return line


def _model_at(path: Sequence[str | int]) -> type[BaseModel]:
    """The block that a key path leads into, for suggestions."""
    model: type[BaseModel] = Scenario
    below: Mapping[str, type[BaseModel]] = {
        "arrival": Arrival, "output": Output, "warmup": Warmup, "slo": Slo, "endpoint": Endpoint,
        "synthetic": Synthetic, "think": Think,
    }  # fmt: skip
    for part in path:
        model = below.get(str(part), model)
    return model


def _explain(
    error: ValidationError, source: str, root: yaml.Node | None, data: dict[str, Any], overrides: Sequence[str]
) -> str:
    """All faults, a line each, the union branches that do not apply left out."""
    lines: list[str] = []
    for fault in error.errors(include_url=False):
        path = [part for part in fault["loc"] if _in_data(part, data) or part == fault["loc"][-1]]
        path = [p for p in path if p != "[key]"]
        key = ".".join(str(part) for part in path)
        line = _line(root, path)
        given = any(o.partition("=")[0].strip() == key for o in overrides)
        where = f"--set {key}" if given else f"{source}:{line}" if line else source
        lines.append(f"{where}: {_fault(dict(fault), key, path)}")
    return "\n".join(dict.fromkeys(lines))


def _in_data(part: str | int, data: Any) -> bool:
    if isinstance(data, dict):
        return part in data or any(_in_data(part, value) for value in data.values())
    return False


def _fault(fault: dict[str, Any], key: str, path: Sequence[str | int]) -> str:
    kind, message = fault["type"], fault["msg"]
    if kind == "extra_forbidden":
        known = list(_model_at(path[:-1]).model_fields)
        near = difflib.get_close_matches(str(path[-1]), known, n=1, cutoff=0.5)
        hint = f"did you mean `{near[0]}`?" if near else f"known keys here: {', '.join(known)}"
        return f"unknown key `{key}`; {hint}"
    if kind == "missing":
        return f"key `{key}` is missing"
    if kind == "value_error":
        return f"`{key}`: {fault['ctx']['error']}" if key else str(fault["ctx"]["error"])
    reserved = RESERVED.get((key, str(fault["input"])))
    if reserved:
        return f"`{key}: {fault['input']}` is reserved: {reserved}"
    if kind == "literal_error":
        given = str(fault["input"])
        options = [o.strip("' ") for o in str(fault["ctx"]["expected"]).replace(" or ", ",").split(",")]
        near = difflib.get_close_matches(given, options, n=1, cutoff=0.4)
        hint = f"; did you mean `{near[0]}`?" if near else ""
        return f"`{key}` is `{given}`; it must be one of {', '.join(options)}{hint}"
    return f"`{key}` is `{fault['input']!s:.80}`; {message[0].lower()}{message[1:]}"
