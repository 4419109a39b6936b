"""From exchanges to lines: replies put together, codings, keys, and what cannot be read."""

from __future__ import annotations

import gzip
import json
import zlib
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.stream import read_stream
from simulator.errors import UsageError
from simulator.record import bodykeys, secrets
from simulator.record.exchange import Exchange, pack
from simulator.record.known import FEW, MOST, Known, scrubbed
from simulator.record.lines import Lines
from simulator.record.replies import read_reply
from simulator.record.scribe import write
from simulator.record.secrets import of_head, worth
from simulator.record.upstream import read_upstream

ASK = {"model": "m", "messages": [{"role": "user", "content": "hej"}]}
SSE = "text/event-stream"


def event(delta: dict[str, Any] | None = None, **more: Any) -> bytes:
    choices = [] if delta is None else [{"index": 0, "delta": delta, **more.pop("choice", {})}]
    return b"data: " + json.dumps({"id": "r1", "choices": choices, **more}).encode() + b"\n\n"


def call(index: int, **function: str) -> dict[str, Any]:
    made: dict[str, Any] = {"index": index, "function": function}
    return {"tool_calls": [made | ({"id": f"c{index}"} if "name" in function else {})]}


STREAM = [
    event({"role": "assistant", "content": ""}),
    event({"reasoning_content": "hm "}), event({"reasoning_content": "so"}),
    event({"content": "I read "}), event({"content": "å."}), event(call(0, name="read", arguments="")),
    event(call(0, arguments='{"a"')), event(call(0, arguments=":1}")), event(call(1, name="look", arguments="{}")),
    event({}, choice={"finish_reason": "tool_calls"}), event(usage={"prompt_tokens": 3, "completion_tokens": 9}),
    b"data: [DONE]\n\n",
]  # fmt: skip


def exchange(body: bytes = json.dumps(ASK).encode(), pieces: list[bytes] | None = None, **more: Any) -> Exchange:
    given = STREAM if pieces is None else pieces
    fields = {"status": 200, "kind": SSE, "t_end_s": 9.0, **more}
    return Exchange(0, "POST", "/v1/chat/completions", 1e9, 5.0, body=[body], pieces=given,
                    times_s=[5.0 + n / 10 for n in range(len(given))], **fields)  # fmt: skip


def line(given: Exchange, *, chunks: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Lines(chunks=chunks).line(given))
    return found


@given(st.lists(st.integers(1, 2000), max_size=20))
def test_a_stream_becomes_one_reply_however_it_was_cut(at: list[int]) -> None:
    whole = b"".join(STREAM)
    marks = [0, *sorted({n % len(whole) for n in at} - {0}), len(whole)]
    pieces = [whole[a:b] for a, b in pairwise(marks)]
    told = read_reply(pieces, [float(n) for n in range(len(pieces))], SSE, "")
    message = told.response["choices"][0]["message"]
    assert message["content"] == "I read å." and message["reasoning_content"] == "hm so"
    assert [c["function"] for c in message["tool_calls"]] == [
        {"name": "read", "arguments": '{"a":1}'}, {"name": "look", "arguments": "{}"}
    ]  # fmt: skip
    assert told.response["usage"]["completion_tokens"] == 9 and told.done and not told.unread
    known = read_stream(zip([float(n) for n in range(len(pieces))], pieces, strict=True))
    assert told.arrivals_s == known.times_s, "the load generator's own reader says the same"


def test_a_line_says_when_everything_came() -> None:
    said = line(exchange(t_request_s=5.01, t_head_s=5.02))
    assert (said["ts"], said["t_s"], said["t_request_s"], said["t_head_s"], said["t_end_s"]) == (1e9, 5, 0.01, 0.02, 4)
    assert said["t_first_s"] == 0.1 and len(said["arrivals_s"]) == 8 and said["request"] == ASK
    assert line(exchange(), chunks=True)["chunks"][0]["id"] == "r1"


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_codings_are_read_and_others_told(coding: str) -> None:
    press = gzip.compress if coding == "gzip" else zlib.compress
    told = line(exchange(press(json.dumps(ASK).encode()), [press(b"".join(STREAM))], encoding=coding,
                         request_encoding=coding))  # fmt: skip
    assert told["request"] == ASK and told["response"]["choices"][0]["message"]["content"] == "I read å."
    other = line(exchange(pieces=[b"xx"], encoding="br"))
    assert "content-encoding br is not read" in other["notes"][0] and other["request"] == ASK
    whole = press(b"".join(STREAM))
    assert "notes" in line(exchange(pieces=[whole[:40] + b"damage" + whole[46:]], encoding=coding))


