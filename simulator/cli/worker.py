"""A client process beside others: one hand, told over a socket what to do by the process that keeps order (crew.py).

It ends with that process at the latest: the end of the socket is the end of the run.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from typing import Any

import uvloop

from simulator.cli.hand import Assignment, Hand
from simulator.drive.link import Link
from simulator.errors import SimError
from simulator.store.merge import PartWriter


class Worker:
    """Takes ("stage", name), ("planned", rows, complete), ("go", run time), ("interrupt", commands), ("close",).

    Tells ("waits",) at a stage's gate, ("done", result), ("failed", error), and what PartWriter tells.
    """

    def __init__(self, link: Link, job: Assignment) -> None:
        self._link = link
        self._part = PartWriter(job.run, job.share.index, link.send)
        self._hand = Hand(job, self._part)
        self._stage: asyncio.Task[None] | None = None
        self._opening: asyncio.Future[float] | None = None

    async def run(self) -> None:
        """Returns after ("close",). When the other side is gone, ends the process and what it started."""
        while True:
            try:
                message = await self._link.receive()
            except EOFError:
                self._desert()
            if message == ("close",):
                break
            self._take(message)
        if self._stage is not None:
            self._stage.cancel()
            await asyncio.gather(self._stage, return_exceptions=True)
        try:
            await self._hand.close()
            self._part.finish()
        except SimError as error:  # a full disk
            self._link.send(("failed", error))
        else:
            self._link.send(("done", (self._hand.answered, self._hand.failed)))
        await self._link.flush()

    def _take(self, message: tuple[Any, ...]) -> None:
        hand = self._hand
        match message:
            case ("stage", name):
                self._stage = asyncio.create_task(self._play(name))
            case ("planned", rows, complete):
                hand.planned(rows, complete=complete)
            case ("go", start_s):
                self._open(start_s)
            case ("interrupt", commands):
                hand.interrupt(commands=commands)
                self._open(hand.clock.now())

    def _open(self, start_s: float) -> None:
        if self._opening is not None and not self._opening.done():
            self._opening.set_result(start_s)

    async def _gate(self) -> float:
        self._opening = asyncio.get_running_loop().create_future()
        self._link.send(("waits",))
        return await self._opening

    async def _play(self, name: str) -> None:
        hand = self._hand
        try:
            match name:
                case "start":
                    result: object = await hand.start()
                case "warm_up":
                    result = await hand.warm_up()
                case "agents":
                    result = await hand.agents(self._gate)
                case _:
                    result = await hand.synthetic(self._gate)
        except SimError as error:
            self._link.send(("failed", error))
        except Exception as error:  # whatever it is, the run ends in one sentence
            self._link.send(("failed", SimError(f"a client process failed: {type(error).__name__}: {error}"[:300])))
        else:
            self._link.send(("done", result))

    def _desert(self) -> None:
        self._hand.kill()
        self._part.remove()
        os._exit(1)


async def _main(descriptor: int) -> None:
    link = await Link.open(socket.socket(fileno=descriptor))
    try:
        job = await link.receive()
    except EOFError:
        return
    await Worker(link, job).run()
    link.close()


def main() -> None:
    for name in (signal.SIGINT, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)  # the process that keeps the order is asked, and tells us
    uvloop.run(_main(int(sys.argv[1])))


if __name__ == "__main__":
    main()
