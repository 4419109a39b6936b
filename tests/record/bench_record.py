"""What `sim record` adds to a request on its way and to a token on its way back.

    python tests/record/bench_record.py [--streams 32 256] [--seconds 10]

The reference server (tests/bench/reference.py) says when it read each request's last byte and when it wrote each first
and last token; the client here says when it sent and when it received, on the same clock. The same traffic goes
directly and through the recorder, in turns; what both have in common, client and loopback, falls out in the difference.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import uvloop

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "bench")]

from measure import Server, serving  # noqa: E402
from recorder import recording  # noqa: E402

TOK, ITL_MS, TTFT_MS, BODY_BYTES = 120, 20.0, 50.0, 200_000
END = b"0\r\n\r\n"
QUANTILES = (0.5, 0.99, 1.0)


@dataclass
class Sent:
    name: str
    t_sent_s: float
    t_first_s: float = 0.0
    t_last_s: float = 0.0


@dataclass
class Client(asyncio.Protocol):
    """Streams on one connection, one after the other, until the time is up."""

    number: int
    until_s: float
    body: bytes
    done: list[Sent] = field(default_factory=list)
    open: Sent | None = None
    before_s: float = 0.0  # of the last read; the last but one with a token is the stream's last token

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.over = asyncio.get_running_loop().create_future()
        self._ask()

    def _ask(self) -> None:
        if time.monotonic() > self.until_s:
            self.transport.close()
            self.over.set_result(None)
            return
        name = f"{self.number}-{len(self.done)}"
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nx-request-id: {name}\r\nContent-Length: {len(self.body)}"
        )
        self.open = Sent(name, time.monotonic())
        self.transport.write(head.encode() + b"\r\n\r\n" + self.body)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        now_s, one = time.monotonic(), self.open
        if one is None:
            return
        if not one.t_first_s:
            one.t_first_s = now_s
        if data.endswith(END):  # the reference server sends it with the last token
            one.t_last_s = now_s
            self.done.append(one)
            self._ask()


@dataclass(frozen=True)
class Delays:
    """Milliseconds of each request: from sent to read by the server; from written there to received, first and last."""

    up: np.ndarray
    first: np.ndarray
    last: np.ndarray


async def traffic(url: str, streams: int, seconds: float) -> list[Sent]:
    loop, port = asyncio.get_running_loop(), urlsplit(url).port
    filler = "word " * (BODY_BYTES // 5)
    clients = []
    until_s = time.monotonic() + seconds
    for number in range(streams):
        messages = [{"role": "user", "content": f"agent {number} {filler}"}]
        body = {"model": "reference", "messages": messages, "stream": True, "max_tokens": TOK}
        made = Client(number, until_s, json.dumps(body).encode())
        clients.append(made)
        await loop.create_connection(lambda made=made: made, "127.0.0.1", port)
        await asyncio.sleep(0.01)
    await asyncio.gather(*(client.over for client in clients))
    return [one for client in clients for one in client.done]


def delays(server: Server, sent: list[Sent]) -> Delays:
    truth = {each["request_id"]: each for each in server.truth(clear=True).requests if each["done"]}
    pairs = [(one, truth[one.name]) for one in sent if one.name in truth]
    return Delays(
        np.array([1e3 * (t["t_received_s"] - one.t_sent_s) for one, t in pairs]),
        np.array([1e3 * (one.t_first_s - t["t_first_s"]) for one, t in pairs]),
        np.array([1e3 * (one.t_last_s - t["t_last_s"]) for one, t in pairs]),
    )


def show(what: str, found: Delays) -> None:
    for part in ("up", "first", "last"):
        values = getattr(found, part)
        told = "  ".join(f"p{100 * q:g} {np.quantile(values, q):7.3f}" for q in QUANTILES)
        print(f"  {what:9} {part:6} {told} ms  (n {len(values)})")


def joined(runs: list[Delays]) -> Delays:
    return Delays(*(np.concatenate([getattr(run, part) for run in runs]) for part in ("up", "first", "last")))


def measure(streams: int, seconds: float, rounds: int) -> None:
    with serving(TTFT_MS, ITL_MS) as server, tempfile.TemporaryDirectory() as folder:
        with recording(server.url, Path(folder) / "log.jsonl") as recorder:
            direct, through = [], []
            for _ in range(rounds):  # in turns, so that what the machine does meanwhile meets both
                direct.append(delays(server, uvloop.run(traffic(server.url, streams, seconds))))
                through.append(delays(server, uvloop.run(traffic(recorder.url, streams, seconds))))
            before = os.times()
            recorder.stop()
            after = os.times()
        rows = recorder.log.read_bytes().count(b"\n")
    a, b = joined(direct), joined(through)
    cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
    print(
        f"{streams} streams of {TOK} tokens at {1e3 / ITL_MS:g} a second, requests of {BODY_BYTES // 1000} kB; ", end=""
    )
    print(f"{rows} recorded, {1e6 * cpu_s / (rows * TOK):.0f} us of CPU a token for all of it")
    show("direct", a)
    show("recorded", b)
    for part in ("up", "first", "last"):
        gains = [np.quantile(getattr(b, part), q) - np.quantile(getattr(a, part), q) for q in QUANTILES]
        print(
            f"  added     {part:6} "
            + "  ".join(f"p{100 * q:g} {g:7.3f}" for q, g in zip(QUANTILES, gains, strict=True))
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--streams", type=int, nargs="+", default=[32, 256])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    for streams in args.streams:
        measure(streams, args.seconds, args.rounds)


if __name__ == "__main__":
    main()
