"""What a fault does to a request: before it is answered, in place of its stream, or in the middle of it.

What comes in place of a stream is not computed: it costs no step and comes at once.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections import deque
from collections.abc import Sequence
from typing import Any

import orjson
from aiohttp import web

from simulator.engine.embedded.faults import Rule
from simulator.engine.embedded.protocol import ApiError, Ask, overflow
from simulator.engine.embedded.replies import Reply
from simulator.engine.embedded.stream import Stream, usage

#: kinds that come in place of the stream; of these, those that are no event stream
INSTEAD = ("page", "json_body", "malformed", "empty", "reasoning_only", "bad_arguments", "unknown_tool", "call_in_text",
           "trickle")  # fmt: skip
#: kinds that end a stream after `after_chunks`
BREAKS = ("cut", "half_close", "no_finish", "hang_in_stream", "error_in_stream")
FOR_EVER_S = float(1 << 30)
#: a half-closed connection is given up after this, should its client not notice
HALF_CLOSED_S = 60.0
UNKNOWN_TOOL = "launch_rocket"
_STATUSES = {
    "bad_request": (400, "BadRequestError"),
    "unauthorized": (401, "AuthenticationError"),
    "not_found": (404, "NotFoundError"),
    "rate_limited": (429, "RateLimitError"),
    "server_error": (500, "InternalServerError"),
    "unavailable": (503, "ServiceUnavailableError"),
}
_NAMES = {status: name for status, name in _STATUSES.values()}


async def before(http: web.Request, fault: Rule, max_model_len: int) -> None:
    """Faults that keep a request from being looked at. Raises ApiError, waits, or does nothing."""
    match fault.kind:
        case "refuse":
            if http.transport is not None:
                http.transport.abort()
            raise ApiError(503, "refused on purpose")  # goes nowhere: the connection is closed
        case "hang":
            await asyncio.sleep(fault.hang_s if fault.hang_s is not None else FOR_EVER_S)
        case "death":
            os.kill(os.getpid(), signal.SIGKILL)
        case "overflow":
            raise overflow(max_model_len, max_model_len + 1, None)
        case "status":
            if fault.status == 400:
                raise overflow(max_model_len, max_model_len + 1, None)
            raise _refusal(fault.status, _NAMES.get(fault.status, "InternalServerError"), fault)
        case kind if kind in _STATUSES:
            raise _refusal(*_STATUSES[kind], fault)
        case _:
            pass


def _refusal(status: int, name: str, fault: Rule) -> ApiError:
    headers = {} if fault.retry_after_s is None else {"Retry-After": f"{fault.retry_after_s:g}"}
    return ApiError(status, f"HTTP {status} on purpose: a fault of the schedule.", kind=name, headers=headers)


async def instead(
    http: web.Request, fault: Rule, ask: Ask, head: dict[str, object], prompt_tok: int
) -> web.StreamResponse:
    """An answer of a kind of INSTEAD. head: the envelope of a chunk."""
    if fault.kind == "page":
        return web.Response(text="<html><body>Welcome to the gateway</body></html>", content_type="text/html")
    if fault.kind == "json_body":
        return web.Response(body=orjson.dumps({**head, "choices": []}), content_type="application/json")
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
    response.enable_chunked_encoding()
    await response.prepare(http)
    if fault.kind == "trickle":
        while True:  # until the client goes, which cancels this
            await response.write(b": wait\n\n")
            await asyncio.sleep(fault.gap_s)
    if fault.kind == "malformed":
        await response.write(b'data: {"choices":[{"index":0,"delta":{"content":"half of\n\n')
        await response.write_eof()
        return response
    deltas = _deltas(fault.kind, ask.tools or ())
    finish = "tool_calls" if "tool_calls" in deltas[-1] else "stop"
    for delta in deltas:
        await response.write(_event(head, _choice(ask, delta, None)))
    await response.write(_event(head, _choice(ask, {}, finish)))
    if ask.include_usage:
        spent = usage(prompt_tok, 0, sum(bool(delta) for delta in deltas) + 1)
        await response.write(b"data: " + orjson.dumps({**head, "choices": [], "usage": spent}) + b"\n\n")
    await response.write_eof(b"data: [DONE]\n\n")
    return response


def _deltas(kind: str, tools: Sequence[Any]) -> list[dict[str, Any]]:
    names = [tool["function"]["name"] for tool in tools if isinstance(tool, dict) and "function" in tool]
    name = names[0] if names else "read_file"
    match kind:
        case "reasoning_only":
            return [{"reasoning_content": "The user"}, {"reasoning_content": " wants something."}]
        case "bad_arguments":
            return _call(name, '{"path": "src/ma')
        case "unknown_tool":
            return _call(UNKNOWN_TOOL, '{"when": "now"}')
        case "call_in_text":
            return [{"content": "<tool_call>\n"}, {"content": f'{{"name": "{name}"}}'}, {"content": "\n</tool_call>"}]
        case _:
            return [{}]


def _call(name: str, arguments: str) -> list[dict[str, Any]]:
    first = {"index": 0, "id": "call-on-purpose", "type": "function", "function": {"name": name, "arguments": ""}}
    return [{"tool_calls": [first]}, {"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]}]


def _choice(ask: Ask, delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
    said = {"delta": delta} if ask.chat else {"text": str(delta.get("content", ""))}
    return {"index": 0, **said, "logprobs": None, "finish_reason": finish}


def _event(head: dict[str, object], choice: dict[str, Any]) -> bytes:
    return b"data: " + orjson.dumps({**head, "choices": [choice]}) + b"\n\n"


def shortened(reply: Reply) -> Reply:
    """Ended by its length limit after a third."""
    n = max(1, reply.n_tok // 3)
    return Reply(reply.ids[: 4 * n], reply.pieces[:n], "length", speech=reply.speech)


async def break_off(fault: Rule, response: web.StreamResponse, transport: asyncio.Transport) -> None:
    """The end of a stream that a kind of BREAKS ends."""
    match fault.kind:
        case "half_close":
            transport.write_eof()
            await asyncio.sleep(HALF_CLOSED_S)
        case "no_finish":
            await response.write_eof()
            return
        case "hang_in_stream":
            await asyncio.sleep(fault.hang_s if fault.hang_s is not None else FOR_EVER_S)
        case "error_in_stream":
            error = {
                "error": {"message": "HTTP 500 on purpose, in mid-stream", "type": "InternalServerError", "code": 500}
            }
            await response.write_eof(b"data: " + orjson.dumps(error) + b"\n\ndata: [DONE]\n\n")
            return
        case _:
            pass
    transport.close()  # what was written before still arrives


class Paced:
    """A Stream behind which each step's tokens wait `gap_s` for those before them."""

    def __init__(self, inner: Stream, gap_s: float) -> None:
        self._inner, self._gap_s = inner, gap_s
        self.done, self.received_s = inner.done, inner.received_s
        self._queue: deque[tuple[int, int]] = deque()
        self._task: asyncio.Task[None] | None = None

    def push(self, start: int, end: int) -> bool:
        if self._inner.transport.is_closing():
            return False
        self._queue.append((start, end))
        if self._task is None:
            self._task = asyncio.create_task(self._write())
        return True

    async def _write(self) -> None:
        while not self.done.done():
            while self._queue:
                if not self._inner.push(*self._queue.popleft()) and not self.done.done():
                    self.done.set_exception(ConnectionResetError("the client is gone"))
                await asyncio.sleep(self._gap_s)
            await asyncio.sleep(self._gap_s)

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()


