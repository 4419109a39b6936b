"""aiohttp's client connection with a clock: every socket read of a watched reply is stamped where it comes in.

aiohttp wakes a task for each piece of a body, which costs more than all else that a streamed token costs. Here the
pieces of a chunked reply are kept as they came and aiohttp's parser gets them in one go: when the reply may be over
(every end of a chunked body is an empty line), when much has gathered, or when the connection goes. So the parser still
sees every byte and still says where a reply ends and whether the connection can be used again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from aiohttp.client_proto import ResponseHandler

#: bytes kept from aiohttp's parser; below its own limit, at which it would stop reading from the socket
HELD_BYTES = 1 << 20

#: True: that is enough
OnRead = Callable[[bytes], bool | None]


class Watch:
    """A reply as it comes in. times_s, pieces: one entry a socket read. framed: the pieces are in chunked coding.
    ended: done when nothing more will come; its result is None, or what went wrong. stopped: `on_read` had enough."""

    __slots__ = ("ended", "framed", "now", "on_read", "pieces", "stopped", "times_s")

    def __init__(
        self, now: Callable[[], float], on_read: OnRead | None, times_s: list[float], pieces: list[bytes]
    ) -> None:
        self.now, self.on_read = now, on_read
        self.times_s, self.pieces = times_s, pieces
        self.framed = self.stopped = False
        self.ended: asyncio.Future[BaseException | None] = asyncio.get_running_loop().create_future()

    def end(self, why: BaseException | None = None) -> None:
        if not self.ended.done():
            self.ended.set_result(why)

    def keep(self, data: bytes, time_s: float) -> None:
        self.times_s.append(time_s)
        self.pieces.append(data)
        if self.on_read is not None:
            self.tell(data)

    def tell(self, data: bytes) -> None:
        """What `on_read` raises ends the reply; the one who waits for it raises it again."""
        assert self.on_read is not None
        try:
            if self.on_read(data):
                self.stopped = True
                self.end()
        except Exception as error:
            self.end(error)


class StampingHandler(ResponseHandler):
    """A connection of the pool. Unwatched, it is aiohttp's own."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop=loop)
        self._watch: Watch | None = None
        self._head: bytearray | None = None
        self._content: Any = None
        self._held: list[bytes] = []
        self._held_bytes = 0

    def watch(self, watch: Watch) -> None:
        """The next reply on this connection is kept in `watch`; the request has been sent, no answer has come."""
        self._watch, self._head, self._content = watch, bytearray(), None

    def data_received(self, data: bytes) -> None:
        watch = self._watch
        if watch is None or not data:
            super().data_received(data)
        elif self._head is not None:
            self._in_head(watch, data)
        elif not watch.framed:
            watch.keep(data, watch.now())
            self._parse(data)
        else:  # once a streamed token: no calls that can be spared
            watch.times_s.append(watch.now())
            watch.pieces.append(data)
            if watch.on_read is not None:
                watch.tell(data)
            self._held.append(data)
            self._held_bytes += len(data)
            if data[-4:] == b"\r\n\r\n" or len(data) < 4 or self._held_bytes > HELD_BYTES:
                self._release()

    def _in_head(self, watch: Watch, data: bytes) -> None:
        assert self._head is not None
        time_s = watch.now()
        self._head += data
        self._parse(data)
        while (end := self._head.find(b"\r\n\r\n")) >= 0:
            informational = self._head[:9].lower().startswith(b"http/1.") and self._head[9:10] == b"1"
            rest = bytes(self._head[end + 4 :])
            self._head = bytearray(rest)
            if not informational:
                self._head = None
                if rest:
                    watch.keep(rest, time_s)
                return

    def _parse(self, data: bytes) -> None:
        super().data_received(data)
        content = self._content
        if content is not None and content.exception() is None:
            content.read_nowait(-1)  # the pieces are kept already; unread, they would stop the socket

    def _release(self) -> None:
        held, self._held, self._held_bytes = b"".join(self._held), [], 0
        if held:
            self._parse(held)

    def feed_data(self, data: Any, size: int = 0) -> None:
        """aiohttp's parser has read a head: (message, body)."""
        watch = self._watch
        if watch is not None and data[0].code >= 200:
            watch.framed = bool(data[0].chunked)
            self._content = data[1]
            self._content.on_eof(self._at_end)
        super().feed_data(data, size)

    def _at_end(self) -> None:
        watch, self._watch, self._content = self._watch, None, None
        if watch is not None:
            watch.end()

    def set_exception(self, exc: BaseException, *cause: BaseException) -> None:
        super().set_exception(exc, *cause)
        watch, self._watch, self._content = self._watch, None, None
        if watch is not None:
            watch.end(exc)

    def connection_lost(self, exc: BaseException | None) -> None:
        self._release()
        super().connection_lost(exc)

    def _on_read_timeout(self) -> None:
        """Bytes that are held have not set aiohttp's timer back."""
        watch, limit_s = self._watch, self.read_timeout
        if watch is not None and limit_s and self._held:
            silent_s = watch.now() - watch.times_s[-1]
            if silent_s < limit_s:
                self._read_timeout_handle = self._loop.call_later(limit_s - silent_s, self._on_read_timeout)
                return
        super()._on_read_timeout()
