"""What a server tells of itself over a real socket, and what of it cannot be so."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from simulator.cli.target import open_target
from simulator.core.scenario_file import parse
from simulator.engine.scrape import identify, scrape
from simulator.engine.serving.identity import differences
from simulator.errors import UsageError

AGENTS = "name: a\nsessions: 1\nwindow_s: 1\nstart: beginning\ncontext_window_tok: 131072\n"


@asynccontextmanager
async def telling(models: str, metrics: str = "") -> AsyncIterator[str]:
    """A server's address; its answers are these bytes."""
    answers = {"/v1/models": models, "/metrics": metrics, "/version": '{"version":"0.25.1"}'}

    async def answer(request: web.Request) -> web.Response:
        return web.Response(text=answers[request.path]) if request.path in answers else web.Response(status=404)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}/v1"  # type: ignore[union-attr,attr-defined]
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(
    ("told", "known"),
    [
        ("131072", 131072), ('"131072"', None), ("[]", None), ("NaN", None), ("-1", None), ("0", None), ("true", None),
        ("1e300", None), ("131072.5", None), ("null", None),
    ],
)  # fmt: skip
async def test_a_window_that_cannot_be_one_is_not_known(told: str, known: int | None, tmp_path: Path) -> None:
    async with telling(f'{{"data":[{{"id":"m","max_model_len":{told}}}]}}') as url:
        async with aiohttp.ClientSession() as session:
            assert (await identify(session, url))["models"] == [{"id": "m", "max_model_len": known}]
        async with open_target(parse(AGENTS, "a"), url, None, None, tmp_path / "log") as opened:
            assert opened.target.model == "m" and await opened.changed() == []


async def test_a_window_that_is_too_short_is_still_refused(tmp_path: Path) -> None:
    async with telling('{"data":[{"id":"m","max_model_len":4096}]}') as url:
        with pytest.raises(UsageError, match="takes 4,096 tokens"):
            async with open_target(parse(AGENTS, "a"), url, None, None, tmp_path / "log"):
                pass


@pytest.mark.parametrize("started", ["NaN", "+Inf", "1.7e9"])
async def test_a_start_that_is_no_time_is_not_known_and_no_change(started: str) -> None:
    metrics = (
        f"# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds {started}\n"
        '# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine="0"} 3\n'
        'vllm:num_requests_running{engine="1"} NaN\n'
        "# TYPE vllm:kv_cache_usage_perc gauge\nvllm:kv_cache_usage_perc 0.5\n"
    )
    async with telling('{"data":[{"id":"m"}]}', metrics) as url, aiohttp.ClientSession() as session:
        then, now = await identify(session, url), await identify(session, url)
        known = {} if started != "1.7e9" else {"process_start_time_seconds": 1.7e9}
        assert await scrape(session, url.replace("/v1", "/metrics")) == {"vllm:kv_cache_usage_perc": 0.5, **known}
    assert then["process_start_time_s"] == known.get("process_start_time_seconds")
    assert differences(then, now) == []
    assert differences({**then, "process_start_time_s": 1.6e9}, {**now, "process_start_time_s": None}) == []
    assert len(differences({**then, "process_start_time_s": 1.6e9}, {**now, "process_start_time_s": 1.7e9})) == 1