def test_a_bomb_of_zeros_is_given_up() -> None:
    made = line(exchange(pieces=[gzip.compress(bytes(200 << 20))], encoding="gzip"))
    assert "more than 64 MiB" in made["notes"][0]


@pytest.mark.parametrize(
    ("body", "pieces", "kind", "note"),
    [
        (b"{", STREAM, SSE, "request:"),
        (b"[" * 5_000, STREAM, SSE, "request:"),
        (b"\xff\xfe", STREAM, SSE, "request:"),
        (json.dumps(ASK).encode(), [b"data: {\n\n"], SSE, "not readable"),
        (json.dumps(ASK).encode(), [b'data: {"choices":[{"index":-4,"delta":{}}]}\n\n'], SSE, "not readable"),
        (json.dumps(ASK).encode(), [b'data: {"choices":7}\n\n'], SSE, "not readable"),
        (json.dumps(ASK).encode(), [b"<html>"], "text/html", "no JSON"),
    ],
)
def test_what_cannot_be_read_leaves_a_note_and_a_line(body: bytes, pieces: list[bytes], kind: str, note: str) -> None:
    assert note in line(exchange(body, pieces, kind=kind))["notes"][0]


@given(
    st.binary(max_size=300),
    st.lists(st.binary(max_size=100), max_size=5),
    st.sampled_from([SSE, "application/json", ""]),
)
def test_whatever_passes_there_is_a_line(body: bytes, pieces: list[bytes], kind: str) -> None:
    frames = b"".join(pack(each) for each in (exchange(body, pieces, kind=kind), exchange()))
    log = BytesIO()
    written = write(BytesIO(frames), log, chunks=True)
    assert written.lines == 2 == len(log.getvalue().splitlines()) and not written.error
    cut = write(BytesIO(frames[:-3]), BytesIO(), chunks=False)
    assert cut.lines == 1, "the one that was not whole is left out"


def test_a_key_said_in_pieces_is_in_neither_form() -> None:
    pieces = [
        event({"content": "it is sk-abc"}),
        event({"content": "def-0123"}),
        event({}, choice={"finish_reason": "stop"}),
    ]
    made = line(exchange(pieces=pieces, secrets=("sk-abcdef-0123",)), chunks=True)
    assert made["response"]["choices"][0]["message"]["content"] == "it is [removed]"
    assert "chunks" not in made and "key" in made["notes"][0]


HEADERS = """authorization api-key x-api-key X-Goog-Api-Key Ocp-Apim-Subscription-Key X-Auth-Key X-Access-Key
X-Functions-Key X-Portkey-Virtual-Key Proxy-Authorization X-Amz-Security-Token Authentication X-Auth X-Authorization
X-Client-Cert Helicone-Auth X-License cf-aig-authorization x-private-key X-Forwarded-Access-Token X-Made-Up"""
PARAMETERS = "key api_key token access_token sig code subscription-key apikey auth_key pass made-up"
CANARY = "Kanari-4711-vogel"


@pytest.mark.parametrize("name", [each.lower() for each in HEADERS.split()])
@pytest.mark.parametrize("form", ["{}", "Bearer {}", "id=7; s={}", 'Digest username="u", response="{}"', "first,{}"])
def test_a_header_that_is_not_known_as_harmless_holds_secrets(name: str, form: str) -> None:
    found = of_head([(name, form.format(CANARY)), (name, "Bearer the-second-one")], "/v1/chat/completions")
    assert {CANARY, "the-second-one"} <= set(found), "also where one name comes twice"
    assert list(found) == sorted(found, key=len, reverse=True), "longer ones first, so that no part of one is left"


