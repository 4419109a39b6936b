"""The engine seen from beside the load: /metrics once a second, and whether anything listens there at all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from urllib.parse import urlsplit

from simulator.cli.target import Target
from simulator.core.record import EngineSample
from simulator.drive.endpoint import Endpoint
from simulator.engine.scrape import scrape
from simulator.errors import EngineError
from simulator.store.folder import RunWriter

SCRAPE_S, LIMIT_S = 1.0, 5.0
#: refused connections in a row, a second apart
GONE_AFTER = 5


class EngineWatch:
    def __init__(self, endpoint: Endpoint, target: Target, writer: RunWriter, now: Callable[[], float]) -> None:
        self._endpoint, self._target, self._writer, self._now = endpoint, target, writer, now

    async def run(self, gone: Callable[[], None]) -> None:
        """For ever; calls `gone` when the engine takes no connections any more."""
        refused = 0
        while True:
            started = self._now()
            refused = 0 if await self.sample() or await self._listening() else refused + 1
            if refused == GONE_AFTER:
                gone()
            await asyncio.sleep(max(0.1, started + SCRAPE_S - self._now()))

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
