"""aiohttp's client connection with a clock: every socket read of a watched reply is stamped where it comes in.

aiohttp wakes a task for each piece of a body, which costs more than all else that a streamed token costs. Here the
pieces of a chunked reply are kept as they came and looked at in one go: when the reply may be over (every end of a
chunked body has an empty line in it), when nothing more comes, or when the connection goes. Those that are whole chunks
without any doubt (core/unframe.py) change nothing for aiohttp's parser, which stands between two chunks before and
after them, and are kept from it. All the others it sees; so it still says where a reply ends and whether the connection
can be used again.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

from aiohttp.client_proto import ResponseHandler

from simulator.core.unframe import peel

#: bytes kept from aiohttp's parser where reads do not end in an event; below its own limit, at which it would stop
#: reading from the socket
HELD_BYTES = 1 << 20

#: bytes kept from it so long at most, where reads do not end in an event: what they are may be no chunk at all
LOOK_S = 0.1

EVENT_END, EMPTY_LINE = b"\n\n\r\n", b"\r\n\r\n"
#: of a body that comes with an error status, no more is read
ERROR_BYTES = 1 << 20
#: aiohttp's parser lets a head's lines end in LF alone, so it may end so here
_HEAD_END = re.compile(rb"\r?\n\r?\n")

#: True: that is enough
OnRead = Callable[[bytes], bool | None]


class Watch:
    """A reply as it comes in. times_s, pieces: one entry a socket read. framed: the pieces are in chunked coding, but
    for the first `bare` ones. left: bytes of the body still to come, None where no Content-Length says. ended: done
    when nothing more will come; its result is None, or what went wrong. stopped: `on_read` had enough. sent_s: when the
    request's end went to the socket, where that had to be waited for."""

    __slots__ = ("bare", "ended", "framed", "left", "now", "on_read", "pieces", "sent_s", "stopped", "times_s")

    def __init__(
        self, now: Callable[[], float], on_read: OnRead | None, times_s: list[float], pieces: list[bytes]
    ) -> None:
        self.now, self.on_read = now, on_read
        self.times_s, self.pieces = times_s, pieces
        self.framed = self.stopped = False
        self.bare = 0
        self.left: int | None = None
        self.sent_s: float | None = None
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