@pytest.mark.parametrize(
    "target",
    [f"/v1/chat/completions?a=1&{name}={CANARY}" for name in PARAMETERS.split()]
    + [f"/k/{CANARY}/v1/chat/completions", f"http://u:{CANARY}@h/v1/chat/completions", f"/v1/completions?{CANARY}"],
)
def test_what_is_in_a_url_is_secret_but_for_its_known_end(target: str) -> None:
    assert CANARY in of_head([], target) and CANARY not in secrets.api_path(target)
    assert secrets.api_path(target).startswith("/v1/") and secrets.api_path(target).endswith("/completions")


def test_what_is_no_secret() -> None:
    fields = [("user-agent", "agent/12345678"), ("x-stainless-runtime", "node-20.11.1"), ("x-max-tokens", "1234567890"),
              ("content-type", "application/json"), ("authorization", "Bearer none"),
              ("x-own", "assistant")]  # fmt: skip
    assert of_head(fields, "/v1/models/a-model-2b?api-version=2024-10-21&alt=something-else") == ("Bearer none",)
    assert secrets.api_path("/base/v1/sk-1234567890") == "", "no end that is known"
    spelt = of_head([("authorization", "Basic dXNlcjpwYXNzd29yZC0x")], "/x?key=a%2Bb%2Fc%20d9&k=a+very+long")
    assert {"user:password-1", "password-1", "a%2Bb%2Fc%20d9", "a+b/c d9", "a very long"} <= set(spelt)


def test_scrubbing_reaches_keys_numbers_and_texts_in_texts() -> None:
    told = {"a": 'x "qå-key" y', 'k"qå-key"': ['{"b": "\\"qå-key\\""}', 5, 1234567890, None, True]}
    assert scrubbed(told, ['"qå-key"', "12345678"]) == {
        "a": "x [removed] y", "k[removed]": ['{"b": "[removed]"}', 5, "[removed]", None, True]
    }  # fmt: skip
    known = Known()
    known.learn(["a+b/c&d=1"])
    assert known.clean(["a%2Bb%2Fc%26d%3D1", "a+b/c&amp;d=1", "a+b/c", "YStiL2MmZD0x"]) == [
        "[removed]",
        "[removed]",
        "a+b/c",
        "[removed]",
    ]
    known.learn(f"secret-{n:06d}" for n in range(MOST))
    assert known.clean("secret-000000 a+b/c&d=1") == "[removed] a+b/c&d=1", "the last ones heard of are remembered"


BODY_KEYS = """api_key apikey API_KEY apiKey authorization password secret token access_token client_secret x-api-key
api_token openai_api_key key Api-Key auth_token vertex_credentials aws_secret_access_key aws_session_token"""


@pytest.mark.parametrize("name", BODY_KEYS.split())
@pytest.mark.parametrize("under", ["", "metadata", "extra_body", "litellm_params", "provider", "a.b.headers"])
def test_keys_in_a_body_are_taken_out_and_learned(name: str, under: str) -> None:
    held: dict[str, Any] = {name: CANARY, "plain": 1}
    for each in reversed(under.split(".") if under else ()):
        held = {each: [held]}
    lines = Lines(chunks=False)
    first = lines.line(exchange(json.dumps({**ASK, **held}).encode()))
    ask = {"messages": [{"role": "user", "content": f"it was {CANARY}"}]}
    later = lines.line(exchange(json.dumps(ask).encode()))
    assert CANARY.encode() not in first + later, "what one request told is out of the later ones too"
    assert json.loads(later)["request"]["messages"][0]["content"] == "it was [removed]"


def test_what_a_body_keeps() -> None:
    texts = {"tools": [{"function": {"parameters": {"properties": {"password": {"type": "string"}}}}}]}
    kept = {
        **ASK,
        **texts,
        "max_tokens": 7,
        "prompt_cache_key": "mine-1234",
        "eos_token": "<|im_end|>",
        "logit_bias": {},
    }
    assert bodykeys.without(kept) == (kept, [], set())
    more = {"extra_headers": {"X-Title": "some client", "X-Own": CANARY}, "token": 5}
    made, gone, found = bodykeys.without(kept | more)
    assert made == kept | {"token": 5} and gone == ["extra_headers"] and found == {CANARY}
    server = {"type": "mcp", "server_url": "http://h", "headers": {"Authorization": f"Bearer {CANARY}"}}
    made, gone, found = bodykeys.without({"tools": [*texts["tools"], server]})
    assert made["tools"][0] == texts["tools"][0] and gone == ["tools.headers"] and CANARY in found
    deep: dict[str, Any] = {"key": CANARY}
    for _ in range(5000):
        deep = {"a": deep}
    made, gone, _ = bodykeys.without({"x": deep})
    assert len(gone) == 1 and CANARY not in json.dumps(made), "what is too deep to look at is left out"


