"""Many sessions with large bodies against a server, through the product's own endpoint, sender and writer; no tools.

    python tests/bench/crowd.py --url http://127.0.0.1:8000 --out DIR [--sessions 1000] [--seconds 30]

Prints one JSON line: requests, lost, the client's health as a run's summary has it, and the memory's slope. A session
sends, reads its reply of 100 tokens to the end, and sends again; with a server of --ttft-ms 1000 --itl-ms 90 that is
ten seconds a turn, so a thousand sessions are a hundred requests a second. An hour is --seconds 3600.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sys
from pathlib import Path

import numpy as np
import orjson
import psutil
import uvloop

from simulator.core.summary import summarise
from simulator.drive.clock import RunClock
from simulator.drive.endpoint import Endpoint
from simulator.drive.meter import Meter
from simulator.drive.sender import Job, Sender
from simulator.store.folder import RunFolder, RunWriter

PULSE_S, TOK, MESSAGES = 0.5, 100, 50


class Crowd:
    def __init__(self, args: argparse.Namespace, writer: RunWriter) -> None:
        self.args, self.writer = args, writer
        self.clock = RunClock()
        self.meter = Meter(self.clock.now)
        self.endpoint = Endpoint(args.url + "/v1", "none", self.clock.now)
        self.sender = Sender(self.endpoint, writer, self.meter, self.clock.now, writer.path.name, len)
        self.messages = [
            {"role": "user", "content": f"{n} " * (args.body_kb * 1000 // MESSAGES // 3)} for n in range(MESSAGES)
        ]
        self.memory: list[tuple[int, int]] = []  # requests done, resident bytes

    async def session(self, number: int) -> None:
        turn_s = self.args.turn_s
        await asyncio.sleep(turn_s * number / self.args.sessions)
        turn = 0
        while self.clock.now() < turn_s + self.args.seconds:
            body = orjson.dumps(
                {"model": "reference", "messages": [*self.messages, {"role": "user", "content": f"{number} {turn}"}],
                 "max_tokens": TOK, "stream": True,
                 "stream_options": {"include_usage": True, "continuous_usage_stats": True}}
            )  # fmt: skip
            job = Job("agent", f"s{number:04}", number, turn, "agent", 0, self.clock.now(), "/chat/completions", body,
                      len(body) // 4, TOK)  # fmt: skip
            await self.sender.send(job)
            turn += 1

    async def pulse(self) -> None:
        me = psutil.Process()
        while True:
            await asyncio.sleep(PULSE_S)
            self.writer.pulse(self.meter.pulse())
            self.writer.flush()
            self.memory.append((self.sender.answered, me.memory_info().rss))

    def counted(self) -> int:
        """Requests answered in the window, by the pulses at its edges."""
        first, last = (round((self.args.turn_s + at) / PULSE_S) for at in (0.0, self.args.seconds))
        done = [answered for answered, _ in self.memory]
        return done[min(last, len(done)) - 1] - done[min(first, len(done)) - 1]

    async def run(self) -> None:
        helpers = [asyncio.create_task(self.pulse()), asyncio.create_task(self.meter.watch_loop())]
        start = self.args.turn_s
        self.meter.begin("window", start + self.args.seconds)
        gc.freeze()
        await asyncio.gather(*(self.session(n) for n in range(self.args.sessions)))
        self.writer.window("agent", start, start + self.args.seconds)
        for helper in helpers:
            helper.cancel()
        await asyncio.gather(*helpers, return_exceptions=True)
        await self.endpoint.close()


def slope(memory: list[tuple[int, int]]) -> float | None:
    """Bytes a request over the second half of the time, when everything has reached its size."""
    half = np.array(memory[len(memory) // 2 :], dtype=float)
    return float(np.polyfit(half[:, 0], half[:, 1], 1)[0]) if len(half) > 3 and np.ptp(half[:, 0]) else None


def main() -> None:
    parser = argparse.ArgumentParser(description="A crowd of sessions without tools.")
    parser.add_argument("--url", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--turn-s", type=float, default=10.0, help="how long the server takes for a turn")
    parser.add_argument("--body-kb", type=int, default=200)
    args = parser.parse_args()
    writer = RunFolder.create(args.out, {"seed": 0, "engine": {"kind": "reference"}, "scenario": {"name": "crowd"}})
    crowd = Crowd(args, writer)
    uvloop.run(crowd.run())
    writer.finish()
    summary = summarise(RunFolder.open(args.out).data())
    health = summary["client"]["agent"]
    answer = {
        "answered": crowd.sender.answered,
        "failed": crowd.sender.failed,
        "per_s": crowd.counted() / args.seconds,
        "verdict": health["verdict"],
        "loop_lag_s": health["loop_lag_s"],
        "cpu_share": health["cpu_share"],
        "rss_mb": crowd.memory[-1][1] / 1e6,
        "bytes_a_request": slope(crowd.memory),
    }
    sys.stdout.write(orjson.dumps(answer).decode() + "\n")


if __name__ == "__main__":
    main()
