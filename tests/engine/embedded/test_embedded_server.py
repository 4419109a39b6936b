"""Over real sockets: the server in this process, clients through TCP."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import openai
import orjson
import pytest
from aiohttp import web
from virtual import attention_only

from simulator import tokenizer
from simulator.engine.embedded.config import load_params
from simulator.engine.embedded.faults import load_faults
from simulator.engine.embedded.server import Server
from simulator.engine.scrape import NAMES, flatten, identify, scrape

SMALL = attention_only(load_params().model_copy(update={"num_gpu_blocks": 4096, "block_size": 64}))
TOOLS: list[Any] = [{"type": "function", "function": {"name": "read_file", "parameters": {"type": "object"}}}]
USAGE: dict[str, Any] = {"include_usage": True, "continuous_usage_stats": True}


@asynccontextmanager
async def serving(server: Server) -> AsyncIterator[str]:
    runner = web.AppRunner(server.app(), access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@pytest.fixture
def server() -> Server:
    return Server(SMALL, seed=2)


@pytest.fixture
async def url(server: Server) -> AsyncIterator[str]:
    async with serving(server) as address:
        yield address


@pytest.fixture
async def client(url: str) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as each:
        yield each


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


def say(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


async def test_a_stream_carries_exact_tokens_and_usage_in_every_chunk(client, server: Server) -> None:
    stream = await client.chat.completions.create(
        model=server.params.model,
        messages=say("Read the file."),
        max_tokens=40,
        stream=True,
        stream_options=USAGE,
        extra_body={"ignore_eos": True, "min_tokens": 40},
    )
    chunks = [chunk async for chunk in stream]
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks[:-1])
    assert tokenizer.count(text) == 40
    assert chunks[0].choices[0].delta.role == "assistant" and not chunks[0].choices[0].delta.content
    counts = [chunk.usage.completion_tokens for chunk in chunks]
    assert counts == sorted(counts) and counts[-1] == 40
    gains = [b - a for a, b in itertools.pairwise(counts[:-1])]
    assert set(gains) == {1, 2}, "with one draft, a chunk has one token or two"
    assert chunks[-2].choices[0].finish_reason == "length"
    assert chunks[-1].choices == [] and chunks[-1].usage.prompt_tokens_details.cached_tokens == 0


async def test_whole_and_streamed_replies_are_the_same_text(client, server: Server) -> None:
    ask = {"model": server.params.model, "messages": say("Go on."), "tools": TOOLS, "tool_choice": "auto"}
    whole = await client.chat.completions.create(**ask)
    assert whole.choices[0].finish_reason == "stop"
    text = whole.choices[0].message.content
    stream = await client.chat.completions.create(**ask, stream=True)
    chunks = [chunk async for chunk in stream]
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == text
    assert all(chunk.usage is None for chunk in chunks)
    assert whole.usage.completion_tokens == tokenizer.count(text) + 1, "its end counts as a token"


async def test_a_reply_tells_its_own_times_beside_its_usage(client, server: Server) -> None:
    """As vLLM with --enable-per-request-metrics: on the last chunk of a stream that was asked for usage, and nowhere
    else; milliseconds that fit into one another and into what the client saw."""
    ask: dict[str, Any] = {"model": server.params.model, "messages": say("Go on."), "max_tokens": 30}
    ask["extra_body"] = {"ignore_eos": True}
    loop = asyncio.get_running_loop()
    began_s = loop.time()
    stream = await client.chat.completions.create(**ask, stream=True, stream_options=USAGE)
    chunks = [chunk async for chunk in stream]
    took_ms = 1e3 * (loop.time() - began_s)
    told = [(chunk.model_extra or {}).get("metrics") for chunk in chunks]
    assert [each is None for each in told] == [True] * (len(told) - 1) + [False]
    own = told[-1]
    assert own["queue_time_ms"] >= 0 and own["time_to_first_token_ms"] > 0 and own["generation_time_ms"] > 0
    assert own["queue_time_ms"] + own["time_to_first_token_ms"] + own["generation_time_ms"] <= took_ms
    assert own["mean_itl_ms"] == pytest.approx(own["generation_time_ms"] / 29)
    seconds = (own["time_to_first_token_ms"] + own["generation_time_ms"]) / 1e3
    assert own["tokens_per_second"] == pytest.approx(30 / seconds)
    whole = await client.chat.completions.create(**ask)
    assert whole.model_extra["metrics"].keys() == own.keys()
    plain = await client.chat.completions.create(**ask, stream=True)
    assert all("metrics" not in (chunk.model_extra or {}) for chunk in [c async for c in plain])


async def test_an_agent_s_growing_history_is_cached(client, server: Server) -> None:
    messages = say("Task. " * 500)
    shares = []
    for turn in range(4):
        reply = await client.chat.completions.create(model=server.params.model, messages=messages, max_tokens=30)
        spent = reply.usage
        shares.append(spent.prompt_tokens_details.cached_tokens / spent.prompt_tokens)
        said = {"role": "assistant", "content": reply.choices[0].message.content}
        messages = [*messages, said, *say(f"Result {turn}: fine.")]
    assert shares[0] == 0 and all(0.85 < share < 1 for share in shares[1:])


async def test_token_ids_tokenize_and_detokenize_agree(client, http, url: str, server: Server) -> None:
    async def post(path: str, **body: Any) -> Any:
        async with http.post(url + path, json=body) as response:
            assert response.status == 200
            return await response.json()

    text = "def add(a, b):\n    return a + b\n"
    made = await post("/tokenize", prompt=text)
    assert made["count"] == len(made["tokens"]) == tokenizer.count(text)
    assert (await post("/detokenize", tokens=made["tokens"]))["prompt"] == text
    as_ids = await client.completions.create(model=server.params.model, prompt=made["tokens"], max_tokens=5)
    as_text = await client.completions.create(model=server.params.model, prompt=text, max_tokens=5)
    assert as_ids.choices[0].text == as_text.choices[0].text
    assert as_ids.usage.prompt_tokens == as_text.usage.prompt_tokens == made["count"]
    chat = await post("/tokenize", messages=say(text), tools=TOOLS)
    reply = await client.chat.completions.create(
        model=server.params.model, messages=say(text), tools=TOOLS, max_tokens=1
    )
    assert reply.usage.prompt_tokens == chat["count"]


async def test_a_text_forced_by_structured_output_streams_as_it_is(client, server: Server) -> None:
    text = '<read_file>\n<path>naïve "é" 日本.py</path>\n</read_file>'
    stream = await client.chat.completions.create(
        model=server.params.model,
        messages=say("Go."),
        stream=True,
        extra_body={"structured_outputs": {"choice": [text]}},
    )
    assert "".join([chunk.choices[0].delta.content or "" async for chunk in stream]) == text


@pytest.mark.parametrize(
    ("path", "changes", "status", "words"),
    [
        ("chat/completions", {"max_tokens": 200_000}, 400, "maximum context length"),
        ("completions", {"prompt": [5] * 131_072}, 400, "maximum context length"),
        ("chat/completions", {"model": "other"}, 404, "does not exist"),
        ("chat/completions", {"temperature": -1}, 400, "temperature"),
        ("chat/completions", {"min_tokens": 9, "max_tokens": 3}, 400, "min_tokens"),
        ("chat/completions", {"n": 2}, 400, "n=1"),
        ("chat/completions", {"messages": []}, 400, "messages"),
        ("chat/completions", {"tools": TOOLS, "tool_choice": "required"}, 400, "tool_choice"),
        ("completions", {"prompt": [131_072]}, 400, "token ids"),
        ("completions", {"stop": [""]}, 400, "stop"),
        ("elsewhere", {}, 404, "elsewhere"),
    ],
)
async def test_refusals_are_vllm_s_error_objects(http, url, server, path, changes, status, words) -> None:
    body = {"model": server.params.model, "messages": say("Hi"), "prompt": "Hi", **changes}
    async with http.post(f"{url}/v1/{path}", json=body) as response:
        error = (await response.json())["error"]
    assert (response.status, error["code"]) == (status, status)
    assert words in error["message"] and error["type"] in ("BadRequestError", "NotFoundError")


async def test_bad_json_and_a_missing_key_are_refused(http) -> None:
    async with serving(Server(SMALL, api_key="right")) as url:
        async with http.get(f"{url}/v1/models") as response:
            assert response.status == 401
        key = {"Authorization": "Bearer right"}
        async with http.post(f"{url}/v1/completions", data=b'{"prompt": ', headers=key) as response:
            assert response.status == 400 and "JSON" in (await response.json())["error"]["message"]
        async with http.get(f"{url}/health") as response:
            assert response.status == 200


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_client_that_leaves_frees_its_blocks(client, server: Server, streamed: bool) -> None:
    call = asyncio.ensure_future(
        client.completions.create(
            model=server.params.model,
            prompt="word " * 900,
            max_tokens=100_000,
            stream=streamed,
            extra_body={"ignore_eos": True},
        )
    )
    await until(lambda: bool(server.scheduler.running))
    assert server.scheduler.pool.used > 900 // server.params.block_size
    if streamed:
        stream = await call
        await anext(aiter(stream))
        await stream.close()
    else:
        call.cancel()
    await until(lambda: server.scheduler.pool.used == 0)
    assert server.stats.aborted == 1 and not server.scheduler.has_work


async def test_metrics_tell_what_usage_told(client, http, url: str, server: Server) -> None:
    before = await scrape(http, f"{url}/metrics")
    replies = await asyncio.gather(
        *(
            client.completions.create(model=server.params.model, prompt=[n] * 300, max_tokens=20 + n)
            for n in range(1, 9)
        )
    )
    after = await scrape(http, f"{url}/metrics")
    spent = {name: after[name] - before[name] for name in after}
    assert spent["vllm:generation_tokens_total"] == sum(reply.usage.completion_tokens for reply in replies)
    assert spent["vllm:prompt_tokens_total"] == spent["vllm:prefix_cache_queries_total"] == 8 * 300
    assert spent["vllm:request_success_total"] == spent["vllm:e2e_request_latency_seconds_count"] == 8
    assert spent["vllm:time_to_first_token_seconds_count"] == 8
    chunks = spent["vllm:inter_token_latency_seconds_count"] + 8
    accepted = spent["vllm:spec_decode_num_accepted_tokens_total"]
    assert chunks <= spent["vllm:generation_tokens_total"] <= chunks + accepted
    assert spent["vllm:e2e_request_latency_seconds_sum"] >= spent["vllm:time_to_first_token_seconds_sum"] > 0
    missing = {"vllm:num_requests_waiting", "vllm:kv_cache_usage_perc", "process_start_time_seconds"} - set(after)
    assert not missing


async def test_identity_says_that_it_is_an_emulation(http, url: str, server: Server) -> None:
    told = await identify(http, f"{url}/v1")
    assert told["emulated"] is True
    assert told["models"] == [{"id": server.params.model, "max_model_len": 131_072}]
    assert told["cache_config"]["num_gpu_blocks"] == str(server.scheduler.pool.n_blocks)
    assert told["process_start_time_s"] > 1.6e9


async def test_the_prefix_cache_can_be_reset(client, http, url: str, server: Server) -> None:
    async def cached() -> int:
        reply = await client.completions.create(model=server.params.model, prompt=[9] * 500, max_tokens=1)
        return int(reply.usage.prompt_tokens_details.cached_tokens)

    assert [await cached(), await cached()] == [0, 384]
    async with http.post(f"{url}/reset_prefix_cache") as response:
        assert (await response.json())["success"] is True
    assert await cached() == 0


async def test_real_time_is_never_faster_than_the_model(http, url: str, server: Server) -> None:
    async def whole(n: int) -> None:
        async with http.post(f"{url}/v1/completions", json={"prompt": [n], "max_tokens": 250}) as response:
            assert (await response.json())["usage"]["completion_tokens"] <= 250

    loop = asyncio.get_running_loop()
    await whole(1)
    started_s, busy_s = loop.time(), server.scheduler.counters.busy_s
    await asyncio.gather(*(whole(n) for n in range(2, 6)))
    assert loop.time() - started_s > 0.95 * (server.scheduler.counters.busy_s - busy_s) > 0


async def test_faults_come_as_scheduled(http, tmp_path: Path) -> None:
    schedule = tmp_path / "faults.yaml"
    schedule.write_text(
        """
