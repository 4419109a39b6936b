"""The API processes as a queue of their own: what they add, whom they delay, what a starved one looks like."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_embedded_server import SMALL, serving

from simulator.engine.embedded.config import EngineParams, FrontEndCosts
from simulator.engine.embedded.frontend import FrontEnd
from simulator.engine.embedded.server import Server
from simulator.engine.scrape import scrape

FREE = {name: 0.0 for name in FrontEndCosts.model_fields}


def params(*, count: int = 1, undecodable: float = 0.0, **costs: float) -> EngineParams:
    hardware = SMALL.hardware.model_copy(update={"front_end": FrontEndCosts(**{**FREE, **costs})})
    changes = {"hardware": hardware, "api_server_count": count, "undecodable_share": undecodable}
    return SMALL.model_copy(update=changes)


def test_the_whole_prompt_is_tokenised_at_every_turn() -> None:
    front = FrontEnd(params(per_request_s=1.0, tokenise_s_per_tok=0.01))
    assert front.arrive(0.0, 100) == pytest.approx(2.0)
    assert front.arrive(10.0, 100) - 10.0 == pytest.approx(2.0), "the same prompt again costs the same again"
    assert front.busy_s == pytest.approx(4.0)


def test_a_request_s_way_takes_time_but_no_process() -> None:
    front = FrontEnd(params(per_request_s=1.0, delay_s=0.5))
    assert [front.arrive(0.0, 1) for _ in range(3)] == pytest.approx([1.5, 2.5, 3.5])
    assert front.busy_s == pytest.approx(3.0) == pytest.approx(front.backlog_s(0.0))


def test_one_process_does_one_thing_at_a_time() -> None:
    front = FrontEnd(params(per_request_s=1.0, per_chunk_s=0.1, detokenise_s_per_tok=0.01))
    assert front.arrive(0.0, 5) == pytest.approx(1.0)
    assert front.arrive(0.5, 5) == pytest.approx(2.0)
    assert front.emit(0.6, 4, 10) == pytest.approx(2.5), "a stream waits for the prompts before it"
    assert front.arrive(0.7, 5) == pytest.approx(3.5), "a prompt waits for the streams before it"
    assert front.backlog_s(1.0) == pytest.approx(2.5)
    assert front.backlog_s(9.0) == 0.0


def test_more_processes_share_prompts_and_streams() -> None:
    front = FrontEnd(params(count=2, per_request_s=1.0, per_chunk_s=0.1))
    assert [front.arrive(0.0, 1) for _ in range(4)] == pytest.approx([1.0, 1.0, 2.0, 2.0])
    assert front.emit(5.0, 10, 10) == pytest.approx(5.5), "five streams each"
    assert front.emit(9.0, 1, 1) == pytest.approx(9.1), "one stream lives in one process"


def test_undecodable_tokens_cost_in_proportion_to_their_prompts() -> None:
    spent = {}
    for share in (0.0, 0.5, 1.0):
        for prompt_tok in (1_000, 27_000):
            front = FrontEnd(params(undecodable=share, per_chunk_s=8e-5, redecode_s_per_prompt_tok=6.7e-8))
            spent[share, prompt_tok] = front.emit(0.0, 1, 1, prompt_tok)
    assert spent[0.0, 1_000] == spent[0.0, 27_000] == pytest.approx(8e-5)
    assert spent[1.0, 27_000] == pytest.approx(1.9e-3, rel=0.02)
    extra = {key: each - 8e-5 for key, each in spent.items()}
    assert extra[1.0, 27_000] == pytest.approx(27 * extra[1.0, 1_000]) == pytest.approx(2 * extra[0.5, 27_000])


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.booleans(), st.floats(0, 0.5), st.integers(0, 40), st.integers(1, 3000)), max_size=40),
    st.integers(1, 5),
)
def test_time_and_work_are_conserved(events, count) -> None:
    """Nothing is out before it came, nothing overtakes in one process, no process does two things at once."""
    front = FrontEnd(params(count=count, per_request_s=0.02, tokenise_s_per_tok=1e-4, per_chunk_s=0.01))
    now_s = last_ready_s = last_out_s = work_s = 0.0
    for arrives, gap_s, streams, tok in events:
        now_s += gap_s
        if arrives:
            ready_s = front.arrive(now_s, tok)
            work_s += 0.02 + tok * 1e-4
            assert ready_s >= now_s + 0.02 + tok * 1e-4 - 1e-9
            assert count > 1 or ready_s > last_ready_s
            last_ready_s = ready_s
        else:
            out_s = front.emit(now_s, streams, tok)
            work_s += streams * 0.01
            assert out_s >= now_s
            assert count > 1 or streams == 0 or out_s >= last_out_s
            last_out_s = max(last_out_s, out_s)
        assert front.busy_s == pytest.approx(work_s)
        assert front.backlog_s(0.0) <= now_s + work_s + 1e-9
        assert front.backlog_s(0.0) * count >= work_s - 1e-9


async def test_a_starved_front_end_leaves_clients_waiting_before_an_idle_scheduler() -> None:
    server = Server(params(tokenise_s_per_tok=4e-3), seed=1)
    body: dict[str, Any] = {"prompt": [7] * 100, "max_tokens": 2, "ignore_eos": True}
    async with serving(server) as url, aiohttp.ClientSession() as http:

        async def ask() -> None:
            async with http.post(f"{url}/v1/completions", json=body) as response:
                assert (await response.json())["usage"]["completion_tokens"] == 2

        asks = [asyncio.ensure_future(ask()) for _ in range(5)]
        seen = []
        while not all(each.done() for each in asks):
            told = await scrape(http, f"{url}/metrics")
            in_engine = told["vllm:num_requests_running"] + told["vllm:num_requests_waiting"]
            in_flight = sum(not each.done() for each in asks)
            seen.append((in_flight - in_engine, in_engine, told["embedded:front_end_backlog_seconds"]))
            await asyncio.sleep(0.02)
        await asyncio.gather(*asks)
    idle = [backlog_s for missing, in_engine, backlog_s in seen if in_engine == 0 and missing >= 2]
    assert len(idle) > 0.5 * len(seen), "most of the time nothing runs and nothing waits in the scheduler"
    assert max(idle) > 0.5
    assert server.scheduler.counters.busy_s < 0.5 * server.stats.e2e.sum / 5


async def test_a_slow_detokeniser_holds_back_tokens_that_the_engine_has_made() -> None:
    server = Server(params(per_chunk_s=0.02), seed=1)
    body = {"prompt": [7] * 10, "max_tokens": 20, "ignore_eos": True}
    async with serving(server) as url, aiohttp.ClientSession() as http:
        call = asyncio.ensure_future(http.post(f"{url}/v1/completions", json=body))
        while server.scheduler.counters.generated_tok < 20:  # noqa: ASYNC110
            await asyncio.sleep(0.002)
        assert not server.scheduler.has_work and not call.done()
        async with await call as response:
            assert (await response.json())["usage"]["completion_tokens"] == 20
    assert server.stats.e2e.sum > 2 * server.stats.inference.sum


async def test_a_client_that_leaves_while_its_prompt_is_tokenised_is_forgotten() -> None:
    server = Server(params(tokenise_s_per_tok=0.01), seed=1)
    async with serving(server) as url, aiohttp.ClientSession() as http:
        body = {"prompt": [7] * 100, "max_tokens": 2}
        with pytest.raises(TimeoutError):
            await http.post(f"{url}/v1/completions", json=body, timeout=aiohttp.ClientTimeout(total=0.2))
        async with asyncio.timeout(5):
            while server.stats.aborted == 0:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert not server.scheduler.has_work and server.scheduler.counters.steps == 0
