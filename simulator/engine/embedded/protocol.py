"""The OpenAI-compatible surface: what a request may ask, and how refusals are worded.

Checked by hand, since a body of 400 kB is mostly messages that are hashed as they are; unknown keys are ignored, as
vLLM does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from simulator import tokenizer
from simulator.engine.embedded.replies import Limits


class ApiError(Exception):
    """Answered with `status`, `headers` and vLLM's error object."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str = "BadRequestError",
        param: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.kind, self.param = status, message, kind, param
        self.headers = headers or {}

    def body(self) -> bytes:
        error = {"message": self.message, "type": self.kind, "param": self.param, "code": self.status}
        return orjson.dumps({"error": error})


@dataclass(frozen=True, slots=True)
class Ask:
    """A generation request. prompt: text or token ids (completions), else messages and tools (chat). choice: the exact
    text that structured output forces, None without it."""

    chat: bool
    messages: list[dict[str, Any]]
    tools: list[Any] | None
    prompt: str | list[int]
    max_tok: int | None
    min_tok: int
    forced: bool
    stop: tuple[str, ...]
    keep_stop: bool
    seed: int
    stream: bool
    include_usage: bool
    continuous_usage: bool
    choice: str | None

    def limits(self, room_tok: int) -> Limits:
        max_tok = room_tok if self.max_tok is None else self.max_tok
        return Limits(max_tok, self.min_tok, self.forced, self.stop, self.keep_stop)


def parse_body(raw: bytes) -> dict[str, Any]:
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise ApiError(400, f"The body is not valid JSON: {error}") from None
    if not isinstance(body, dict):
        raise ApiError(400, "The body must be a JSON object.")
    return body


def check_model(body: dict[str, Any], model: str) -> None:
    asked = body.get("model")
    if asked is not None and asked != model:
        text = f"The model `{asked}` does not exist; this engine serves `{model}`."
        raise ApiError(404, text, kind="NotFoundError", param="model")


def parse_ask(body: dict[str, Any], *, chat: bool) -> Ask:
    """Raises ApiError (400) that names the field."""
    messages, tools = (_messages(body), _tools(body)) if chat else ([], None)
    _ranges(body)
    if body.get("n") not in (None, 1) or body.get("best_of") not in (None, 1):
        raise ApiError(400, "Only n=1 is emulated.", param="n")
    if body.get("logprobs") or body.get("prompt_logprobs") or body.get("echo"):
        raise ApiError(400, "logprobs and echo are not emulated.", param="logprobs")
    max_tok = _integer(body, "max_completion_tokens", least=1)
    if max_tok is None:
        # the old completions endpoint has a default of 16
        max_tok = _integer(body, "max_tokens", least=1) if chat or "max_tokens" in body else 16
    min_tok = _integer(body, "min_tokens", least=0) or 0
    if max_tok is not None and min_tok > max_tok:
        raise ApiError(400, f"min_tokens is {min_tok}, more than max_tokens, {max_tok}.", param="min_tokens")
    options = body.get("stream_options") or {}
    if not isinstance(options, dict):
        raise ApiError(400, "stream_options must be an object.", param="stream_options")
    return Ask(
        chat=chat,
        messages=messages,
        tools=tools,
        prompt="" if chat else _prompt(body),
        max_tok=max_tok,
        min_tok=min_tok,
        forced=bool(body.get("ignore_eos")),
        stop=_stop(body),
        keep_stop=bool(body.get("include_stop_str_in_output")),
        seed=_integer(body, "seed", least=-(2**63)) or 0,
        stream=bool(body.get("stream")),
        include_usage=bool(options.get("include_usage")),
        continuous_usage=bool(options.get("include_usage") and options.get("continuous_usage_stats")),
        choice=_choice(body),
    )


def overflow(max_model_len: int, prompt_tok: int, reply_tok: int | None) -> ApiError:
    asked = f"the prompt alone has {prompt_tok} tokens"
    if reply_tok is not None:
        asked = f"{prompt_tok + reply_tok} were asked for ({prompt_tok} in the prompt, {reply_tok} for the reply)"
    text = f"This model's maximum context length is {max_model_len} tokens, but {asked}. Send less or ask for less."
    return ApiError(400, text, param="input_tokens")


