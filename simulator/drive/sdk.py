"""What the `openai` package sends: asked from it once a path, never sent by it."""

from __future__ import annotations

import httpx2
import openai
from yarl import URL

#: aiohttp's to set, from the connection and the body
_SET_BELOW = {"host", "content-length"}
_JSON = {"Content-Type": "application/json"}


class _Ask(httpx2.AsyncBaseTransport):
    """Takes what the SDK would send; nothing leaves the process."""

    request: httpx2.Request | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.request = request
        return httpx2.Response(200, json={})


class Sdk:
    """api_key is in the headers that it gives, and in no attribute that gets printed. timeout_s, connect_s: what its
    headers tell the server."""

    def __init__(self, base_url: str, api_key: str, timeout_s: float, connect_s: float) -> None:
        self._heads: dict[str, tuple[URL, dict[str, str]]] = {}
        self._ask = _Ask()
        self._client = openai.AsyncOpenAI(
            base_url=base_url,
            api_key=api_key,
            max_retries=0,
            timeout=httpx2.Timeout(timeout_s, connect=connect_s, pool=None),
            http_client=httpx2.AsyncClient(transport=self._ask),
        )

    async def head(self, path: str) -> tuple[URL, dict[str, str]]:
        """Address and headers of a POST of JSON to `path`, below the base URL."""
        head = self._heads.get(path)
        if head is None:
            await self._client.post(path, cast_to=object, content=b"{}", options={"headers": _JSON})
            asked = self._ask.request
            assert asked is not None
            kept = {name: value for name, value in asked.headers.items() if name.lower() not in _SET_BELOW}
            head = self._heads[path] = (URL(str(asked.url), encoded=True), kept)
        return head

    async def close(self) -> None:
        await self._client.close()