rules:
  - {kind: status, status: 429, retry_after_s: 2, at: [0]}
  - {kind: status, status: 400, at: [1]}
  - {kind: refuse, at: [2]}
  - {kind: cut, after_chunks: 3, at: [3]}
  - {kind: hang, at: [4]}
  - {kind: slow_prefill, factor: 40, at: [6]}
"""
    )
    server = Server(SMALL, faults=load_faults(schedule))
    body = {"model": server.params.model, "prompt": "Hi", "max_tokens": 50, "stream": True, "ignore_eos": True}
    async with serving(server) as url:
        url += "/v1/completions"
        async with http.post(url, json=body) as response:
            assert (response.status, response.headers["Retry-After"]) == (429, "2")
        async with http.post(url, json=body) as response:
            assert response.status == 400 and "maximum context length" in await response.text()
        with pytest.raises(aiohttp.ClientError):
            await http.post(url, json=body)
        received = b""
        with pytest.raises(aiohttp.ClientPayloadError):
            async with http.post(url, json=body) as response:
                async for data in response.content.iter_any():
                    received += data
        assert received.count(b"data: ") == 3
        with pytest.raises(TimeoutError):
            await http.post(url, json=body, timeout=aiohttp.ClientTimeout(total=0.1))
        times_s = []
        for prompt in ([1] * 3000, [2] * 3000):
            async with http.post(url, json={**body, "prompt": prompt, "max_tokens": 1}) as response:
                assert b"[DONE]" in await response.read()
            times_s.append(server.stats.ttft.sum - sum(times_s))
        assert times_s[1] > 4 * times_s[0]
    assert server.stats.faults == 6
    assert server.scheduler.pool.used == 0


async def test_every_line_of_a_stream_is_well_formed_sse(http, url: str, server: Server) -> None:
    body = {"model": server.params.model, "messages": say("Hi"), "max_tokens": 9, "stream": True}
    async with http.post(f"{url}/v1/chat/completions", json=body) as response:
        assert response.headers["Content-Type"].startswith("text/event-stream")
        events = (await response.read()).split(b"\n\n")
    assert events[-2:] == [b"data: [DONE]", b""]
    assert all(orjson.loads(event.removeprefix(b"data: "))["choices"] for event in events[:-2])


def test_scraping_sums_labels_and_skips_what_is_not_asked_for() -> None:
    text = """
# TYPE vllm:request_success_total counter
vllm:request_success_total{engine="0",finished_reason="stop"} 3.0
vllm:request_success_total{engine="1",finished_reason="length"} 4.0
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0"} 0.2
vllm:kv_cache_usage_perc{engine="1"} 0.6
# TYPE vllm:iteration_tokens_total histogram
vllm:iteration_tokens_total_bucket{le="+Inf"} 5.0
vllm:iteration_tokens_total_count 5.0
vllm:iteration_tokens_total_sum 70.0
# TYPE python_info gauge
python_info{major="3"} 1.0
"""
    assert flatten(text) == {
        "vllm:request_success_total": 7.0,
        "vllm:kv_cache_usage_perc": 0.6,
        "vllm:iteration_tokens_total_count": 5.0,
        "vllm:iteration_tokens_total_sum": 70.0,
    }
    assert all(NAMES.values())
