"""CPU that the embedded engine spends a streamed token: `python tests/engine/embedded/bench_server.py [streams]`.

512 in / 512 out with forced lengths, raw sockets on the client's side, CPU from the engine's own process_cpu_seconds.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path

import aiohttp
import orjson
import uvloop

from simulator.engine.launch import start_embedded
from simulator.engine.scrape import scrape


async def stream(session: aiohttp.ClientSession, url: str, model: str, seed: int) -> int:
    rng = random.Random(seed)
    body = {
        "model": model,
        "prompt": [rng.randrange(1000, 131072) for _ in range(512)],
        "max_tokens": 512,
        "ignore_eos": True,
        "stream": True,
        "stream_options": {"include_usage": True, "continuous_usage_stats": True},
    }
    n = 0
    async with session.post(url, data=orjson.dumps(body)) as response:
        async for data in response.content.iter_any():
            n += len(data)
    return n


async def main(streams: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        engine = await start_embedded(None, Path(folder) / "engine.log", seed=0)
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            url = engine.base_url + "/completions"
            await stream(session, url, engine.model, -1)
            before, started_s = await scrape(session, engine.metrics_url), time.monotonic()
            await asyncio.gather(*(stream(session, url, engine.model, seed) for seed in range(streams)))
            wall_s, after = time.monotonic() - started_s, await scrape(session, engine.metrics_url)
        await engine.stop()
    spent = {name: after[name] - before.get(name, 0.0) for name in after}
    tokens, cpu_s = spent["vllm:generation_tokens_total"], spent["process_cpu_seconds_total"]
    print(f"{tokens:.0f} tokens, {tokens / wall_s:.0f} tok/s, {cpu_s / tokens * 1e6:.1f} us CPU a token")
    print(f"{cpu_s / wall_s:.2f} cores, lag written off {spent['embedded:schedule_written_off_seconds_total']:.3f} s")


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 256))
