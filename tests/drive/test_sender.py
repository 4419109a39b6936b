"""One request through the real transport: closed by the client, never ending, or answered with something else."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from misbehaving import Script, serving

from simulator.core.record import Request
from simulator.drive.clock import RunClock
from simulator.drive.endpoint import TOTAL_TIMES, Endpoint
from simulator.drive.meter import Meter
from simulator.drive.sender import Job, Sender

BODY = b'{"model":"m","messages":[]}'


@dataclass
class Kept:
    requests: list[Request] = field(default_factory=list)

    def request(self, record: Request, deltas_us: Sequence[int], tokens: Sequence[int]) -> None:
        assert len(deltas_us) == len(tokens) == record.chunks
        self.requests.append(record)


def job(**more: int | None) -> Job:
    return Job("agent", "s0000", 0, 0, "agent", 0, 0.0, "/chat/completions", BODY, 100, 400, **more)  # type: ignore[arg-type]


async def send(script: Script, one: Job, timeout_s: float = 20.0, asked: str = "") -> tuple[Request, Meter]:
    clock, kept = RunClock(), Kept()
    meter = Meter(clock.now)
    async with serving(script) as url:
        endpoint = Endpoint(url, "k", clock.now, timeout_s=timeout_s)
        reply = await Sender(endpoint, kept, meter, clock.now, "run", len, model=asked).send(one)  # type: ignore[arg-type]
        await asyncio.sleep(0.1)  # a server that is still writing notices
        await endpoint.close()
    assert kept.requests == [reply.record]
    return reply.record, meter


async def test_a_stream_that_the_client_closes_is_ok_stopped_and_counted() -> None:
    script = Script(lambda s, n: "ok", tokens=400, gap_s=0.001)
    record, meter = await send(script, job(stop_after_tok=20))
    assert (record.outcome, record.error, record.stopped, record.finish) == ("ok", "", True, "")
    assert 20 <= record.chunks < 200 and record.output_tok == record.chunks
    assert script.told == [], "the server saw the connection close"
    assert meter.requests_done == 1 and meter.in_flight == 0


async def test_a_reply_shorter_than_where_the_client_would_stop_is_read_to_its_end() -> None:
    script = Script(lambda s, n: "ok", tokens=4)
    record, _ = await send(script, job(stop_after_tok=20))
    assert (record.outcome, record.stopped, record.finish, record.output_tok) == ("ok", False, "stop", 4)
    assert script.told == ["ok"]


async def test_a_sub_agent_s_request_leaves_its_slot_s_row_alone() -> None:
    record, meter = await send(Script(lambda s, n: "ok"), job(branch=2))
    assert record.branch == 2 and meter.slots == {} and meter.requests_done == 1


async def test_a_server_that_trickles_for_ever_meets_the_total_limit() -> None:
    record, _ = await send(Script(lambda s, n: "trickle"), job(), timeout_s=0.5)
    assert (record.error, record.status, record.chunks) == ("timeout", 200, 0)
    assert f"had not ended after {TOTAL_TIMES * 0.5:g} s" in record.detail
    assert record.t_end_s - record.t_call_s >= TOTAL_TIMES * 0.5


@pytest.mark.parametrize(
    ("word", "said"),
    [("gzip", "gzip-compressed body"), ("json", 'one JSON document: {"id": "chatcmpl-1"'), ("page", "page: <html>")],
)
async def test_what_came_instead_of_a_stream_is_told(word: str, said: str) -> None:
    record, _ = await send(Script(lambda s, n: word), job())
    assert (record.outcome, record.error, record.status) == ("failed", "malformed", 200)
    assert said in record.detail and "HTTP 200" in record.detail


@pytest.mark.parametrize(
    ("word", "said"),
    [("abort", "finish_reason abort"), ("error", "finish_reason error"), ("object", "boom"), ("named", "boom")],
)
async def test_a_reply_that_came_whole_and_failed_in_its_last_word_is_failed(word: str, said: str) -> None:
    record, meter = await send(Script(lambda s, n: word), job())
    assert (record.outcome, record.error, record.chunks, record.output_tok) == ("failed", "server_error", 4, 4)
    assert said in record.detail and (meter.requests_done, meter.requests_failed) == (0, 1)


@pytest.mark.parametrize(
    ("word", "asked", "found"), [("other", "m", "other"), ("other", "other", ""), ("other", "", ""), ("ok", "m", "")]
)
async def test_the_reply_of_another_model_is_noted_by_its_name(word: str, asked: str, found: str) -> None:
    record, _ = await send(Script(lambda s, n: word), job(), asked=asked)
    assert (record.outcome, record.other_model) == ("ok", found)


@pytest.mark.parametrize("used", [0, 1])
async def test_a_usage_that_came_before_the_words_is_no_count(used: int) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(BODY)
        choice = b'data: {"choices":[{"index":0,"delta":{"content":"word"}}]%b}\n\n'
        first = choice % (b',"usage":{"prompt_tokens":9,"completion_tokens":%d}' % used)
        last = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + first + choice % b"" * 2 + last)
        writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        clock, kept = RunClock(), Kept()
        endpoint = Endpoint(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", "k", clock.now, timeout_s=5.0)
        reply = await Sender(endpoint, kept, Meter(clock.now), clock.now, "run", len).send(job())  # type: ignore[arg-type]
        await endpoint.close()
    record = reply.record
    assert (record.outcome, record.chunks, record.prompt_tok) == ("ok", 3, 9)
    assert (record.output_source, record.output_tok, reply.reading.tokens) == ("counted", 12, [4, 4, 4])


@pytest.mark.parametrize("told_first", [True, False])
async def test_a_closed_stream_without_running_usage_has_what_other_replies_held(
    told_first: bool,
) -> None:
    """Chunks of three tokens; the server tells how many only at a reply's end, which a closed stream never reaches."""
    chunk = b'data: {"choices":[{"index":0,"delta":{"content":"abcdefg"}}]}\n\n'
    end = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    usage = b'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":18}}\n\ndata: [DONE]\n\n'

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            whole = b"whole" in await reader.readuntil(BODY)
            writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            for _ in range(6 if whole else 400):
                writer.write(chunk)
                await writer.drain()
                await asyncio.sleep(0.002)
            writer.write(end + usage)
        writer.close()
        over.set()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        clock, kept = RunClock(), Kept()
        endpoint = Endpoint(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", "k", clock.now, timeout_s=9.0)
        over = asyncio.Event()
        sender = Sender(endpoint, kept, Meter(clock.now), clock.now, "run", len)  # type: ignore[arg-type]
        if told_first:
            whole = (await sender.send(replace(job(), path="/whole"))).reading
            assert (whole.source, whole.output_tok, whole.tokens) == ("usage", 18, [3] * 6)
            over.clear()
        record = (await sender.send(job(stop_after_tok=60))).record
        await endpoint.close()
        await over.wait()
    a_chunk = 3 if told_first else 7
    assert (record.output_source, record.stopped) == ("scaled" if told_first else "counted", True)
    assert record.output_tok == a_chunk * record.chunks and 60 / a_chunk <= record.chunks < 200
