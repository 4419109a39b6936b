"""`sim record` over real sockets: what goes in comes out, and what passed is in the log."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import socket
import ssl
import struct
import subprocess
from pathlib import Path

import aiohttp
import pytest
from recorder import answering, recording, talk

BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hej å"}], "stream": True}).encode()


def asks(body: bytes = BODY, *fields: str, path: str = "/v1/chat/completions") -> bytes:
    head = [f"POST {path} HTTP/1.1", "Host: localhost:1", "X-oDD:  kept as it is ", *fields]
    return "\r\n".join(head).encode() + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def event(delta: dict[str, object], **more: object) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta, **more}]}).encode() + b"\n\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
USAGE = b'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2}}\n\n'
DONE = b"data: [DONE]\n\n"
REPLY = [
    STREAM, chunk(event({"role": "assistant", "content": ""})), chunk(event({"content": "one "})),
    chunk(event({"content": "two"}) + event({}, finish_reason="stop")), chunk(USAGE + DONE), b"0\r\n\r\n",
]  # fmt: skip


async def head_and_body(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
    return head + (await reader.readexactly(int(length[1])) if length else b"")


async def test_every_byte_passes_and_the_reply_is_in_the_log_with_its_times(tmp_path: Path) -> None:
    came: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            came.append(await head_and_body(reader))
            for piece in REPLY:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0.05)

    async with answering(answer) as port:
        with recording(f"http://127.0.0.1:{port}/base/v1", tmp_path / "log.jsonl") as recorder:
            sent = asks(BODY, "X-Session-Id: mine")
            whole = b"".join(REPLY)
            got = await talk(recorder.port, sent[:9], sent[9:40], sent[40:] + sent[:20], sent[20:], ends=whole + whole)
            assert got == whole + whole
            there = sent.replace(b"POST /v1", b"POST /base/v1").replace(b"localhost:1", b"127.0.0.1:%d" % port)
            assert came == [there, there]
            first, again = await recorder.lines(2)
            assert recorder.stop() == 0 and "2 requests of 2 sessions" in recorder.output
    assert first["request"] == json.loads(BODY) and first["session"] == "mine" and again["session"] == "mine/2"
    choice = first["response"]["choices"][0]
    assert choice["message"] == {"role": "assistant", "content": "one two"} and choice["finish_reason"] == "stop"
    assert first["response"]["usage"] == {"prompt_tokens": 7, "completion_tokens": 2}
    assert first["ended"] == "whole" and first["streamed"] and "chunks" not in first
    times = [first["t_request_s"], first["t_head_s"], *first["arrivals_s"], first["t_end_s"]]
    assert times == sorted(times) and len(first["arrivals_s"]) == 2
    gap_s = first["arrivals_s"][1] - first["arrivals_s"][0]
    assert 0.04 < gap_s < 5, "two pieces that were sent 50 ms apart"
    assert (recorder.log.stat().st_mode & 0o077) == 0, "for its owner alone"


async def test_keys_are_in_nothing_that_is_written(tmp_path: Path) -> None:
    key, cookie, query = "sk-Secret+Key/1234567", "sess=biscuit-12345678", "q-secret-987654"
    gateway, second, models = "gateway-0a1b2c3d", "Second-Key-765", "Models-Key-432"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        data = await head_and_body(reader)
        if b"Cookie" in data:
            assert key.encode() in data and cookie.encode() in data, "the upstream needs them"
        said = json.dumps({"error": {"message": data.decode("latin-1")}}).encode()
        writer.write(
            b"HTTP/1.1 401 No\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(said) + said
        )
        writer.close()

    body = json.dumps({"model": "m", "api_key": key, "messages": [{"role": "user", "content": f"my key is {key}"}]})
    fields = [f"Authorization: Bearer {key}", f"Cookie: {cookie}", f"User-Agent: client {key}", f"X-Session-Id: {key}"]
    fields += [f"Made-Up: {gateway}", f"authorization: Bearer {second}"]
    later = json.dumps({"messages": [{"role": "user", "content": " ".join((key, gateway, second, query, models))}]})
    async with answering(answer) as port:
        with recording(f"http://127.0.0.1:{port}", tmp_path / "log.jsonl", "--chunks") as recorder:
            path = f"/v1/{key}/chat/completions?key={query}"
            got = await talk(recorder.port, asks(body.encode(), *fields, path=path))
            assert key.encode() in got, "what the client is told is untouched"
            await talk(recorder.port, asks(path=f"/{models}/v1/models?token={models}"))
            await talk(recorder.port, asks(later.encode()))
            line, after = await recorder.lines(2)
            recorder.stop()
    for text in (recorder.log.read_text(), recorder.output):
        for secret in (key, cookie, "biscuit-12345678", query, gateway, second, models):
            assert secret not in text and json.dumps(secret)[1:-1] not in text
    assert line["status"] == 401 and "api_key" not in line["request"]
    assert line["request"]["messages"][0]["content"] == "my key is [removed]" and line["path"] == "/chat/completions"
    assert after["request"]["messages"][0]["content"] == " ".join(["[removed]"] * 5), "keys of requests before it"
    assert "POST /v1/models 1" in recorder.output


async def test_a_client_that_leaves_is_felt_upstream_and_what_came_is_kept(tmp_path: Path) -> None:
    left = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head_and_body(reader)
        writer.write(b"".join(REPLY[:3]))
        await writer.drain()
        assert await reader.read() == b""
        left.set()

    async with answering(answer) as port:
        with recording(f"http://127.0.0.1:{port}", tmp_path / "log.jsonl") as recorder:
            await talk(recorder.port, asks(), ends=REPLY[2])
            async with asyncio.timeout(10):
                await left.wait()
            (line,) = await recorder.lines(1)
    assert line["ended"] == "client_gone"
    assert line["response"]["choices"][0]["message"]["content"] == "one "


async def test_a_reply_that_breaks_off_breaks_off_for_the_client_too(tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head_and_body(reader)
        writer.write(b"".join(REPLY[:3]))
        await writer.drain()

    async with answering(answer) as port:
        with recording(f"http://127.0.0.1:{port}", tmp_path / "log.jsonl") as recorder:
            assert await talk(recorder.port, asks()) == b"".join(REPLY[:3])
            (line,) = await recorder.lines(1)
    assert line["ended"] == "cut" and line["status"] == 200


async def test_a_reset_of_the_upstream_is_one_for_the_client_whose_reply_has_no_length(tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head_and_body(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + event({"content": "one"}))
        await writer.drain()
        await go.wait()
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    go = asyncio.Event()
    async with answering(answer) as port:
        with recording(f"http://127.0.0.1:{port}/v1", tmp_path / "log.jsonl") as recorder:
            reader, writer = await asyncio.open_connection("127.0.0.1", recorder.port)
            writer.write(asks())
            assert (await reader.readuntil(b"one")).startswith(b"HTTP/1.1 200 OK")
            go.set()
            with pytest.raises(ConnectionResetError):
                await reader.read()
            writer.close()
            assert (await recorder.lines(1))[0]["ended"] == "cut"


async def test_no_upstream_is_a_502_that_says_so(tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None: ...

    async with answering(answer) as port:
        pass
    with recording(f"http://127.0.0.1:{port}", tmp_path / "log.jsonl") as recorder:
        async with aiohttp.ClientSession() as session:
            for _ in range(2):
                async with session.post(f"{recorder.url}/v1/chat/completions", data=BODY) as reply:
                    assert reply.status == 502 and str(port) in (await reply.json())["error"]["message"]
        assert [line["ended"] for line in await recorder.lines(2)] == ["unreachable"] * 2


async def test_the_log_that_cannot_be_written_stops_no_client(tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await head_and_body(reader)
            writer.write(b"".join(REPLY))

    async with answering(answer) as port:
        with recording(f"http://127.0.0.1:{port}", tmp_path / "log.jsonl") as recorder:
            await talk(recorder.port, asks(), ends=REPLY[-1])
            await recorder.lines(1)
            recorder.kill_writer()
            await asyncio.sleep(0.5)
            for _ in range(3):
                assert await talk(recorder.port, asks(), ends=REPLY[-1]) == b"".join(REPLY)
            assert recorder.stop() == 1
            assert "not recorded" in recorder.output and "Traceback" not in recorder.output


async def test_other_requests_pass_and_are_counted(tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await head_and_body(reader)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    async with answering(answer) as port:
        with recording(f"http://127.0.0.1:{port}", tmp_path) as recorder:
            got = await talk(recorder.port, b"GET /v1/models?x=1 HTTP/1.1\r\nHost: a\r\n\r\n", ends=b"{}")
            assert got.endswith(b"{}")
            await talk(recorder.port, asks(path="/v1/embeddings"), ends=b"{}")
            assert recorder.stop() == 0
    assert "GET /v1/models 1" in recorder.output and "POST /v1/embeddings 1" in recorder.output
    assert (tmp_path / "requests.jsonl").read_text() == ""


def certificate(folder: Path) -> Path:
    command = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    files = ["-keyout", str(folder / "k.pem"), "-out", str(folder / "c.pem")]
    subprocess.run(["openssl", *command.split(), *files], check=True, capture_output=True)
    return folder / "c.pem"


async def test_a_client_that_reads_nothing_slows_the_upstream(tmp_path: Path) -> None:
    size, sent = 96 << 20, 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await head_and_body(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        for _ in range(size >> 20):
            writer.write(bytes(1 << 20))
            await writer.drain()
            sent += 1 << 20

    async with answering(answer) as port:
        with recording(f"http://127.0.0.1:{port}", tmp_path / "log.jsonl") as recorder:
            reader, writer = await asyncio.open_connection("127.0.0.1", recorder.port, limit=1 << 16)
            writer.write(b"GET /v1/large HTTP/1.1\r\nHost: a\r\n\r\n")
            await asyncio.sleep(1.0)
            assert sent < size // 2, "the rest waits in the upstream, and not in the recorder"
            got = 0
            while got < size:
                got += len(await reader.read(1 << 20))
            writer.close()
    assert got >= size and sent == size


async def test_many_at_once_are_not_mixed_up(tmp_path: Path) -> None:
    """150 connections with three requests each, whose replies come in pieces and say whose they are."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            data = await head_and_body(reader)
            name = json.loads(data.partition(b"\r\n\r\n")[2])["model"]
            writer.write(STREAM)
            for part in (name, "-", "end"):
                writer.write(chunk(event({"content": part})))
                await asyncio.sleep(0.005)
            writer.write(chunk(DONE) + b"0\r\n\r\n")

    async def one(port: int, n: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for turn in range(3):
            messages = [{"role": "user", "content": f"task {n}"}, {"role": "user", "content": "x" * 300}][: turn + 1]
            body = json.dumps({"model": f"m{n}-{turn}", "messages": messages, "stream": True}).encode()
            writer.write(asks(body, f"X-Session-Id: s{n}"))
            got = b""
            while not got.endswith(b"0\r\n\r\n"):
                got += await reader.read(65_536)
            assert got.count(b"data:") == 4 and f'"m{n}-{turn}"'.encode() in got
        writer.close()

    async with answering(answer) as port:
        with recording(f"http://127.0.0.1:{port}", tmp_path / "log.jsonl") as recorder:
            await asyncio.gather(*(one(recorder.port, n) for n in range(150)))
            lines = await recorder.lines(450)
            assert recorder.stop() == 0
    for line in lines:
        model = line["request"]["model"]
        assert line["response"]["choices"][0]["message"]["content"] == f"{model}-end"
        assert line["session"].partition("/")[0] == f"s{model[1:].partition('-')[0]}"
    assert len({line["number"] for line in lines}) == 450


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
async def test_an_upstream_behind_tls(tmp_path: Path) -> None:
    pem = certificate(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pem, tmp_path / "k.pem")

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await head_and_body(reader)
        writer.write(b"".join(REPLY))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(one, "localhost", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    with recording(f"https://localhost:{port}", tmp_path / "log.jsonl", "--ca", str(pem)) as recorder:
        assert await talk(recorder.port, asks(), ends=REPLY[-1]) == b"".join(REPLY)
        await recorder.lines(1)
    with recording(f"https://localhost:{port}", tmp_path / "other.jsonl") as recorder:
        assert b"502" in await talk(recorder.port, asks()), "a certificate that nobody vouches for"
    server.close()
