"""`sim agree` against two servers that part at known places, over real sockets; and what is refused."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from sim import Sim, interrupt, wait_for

SCENARIO = """\
name: prompts
seed: 3
sessions: 2
refill: false
max_turns: 6
start: beginning
ramp_s: 0
profiles: {classic-xml: 1, sdk: 1}
tasks: {finance: 1}
sizes: {small: 1}
"""
TURNS, LENGTH = 8, 20


@dataclass
class Scripted:
    """A server whose replies are 20 tokens and a call. parts: prompt (by the order of asking) -> the first token that
    is another one. fails: prompts that it refuses. ids: whether it tells token ids; strict: refuses fields that it does
    not know. silent_from: the prompt from which on it does not answer until it is `over`. bodies: what it was asked."""

    parts: Mapping[int, int] = field(default_factory=dict)
    fails: tuple[int, ...] = ()
    ids: bool = True
    strict: bool = False
    more_prompt: int = 0
    silent_from: int = 1_000
    over: threading.Event = field(default_factory=threading.Event)
    bodies: list[dict[str, Any]] = field(default_factory=list)

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if self.strict and "return_token_ids" in body:
            return 400, {"error": {"message": "unknown field return_token_ids"}}
        n = len(self.bodies)
        self.bodies.append(body)
        if n >= self.silent_from:
            self.over.wait(60)
        if n in self.fails:
            return 500, {"error": {"message": "out of order"}}
        tokens = [1_000 + each for each in range(LENGTH)]
        if n in self.parts:
            tokens[self.parts[n]] = 7
        other = "other" if n in self.parts else "same"
        call = {"id": f"c{n}", "type": "function", "function": {"name": "ask", "arguments": f'{{"q": "{other}"}}'}}
        words = " ".join(f"word{each}" for each in tokens)
        said = {"role": "assistant", "content": words, "tool_calls": [call]}
        choice = {"index": 0, "message": said, "finish_reason": "stop"} | ({"token_ids": tokens} if self.ids else {})
        usage = {"prompt_tokens": len(json.dumps(body["messages"])) + self.more_prompt, "completion_tokens": LENGTH}
        return 200, {"choices": [choice], "usage": usage}


@contextmanager
def serving(script: Scripted) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            models = {"data": [{"id": "m", "max_model_len": 131_072}]}
            self._send(*((200, models) if self.path == "/v1/models" else (404, {"error": "no"})))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            chat = self.path == "/v1/chat/completions"
            self._send(*(script.answer(body) if chat else (404, {"error": "no"})))

        def _send(self, status: int, told: dict[str, Any]) -> None:
            data = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def agree(sim: Sim, a: Scripted, b: Scripted, *more: str) -> tuple[int, str, dict[str, Any]]:
    with serving(a) as one, serving(b) as other:
        code, said = sim.run(
            "agree", one, other, "--scenario", sim.scenario(SCENARIO), "--turns", str(TURNS), "--max-tokens", "50",
            "--out", "out", *more,
        )  # fmt: skip
    path = sim.folder / "out" / "agreement.json"
    return code, said, json.loads(path.read_text()) if path.exists() else {}


def test_known_places_are_found(sim: Sim) -> None:
    a, b = Scripted(), Scripted(parts={0: 3, 4: 12, 5: 19})
    code, said, found = agree(sim, a, b, "--twice")
    assert code == 0 and "servers' own ids" in said, said
    apart, again = found["compared"]["ab"], found["compared"]["aa"]
    assert (apart["replies"]["good"], apart["replies"]["of"], apart["failed"]) == (5, TURNS, 0)
    assert (apart["calls"]["good"], apart["call_names"]["good"], apart["calls"]["of"]) == (5, TURNS, TURNS)
    rows = {row["tok"]: (row["diverged"], row["share"]) for row in apart["divergence"]["table"]}
    assert rows == {1: (0, 1), 2: (0, 1), 4: (1, 7 / 8), 8: (1, 7 / 8), 16: (2, 6 / 8), 20: (3, pytest.approx(5 / 8))}
    assert apart["divergence"]["p10"] == 4 and apart["divergence"]["p50"] is None
    assert again["replies"]["good"] == TURNS and again["divergence"]["diverged"] == 0
    assert [body["messages"] for body in a.bodies[:TURNS]] == [body["messages"] for body in b.bodies]
    for body in (*a.bodies, *b.bodies):
        assert (body["temperature"], body["max_tokens"], body["stream"]) == (0, 50, False)
        assert not body.keys() & {"min_tokens", "ignore_eos", "stream_options"}
    text = (sim.folder / "out" / "agreement.md").read_text()
    assert "62.5 % of replies are equal" in text and "a tenth by token 4" in text
    code, said = sim.told("agree", "--show", "out")
    assert code == 0 and "62.5 % of replies are equal" in said


def test_servers_that_tell_no_ids_are_compared_by_text(sim: Sim) -> None:
    code, said, found = agree(sim, Scripted(strict=True, ids=False), Scripted(parts={2: 0}, ids=False))
    assert code == 0 and "told no token ids" in said, said
    assert found["tokens"] == "text" and found["compared"]["ab"]["replies"]["good"] == TURNS - 1


def test_failed_requests_are_in_no_figure(sim: Sim) -> None:
    code, said, found = agree(sim, Scripted(fails=(1,)), Scripted(fails=(6,)))
    assert (
        code == 0 and found["compared"]["ab"]["failed"] == 2 and found["compared"]["ab"]["replies"]["of"] == TURNS - 2
    )
    assert "2 prompts without two answers" in said


@pytest.mark.parametrize(
    ("b", "code", "words"),
    [
        (Scripted(more_prompt=3), 4, "another model or chat template"),
        (
            Scripted(fails=tuple(range(TURNS))),
            3,
            "B answered none of 8 prompts, the first time: HTTP 500: out of order",
        ),
    ],
)
def test_what_cannot_be_compared(b: Scripted, code: int, words: str, sim: Sim) -> None:
    got, said, _ = agree(sim, Scripted(), b)
    assert got == code and words in said and "Traceback" not in said, said


def test_bad_input(sim: Sim, tmp_path: Path) -> None:
    scenario = sim.scenario(SCENARIO)
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "x").write_text("x")
    live = ("--set", "mode=live", "--set", "max_turns=null")
    for words, *asked in (
        ("sim agree A B --scenario", "agree", "embedded"),
        ("holds no asked.json", "agree", "--show", taken),
        ("is not empty", "agree", "embedded", "embedded", "--scenario", scenario, "--out", taken),
        ("mode=replay", "agree", "embedded", "embedded", "--scenario", scenario, *live),
        ("basline", "agree", "basline", "embedded", "--scenario", scenario),
    ):
        code, said = sim.told(*asked)
        assert code == 2 and words in said and "Traceback" not in said, (asked, said)


def test_ctrl_c_names_the_folder(sim: Sim) -> None:
    a = Scripted(silent_from=3)
    with serving(a) as url:
        asked = ("agree", url, url, "--scenario", sim.scenario(SCENARIO), "--turns", str(TURNS), "--out", "out")
        process = sim.start(*asked)
        wait_for(sim.folder / "out" / "replies.jsonl", 3)
        interrupt(process)
        said = process.communicate(timeout=200)[0]
        a.over.set()
    assert process.returncode == 130 and "out holds the replies that came" in said, said
    code, said = sim.told("agree", "--show", "out")
    assert code == 2 and "came to its end" in said
