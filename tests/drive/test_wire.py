"""What the transport keeps of a reply, over real sockets: every way in which a reply is cut up, framed and ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import aiohttp
import openai
import pytest

from simulator.drive.clock import RunClock
from simulator.drive.endpoint import ERROR_HEAD_BYTES, Endpoint, Exchange

EVENT = b'data: {"choices":[{"text":"a"}]}\n\n'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


class Talker:
    """Reads a request, then sends the pieces, each in a segment of its own; None closes the connection."""

    def __init__(self, *replies: Sequence[bytes | None], gap_s: float = 0.005) -> None:
        self.replies, self.gap_s = list(replies), gap_s
        self.requests: list[bytes] = []
        self.connections = 0
        self.tasks: set[asyncio.Task[None] | None] = set()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.tasks.add(asyncio.current_task())
        try:
            while self.replies:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")
                )
                self.requests.append(head + await reader.readexactly(length))
                for piece in self.replies.pop(0):
                    if piece is None:
                        return
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(self.gap_s)
            await reader.read()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def talking(talker: Talker, timeout_s: float = 20.0) -> AsyncIterator[Endpoint]:
    server = await asyncio.start_server(talker.talk, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    endpoint = Endpoint(f"http://127.0.0.1:{port}/v1", "k", RunClock().now, timeout_s=timeout_s)
    try:
        yield endpoint
    finally:
        await endpoint.close()
        for task in talker.tasks:
            task.cancel()
        server.close()
        await server.wait_closed()


async def fetch(*pieces: bytes | None, timeout_s: float = 20.0) -> Exchange:
    async with talking(Talker(pieces), timeout_s) as endpoint:
        return await endpoint.post("/completions", b"{}")


async def pour(head: bytes, piece: bytes, most: int) -> tuple[Exchange, int]:
    """A server that writes `piece` again and again, and how many bytes it got rid of before nobody read."""
    written, over = 0, asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        try:
            await reader.readuntil(b"{}")
            writer.write(head)
            while written < most:
                writer.write(piece)
                await writer.drain()
                written += len(piece)
        except ConnectionError:
            pass
        finally:
            writer.close()
            over.set()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        endpoint = Endpoint(url, "k", RunClock().now, timeout_s=30.0)
        got = await endpoint.post("/completions", b"{}")
        await endpoint.close()
        await over.wait()
    return got, written


@pytest.mark.parametrize("framed", [True, False])
async def test_an_error_without_end_is_left_after_its_beginning(framed: bool) -> None:
    coding = b"Transfer-Encoding: chunked\r\n" if framed else b"Connection: close\r\n"
    head = b"HTTP/1.1 500 Oh\r\nRetry-After: 3\r\n" + coding + b"\r\n"
    piece = b"sorry " * 1024
    got, written = await pour(head, chunk(piece) if framed else piece, 200 << 20)
    assert (got.status, got.failure, got.stopped, got.retry_after_s) == (500, "", False, 3.0)
    assert got.error_body == (b"sorry " * (ERROR_HEAD_BYTES // 6 + 1))[:ERROR_HEAD_BYTES]
    assert written < 40 << 20, "what the sockets' buffers hold at most, not all"
    assert got.pieces == [] and got.times_s == []


async def test_an_error_as_long_as_servers_write_them_is_whole() -> None:
    body = b'{"error":{"message":"' + b"x" * 60_000 + b'"}}'
    head = b"HTTP/1.1 400 No\r\nContent-Length: %d\r\n\r\n" % len(body)
    again = b"HTTP/1.1 400 No\r\nTransfer-Encoding: chunked\r\n\r\n"
    whole = [again, *map(chunk, cut(body, 9_000)), END]
    async with talking(Talker([head, *cut(body, 9_000)], whole)) as endpoint:
        for _ in range(2):
            got = await endpoint.post("/completions", b"{}")
            assert (got.status, got.error_body, got.failure) == (400, body, "")


@pytest.mark.parametrize("before", [1, 5])
async def test_a_chunk_size_that_is_none_ends_the_reply_at_once_in_one_line(before: int) -> None:
    got = await fetch(HEAD + chunk(EVENT), *[chunk(EVENT)] * before, b"zz\r\nfoo\r\n", b"more", timeout_s=20.0)
    assert (got.failure, got.status) == ("cut", 200) and got.t_end_s - got.t_call_s < 10
    assert got.body().startswith(EVENT * (before + 1))
    assert "chunk size" in got.detail and "\n" not in got.detail and "400" not in got.detail


async def test_what_is_no_http_is_told_in_one_line() -> None:
    got = await fetch(b"ICY 200 OK\r\n\r\n", b"noise", timeout_s=20.0)
    assert (got.failure, got.status) == ("cut", 0)
    assert "before headers" in got.detail and "\n" not in got.detail and "400" not in got.detail


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


WHOLE = HEAD + chunk(EVENT) * 3 + END


@pytest.mark.parametrize(
    "pieces",
    [
        [WHOLE],
        [HEAD, *[chunk(EVENT)] * 3, END],
        [HEAD + chunk(EVENT), chunk(EVENT) * 2, b"0\r\n", b"\r\n"],
        [HEAD, chunk(EVENT) * 3, b"0\r\n\r", b"\n"],
        [HEAD, chunk(EVENT) * 3 + b"0\r\nA: trailer\r\n\r\n"],
        [HEAD, chunk(EVENT), b"%x;ext=1\r\n%b\r\n" % (2 * len(EVENT), EVENT * 2), END],
        [HEAD.replace(b": chunked", b":Chunked"), chunk(EVENT) * 3 + END],
        [b"\r\n\r\n" + HEAD, chunk(EVENT) * 3 + END],
        [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\n\r\n" + WHOLE],
        cut(WHOLE, 7),
    ],
    ids=["one read", "a chunk a read", "end in two", "end torn", "trailer", "extension", "spelling", "blank lines",
         "1xx", "crumbs"],
)  # fmt: skip
async def test_however_it_is_cut_the_reply_is_whole_and_the_connection_stays(pieces: Sequence[bytes]) -> None:
    talker = Talker(pieces, [WHOLE], gap_s=0.002)
    async with talking(talker) as endpoint:
        first, second = [await endpoint.post("/completions", b"{}") for _ in range(2)]
    for exchange in (first, second):
        assert (exchange.status, exchange.failure, exchange.body()) == (200, "", EVENT * 3)
        assert exchange.t_sent_s is not None
        times = [exchange.t_call_s, exchange.t_sent_s, *exchange.times_s, exchange.t_end_s]
        assert times == sorted(times)
    assert talker.connections == 1


STALE = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 2\r\n\r\nab"
LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (3 * len(EVENT))


@pytest.mark.parametrize(
    "pieces",
    [
        [HEAD, chunk(EVENT) * 3 + END + b"garbage"],
        [HEAD, chunk(EVENT) * 3, END + chunk(EVENT)[:-3]],
        [HEAD, chunk(EVENT) * 3 + b"0\r\n", b"\r\ngarbage"],
        [HEAD, chunk(EVENT) * 3 + b"0\r\n\r", b"\ngarbage"],
        [HEAD, chunk(EVENT) * 3 + b"000;ext\r\nA: trailer\r\n\r\ngarbage"],
        [HEAD, chunk(EVENT) * 3 + END + STALE],
        [WHOLE + STALE],
        [WHOLE + b"garbage"],
        [LENGTH, EVENT, EVENT * 2 + EVENT],
        [LENGTH + EVENT * 3 + b"garbage"],
        [LENGTH + EVENT * 3 + STALE],
    ],
    ids=["last chunk", "a torn chunk more", "torn", "torn late", "trailer", "a reply more", "one read",
         "garbage in one read", "length", "length in one read", "length and a reply more"],
)  # fmt: skip
async def test_what_stands_behind_a_reply_is_not_of_it_and_its_connection_is_dropped(pieces: Sequence[bytes]) -> None:
    talker = Talker([*pieces, *[b""] * 20], [WHOLE])
    async with talking(talker, timeout_s=10.0) as endpoint:
        first, second = [await endpoint.post("/completions", b"{}") for _ in range(2)]
    for exchange in (first, second):
        assert (exchange.status, exchange.failure, exchange.body()) == (200, "", EVENT * 3), exchange.detail
    assert talker.connections == 2 and first.t_end_s - first.t_call_s < 10.0


async def test_a_whole_event_behind_the_end_does_not_make_a_timeout() -> None:
    exchange = await fetch(HEAD, chunk(EVENT) * 2 + END + chunk(EVENT), *[b""] * 200, timeout_s=0.2)
    assert (exchange.failure, exchange.body()) == ("", EVENT * 2)


async def test_a_head_whose_lines_end_in_lf_alone() -> None:
    head = HEAD.replace(b"\r\n", b"\n")
    whole = head + chunk(EVENT) * 3 + END
    for pieces in ([whole], [head, chunk(EVENT) * 2, chunk(EVENT) + END], cut(whole, 7)):
        exchange = await fetch(*pieces)
        assert (exchange.status, exchange.failure, exchange.body()) == (200, "", EVENT * 3)
    lines = b"%x\n%b\n" % (len(EVENT), EVENT)
    exchange = await fetch(head, lines, b"0\n\n", *[b""] * 40, timeout_s=20.0)
    assert exchange.failure == "cut" and "chunk size" in exchange.detail, "chunks in LF alone are refused, and at once"


@pytest.mark.parametrize(
    ("head", "location"),
    [
        (b"HTTP/1.1 204 No Content\r\n\r\n", ""),
        (b"HTTP/1.1 304 Not Modified\r\n\r\n", ""),
        (b"HTTP/1.1 307 Elsewhere\r\nLocation: /v2/x\r\nContent-Length: 0\r\n\r\n", "/v2/x"),
    ],
)  # fmt: skip
async def test_a_redirect_is_not_followed_and_told(head: bytes, location: str) -> None:
    exchange = await fetch(head)
    assert (exchange.failure, exchange.detail, exchange.body()) == ("", location, b"")


@pytest.mark.parametrize(
    ("head", "last"),
    [(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (2 * len(EVENT)), b""), (b"HTTP/1.0 200 OK\r\n\r\n", None)],
    ids=["length", "until closed"],
)
async def test_bodies_without_chunks(head: bytes, last: bytes | None) -> None:
    exchange = await fetch(head, EVENT, EVENT[:9], EVENT[9:], *([last] if last is None else []))
    assert (exchange.failure, exchange.body(), len(exchange.pieces)) == ("", EVENT * 2, 3)


@pytest.mark.parametrize(
    ("pieces", "failure", "body"),
    [
        ([None], "cut", b""),
        ([HEAD, None], "cut", b""),
        ([HEAD, chunk(EVENT), None], "cut", EVENT),
        ([HEAD, chunk(EVENT), chunk(EVENT)[:9], None], "cut", EVENT + EVENT[:5]),
        ([b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + EVENT, None], "cut", EVENT),
        ([HEAD, b"zz\r\n\r\n", b"\r\n\r\n"], "cut", b"zz\r\n\r\n"),
        ([b"not HTTP\r\n\r\n", None], "cut", b""),
    ],
    ids=["nothing", "head", "one event", "torn event", "short", "no chunk", "no HTTP"],
)  # fmt: skip
async def test_a_reply_that_breaks_off_is_cut_and_what_came_is_kept(
    pieces: Sequence[bytes | None], failure: str, body: bytes
) -> None:
    exchange = await fetch(*pieces)
    assert (exchange.failure, exchange.body()) == (failure, body) and exchange.detail


async def test_silence_ends_a_stream_and_a_trickle_does_not() -> None:
    silent = await fetch(HEAD, chunk(EVENT), *[b""] * 400, timeout_s=0.3)
    assert (silent.failure, silent.body()) == ("timeout", EVENT) and "silent for 0.3 s" in silent.detail
    # lines that end in CRLF make each event look like an end: it is looked at, and is none
    for event in (EVENT, EVENT.replace(b"\n", b"\r\n")):
        async with talking(Talker([HEAD, *[chunk(event)] * 12, END], gap_s=0.15), timeout_s=1.5) as endpoint:
            trickle = await endpoint.post("/completions", b"{}")
        assert (trickle.failure, trickle.body()) == ("", event * 12)


async def test_a_reply_of_many_megabytes_is_kept_whole() -> None:
    event = b"data: " + b"x" * 65_000 + b"\n\n"
    exchange = await fetch(HEAD, *[chunk(event)] * 200, END, timeout_s=20)
    assert (exchange.failure, len(exchange.body())) == ("", 200 * len(event))


async def test_a_reader_that_has_enough_or_fails_ends_the_reply() -> None:
    seen: list[bytes] = []

    def enough(data: bytes) -> bool:
        seen.append(data)
        return len(seen) == 2

    async with talking(Talker([HEAD, *[chunk(EVENT)] * 50, END])) as endpoint:
        exchange = await endpoint.post("/completions", b"{}", enough)
        assert exchange.stopped and exchange.failure == "" and 2 * len(EVENT) <= len(exchange.body()) < 50 * len(EVENT)
    async with talking(Talker([HEAD, *[chunk(EVENT)] * 50, END])) as endpoint:
        with pytest.raises(ZeroDivisionError):
            await endpoint.post("/completions", b"{}", lambda data: bool(1 / 0))


async def test_a_cancelled_reply_keeps_what_came() -> None:
    async with talking(Talker([HEAD, *[chunk(EVENT)] * 100, END], gap_s=0.01)) as endpoint:
        exchange = Exchange()
        task = asyncio.create_task(endpoint.post("/completions", b"{}", None, exchange))
        while len(exchange.pieces) < 3:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert exchange.failure == "cancelled" and exchange.body().startswith(EVENT * 3)


async def test_what_is_sent_is_what_the_sdk_sends() -> None:
    """The SDK through its own aiohttp client, and the endpoint: the same request line, headers and body."""
    reply = [b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"]
    talker = Talker(reply, reply)
    body = b'{"model":"m","stream":true}'
    async with talking(talker) as endpoint:
        await endpoint.post("/chat/completions", body)
        async with openai.AsyncOpenAI(
            base_url=endpoint.base_url,
            api_key="k",
            max_retries=0,
            timeout=5.0,
            http_client=openai.DefaultAioHttpClient(),
        ) as sdk:
            await sdk.post("/chat/completions", cast_to=object, content=body,
                           options={"headers": {"Content-Type": "application/json"}})  # fmt: skip
    ours, theirs = (request.split(b"\r\n\r\n") for request in talker.requests)
    assert ours[1] == theirs[1] == body
    assert _lines(ours[0]) == _lines(theirs[0])


def _lines(head: bytes) -> set[bytes]:
    """Header names differ in case alone; how long the SDK would wait is said by it in a header of its own."""
    name_and_value = (line.partition(b":") for line in head.split(b"\r\n"))
    return {name.lower() + b":" + value for name, _, value in name_and_value if b"timeout" not in name.lower()}


async def test_other_requests_on_the_same_pool_are_aiohttps_own() -> None:
    page = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
    talker = Talker([WHOLE], [page])
    async with talking(talker) as endpoint:
        await endpoint.post("/completions", b"{}")
        url = endpoint.base_url + "/other"
        async with endpoint.session.post(url, data=b"{}", timeout=aiohttp.ClientTimeout(total=5)) as answer:
            assert await answer.read() == b"hello"
    assert talker.connections == 1


@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")  # aiohttp's, from 1 MiB on
@pytest.mark.parametrize(("size", "waits"), [(1_000, False), (64_000_000, True)])
async def test_a_large_body_is_sent_when_the_socket_has_it(size: int, waits: bool) -> None:
    """Past what the socket's buffers can hold, t_sent is not before the server began to read."""
    clock, began, read = RunClock(), asyncio.Event(), []

    async def late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(0.2)
        read.append(clock.now())
        began.set()
        await reader.readexactly(size)
        read.append(clock.now())
        writer.write(HEAD + chunk(EVENT) + END)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(late, "127.0.0.1", 0, limit=1 << 16)
    endpoint = Endpoint(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", "k", clock.now)
    try:
        exchange = await endpoint.post("/completions", b"x" * size)
    finally:
        await endpoint.close()
        server.close()
        await server.wait_closed()
    assert began.is_set() and exchange.body() == EVENT and exchange.t_sent_s is not None
    first_s = exchange.times_s[0]
    assert exchange.t_call_s <= exchange.t_sent_s < first_s
    assert (exchange.t_sent_s > read[0]) is waits
    if waits:  # nearly all of it had been read by then
        assert first_s - exchange.t_sent_s < 0.5 * (first_s - exchange.t_call_s)


@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")  # aiohttp's, from 1 MiB on
async def test_an_answer_before_the_body_is_read_leaves_when_it_was_sent() -> None:
    """A server that refuses a large body at its head and reads on: the request's time stays before the answer's."""
    done = asyncio.Event()

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        await writer.drain()
        await asyncio.sleep(0.1)
        with suppress(ConnectionError):
            await reader.read(-1)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        done.set()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    endpoint = Endpoint(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", "k", RunClock().now)
    try:
        exchange = await endpoint.post("/completions", b"x" * 32_000_000)
    finally:
        await endpoint.close()
        await asyncio.wait_for(done.wait(), 10)
        server.close()
        await server.wait_closed()
    assert exchange.status == 413 and exchange.t_sent_s is not None and exchange.t_sent_s <= exchange.t_end_s
