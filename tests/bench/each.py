"""CPU of one request through our endpoint and through the `openai` package, replies of one token, one after the other.

python tests/bench/each.py --url http://127.0.0.1:8000
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Awaitable, Callable

import openai
import orjson
import uvloop

from simulator.drive.clock import RunClock
from simulator.drive.endpoint import Endpoint

REQUESTS, ROUNDS = 150, 4
BODY = orjson.dumps({"model": "reference", "prompt": list(range(512)), "max_tokens": 1, "stream": True})
JSON = {"Content-Type": "application/json", "X-Stainless-Raw-Response": "stream"}


async def cheapest_us(send: Callable[[], Awaitable[object]]) -> float:
    spent = []
    for _ in range(ROUNDS):
        started_s = time.process_time()
        for _ in range(REQUESTS):
            await send()
        spent.append(1e6 * (time.process_time() - started_s) / REQUESTS)
    return min(spent)


async def both(url: str) -> dict[str, float]:
    endpoint = Endpoint(url + "/v1", "none", RunClock().now)

    async def ours() -> None:
        exchange = await endpoint.post("/completions", BODY)
        assert exchange.status == 200 and exchange.body()

    http = openai.DefaultAioHttpClient()
    async with openai.AsyncOpenAI(base_url=url + "/v1", api_key="none", max_retries=0, http_client=http) as sdk:

        async def theirs() -> None:
            answer = await sdk.post("/completions", cast_to=object, content=BODY, options={"headers": JSON})
            assert [data async for data in answer.http_response.aiter_raw()]  # type: ignore[attr-defined]
            await answer.http_response.aclose()  # type: ignore[attr-defined]

        figures = {"endpoint_us": await cheapest_us(ours), "sdk_us": await cheapest_us(theirs)}
    await endpoint.close()
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU of one request.")
    parser.add_argument("--url", required=True)
    sys.stdout.write(orjson.dumps(uvloop.run(both(parser.parse_args().url))).decode() + "\n")


if __name__ == "__main__":
    main()