class Burst:
    """A Stream that says nothing after `after_chunks` pushes until the reply is whole, as a parser does that hands out
    a call's arguments when it has them all."""

    def __init__(self, inner: Stream, after_chunks: int) -> None:
        self._inner, self._left = inner, after_chunks
        self.done, self.received_s = inner.done, inner.received_s
        self._held: int | None = None  # the first token that is kept back

    def push(self, start: int, end: int) -> bool:
        if self._inner.transport.is_closing():
            return False
        if self._left > 0:
            self._left -= 1
            return self._inner.push(start, end)
        self._held = start if self._held is None else self._held
        return end < self._inner.reply.n_tok or self._inner.push(self._held, end)


class Deaf:
    """A Stream that generates to the end, whether its client listens or not."""

    def __init__(self, inner: Stream) -> None:
        self._inner = inner
        self.done, self.received_s = inner.done, inner.received_s

    def push(self, start: int, end: int) -> bool:
        if not self._inner.push(start, end) and end == self._inner.reply.n_tok and not self.done.done():
            self.done.set_result(None)
        return True


def paced(fault: Rule | None, stream: Stream) -> Stream | Paced | Burst | Deaf:
    """What stands between the steps and the stream."""
    match fault.kind if fault is not None else "":
        case "slow_decode":
            assert fault is not None
            return Paced(stream, fault.gap_s)
        case "burst":
            assert fault is not None
            return Burst(stream, fault.after_chunks)
        case "deaf":
            return Deaf(stream)
        case _:
            return stream
