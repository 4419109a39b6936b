"""Where a reply's tokens go. `Stream` writes SSE chunks straight to the connection, one write a step, from bytes that
are ready but for the text and the usage numbers; `Whole` waits for the end.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

import orjson

from simulator.engine.embedded.replies import Reply, join_text
from simulator.engine.embedded.request import Request

#: unread bytes at which a client counts as gone
MAX_UNREAD_BYTES = 8 << 20


class Sink(Protocol):
    done: asyncio.Future[None]
    received_s: float

    def push(self, start: int, end: int) -> bool:
        """Tokens [start, end) of the reply have come. False: nobody listens any more, abort."""
        ...


def usage(prompt_tok: int, cached_tok: int, output_tok: int) -> dict[str, object]:
    return {
        "prompt_tokens": prompt_tok,
        "total_tokens": prompt_tok + output_tok,
        "completion_tokens": output_tok,
        "prompt_tokens_details": {"cached_tokens": cached_tok},
    }


def timings(work: Request) -> dict[str, float]:
    """An ended request's own times, as vLLM's `--enable-per-request-metrics` puts them beside a reply's usage."""
    decode_s, whole_s = work.last_s - work.first_s, work.last_s - work.scheduled_s
    told = {
        "time_to_first_token_ms": 1e3 * (work.first_s - work.scheduled_s),
        "generation_time_ms": 1e3 * decode_s,
        "queue_time_ms": 1e3 * max(0.0, work.scheduled_s - work.arrival_s),
    }
    if work.emitted_tok > 1:
        told["mean_itl_ms"] = 1e3 * decode_s / (work.emitted_tok - 1)
    if whole_s > 0:
        told["tokens_per_second"] = work.emitted_tok / whole_s
    return told


def envelope(*, chat: bool, chunk: bool, key: str, created: int, model: str) -> dict[str, object]:
    kind = ("chat.completion.chunk" if chunk else "chat.completion") if chat else "text_completion"
    return {"id": key, "object": kind, "created": created, "model": model}


class Whole:
    """A reply that is sent in one piece: `done` when its last token has come."""

    def __init__(self, reply: Reply, received_s: float) -> None:
        self.reply = reply
        self.received_s = received_s
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def push(self, start: int, end: int) -> bool:
        if end == self.reply.n_tok and not self.done.done():
            self.done.set_result(None)
        return True

    def choice(self, *, chat: bool) -> dict[str, object]:
        speech = self.reply.speech
        text = join_text(self.reply.pieces)
        said: dict[str, object] = {"message": {"role": "assistant", "content": text, "tool_calls": []}}
        if speech is not None:
            said = {"message": speech.message(self.reply.n_tok)}
        return {
            "index": 0,
            **(said if chat else {"text": text}),
            "logprobs": None,
            "finish_reason": self.reply.finish,
            "stop_reason": self.reply.stop_reason,
        }


class Stream:
    """A reply that is sent as it comes. The HTTP headers are out; the caller ends the chunked body after `done`.

    break_after: a fault; after so many chunks it takes no more.
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        reply: Reply,
        head: dict[str, object],
        *,
        chat: bool,
        prompt_tok: int,
        continuous_usage: bool,
        received_s: float,
        break_after: int | None = None,
    ) -> None:
        self.transport = transport
        self.reply = reply
        self.received_s = received_s
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.break_after = break_after
        self.chunks = 0
        self._chat = chat
        self._prompt_tok = prompt_tok
        self._continuous = continuous_usage
        opening = b"data: " + orjson.dumps(head)[:-1] + b',"choices":[{"index":0,'
        self._before_text = opening + (b'"delta":{"content":"' if chat else b'"text":"')
        self._after_text = b'"},"logprobs":null,"finish_reason":' if chat else b'","logprobs":null,"finish_reason":'
        self._opening = opening
        self._role = opening + b'"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]'

    def push(self, start: int, end: int) -> bool:
        transport, reply = self.transport, self.reply
        if transport.is_closing() or transport.get_write_buffer_size() > MAX_UNREAD_BYTES:
            return False
        text = b"".join(reply.pieces[start:end])
        last = end == len(reply.pieces)
        frame = self._frame(self._role, 0) if start == 0 and self._chat else b""
        for delta in reply.speech.deltas(start, end) if reply.speech is not None else ():
            frame += self._frame(self._opening + b'"delta":' + delta + b',"logprobs":null,"finish_reason":null}]', end)
            self.chunks += 1
        if text or last:
            finish = b"null}]" if not last else self._finish()
            frame += self._frame(self._before_text + text + self._after_text + finish, end)
            self.chunks += 1
        if frame:
            transport.write(frame)
        if self.break_after is not None and self.chunks >= self.break_after:
            return False
        if last and not self.done.done():
            self.done.set_result(None)
        return True

    def _finish(self) -> bytes:
        return b'"%b","stop_reason":%b}]' % (self.reply.finish.encode(), orjson.dumps(self.reply.stop_reason))

    def _frame(self, body: bytes, output_tok: int) -> bytes:
        """One SSE event as one HTTP chunk."""
        if self._continuous:
            prompt = self._prompt_tok
            body += b',"usage":{"prompt_tokens":%d,"total_tokens":%d,"completion_tokens":%d}}\n\n' % (
                prompt,
                prompt + output_tok,
                output_tok,
            )
        else:
            body += b"}\n\n"
        return b"%x\r\n%b\r\n" % (len(body), body)