class _Errors:
    """Of an error's body: none of it is output, and it may never end."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = ERROR_BYTES

    def __call__(self, data: bytes) -> bool:
        self._left -= len(data)
        return self._left <= 0


class StampingHandler(ResponseHandler):
    """A connection of the pool. Unwatched, it is aiohttp's own."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop=loop)
        self._watch: Watch | None = None
        self._head: bytes | None = None
        self._content: Any = None
        self._holding: Watch | None = None  # the watch once its pieces are kept from the parser
        self._fed = self._odd_bytes = 0  # pieces that the parser has seen or need not see
        self._answered = self._sent_slowly = False
        self._look: asyncio.TimerHandle | None = None  # at what does not end in an event

    def pause_writing(self) -> None:
        """The socket takes no more of a request's body for now."""
        super().pause_writing()
        self._sent_slowly = True

    def start_timeout(self) -> None:
        """All of the request is written. What a full socket left waiting has gone to it by now, but for the last 16 KiB
        at most; an answer that came before then is to a part of the request, which is left as it is."""
        super().start_timeout()
        watch = self._watch
        if self._sent_slowly and watch is not None and not watch.times_s:
            watch.sent_s = watch.now()
        self._sent_slowly = False

    def watch(self, watch: Watch | None) -> None:
        """The next reply on this connection is kept in `watch`; the request has been sent, no answer has come. None: it
        is aiohttp's own."""
        self._watch, self._head, self._content = watch, None if watch is None else b"", None
        self._holding, self._fed, self._odd_bytes = None, 0, 0
        self._answered = False

    def data_received(self, data: bytes) -> None:
        held = self._holding
        if held is not None and data:  # once a streamed token: no calls that can be spared
            held.times_s.append(held.now())
            held.pieces.append(data)
            if held.on_read is not None:
                held.tell(data)
            # Nearly every read ends in an event and its chunk, and is not looked at any closer.
            if data[-4:] != EVENT_END:
                self._odd(data)
            return
        watch = self._watch
        if watch is None or not data:
            super().data_received(data)
        elif self._head is not None:
            self._in_head(watch, data)
        else:
            self._in_body(watch, data, watch.now())

    def _odd(self, data: bytes) -> None:
        """An empty line, or what may be the second half of one: the reply may be over, and anything may stand behind
        its end in the same read."""
        self._odd_bytes += len(data)
        if EMPTY_LINE in data or data[0] < 14 or self._odd_bytes > HELD_BYTES:
            self._release()
        elif self._look is None:
            self._look = self._loop.call_later(LOOK_S, self._look_now)

    def _look_now(self) -> None:
        self._look = None
        self._release()

    def _in_head(self, watch: Watch, data: bytes) -> None:
        """The parser gets a head alone: what it cannot take behind one must not cost the head."""
        assert self._head is not None
        time_s, fed = watch.now(), len(self._head)
        head = self._head = self._head + data
        while (end := _HEAD_END.search(head)) is not None:
            said = head[: end.start()].lstrip()
            informational = not said or (said[:7].lower() == b"http/1." and said[9:10] == b"1")
            self._parse(head[fed : end.end()])
            head, fed = head[end.end() :], 0
            if not informational or self._watch is not watch:
                self._head = None
                if head:
                    self._in_body(watch, head, time_s)
                # a server that ends its head in LF alone may end its chunks so too: nothing then tells their end but
                # the parser
                if watch.framed and self._watch is watch and end[0] == EMPTY_LINE:
                    self._holding, watch.bare = watch, peel(watch.pieces, 0)
                return
            self._head = head
        self._parse(head[fed:])

    def _in_body(self, watch: Watch, data: bytes, time_s: float) -> None:
        """What no Content-Length has room for belongs to no reply: it is left out, and the connection is dropped."""
        if self._watch is not watch:
            self._drop()
            return
        if watch.left is not None:
            if len(data) > watch.left:
                self.force_close()
            data = data[: watch.left]
            watch.left -= len(data)
        watch.keep(data, time_s)
        self._fed += 1
        self._parse(data)

    def _drop(self) -> None:
        self.force_close()
        if self.transport is not None:
            self.transport.close()

    def _parse(self, data: bytes) -> None:
        super().data_received(data)
        content = self._content
        if content is not None and content.exception() is None:
            content.read_nowait(-1)  # the pieces are kept already; unread, they would stop the socket

    def _release(self) -> None:
        held = self._holding
        if held is None:
            return
        # where the parser may stand within a chunk, it sees the rest; what somebody reads by now is left as it is
        if held.bare == self._fed and not held.ended.done():
            held.bare = self._fed = peel(held.pieces, self._fed)
        rest, self._fed, self._odd_bytes = b"".join(held.pieces[self._fed :]), len(held.pieces), 0
        for at in range(0, len(rest), HELD_BYTES):
            self._parse(rest[at : at + HELD_BYTES])

    def feed_data(self, data: Any, size: int = 0) -> None:
        """aiohttp's parser has read a head: (message, body)."""
        watch = self._watch
        if self._answered:  # a reply that nobody asked for would be taken for the next request's
            self._drop()
            return
        if watch is not None and data[0].code >= 200:
            watch.framed = bool(data[0].chunked)
            if data[0].code >= 400:
                watch.on_read = _Errors()
            length = data[0].headers.get("Content-Length", "")
            if not watch.framed and length.isdecimal():
                watch.left = int(length)
            self._content = data[1]
            self._content.on_eof(self._at_end)
        super().feed_data(data, size)

    def _at_end(self) -> None:
        watch, self._watch, self._content, self._holding = self._watch, None, None, None
        self._answered = True
        if watch is not None:
            watch.end()

    def set_exception(self, exc: BaseException, *cause: BaseException) -> None:
        super().set_exception(exc, *cause)
        watch, self._watch, self._content, self._holding = self._watch, None, None, None
        if watch is not None:
            watch.end(exc)

    def connection_lost(self, exc: BaseException | None) -> None:
        self._release()
        super().connection_lost(exc)

    def _on_read_timeout(self) -> None:
        """Bytes that the parser has not seen have not set aiohttp's timer back."""
        watch, limit_s = self._holding, self.read_timeout
        if watch is not None and limit_s and watch.times_s:
            silent_s = watch.now() - watch.times_s[-1]
            if silent_s < limit_s:
                self._read_timeout_handle = self._loop.call_later(limit_s - silent_s, self._on_read_timeout)
                return
            self._release()
            if self._watch is not watch:  # the reply was over, with an event behind its end
                return
        super()._on_read_timeout()
