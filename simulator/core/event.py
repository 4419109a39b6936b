"""One event of a stream: what its choices, its usage or its error say.

The rules are those of docs/metrics.md: a chunk carries output when a choice has content, reasoning (under either name),
or a tool call's name or arguments; an empty role chunk does not, nor do the usage chunk and [DONE].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import orjson

from simulator.core.counts import tok

#: tool calls in one reply
MAX_CALLS = 256


@dataclass(slots=True)
class Reading:
    """times_s: arrival of each output chunk; tokens: tokens in each (server's own count when `source` is
    "continuous", else spread evenly). first_answer_s: first chunk that is not reasoning. finish: finish_reason or "".
    malformed: what could not be parsed, or "". error: the first that was told inside the stream, wherever. text,
    reasoning, tool_calls: what was said, joined. server_ttft_s: queue and prefill by the engine's own clock, where it
    sends per-request metrics (vLLM 0.25 and later, if asked to). model: as the first event that names one has it."""

    times_s: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    first_answer_s: float | None = None
    finish: str = ""
    done: bool = False
    prompt_tok: int | None = None
    cached_tok: int | None = None
    output_tok: int | None = None
    reasoning_tok: int | None = None
    source: str = "none"
    malformed: str = ""
    error: dict[str, Any] | None = None
    server_ttft_s: float | None = None
    model: str = ""
    text: str = ""
    reasoning: str = ""
    tool_calls: list[dict[str, str]] = field(default_factory=list)

    @property
    def said(self) -> str:
        """All that was generated, for whoever has to count it."""
        return self.text + self.reasoning + "".join(call["name"] + call["arguments"] for call in self.tool_calls)


def error_of(chunk: dict[str, Any]) -> dict[str, Any] | None:
    """The error that an event tells, None when it tells none: below `error`, as an object or a text, or the event
    itself, where it says that it is one."""
    if error := chunk.get("error"):
        return error if isinstance(error, dict) else {"message": str(error)}
    return chunk if "error" in (chunk.get("object"), chunk.get("type")) else None


def error_event(data: bytes) -> dict[str, Any]:
    """Of an event that is named `error`, whatever its data are."""
    try:
        chunk = orjson.loads(data)
    except orjson.JSONDecodeError:
        chunk = data.decode("utf-8", "replace").strip() or "no message"
    return error_of(chunk) or chunk if isinstance(chunk, dict) else {"message": str(chunk)}


def choice_of(reading: Reading, time_s: float, choice: dict[str, Any], parts: list[str], thoughts: list[str]) -> bool:
    """Whether this choice carries output. /v1/completions has `text`, chat has `delta`."""
    if choice.get("finish_reason"):
        reading.finish = str(choice["finish_reason"])
    delta = choice.get("delta") or {}
    text = choice.get("text") or delta.get("content") or ""
    thought = delta.get("reasoning_content") or delta.get("reasoning") or ""
    if not isinstance(text, str) or not isinstance(thought, str):
        raise TypeError("text that is none")
    called = False
    for call in delta.get("tool_calls") or ():
        called |= _call(reading, call)
    if thought:
        thoughts.append(thought)
    if text:
        parts.append(text)
    if (text or called) and reading.first_answer_s is None:
        reading.first_answer_s = time_s
    return bool(text or thought or called)


def _call(reading: Reading, call: dict[str, Any]) -> bool:
    function = call.get("function") or {}
    name, arguments = function.get("name") or "", function.get("arguments") or ""
    index = int(call.get("index") or 0)
    if not 0 <= index < MAX_CALLS:
        raise ValueError(f"tool call number {index}")
    while len(reading.tool_calls) <= index:
        reading.tool_calls.append({"id": "", "name": "", "arguments": ""})
    entry = reading.tool_calls[index]
    entry["id"] = entry["id"] or str(call.get("id") or "")
    entry["name"] += name
    entry["arguments"] += arguments
    return bool(name or arguments)


def usage_of(reading: Reading, usage: dict[str, Any]) -> None:
    reading.prompt_tok = tok(usage.get("prompt_tokens"), reading.prompt_tok)
    reading.output_tok = tok(usage.get("completion_tokens"), reading.output_tok)
    details = usage.get("prompt_tokens_details") or {}
    if details.get("cached_tokens") is not None:
        reading.cached_tok = tok(details["cached_tokens"], None)
    details = usage.get("completion_tokens_details") or {}
    if details.get("reasoning_tokens") is not None:
        reading.reasoning_tok = tok(details["reasoning_tokens"], None)


def server_ttft_s(metrics: Any) -> float | None:
    """vLLM counts its time to first token from scheduling on, so the time in its queue is added. Another shape, or no
    such figures, is None: they are an extra, and no reply is malformed for the want of them."""
    if not isinstance(metrics, dict):
        return None
    total_ms = 0.0
    for name in ("queue_time_ms", "time_to_first_token_ms"):
        part = metrics.get(name)
        if isinstance(part, bool) or not isinstance(part, (int, float)) or not part >= 0:
            return None
        total_ms += part
    return total_ms / 1e3
