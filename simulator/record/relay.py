"""Two connections as one: what a client sends goes to the upstream, and what that sends goes back, at once.

The relay decides nothing. Ends, half-closed sides and resets are handed on like bytes; a side that takes its bytes
slowly slows the other one. Only where no upstream is reached does it answer by itself, with a 502.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import cast

import orjson

from simulator.record.upstream import Upstream
from simulator.record.watch import Watch

CONNECT_S = 20.0


@dataclass(slots=True)
class Relays:
    """What all connections share. A protocol factory for a server's sockets."""

    upstream: Upstream
    watch: Callable[[], Watch]
    tls: ssl.SSLContext | None
    open: set[ClientSide] = field(default_factory=set)
    all_closed: asyncio.Event = field(default_factory=asyncio.Event)

    def __call__(self) -> ClientSide:
        return ClientSide(self)


def _reset(transport: asyncio.Transport) -> None:
    """Closes as a connection that broke: a reply without a length would look whole if it just ended."""
    # through a handle of our own on the same socket: uvloop's lets nobody set its options
    with (
        suppress(OSError, AttributeError),
        socket.socket(fileno=os.dup(transport.get_extra_info("socket").fileno())) as handle,
    ):
        handle.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


class _Side(asyncio.Protocol):
    """other: the transport at the relay's other end, None until it is there. ended: nothing more comes from here."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.other: asyncio.Transport | None = None
        self.ended = False

    def pause_writing(self) -> None:
        if self.other is not None and not self.other.is_closing():
            with suppress(RuntimeError):
                self.other.pause_reading()

    def resume_writing(self) -> None:
        if self.other is not None and not self.other.is_closing():
            with suppress(RuntimeError):
                self.other.resume_reading()

    def _hand_on_end(self) -> bool:
        """Whether this side stays open for what still comes back."""
        self.ended = True
        if self.other is None or self.other.is_closing() or not self.other.can_write_eof():
            return False
        with suppress(OSError, RuntimeError):
            self.other.write_eof()
        return True


class ClientSide(_Side):
    def __init__(self, relays: Relays) -> None:
        super().__init__()
        self._relays = relays
        self._watch = relays.watch()
        self._waiting: list[bytes] = []  # for the upstream, until it is there
        self._upstream: UpstreamSide | None = None
        self._why = ""  # no upstream: what happened
        self._connecting: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's is none by its class
        self._relays.open.add(self)
        self._relays.all_closed.clear()
        self._connecting = asyncio.get_running_loop().create_task(self._connect())

    async def _connect(self) -> None:
        to, loop = self._relays.upstream, asyncio.get_running_loop()
        try:
            async with asyncio.timeout(CONNECT_S):
                _, side = await loop.create_connection(
                    lambda: UpstreamSide(self), to.host, to.port, ssl=self._relays.tls,
                    server_hostname=to.host if to.tls else None,
                )  # fmt: skip
        except (OSError, TimeoutError) as error:
            self._why = str(error) or type(error).__name__
            if self._watch.whole:
                self._refuse()
            return
        assert self.transport is not None and side.transport is not None
        if self.transport.is_closing():
            side.transport.close()
            return
        self._upstream, self.other = side, side.transport
        side.other = self.transport
        if self._waiting:
            side.transport.write(b"".join(self._waiting))
            self._waiting.clear()
        if self.ended:
            self._hand_on_end()

    def data_received(self, data: bytes) -> None:
        wire = self._watch.asked(data)
        if self.other is not None:
            self.other.write(wire)
        elif not self._why:
            self._waiting.append(wire)
        elif self._watch.whole:
            self._refuse()

    def answered(self, data: bytes) -> None:
        assert self.transport is not None
        self.transport.write(data)  # first of all
        self._watch.answered(data)

    def _refuse(self) -> None:
        """After the whole request: a close with bytes unread would reset the connection before the answer is read."""
        assert self.transport is not None
        said = f"sim record: no connection to {self._relays.upstream.url}: {self._why}"
        body = orjson.dumps({"error": {"message": said, "type": "upstream_unreachable", "code": 502}})
        head = f"HTTP/1.1 502 Bad Gateway\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self.transport.write(head.encode("latin-1", "replace") + b"Connection: close\r\n\r\n" + body)
        self._watch.fail()
        self.transport.close()

    def eof_received(self) -> bool:
        rest = self._watch.client_ended()
        if self.other is None and not self._why:
            self.ended = True
            self._waiting.append(rest)
            return True  # handed on once the upstream is there
        if rest and self.other is not None:
            self.other.write(rest)
        return self._hand_on_end() and not (self._upstream is not None and self._upstream.ended)

    def upstream_ended(self) -> bool:
        """Whether the upstream's side stays open for what the client may still send."""
        self._watch.upstream_ended()
        if self.ended or self._relays.tls is not None or self.transport is None or self.transport.is_closing():
            return False
        with suppress(OSError, RuntimeError):
            self.transport.write_eof()
        return True

    def upstream_lost(self, error: Exception | None) -> None:
        if error is None:
            self._watch.upstream_ended()
        else:
            self._watch.upstream_broke()
        self._watch.close()
        if self.transport is not None and not self.transport.is_closing():
            if error is None:
                self.transport.close()
            else:
                _reset(self.transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._watch.client_ended()
        self._watch.close()
        self._relays.open.discard(self)
        if not self._relays.open:
            self._relays.all_closed.set()
        if self._connecting is not None:
            self._connecting.cancel()
        if self.other is not None and not self.other.is_closing():
            if exc is None:
                self.other.close()
            else:
                _reset(self.other)


class UpstreamSide(_Side):
    def __init__(self, client: ClientSide) -> None:
        super().__init__()
        self._client = client

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's is none by its class

    def data_received(self, data: bytes) -> None:
        self._client.answered(data)

    def eof_received(self) -> bool:
        self.ended = True
        return self._client.upstream_ended()

    def connection_lost(self, exc: Exception | None) -> None:
        self._client.upstream_lost(exc)
