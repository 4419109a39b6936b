"""A server whose times are known: it says when it really read each request and really wrote each first and last token.

    python tests/bench/reference.py --ttft-ms 100 --itl-ms 20      prints {"port": ...}; ends when standard input closes

One process, one epoll loop, bytes that are ready before the first request comes: a token costs it a few microseconds,
so that what is measured against it is the client. All times are CLOCK_MONOTONIC seconds, the clock that every process
of a host shares. GET /truth gives a line for each request (see Truth) and the server's own lateness: how long after its
due time a token was written. GET /truth?clear=1 forgets them.
"""

from __future__ import annotations

import argparse
import heapq
import select
import socket
import sys
import time
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

import orjson
import vocabulary
from frames import Frames, Kind, frames, whole

MODEL = "reference"
LATE_BUCKET_S, LATE_BUCKETS = 1e-4, 20_000
GOLDEN = 0.6180339887
now = time.monotonic


@dataclass(frozen=True, slots=True)
class Pace:
    """ttft_s: from the request's last byte to the first token; request n (from 0) adds a share of ttft_s up to
    `spread`, evenly spread over the requests. itl_s: a token, so a chunk of three comes every 3 x itl_s."""

    ttft_s: float
    itl_s: float
    chunk_tok: int = 1
    thought_tok: int = 0
    spread: float = 0.0

    def ttft_of(self, number: int) -> float:
        return self.ttft_s * (1 + self.spread * (number * GOLDEN % 1.0))


@dataclass(slots=True)
class Truth:
    """request_id: the client's x-request-id header. crc: crc32 of the body. t_received_s: its last byte was read.
    t_first_s, t_last_s: just before the first and the last token were handed to the socket. late_s: largest lateness of
    a token. blocked: writes that the client's full socket held up. done: sent to the end."""

    number: int
    request_id: str
    crc: int
    t_received_s: float
    prompt_tok: int
    tok: int
    chunks: int
    first_tok: int
    t_first_s: float | None = None
    t_last_s: float | None = None
    late_s: float = 0.0
    blocked: int = 0
    done: bool = False


@dataclass(slots=True)
class Stream:
    link: Link
    truth: Truth
    frames: Frames
    next: int = 0
    answer: bytes = b""


@dataclass(slots=True)
class Link:
    """One connection. rest: bytes read and not used; unsent: bytes that the socket did not take."""

    socket: socket.socket
    rest: bytearray = field(default_factory=bytearray)
    unsent: bytearray = field(default_factory=bytearray)
    need: int = 0
    open: bool = True


