"""The one place where bytes meet the network.

The `openai` package says what is sent (drive/sdk.py): URL and headers of a path, as it would send them. What carries
them is aiohttp, the package's own transport, read raw. Going through the package for every request costs a millisecond
each (options, models, httpx objects; `make bench` prints both), which at a burst of 256 is a quarter of a second in
which the client keeps the engine waiting.

Clock readings are taken here and in drive/wire.py, nowhere else. t_sent comes from aiohttp's tracing, when the last
piece of the body is handed to the socket, and of a body that the socket could not take at once from drive/wire.py,
when it has; each arrival is stamped where the socket is read and nothing is parsed before
the stream has closed, so parsing never delays a reading. Nothing is repeated here: what is, and when, is the agent
profile's to say.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from types import SimpleNamespace
from typing import Any

import aiohttp
from aiohttp.http import HttpProcessingError

from simulator.core.outcome import clean
from simulator.core.unframe import Unframer
from simulator.drive.wire import OnRead, StampingHandler, Watch

READ_BUFFER_BYTES = 4 << 20
CONNECT_S = 30.0
#: an idle connection is closed after so long, as Node's clients do: vLLM's server closes its own after 5 s, and a
#: request that is being written at that moment is lost
KEEP_IDLE_S = 4.0
#: a request may take so many times `timeout_s` in all, however well its server keeps the silence short
TOTAL_TIMES = 4
#: of an error's body, so much is kept and looked at
ERROR_HEAD_BYTES = 64 << 10


@dataclass(slots=True)
class Exchange:
    """One HTTP exchange as it was seen. Times: run seconds. times_s, pieces: an entry a socket read, in order; framed:
    the pieces are in chunked transfer coding, as they came (`bodies` takes it off), but for the first `bare` ones.

    failure: "" | "refused" | "timeout" | "cut" | "cancelled"; a status of 400 and above is no failure here, the
    beginning of its body is in `error_body`, and where a redirect (never followed) leads is in `detail`. stopped: the
    reader had enough and closed the stream.
    """

    t_call_s: float = 0.0
    t_sent_s: float | None = None
    t_end_s: float = 0.0
    status: int = 0
    times_s: list[float] = field(default_factory=list)
    pieces: list[bytes] = field(default_factory=list)
    framed: bool = False
    bare: int = 0
    failure: str = ""
    detail: str = ""
    error_body: bytes = b""
    retry_after_s: float | None = None
    stopped: bool = False

    def bodies(self) -> Iterator[tuple[float, bytes]]:
        """(time, bytes of the body) a socket read."""
        return zip(self.times_s, self._unframed(), strict=True)

    def _unframed(self) -> Iterable[bytes]:
        if not self.framed or self.bare == len(self.pieces):
            return self.pieces
        return chain(self.pieces[: self.bare], map(Unframer().feed, self.pieces[self.bare :]))

    def body(self) -> bytes:
        return b"".join(data for _, data in self.bodies())


_current: contextvars.ContextVar[tuple[Exchange, Watch]] = contextvars.ContextVar("exchange")


class _Response(aiohttp.ClientResponse):
    """Begins to watch the connection before the answer can come."""

    async def start(self, connection: Any) -> aiohttp.ClientResponse:
        watched = _current.get(None)
        connection.protocol.watch(watched[1] if watched is not None else None)
        return await super().start(connection)


class Endpoint:
    """An OpenAI-compatible server. base_url ends in /v1. api_key never appears in an attribute that gets printed.

    timeout_s: the longest silence, before the headers and in the stream; TOTAL_TIMES that, a request's whole life.
    """

    def __init__(self, base_url: str, api_key: str, now: Callable[[], float], *, timeout_s: float = 300.0) -> None:
        self.base_url = base_url.rstrip("/")
        self._now = now
        self._timeout_s = timeout_s
        self._timeouts = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=timeout_s)
        self._session: aiohttp.ClientSession | None = None
        # half a second to import, which a command that comes to nothing has not
        from simulator.drive.sdk import Sdk

        self._sdk = Sdk(self.base_url, api_key, timeout_s, CONNECT_S)

    def _new_session(self) -> aiohttp.ClientSession:
        trace = aiohttp.TraceConfig()

        async def sent(_session: aiohttp.ClientSession, _context: SimpleNamespace, _params: object) -> None:
            watched = _current.get(None)
            if watched is not None:
                watched[0].t_sent_s = self._now()

        trace.on_request_chunk_sent.append(sent)
        loop = asyncio.get_running_loop()
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_IDLE_S, force_close=False)
        connector._factory = lambda: StampingHandler(loop)  # type: ignore[assignment]  # aiohttp has no other way in
        return aiohttp.ClientSession(
            connector=connector,
            response_class=_Response,
            read_bufsize=READ_BUFFER_BYTES,
            trace_configs=[trace],
            trust_env=False,
            cookie_jar=aiohttp.DummyCookieJar(),  # as agents' clients: a sticky cookie would pin all to one replica
        )

    @property
    def session(self) -> aiohttp.ClientSession:
        """The connection pool, also for /metrics and the engine's own end points. Made on first use, in the loop."""
        if self._session is None:
            self._session = self._new_session()
        return self._session

    async def post(
        self, path: str, body: bytes, on_read: OnRead | None = None, exchange: Exchange | None = None
    ) -> Exchange:
        """POST `body` and read the reply to its end. Never raises for what the network or the server does; a
        cancellation is noted on the exchange and re-raised as CancelledError with it attached (`.args[0]`).

        on_read: called with the bytes of each arrival; it must be cheap. True from it closes the stream there.
        exchange: filled and returned; given by one who wants to look into it meanwhile."""
        exchange = exchange or Exchange()
        exchange.t_call_s = self._now()
        watch = Watch(self._now, on_read, exchange.times_s, exchange.pieces)
        token = _current.set((exchange, watch))
        try:
            async with asyncio.timeout(TOTAL_TIMES * self._timeout_s):
                await self._exchange(path, body, exchange, watch)
        except TimeoutError as error:
            exchange.failure, exchange.detail = "timeout", self._silence(error, exchange)
        except (aiohttp.ClientError, HttpProcessingError, OSError) as error:
            exchange.failure, exchange.detail = self._failure(error, exchange)
        except asyncio.CancelledError:
            exchange.failure, exchange.detail = "cancelled", "the run was stopped"
            exchange.t_end_s = self._now()
            raise asyncio.CancelledError(exchange) from None
        finally:
            watch.end()
            exchange.framed, exchange.bare, exchange.stopped = watch.framed, watch.bare, watch.stopped
            if watch.sent_s is not None:
                exchange.t_sent_s = watch.sent_s
            _current.reset(token)
        exchange.t_end_s = self._now()
        if exchange.status >= 400:
            exchange.stopped = False  # what was left of an error's body was no reply
            exchange.error_body = exchange.body()[:ERROR_HEAD_BYTES]
            exchange.times_s.clear()
            exchange.pieces.clear()
        return exchange

    async def _exchange(self, path: str, body: bytes, exchange: Exchange, watch: Watch) -> None:
        url, headers = await self._sdk.head(path)
        response = await self.session.post(
            url,
            data=body,
            headers=headers,
            allow_redirects=False,
            auto_decompress=False,
            timeout=self._timeouts,
        )
        try:
            exchange.status = response.status
            if response.status >= 400:
                exchange.retry_after_s = _retry_after(response.headers)
            elif response.status >= 300:
                exchange.detail = response.headers.get("Location", "")
            why = await watch.ended
            if why is not None:
                raise why
        except BaseException:
            response.close()
            raise
        if watch.stopped:
            response.close()
        else:
            response.release()

    def _silence(self, error: TimeoutError, exchange: Exchange) -> str:
        if not isinstance(error, aiohttp.ServerTimeoutError):
            return f"the reply had not ended after {TOTAL_TIMES * self._timeout_s:g} s"
        if exchange.status:
            return f"the stream was silent for {self._timeout_s:g} s"
        return f"no headers from {self.base_url} in {self._timeout_s:g} s"

    def _failure(self, error: BaseException, exchange: Exchange) -> tuple[str, str]:
        if exchange.status:
            return "cut", f"the stream broke: {_words(error)}"[:300]
        if isinstance(error, aiohttp.ClientConnectorError):
            return "refused", f"cannot connect to {self.base_url}: {error.os_error}"[:300]
        kind = "refused" if exchange.t_sent_s is None else "cut"
        return kind, f"connection to {self.base_url} lost before headers: {_words(error)}"[:300]

    async def close(self) -> None:
        await self._sdk.close()
        if self._session is not None and not self._session.closed:
            await self._session.close()


def _words(error: BaseException) -> str:
    """In one line. aiohttp numbers what is no HTTP like a status, which no server sent."""
    if isinstance(error, HttpProcessingError | aiohttp.ClientResponseError):
        return f"not HTTP: {clean(error.message).rstrip(' ^')}"
    if error.__cause__ is not None and isinstance(error.__cause__, HttpProcessingError):
        return _words(error.__cause__)
    return clean(str(error))


def _retry_after(headers: Any) -> float | None:
    try:
        return float(headers.get("retry-after", ""))
    except ValueError:
        return None
