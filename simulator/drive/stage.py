"""What every session of a run shares."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from simulator.drive.meter import Meter
from simulator.drive.recorder import Recorder
from simulator.drive.sender import Sends
from simulator.drive.tools import Tools


@dataclass(frozen=True, slots=True)
class Stage:
    """paced: hold a tool's answer until its recorded latency has passed. forced: replies have their planned lengths.
    stopping: set when no further request may start; a session then ends after the turn in hand."""

    sender: Sends
    tools: Tools
    recorder: Recorder
    meter: Meter
    now: Callable[[], float]
    at: Callable[[float], float]
    stopping: asyncio.Event
    paced: bool
    forced: bool

    async def pause(self, seconds: float) -> None:
        """Sleeps, but not past the run's end."""
        try:
            await asyncio.wait_for(self.stopping.wait(), seconds)
        except TimeoutError:
            return
