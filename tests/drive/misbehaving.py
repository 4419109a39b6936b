"""A small OpenAI-compatible server on loopback that does what each request's turn of a script says."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import orjson
from aiohttp import web

Behaviour = Callable[[web.Request, bytes], "asyncio.Future[web.StreamResponse]"]


def event(text: str, used: int, prompt: int, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": used,
        "prompt_tokens_details": {"cached_tokens": prompt // 2},
    }
    return b"data: " + orjson.dumps({"choices": [choice], "usage": usage}) + b"\n\n"


class Script:
    """`script(session, nth)` names what the nth request (from 0) of a session meets: "ok", "429", "500", "400",
    "overflow", "401", "cut", "hang", "reset", "empty", "garbage", "slow", "gzip", "json", "page", "trickle",
    "abort", "error" (finish reasons behind all of the output), "object", "named" (an error behind the finish
    reason), "other" (a model of that name). The session is known by the model's name. told: replies that were sent
    to their end."""

    def __init__(self, script: Callable[[str, int], str], tokens: int = 4, gap_s: float = 0.002) -> None:
        self.script, self.tokens, self.gap_s = script, tokens, gap_s
        self.seen: dict[str, list[bytes]] = {}
        self.told: list[str] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        session = orjson.loads(body)["model"]
        past = self.seen.setdefault(session, [])
        past.append(body)
        match self.script(session, len(past) - 1):
            case "429":
                return web.json_response(
                    {"error": {"message": "slow down"}}, status=429, headers={"Retry-After": "0.05"}
                )
            case "500":
                return web.json_response({"error": {"message": "broke"}}, status=500)
            case "400":
                return web.json_response({"error": {"message": "no such field"}}, status=400)
            case "401":
                return web.json_response({"error": {"message": "bad key sk-abcdef123456"}}, status=401)
            case "echo":
                said = f"no such key: {request.headers['Authorization'].removeprefix('Bearer ')}"
                return web.json_response({"error": {"message": said}}, status=401)
            case "overflow":
                return web.json_response({"error": {"message": "maximum context length is 9 tokens"}}, status=400)
            case "reset":
                assert request.transport is not None
                request.transport.abort()
                return web.Response()
            case "gzip":
                return web.Response(body=gzip.compress(b"data: {}\n\n"), content_type="text/event-stream")
            case "json":
                return web.json_response({"id": "chatcmpl-1", "choices": []})
            case "page":
                return web.Response(text="<html>Welcome</html>", content_type="text/html")
            case "hang":
                await asyncio.sleep(30)
                return web.Response()
            case word:
                return await self.stream(request, word)

    async def stream(self, request: web.Request, word: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        with suppress(ConnectionError):
            while word == "trickle":
                await response.write(b": still here\n\n")
                await asyncio.sleep(0.02)
        if word == "other":
            await response.write(b'data: {"model":"other","choices":[]}\n\ndata: {"model":"third","choices":[]}\n\n')
        for n in range(1, self.tokens + 1):
            if word == "empty":
                break
            if word == "garbage":
                await response.write(b"data: {not json\n\n")
                continue
            await response.write(event("x ", n, 100))
            await asyncio.sleep(self.gap_s * (50 if word == "slow" else 1))
            if word == "cut" and n == 2:
                assert request.transport is not None
                request.transport.abort()
                return response
        reason = word if word in ("abort", "error") else "stop"
        finish = {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
        later = {"object": b'data: {"object":"error","message":"boom"}\n\n', "named": b"event: error\ndata: boom\n\n"}
        said = b"data: " + orjson.dumps(finish) + b"\n\n" + later.get(word, b"")
        await response.write(said + b"data: [DONE]\n\n")
        self.told.append(word)
        return response


@asynccontextmanager
async def serving(script: Script) -> AsyncIterator[str]:
    """Its base URL."""
    app = web.Application(client_max_size=1 << 28)
    app.router.add_post("/v1/chat/completions", script.handle)
    app.router.add_post("/v1/completions", script.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server is not None
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        await runner.cleanup()