class Reference:
    def __init__(self, pace: Pace, port: int = 0) -> None:
        self.pace = pace
        self.truths: list[Truth] = []
        self.number = 0
        self.late = [0] * LATE_BUCKETS
        self._due: list[tuple[float, int, Stream]] = []
        self._order = 0
        self._links: dict[int, Link] = {}
        self._epoll = select.epoll()
        self._listener = socket.create_server(("127.0.0.1", port), backlog=4096)
        self._listener.setblocking(False)
        self.port: int = self._listener.getsockname()[1]

    def run(self, until_fd: int | None = None) -> None:
        """Serves until `until_fd` can be read (its end, when it is a pipe that its writer closed)."""
        poll, listener = self._epoll, self._listener.fileno()
        poll.register(listener, select.EPOLLIN)
        if until_fd is not None:
            poll.register(until_fd, select.EPOLLIN)
        while True:
            # epoll waits whole milliseconds and select microseconds: this one waits for the other
            wait_s = self._due[0][0] - now() if self._due else 1.0
            if wait_s > 0:
                select.select([poll], (), (), wait_s)
            for fd, mask in poll.poll(0):
                if fd == until_fd:
                    return
                if fd == listener:
                    self._accept()
                elif (link := self._links.get(fd)) is not None:
                    self._ready(fd, link, mask)
            self._send_due()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except BlockingIOError:
                return
            client.setblocking(False)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._links[client.fileno()] = Link(client)
            self._epoll.register(client.fileno(), select.EPOLLIN)

    def _ready(self, fd: int, link: Link, mask: int) -> None:
        if mask & select.EPOLLOUT:
            self._flush(fd, link)
        if not mask & ~select.EPOLLOUT:
            return
        try:
            data = link.socket.recv(1 << 20)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._drop(fd, link)
            return
        link.rest += data
        if len(link.rest) >= link.need:
            self._requests(link)

    def _drop(self, fd: int, link: Link) -> None:
        link.open = False
        self._epoll.unregister(fd)
        del self._links[fd]
        link.socket.close()

    def _write(self, link: Link, data: bytes) -> bool:
        """False: the socket was full, the rest goes when it can."""
        if not link.open:
            return True
        if link.unsent:
            link.unsent += data
            return False
        try:
            sent = link.socket.send(data)
        except BlockingIOError:
            sent = 0
        except OSError:
            return True  # the reader learns of it
        if sent == len(data):
            return True
        link.unsent += data[sent:]
        self._epoll.modify(link.socket.fileno(), select.EPOLLIN | select.EPOLLOUT)
        return False

    def _flush(self, fd: int, link: Link) -> None:
        try:
            del link.unsent[: link.socket.send(link.unsent)]
        except OSError:
            return
        if not link.unsent:
            self._epoll.modify(fd, select.EPOLLIN)

    def _requests(self, link: Link) -> None:
        while True:
            end = link.rest.find(b"\r\n\r\n")
            if end < 0:
                return
            first, *lines = bytes(link.rest[:end]).split(b"\r\n")
            fields = {k.lower(): v.strip() for k, _, v in (line.partition(b":") for line in lines)}
            link.need = end + 4 + int(fields.get(b"content-length", 0))
            if len(link.rest) < link.need:
                return
            received_s = now()
            body = bytes(link.rest[end + 4 : link.need])
            del link.rest[: link.need]
            link.need = 0
            method, target, _ = first.split(b" ", 2)
            self._answer(link, method, target.decode(), fields, body, received_s)

    def _answer(
        self, link: Link, method: bytes, target: str, fields: dict[bytes, bytes], body: bytes, received_s: float
    ) -> None:
        path, _, query = target.partition("?")
        if method == b"POST" and path in ("/v1/chat/completions", "/v1/completions"):
            self._generate(link, path.endswith("chat/completions"), fields, body, received_s)
            return
        simple: dict[str, Callable[[], bytes]] = {
            "/v1/models": self._models,
            "/health": lambda: b"",
            "/version": lambda: b'{"version":"reference"}',
            "/reset_prefix_cache": lambda: b"{}",
            "/metrics": lambda: b"# TYPE reference_requests_total counter\nreference_requests_total %d\n" % self.number,
            "/tokenize": lambda: _tokenize(body),
            "/detokenize": lambda: orjson.dumps({"prompt": vocabulary.decode(orjson.loads(body)["tokens"])}),
            "/truth": lambda: self._truth(clear="clear" in query),
        }
        make = simple.get(path)
        kind = b"text/plain" if path == "/metrics" else b"application/json"
        self._write(link, _response(200 if make else 404, make() if make else b'{"error":{"message":"?"}}', kind))

    def _models(self) -> bytes:
        model = {"id": MODEL, "object": "model", "created": 1, "owned_by": "reference", "max_model_len": 131_072}
        return orjson.dumps({"object": "list", "data": [model]})

    def _generate(self, link: Link, chat: bool, fields: dict[bytes, bytes], body: bytes, received_s: float) -> None:
        ask = orjson.loads(body)
        options = ask.get("stream_options") or {}
        said = "every" if options.get("continuous_usage_stats") else "last" if options.get("include_usage") else ""
        tok = int(ask.get("max_completion_tokens") or ask.get("max_tokens") or 128)
        number, self.number = self.number, self.number + 1
        pace = self.pace
        thought = min(pace.thought_tok, tok - 1) if chat else 0
        kind = Kind(chat, tok, pace.chunk_tok, thought, said, _prompt_tok(ask, len(body)), MODEL)
        reply = frames(kind)
        name = fields.get(b"x-request-id", b"").decode("latin-1")
        crc = zlib.crc32(body)
        truth = Truth(number, name, crc, received_s, kind.prompt_tok, tok, len(reply.chunks), reply.counts[0])
        self.truths.append(truth)
        stream, due_s = Stream(link, truth, reply), received_s + pace.ttft_of(number)
        if not ask.get("stream"):
            stream.answer = _response(200, whole(kind), b"application/json")
            due_s += pace.itl_s * (tok - 1)
        self._schedule(due_s, stream)

    def _schedule(self, due_s: float, stream: Stream) -> None:
        self._order += 1
        heapq.heappush(self._due, (due_s, self._order, stream))

    def _send_due(self) -> None:
        due, itl_s, late = self._due, self.pace.itl_s, self.late
        # no more than were due at the start: what comes in meanwhile must be read too
        limit_s = now()
        while due and due[0][0] <= limit_s:
            due_s, order, stream = due[0]
            truth, at = stream.truth, stream.next
            if not stream.link.open:
                heapq.heappop(due)
                continue
            data = stream.answer or stream.frames.chunks[at]
            if at == 0 and not stream.answer:
                data = stream.frames.opening + data
            moment_s = now()
            free = self._write(stream.link, data)
            if at == 0:
                truth.t_first_s = moment_s
            truth.blocked += not free
            behind_s = moment_s - due_s
            if behind_s > truth.late_s:
                truth.late_s = behind_s
            late[min(LATE_BUCKETS - 1, int(behind_s / LATE_BUCKET_S))] += 1
            stream.next = at + 1
            if stream.answer or stream.next == truth.chunks:
                truth.t_last_s, truth.done = moment_s, True
                heapq.heappop(due)
            else:
                # due times follow from the first: a late token makes none of the later ones late
                heapq.heapreplace(due, (due_s + itl_s * stream.frames.counts[stream.next], order, stream))

    def _truth(self, *, clear: bool) -> bytes:
        body = orjson.dumps(
            {
                "requests": [asdict(t) for t in self.truths],
                "late_s": {name: _quantile(self.late, q) for name, q in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))},
                "cpu_s": time.process_time(),
                "tokens": sum(self.late),
            }
        )
        if clear:
            self.truths, self.late = [], [0] * LATE_BUCKETS
        return body


