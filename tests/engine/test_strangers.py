"""Other people's load generators drive the embedded engine, and what they report is what it counted.

Skipped where a peer is not installed; `make test-strangers` installs them and runs these.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import aiohttp
import pytest

from simulator.engine.launch import start_embedded
from simulator.engine.scrape import scrape

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))
import peers

TOK, REQUESTS = 48, 24
TTFT = "vllm:time_to_first_token_seconds"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ["vllm", "guidellm", "aiperf"])
async def test_a_stranger_and_the_engine_agree(name: str, tmp_path: Path) -> None:
    peer = next(peer for peer in peers.PEERS if peer.name == name)
    if not peer.path.exists():
        pytest.skip(f"{name} is not installed below {peers.home()}; `make test-strangers` installs it")
    engine = await start_embedded(None, tmp_path / "engine.log", seed=0)
    try:
        async with aiohttp.ClientSession() as session:
            url = engine.base_url.removesuffix("/v1")
            load = peers.Load(url, engine.model, peers.tokenizer(tmp_path), 8, REQUESTS, TOK)
            before = await scrape(session, engine.metrics_url)
            _, said = await asyncio.to_thread(peer.measure, load, tmp_path / name, 200.0)
            after = await scrape(session, engine.metrics_url)
    finally:
        await engine.stop()
    counted = {key: after[key] - before.get(key, 0.0) for key in after}
    assert said.requests == REQUESTS == counted["vllm:request_success_total"]
    assert said.output_tok == REQUESTS * TOK == counted["vllm:generation_tokens_total"]
    # The peer's clock stands behind its own work: later than the engine's, by what a busy machine takes, never earlier.
    assert said.ttft_mean_ms is not None and said.tpot_mean_ms is not None
    ttft_ms = 1e3 * counted[f"{TTFT}_sum"] / counted[f"{TTFT}_count"]
    assert 0.8 * ttft_ms - 5 < said.ttft_mean_ms < 1.2 * ttft_ms + 100