@pytest.mark.parametrize("at", range(180, 201, 4))
def test_nothing_is_cut_before_it_is_scrubbed(at: int) -> None:
    long = "s" * at + CANARY
    reply = b"<" + b"t" * (4096 - 201 + at) + CANARY.encode()
    texts = json.dumps(line(exchange(pieces=[reply], kind="text/html", secrets=(CANARY,), agent=long, session=long)))
    encoded = json.dumps(line(exchange(secrets=(CANARY,), request_encoding=long, encoding=long)))
    assert CANARY[:4] not in texts + encoded


def test_single_tokens_of_a_reply_that_says_a_key_are_left_out() -> None:
    tokens = [{"token": each, "bytes": list(each.encode())} for each in (CANARY[:5], CANARY[5:])]
    choice = {"index": 0, "message": {"role": "assistant", "content": CANARY}, "logprobs": {"content": tokens}}
    pieces = [json.dumps({"choices": [choice]}).encode()]
    made = line(exchange(pieces=pieces, kind="application/json", secrets=(CANARY,)))
    assert "logprobs" not in made["response"]["choices"][0] and "single tokens" in made["notes"][0]
    assert "logprobs" in line(exchange(pieces=pieces, kind="application/json"))["response"]["choices"][0]


SECRETS = st.text(min_size=8, max_size=30).filter(lambda text: bool(worth([text])))  # else a word of the protocol


@given(st.lists(SECRETS, min_size=1, max_size=4), st.text(max_size=20), st.integers(0, 9))
def test_many_secrets_are_found_as_few_are(told: list[str], before: str, shift: int) -> None:
    few, many = Known(), Known()
    few.learn(told)
    many.learn([*(f"another-{n:04d}" for n in range(2 * FEW)), *told])
    for value in ({"a": [before + "x" * shift + secret]} for secret in told):
        assert set(few.within(value)) <= set(many.within(value)) and few.within(value)
    assert many.within("") == [] == many.within("another") and many.within(f"{before}another-0007")


@given(SECRETS, st.text(max_size=20), st.text(max_size=20))
def test_a_line_holds_no_secret_and_is_a_line(secret: str, before: str, after: str) -> None:
    body = {"messages": [{"role": "user", "content": before + secret + after}], "model": json.dumps([secret])}
    made = line(exchange(json.dumps(body).encode("utf-8", "surrogatepass"), secrets=(secret,)))
    texts = [made["request"]["messages"][0]["content"], made["request"]["model"]] if "request" in made else []
    assert not any(secret in text.replace("[removed]", "\0") for text in texts)


def test_upstreams() -> None:
    assert read_upstream("http://h:8000/v1").url == "http://h:8000" == read_upstream("h:8000").url
    deep = read_upstream("https://api.example.com/openai/v1/")
    assert (deep.port, deep.tls, deep.prefix) == (443, True, "/openai")
    head = b"POST /v1/x HTTP/1.1\r\nA: b\r\nhost: localhost:8100\r\nX-Host: keep\r\n\r\n"
    changed = b"POST /openai/v1/x HTTP/1.1\r\nA: b\r\nHost: api.example.com\r\nX-Host: keep\r\n\r\n"
    assert deep.rewrite(head) == changed
    for wrong in ("ftp://x", "http://", "http://u:p@h", "http://h:99999", "http://h/?key=1"):
        with pytest.raises(UsageError, match="--upstream"):
            read_upstream(wrong)


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full here")
    with full.open("wb", buffering=0) as log:
        written = write(BytesIO(pack(exchange())), log, chunks=False)
    assert written.lines == 0 and "space" in written.error