def _quantile(counts: list[int], q: float) -> float | None:
    """Upper edge of the bucket that holds it."""
    total, seen = sum(counts), 0
    for n, count in enumerate(counts):
        seen += count
        if count and seen >= q * total:
            return (n + 1) * LATE_BUCKET_S
    return None


def _prompt_tok(ask: dict[str, object], size: int) -> int:
    prompt = ask.get("prompt")
    if isinstance(prompt, list):
        return len(prompt)
    # a character is a token; of a conversation only the size is looked at, since it can be long
    return len(prompt) if isinstance(prompt, str) else size


def _tokenize(body: bytes) -> bytes:
    ids = vocabulary.encode(str(orjson.loads(body).get("prompt", "")))
    return orjson.dumps({"count": len(ids), "tokens": ids, "max_model_len": 131_072})


def _response(status: int, body: bytes, kind: bytes) -> bytes:
    word = b"OK" if status == 200 else b"Not Found"
    head = b"HTTP/1.1 %d %b\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n" % (status, word, kind, len(body))
    return head + body


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--ttft-ms", type=float, default=100.0)
    parser.add_argument("--itl-ms", type=float, default=20.0)
    parser.add_argument("--chunk-tok", type=int, default=1)
    parser.add_argument("--thought-tok", type=int, default=0, help="reasoning tokens at the start of a chat reply")
    parser.add_argument("--spread", type=float, default=0.0, help="TTFT goes up to (1 + spread) x ttft-ms")
    args = parser.parse_args()
    pace = Pace(args.ttft_ms / 1e3, args.itl_ms / 1e3, args.chunk_tok, args.thought_tok, args.spread)
    server = Reference(pace, args.port)
    print(orjson.dumps({"port": server.port}).decode(), flush=True)
    server.run(sys.stdin.fileno())


if __name__ == "__main__":
    main()
