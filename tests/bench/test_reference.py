"""The reference server tells the truth: what a plain socket sees is what it says that it wrote."""

from __future__ import annotations

import http.client
import time

import orjson
import pytest
import vocabulary
from frames import Kind, frames, letters
from measure import Server, marginal_us, serving, tok_s, tpot_ms, ttft_ms

from simulator.core.stream import read_stream


def ask(server: Server, path: str, **body: object) -> list[tuple[float, bytes]]:
    """(time, bytes) of each piece of a streamed reply."""
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    link.request("POST", path, orjson.dumps({"stream": True, **body}), {"X-Request-Id": "mine"})
    reply, pieces = link.getresponse(), []
    while data := reply.read1(1 << 16):
        pieces.append((time.monotonic(), data))
    link.close()
    return pieces


def test_a_plain_socket_sees_what_the_server_says_it_wrote() -> None:
    usage = {"include_usage": True, "continuous_usage_stats": True}
    with serving(40, 5, "--spread", "0.5") as server:
        pieces = ask(server, "/v1/completions", prompt=[1, 2, 3], max_tokens=20, stream_options=usage)
        truths = server.truth(clear=True)
        (truth,) = truths.requests
        assert server.truth().requests == []
    reading = read_stream(pieces)
    assert (reading.prompt_tok, reading.output_tok, reading.finish, reading.done) == (3, 20, "length", True)
    assert (len(reading.times_s), reading.tokens, reading.source) == (20, [1] * 20, "continuous")
    assert (truth["request_id"], truth["tok"], truth["chunks"], truth["done"]) == ("mine", 20, 20, True)
    # nothing is seen before it was written, and soon after
    assert 0 <= reading.times_s[0] - truth["t_first_s"] < 0.1 and 0 <= reading.times_s[-1] - truth["t_last_s"] < 0.1
    assert ttft_ms([truth])[0] >= 40 and truth["late_s"] < 0.1
    assert tpot_ms([truth])[0] == pytest.approx(5, rel=0.5) and tok_s([truth]) > 50
    assert truths.tokens == 20 and truths.late_s["p50"] <= truths.late_s["max"]


@pytest.mark.parametrize(("chunk_tok", "thought_tok"), [(1, 0), (3, 0), (3, 4), (1, 7)])
def test_chunks_of_several_tokens_and_reasoning(chunk_tok: int, thought_tok: int) -> None:
    with serving(5, 1, "--chunk-tok", str(chunk_tok), "--thought-tok", str(thought_tok)) as server:
        pieces = ask(server, "/v1/chat/completions", messages=[{"role": "user", "content": "x"}], max_tokens=20,
                     stream_options={"include_usage": True})  # fmt: skip
        truth = server.truth().requests[0]
    reading = read_stream(pieces)
    assert reading.text == letters(thought_tok, 20 - thought_tok) and reading.reasoning == letters(0, thought_tok)
    assert (reading.output_tok, reading.reasoning_tok, reading.source) == (20, thought_tok, "usage")
    assert len(reading.times_s) == truth["chunks"]


def test_what_else_a_client_asks_for() -> None:
    with serving(5, 1) as server:
        link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)

        def get(method: str, path: str, body: object = None) -> tuple[int, bytes]:
            link.request(method, path, orjson.dumps(body) if body else None)  # all on one connection
            answer = link.getresponse()
            return answer.status, answer.read()

        assert get("GET", "/health") == (200, b"")
        assert orjson.loads(get("GET", "/v1/models")[1])["data"][0]["id"] == "reference"
        ids = orjson.loads(get("POST", "/tokenize", {"prompt": "a b\nü"})[1])["tokens"]
        assert orjson.loads(get("POST", "/detokenize", {"tokens": ids})[1])["prompt"] == "a b\n<unk>"
        status, body = get("POST", "/v1/chat/completions", {"messages": [], "max_tokens": 5})
        answer = orjson.loads(body)
        assert status == 200 and answer["choices"][0]["message"]["content"] == "abcde"
        assert answer["usage"]["completion_tokens"] == 5
        assert get("GET", "/nothing")[0] == 404
        assert b"reference_requests_total 1" in get("GET", "/metrics")[1]
        link.close()


def test_a_reply_of_one_token_and_its_usage() -> None:
    reply = frames(Kind(True, 1, 3, 0, "last", 7, "m"))
    assert reply.counts == (1,) and len(reply.chunks) == 1 and reply.chunks[0].endswith(b"0\r\n\r\n")
    assert vocabulary.decode(vocabulary.encode("a {b}~")) == "a {b}~"


def test_cost_a_token_is_the_difference_of_the_cheapest_runs() -> None:
    def cost(cpu_s: float) -> object:
        return type("Cost", (), {"cpu_s": cpu_s})()

    short, long = [cost(1.0), cost(1.4)], [cost(3.0), cost(2.0)]
    assert marginal_us(short, long, 50_000) == pytest.approx(20.0)  # type: ignore[arg-type]
