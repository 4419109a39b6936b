"""Random prompts are made of token ids that the engine has."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

from simulator.engine.vocabulary import FIRST_ID, LAST_ID, last_id


@asynccontextmanager
async def engine(vocabulary: int, refusal: tuple[int, str]) -> AsyncIterator[str]:
    """Answers completions of ids below `vocabulary`, and gives the others (status, message)."""

    async def complete(request: web.Request) -> web.Response:
        asked = await request.json()
        if max(asked["prompt"]) < vocabulary:
            return web.json_response({"choices": [{"text": "x"}]})
        return web.json_response({"error": {"message": refusal[1]}}, status=refusal[0])

    app = web.Application()
    app.router.add_post("/v1/completions", complete)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(
    ("vocabulary", "refusal", "last"),
    [
        (131_072, (400, ""), LAST_ID),
        (49_152, (400, "Token id 50000 is out of vocabulary"), 25_000),
        (8_192, (400, "Token id 12500 is out of vocabulary"), 6_250),
        (0, (400, "Token id 1 is out of vocabulary"), 1_562),  # nothing left to halve
        (0, (404, "no completions here"), LAST_ID),
        (0, (400, "prompt must be text"), LAST_ID),
        (0, (500, "vocabulary"), LAST_ID),
    ],
)
async def test_ids_are_halved_until_the_engine_takes_them(vocabulary: int, refusal: tuple[int, str], last: int) -> None:
    async with engine(vocabulary, refusal) as url, aiohttp.ClientSession() as session:
        assert await last_id(session, url, "m") == last > FIRST_ID


async def test_an_engine_that_does_not_answer_decides_nothing() -> None:
    async with aiohttp.ClientSession() as session:
        assert await last_id(session, "http://127.0.0.1:1/v1", "m") == LAST_ID
