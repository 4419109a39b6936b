"""Which token ids an engine takes: random prompts are made of ids, and a small model knows fewer of them."""

from __future__ import annotations

import aiohttp
import orjson

#: ids of ordinary words in a vocabulary whose first thousand are special
FIRST_ID, LAST_ID = 1_300, 100_000


async def last_id(session: aiohttp.ClientSession, base_url: str, model: str) -> int:
    """The first of LAST_ID, its half, its quarter ... that the engine at base_url (ending in /v1) does not refuse as
    out of its vocabulary. Costs one token, and nothing where it refuses. An engine that objects to something else, or
    does not answer, is given LAST_ID: what is wrong will show in the traffic."""
    asked = LAST_ID
    while asked > 2 * FIRST_ID and await _refused(session, base_url, model, asked):
        asked //= 2
    return asked


async def _refused(session: aiohttp.ClientSession, base_url: str, model: str, token_id: int) -> bool:
    body = {"model": model, "prompt": [token_id], "max_tokens": 1}
    headers = {"Content-Type": "application/json"}
    try:
        async with session.post(f"{base_url}/completions", data=orjson.dumps(body), headers=headers) as response:
            return response.status == 400 and b"vocabulary" in await response.content.read(4_096)
    except (aiohttp.ClientError, TimeoutError):
        return False
