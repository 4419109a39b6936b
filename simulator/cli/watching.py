"""The engine seen from beside the load: /metrics once a second, and whether anything listens there at all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from urllib.parse import urlsplit

import aiohttp

from simulator.cli.target import Target
from simulator.core.record import EngineSample
from simulator.drive.endpoint import Endpoint
from simulator.engine.scrape import scrape
from simulator.errors import EngineError
from simulator.store.folder import RunWriter

SCRAPE_S, LIMIT_S = 1.0, 5.0
#: refused connections in a row, a second apart
GONE_AFTER = 5
#: between two looks at whether an engine's process lives
LOOK_S = 0.1


class EngineWatch:
    """lives: whether an engine of ours has not ended; True for one of somebody else."""

    def __init__(
        self, endpoint: Endpoint, target: Target, writer: RunWriter, now: Callable[[], float],
        lives: Callable[[], bool] = lambda: True,
    ) -> None:  # fmt: skip
        self._endpoint, self._target, self._writer, self._now, self._lives = endpoint, target, writer, now, lives

    async def run(self, gone: Callable[[], None]) -> None:
        """For ever; calls `gone` once the engine's process has ended, or it takes no connections any more."""
        refused, told = 0, False
        while True:
            due = self._now() + SCRAPE_S
            refused = 0 if await self.sample() or await self._listening() else refused + 1
            while True:
                if not told and (refused >= GONE_AFTER or not self._lives()):
                    told = True
                    gone()
                await asyncio.sleep(LOOK_S)
                if self._now() >= due:
                    break

    async def lost(self, pause_s: float = SCRAPE_S) -> bool:
        """After the last reply: whether the engine is gone. What is sent to one that has died fails at once, so that a
        run may be over before `run` has noticed. Takes seconds only when something is wrong."""
        refused = False
        for _ in range(GONE_AFTER):
            if not self._lives():
                return True
            if await self._well():
                return False
            refused = not await self._listening()
            await asyncio.sleep(pause_s)
        return refused or not self._lives()

    async def _well(self) -> bool:
        """False when /health cannot be asked, or says 5xx as vLLM does whose engine core has died. A server without
        it, or one too busy to answer, is there."""
        limit = aiohttp.ClientTimeout(total=LIMIT_S)
        try:
            async with self._endpoint.session.get(f"{self._target.root}/health", timeout=limit) as answer:
                return answer.status < 500
        except TimeoutError:
            return True
        except (aiohttp.ClientError, OSError):
            return False

    async def sample(self) -> bool:
        """One line for engine.jsonl; True when /metrics answered."""
        try:
            # Not wait_for: in Python 3.11 it may swallow the cancellation that ends the watch.
            async with asyncio.timeout(LIMIT_S):
                values = await scrape(self._endpoint.session, f"{self._target.root}/metrics")
        except (EngineError, TimeoutError, OSError) as error:
            self._writer.engine(EngineSample(self._now(), {}, f"{type(error).__name__}: {error}"[:200]))
            return False
        # Stamped when the answer is there: a busy front end reads the gauges last, just before it answers.
        self._writer.engine(EngineSample(self._now(), values))
        return True

    async def _listening(self) -> bool:
        """False only when the connection is refused: a server without /metrics, or one too busy to answer, is there."""
        parts = urlsplit(self._target.base_url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            async with asyncio.timeout(2 * LIMIT_S):
                _, writer = await asyncio.open_connection(parts.hostname, port)
        except ConnectionRefusedError:
            return False
        except (OSError, TimeoutError):
            return True
        writer.close()
        return True
