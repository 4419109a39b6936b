"""Whether an engine is still there after the last reply: real servers that are well, ill, leaving or gone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from aiohttp import web

from simulator.cli.target import Target
from simulator.cli.watching import EngineWatch
from simulator.drive.endpoint import Endpoint
from simulator.store.folder import RunFolder

PAUSE_S = 0.02


class Server:
    """Answers /health with each of these in turn, the last for ever; 0 closes the door after an answer of 503."""

    def __init__(self, *answers: int) -> None:
        self._answers, self.asked = list(answers), 0
        self.runner: web.AppRunner | None = None
        self.url = ""

    async def __aenter__(self) -> Server:
        app = web.Application()
        app.router.add_get("/health", self._health)
        self.runner = web.AppRunner(app)
        await self.runner.setup()
        self._site = web.TCPSite(self.runner, "127.0.0.1", 0)
        await self._site.start()
        self.url = f"http://127.0.0.1:{self.runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self.runner is not None
        await self.runner.cleanup()

    async def _health(self, _: web.Request) -> web.Response:
        self.asked += 1
        status = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if not status:
            asyncio.get_running_loop().create_task(self._site.stop())
        return web.Response(status=status or 503, headers={"Connection": "close"})


async def lost(url: str, folder: Path, lives: Callable[[], bool] = lambda: True) -> bool:
    target = Target(url, "m", "", "real", {}, 5.0)
    endpoint = Endpoint(url, "none", lambda: 0.0, timeout_s=5.0)
    writer = RunFolder.create(folder, {"scenario": {}})
    try:
        return await EngineWatch(endpoint, target, writer, lambda: 0.0, lives).lost(PAUSE_S)
    finally:
        await endpoint.close()


@pytest.mark.parametrize(
    ("answers", "expected", "asked"),
    [
        ((200,), False, 1),
        ((404,), False, 1),  # a server without it
        ((503, 200), False, 2),
        ((503,), False, 5),  # ill, and there
        ((0,), True, 1),
    ],
)
async def test_a_server_of_somebody_else(tmp_path: Path, answers: tuple[int, ...], expected: bool, asked: int) -> None:
    async with Server(*answers) as server:
        assert await lost(server.url, tmp_path / "r") == expected
        assert server.asked == asked


async def test_an_engine_of_ours_is_gone_once_its_process_is(tmp_path: Path) -> None:
    """vLLM whose core has died says 503 for a moment, then ends."""
    async with Server(503) as server:
        assert await lost(server.url, tmp_path / "a", lambda: server.asked < 2)
        assert server.asked == 2
        assert await lost(server.url, tmp_path / "b", lambda: False)
        assert server.asked == 2, "nobody is asked"
