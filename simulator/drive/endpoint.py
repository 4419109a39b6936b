"""The one place where bytes meet the network: the `openai` package over its aiohttp transport, read raw.

Clock readings are taken here and nowhere else. t_sent comes from aiohttp's tracing, when the last piece of the body is
handed to the socket; each arrival is stamped as it comes and nothing is parsed before the stream has closed, so parsing
never delays a reading. The SDK's own retries are off: what is repeated, and when, is the agent profile's to say.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import aiohttp
import httpx2
import openai
from openai._vendor.httpx_aiohttp.transport import AiohttpTransport  # the SDK's own; it takes no session otherwise

READ_BUFFER_BYTES = 4 << 20
#: a request may take so many times `timeout_s` in all, however well its server keeps the silence short
TOTAL_TIMES = 4
RAW = {"X-Stainless-Raw-Response": "stream", "Content-Type": "application/json"}


@dataclass(slots=True)
class Exchange:
    """One HTTP exchange as it was seen. Times: run seconds. arrivals: (time, bytes) a socket read, in order.

    failure: "" | "refused" | "timeout" | "cut" | "cancelled"; a status of 400 and above is no failure here, its body
    is in `error_body`. stopped: the reader had enough and closed the stream.
    """

    t_call_s: float
    t_sent_s: float | None = None
    t_end_s: float = 0.0
    status: int = 0
    arrivals: list[tuple[float, bytes]] = field(default_factory=list)
    failure: str = ""
    detail: str = ""
    error_body: bytes = b""
    retry_after_s: float | None = None
    stopped: bool = False


_current: contextvars.ContextVar[Exchange] = contextvars.ContextVar("exchange")


class Endpoint:
    """An OpenAI-compatible server. base_url ends in /v1. api_key never appears in an attribute that gets printed.

    timeout_s: the longest silence, before the headers and in the stream; TOTAL_TIMES that, a request's whole life.
    """

    def __init__(self, base_url: str, api_key: str, now: Callable[[], float], *, timeout_s: float = 300.0) -> None:
        self.base_url = base_url.rstrip("/")
        self._now = now
        self._timeout_s = timeout_s
        self._session: aiohttp.ClientSession | None = None
        http = openai.DefaultAioHttpClient(
            transport=AiohttpTransport(client=lambda: self.session),
            timeout=httpx2.Timeout(timeout_s, connect=30.0, pool=None),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
        )
        self._client = openai.AsyncOpenAI(base_url=self.base_url, api_key=api_key, max_retries=0, http_client=http)

    def _new_session(self) -> aiohttp.ClientSession:
        trace = aiohttp.TraceConfig()

        async def sent(_session: aiohttp.ClientSession, _context: SimpleNamespace, _params: object) -> None:
            exchange = _current.get(None)
            if exchange is not None:
                exchange.t_sent_s = self._now()

        trace.on_request_chunk_sent.append(sent)
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=300.0, force_close=False),
            read_bufsize=READ_BUFFER_BYTES,
            trace_configs=[trace],
            trust_env=False,
        )

    @property
    def session(self) -> aiohttp.ClientSession:
        """The connection pool, also for /metrics and the engine's own end points. Made on first use, in the loop."""
        if self._session is None:
            self._session = self._new_session()
        return self._session

    async def post(self, path: str, body: bytes, on_read: Callable[[bytes], bool | None] | None = None) -> Exchange:
        """POST `body` and read the reply to its end. Never raises for what the network or the server does; a
        cancellation is noted on the exchange and re-raised as CancelledError with it attached (`.args[0]`).

        on_read: called with the bytes of each arrival; it must be cheap. True from it closes the stream there."""
        exchange = Exchange(self._now())
        token = _current.set(exchange)
        try:
            async with asyncio.timeout(TOTAL_TIMES * self._timeout_s):
                response = await self._client.post(path, cast_to=object, content=body, options={"headers": RAW})
                await self._read(response, exchange, on_read)
        except openai.APIStatusError as error:
            exchange.status = error.status_code
            exchange.error_body = error.response.content
            exchange.retry_after_s = _retry_after(error.response.headers)
        except openai.APIConnectionError as error:  # the SDK's time-out error is one of these
            exchange.failure, exchange.detail = self._failure(error, exchange)
        except TimeoutError:
            exchange.failure = "timeout"
            exchange.detail = f"the reply had not ended after {TOTAL_TIMES * self._timeout_s:g} s"
        except asyncio.CancelledError:
            exchange.failure, exchange.detail = "cancelled", "the run was stopped"
            exchange.t_end_s = self._now()
            raise asyncio.CancelledError(exchange) from None
        finally:
            _current.reset(token)
        exchange.t_end_s = self._now()
        return exchange

    async def _read(self, response: Any, exchange: Exchange, on_read: Callable[[bytes], bool | None] | None) -> None:
        raw = response.http_response
        exchange.status = raw.status_code
        now, arrivals = self._now, exchange.arrivals
        try:
            async for data in raw.aiter_raw():
                arrivals.append((now(), data))
                if on_read is not None and on_read(data):
                    exchange.stopped = True
                    break
        except httpx2.TimeoutException:
            exchange.failure, exchange.detail = "timeout", f"the stream was silent for {self._timeout_s:g} s"
        except (httpx2.HTTPError, aiohttp.ClientError, ConnectionError) as error:
            exchange.failure, exchange.detail = "cut", f"the stream broke: {error}"[:300]
        finally:
            await raw.aclose()

    def _failure(self, error: BaseException, exchange: Exchange) -> tuple[str, str]:
        """What kept a request from getting headers. The SDK maps every aiohttp connection error to a time-out, so the
        cause below it decides."""
        seen: BaseException | None = error
        while seen is not None:
            if isinstance(seen, TimeoutError | aiohttp.ServerTimeoutError):
                return "timeout", f"no headers from {self.base_url} in {self._timeout_s:g} s"
            if isinstance(seen, aiohttp.ClientConnectorError):
                return "refused", f"cannot connect to {self.base_url}: {seen.os_error}"[:300]
            if isinstance(seen, aiohttp.ClientError | OSError):
                break
            seen = seen.__cause__
        kind = "refused" if exchange.t_sent_s is None else "cut"
        return kind, f"connection to {self.base_url} lost before headers: {seen or error}"[:300]

    async def close(self) -> None:
        await self._client.close()
        if self._session is not None and not self._session.closed:
            await self._session.close()


def _retry_after(headers: Any) -> float | None:
    try:
        return float(headers.get("retry-after", ""))
    except ValueError:
        return None
