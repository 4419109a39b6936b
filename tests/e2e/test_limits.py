"""What has no end, or no room left, ends a run or a reading in time and in one sentence."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import orjson
import pytest
from aiohttp import web
from sim import ROOT, Sim

from simulator.engine.scrape import MAX_BYTES, scrape

sys.path.insert(0, str(ROOT / "tests" / "bench"))
from measure import run, serving

ALONE = """\
name: alone
seed: 5
warmup: {requests: 2}
time_limit_s: %d
synthetic: {input_tok: 16, output_tok: 256, concurrency: 16, requests: 128, warmup_requests: 2}
"""


def command(sim: Sim, url: str, limit_s: int) -> list[str]:
    scenario = sim.scenario(ALONE % limit_s)
    return [sys.executable, "-m", "simulator.cli.main", "run", str(scenario), "--endpoint", url, "--plain",
            "--out", str(sim.folder / "run")]  # fmt: skip


def test_a_file_that_may_not_grow_ends_the_run_in_one_sentence(tmp_path: Path) -> None:
    sim = Sim(tmp_path, tmp_path / "cache")
    with serving(5, 1) as server:
        limited = ["bash", "-c", 'ulimit -f 64; exec "$@"', "-", *command(sim, server.url, 60)]
        cost = run(limited, 90.0, sim.environment())
    assert cost.exit_code == 2, cost.output
    assert "cannot write" in cost.output and "File too large; free some space" in cost.output
    assert "Traceback" not in cost.output
    held = (tmp_path / "run" / "records.jsonl").read_bytes().splitlines()
    assert held and orjson.loads(held[0])["purpose"] == "warmup"


def test_a_warm_up_that_nobody_answers_ends_at_the_time_limit(tmp_path: Path) -> None:
    sim = Sim(tmp_path, tmp_path / "cache")
    with serving(3_600_000, 1) as server:
        started_s = time.monotonic()
        cost = run(command(sim, server.url, 3), 90.0, sim.environment())
        took_s = time.monotonic() - started_s
        asked = len(server.truth().requests)
    assert took_s < 80 and "reached its time limit" in cost.output and "Traceback" not in cost.output, cost.output
    assert asked < 128, "the measured traffic was not sent into a server that does not answer"
    records = [orjson.loads(line) for line in (tmp_path / "run" / "records.jsonl").read_bytes().splitlines()]
    assert {r["outcome"] for r in records} == {"cancelled"}
    said = " ".join(cost.output.split())
    assert cost.exit_code == 3 and "warning not answered: all of the requests" in said


#: long enough that MAX_BYTES ends inside a number
LINE = b'vllm:num_requests_running{model_name="%b"} 1234567\n' % next(
    b"m" * n for n in range(1, 99) if MAX_BYTES % (n + 49) in range(n + 45, n + 48)
)


@asynccontextmanager
async def pages(lines: int) -> AsyncIterator[tuple[str, list[int]]]:
    """(URL of a /metrics of so many lines, 64 KiB of them at a time; bytes handed out)."""
    sent = [0]

    async def metrics(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        line = LINE
        try:
            for _ in range(lines // 1000):
                await response.write(line * 1000)
                sent[0] += 1000 * len(line)
        except ConnectionError:
            pass
        return response

    app = web.Application()
    app.router.add_get("/metrics", metrics)
    runner = web.AppRunner(app, shutdown_timeout=0.2)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/metrics", sent
    finally:
        await runner.cleanup()


@pytest.mark.timeout(150)
async def test_a_metrics_page_without_end_is_read_up_to_a_limit_and_to_a_whole_line() -> None:
    async with pages(2_000_000) as (url, sent), aiohttp.ClientSession() as session:
        values = await scrape(session, url)
    assert values["vllm:num_requests_running"] % 1_234_567 == 0, "a number that was cut off is no number"
    assert sent[0] < 4 * MAX_BYTES
