"""The oracle behind HTTP: how its replies are streamed, counted and told of."""

from __future__ import annotations

import itertools
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import openai
import orjson
import pytest
from aiohttp import web
from oracle_cases import Asked, body_of, recorded, spec
from virtual import attention_only

from simulator import tokenizer
from simulator.cli.target import open_target
from simulator.core.plan import SessionPlan
from simulator.core.scenario import Scenario
from simulator.core.template import render
from simulator.core.usage import stream_options
from simulator.engine.embedded.__main__ import build, parse
from simulator.engine.embedded.brain.rates import Rates
from simulator.engine.embedded.config import load_params
from simulator.engine.embedded.server import Brain, Server
from simulator.engine.scrape import identify
from simulator.errors import UsageError
from simulator.view.identity import emulation

SMALL = attention_only(load_params().model_copy(update={"num_gpu_blocks": 4096, "block_size": 64}))


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SessionPlan]:
    folder = tmp_path_factory.mktemp("plans")
    return {name: recorded(folder / name, spec(name)) for name in ("classic-xml", "sdk")}


@pytest.fixture
def asked(plans: dict[str, SessionPlan], tmp_path: Path) -> Asked:
    return Asked(tmp_path, [plans["sdk"]])


@pytest.fixture
async def url(asked: Asked, tmp_path: Path) -> AsyncIterator[str]:
    params = SMALL.model_copy(update={"oracle": Rates()})
    server = Server(params, seed=2, brain=Brain(asked.oracle.library.path, tmp_path / "oracle.jsonl"))
    runner = web.AppRunner(server.app(), access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def ready(plan: SessionPlan, turn: int) -> dict[str, Any]:
    return {**body_of(plan, plan.turns[turn]), "model": SMALL.model}


async def test_calls_are_streamed_in_pieces_with_text_first(
    url: str, plans: dict[str, SessionPlan], asked: Asked, tmp_path: Path
) -> None:
    """Name and id once, then the arguments in the pieces in which they are generated; usage counts all tokens, those
    that the client never sees as well."""
    plan = plans["sdk"]
    body = {**ready(plan, 6), "stream_options": stream_options("every_chunk")}
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        stream = await client.chat.completions.create(**body)
        chunks = [chunk async for chunk in stream]
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    content = "".join(delta.content or "" for delta in deltas)
    pieces = [call for delta in deltas for call in delta.tool_calls or ()]
    reply = asked.solutions[0].ways[6].reply
    assert content == reply.content
    assert [(p.index, p.function.name) for p in pieces if p.id] == [(0, "editor")]
    assert len(pieces) > 10 and all(p.function.name is None for p in pieces[1:])
    arguments = "".join(p.function.arguments or "" for p in pieces)
    assert orjson.loads(arguments) == orjson.loads(reply.calls[0][1])
    first_call = next(n for n, delta in enumerate(deltas) if delta.tool_calls)
    assert not any(delta.content for delta in deltas[first_call:])
    finishes = [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices]
    assert finishes[-1] == "tool_calls" and set(finishes[:-1]) == {None}
    counts = [chunk.usage.completion_tokens for chunk in chunks]
    assert counts == sorted(counts)
    said = {"role": "assistant", "content": reply.content, "tool_calls": [
        {"function": {"name": name, "arguments": given}} for name, given in reply.calls]}  # fmt: skip
    written = render(said).removeprefix("assistant\n")
    assert abs(counts[-1] - (tokenizer.count(written) + 1)) <= 1
    gains = [b - a for a, b in itertools.pairwise(counts[1:])]
    assert max(gains) <= 16, "tokens come as they are generated"
    told = [orjson.loads(line) for line in (tmp_path / "oracle.jsonl").read_bytes().splitlines()]
    assert [(t["session"], t["step"], t["mistake"]) for t in told] == [("s0000", 6, "")]


async def test_whole_replies_and_the_last_one(url: str, plans: dict[str, SessionPlan]) -> None:
    plan = plans["sdk"]
    ask = {**ready(plan, 1), "stream": False}
    ask.pop("stream_options")
    end = {**ready(plan, 9), "stream": False}
    end.pop("stream_options")
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        called = await client.chat.completions.create(**ask)
        ended = await client.chat.completions.create(**end)
        cut = await client.chat.completions.create(**{**ask, "max_tokens": 8})
        forced = await client.chat.completions.create(
            **{**ask, "max_tokens": 9}, extra_body={"min_tokens": 9, "ignore_eos": True}
        )
    (call,) = called.choices[0].message.tool_calls or ()
    assert call.function.name == "read_files" and called.choices[0].finish_reason == "tool_calls"
    assert ended.choices[0].finish_reason == "stop" and ended.choices[0].message.content == "Divided by twelve."
    assert cut.choices[0].finish_reason == "length" and cut.usage and cut.usage.completion_tokens == 8
    assert forced.usage and forced.usage.completion_tokens == 9 and not forced.choices[0].message.tool_calls


async def test_its_counters_are_at_metrics(url: str, plans: dict[str, SessionPlan]) -> None:
    ask = {**ready(plans["sdk"], 1), "stream": False}
    ask.pop("stream_options")
    async with aiohttp.ClientSession() as http:
        for _ in range(2):
            async with http.post(f"{url}/v1/chat/completions", json=ask) as answer:
                assert answer.status == 200
        stranger = {**ask, "messages": [{"role": "user", "content": "A poem, please."}], "max_tokens": 4}
        async with http.post(f"{url}/v1/chat/completions", json=stranger) as answer:
            assert answer.status == 200
        async with http.get(f"{url}/metrics") as answer:
            text = await answer.text()
    assert 'embedded:oracle_replies_total{mistake="none"} 2.0' in text
    assert "embedded:oracle_unknown_total 1.0" in text
    stopped = re.search(r'request_success_total\{.*finished_reason="stop".*\} (\S+)', text)
    assert stopped and stopped[1] == "2.0", "the engine's core knows no tool calls"


def test_the_command_line_says_what_belongs_together(tmp_path: Path) -> None:
    path = tmp_path / "solutions.jsonl"
    for argv, part in (
        (["--brain", "oracle"], "--brain oracle needs --solutions FILE"),
        (["--solutions", str(path)], "--solutions belongs to --brain oracle"),
        (["--oracle", "loop=0.1"], "--oracle belongs to --brain oracle"),
        (["--brain", "oracle", "--solutions", str(path), "--oracle", "lop=0.1"], "did you mean loop?"),
        (["--brain", "oracle", "--solutions", str(path), "--oracle-log", str(tmp_path)], "cannot be written"),
    ):
        with pytest.raises(UsageError) as told:
            build(parse(argv))
        assert part in str(told.value)
    path.write_text("{}\n")
    with pytest.raises(UsageError, match=r"solutions\.jsonl:1: no solution"):
        build(parse(["--brain", "oracle", "--solutions", str(path)]))


async def test_an_engine_with_an_oracle_is_known_before_it_has_said_anything(url: str) -> None:
    async with aiohttp.ClientSession() as session:
        told = await identify(session, url)
    assert told["emulated"] and told["oracle"] == {"rates": "not told"}


@pytest.mark.parametrize(("mode", "marked"), [("live", True), ("replay", False)])
async def test_a_run_on_an_oracle_that_was_started_by_hand_is_marked(
    mode: str, marked: bool, url: str, tmp_path: Path
) -> None:
    scenario = Scenario.model_validate({"name": "n", "sessions": 1, "refill": False, "mode": mode})
    async with open_target(scenario, url, None, None, tmp_path / "engine.log") as opened:
        told = opened.target.identity
    assert ("ORACLE" in emulation({"engine": {**told, "kind": opened.target.kind}})) is marked