def _messages(body: dict[str, Any]) -> list[dict[str, Any]]:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise ApiError(400, "messages must be a list with at least one message.", param="messages")
    for n, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise ApiError(400, f"messages[{n}] must be an object with a role.", param="messages")
        content = message.get("content")
        if isinstance(content, list):
            if not all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in content):
                raise ApiError(400, f"messages[{n}]: only text parts are emulated.", param="messages")
        elif content is not None and not isinstance(content, str):
            raise ApiError(400, f"messages[{n}].content must be text or a list of parts.", param="messages")
        if not isinstance(message.get("tool_calls") or [], list):
            raise ApiError(400, f"messages[{n}].tool_calls must be a list.", param="messages")
    return messages


def _tools(body: dict[str, Any]) -> list[Any] | None:
    tools = body.get("tools")
    if tools is not None and not isinstance(tools, list):
        raise ApiError(400, "tools must be a list.", param="tools")
    choice = body.get("tool_choice")
    if choice not in (None, "auto", "none"):
        raise ApiError(400, "Only tool_choice 'auto' and 'none' are emulated.", param="tool_choice")
    if choice == "auto" and not tools:
        raise ApiError(400, "tool_choice 'auto' needs tools.", param="tool_choice")
    return tools or None


def _prompt(body: dict[str, Any]) -> str | list[int]:
    prompt = body.get("prompt")
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], str | list):
        prompt = prompt[0]
    if isinstance(prompt, str) and prompt:
        return prompt
    if isinstance(prompt, list) and prompt and all(type(i) is int for i in prompt):
        if not 0 <= min(prompt) <= max(prompt) < tokenizer.N_VOCAB:
            raise ApiError(400, f"prompt: token ids go from 0 to {tokenizer.N_VOCAB - 1}.", param="prompt")
        return prompt
    raise ApiError(400, "prompt must be one text or one list of token ids, not empty.", param="prompt")


def _stop(body: dict[str, Any]) -> tuple[str, ...]:
    stop = body.get("stop") or ()
    stops = (stop,) if isinstance(stop, str) else tuple(stop) if isinstance(stop, list) else None
    if stops is None or not all(isinstance(each, str) and each for each in stops):
        if stop == ():
            return ()
        raise ApiError(400, "stop must be a text or a list of texts, none of them empty.", param="stop")
    return stops


def _choice(body: dict[str, Any]) -> str | None:
    """The one text of `structured_outputs: {"choice": [text]}`, the only structured output that is emulated."""
    asked = body.get("structured_outputs")
    shape = body.get("response_format")
    if isinstance(shape, dict) and shape.get("type") not in (None, "text"):
        raise ApiError(400, "Only response_format 'text' is emulated.", param="response_format")
    if asked is None:
        return None
    choices = asked.get("choice") if isinstance(asked, dict) else None
    if not (isinstance(choices, list) and len(choices) == 1 and isinstance(choices[0], str)):
        raise ApiError(400, "Of structured_outputs, only a choice of one text is emulated.", param="structured_outputs")
    return choices[0]


def _integer(body: dict[str, Any], key: str, *, least: int) -> int | None:
    value = body.get(key)
    if value is None:
        return None
    if type(value) is not int or value < least:
        raise ApiError(400, f"{key} must be a whole number, at least {least}, but is {value!r}.", param=key)
    return value


_RANGES = {
    "temperature": (0.0, float("inf")),
    "top_p": (0.0, 1.0),
    "min_p": (0.0, 1.0),
    "presence_penalty": (-2.0, 2.0),
    "frequency_penalty": (-2.0, 2.0),
    "repetition_penalty": (0.0, float("inf")),
}


def _ranges(body: dict[str, Any]) -> None:
    """Sampling parameters change nothing here, but a wrong one is refused as it would be elsewhere."""
    for key, (low, high) in _RANGES.items():
        value = body.get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise ApiError(400, f"{key} must be a number from {low:g} to {high:g}, but is {value!r}.", param=key)
