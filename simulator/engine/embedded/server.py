"""HTTP in front of the step loop: the routes that vLLM's server has and that clients of this product use.

Measured with `python tests/engine/embedded/bench_server.py`: 256 streams of 512/512 at 13,100 tok/s take 0.13 cores,
10 us of CPU a token, continuous usage included.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import orjson
from aiohttp import web
from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from simulator import tokenizer
from simulator.engine.embedded.brain.library import Library
from simulator.engine.embedded.brain.log import Log
from simulator.engine.embedded.brain.oracle import Oracle
from simulator.engine.embedded.brain.rates import Rates
from simulator.engine.embedded.config import EngineParams
from simulator.engine.embedded.faults import Schedule
from simulator.engine.embedded.generate import Generator
from simulator.engine.embedded.prompts import Prompts
from simulator.engine.embedded.protocol import ApiError, check_model, parse_body
from simulator.engine.embedded.replies import Replies
from simulator.engine.embedded.runner import Runner
from simulator.engine.embedded.scheduler import Scheduler
from simulator.engine.embedded.stats import Stats

VERSION = "1.0.0"
MAX_BODY_BYTES = 64 << 20

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Brain:
    """The oracle's: the file of solutions that it knows, and where it tells what it said (None, nowhere)."""

    solutions: Path
    log: Path | None = None


class Server:
    """One engine behind one aiohttp application. brain: agents are answered by an oracle. Raises UsageError when the
    parameters cannot work together."""

    def __init__(
        self,
        params: EngineParams,
        *,
        seed: int = 0,
        api_key: str | None = None,
        faults: Schedule | None = None,
        params_name: str = "",
        brain: Brain | None = None,
    ) -> None:
        self.params = params
        self.api_key = api_key
        self.scheduler = Scheduler(params, seed=seed)
        self.stats = Stats(self.scheduler, model=params.model, params_name=params_name)
        self.runner = Runner(self.scheduler, self.stats)
        self.stats.front_end_backlog_s = self.runner.front_end_backlog_s
        self.prompts = Prompts(params.block_size)
        oracle = None
        if brain is not None:
            log = Log(brain.log)
            self.stats.oracle = log.counts
            oracle = Oracle(Library(brain.solutions), params.oracle or Rates(), seed=seed, tell=log.tell)
            self.stats.oracle_unknown = lambda: oracle.unknown
        self.generator = Generator(
            params, self.prompts, Replies(params.reply, seed=seed), self.runner, faults or Schedule(), oracle
        )
        self.started_unix = int(time.time())
        self._registry = CollectorRegistry()
        self._registry.register(self.stats)
        ProcessCollector(registry=self._registry)

    def app(self) -> web.Application:
        app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[self._guard])
        app.router.add_post("/v1/chat/completions", self.generator.chat)
        app.router.add_post("/v1/completions", self.generator.completion)
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/tokenize", self._tokenize)
        app.router.add_post("/detokenize", self._detokenize)
        app.router.add_get("/health", self._health)
        app.router.add_get("/version", self._version)
        app.router.add_post("/reset_prefix_cache", self._reset_prefix_cache)
        app.router.add_get("/metrics", self._metrics)
        app.cleanup_ctx.append(self._stepping)
        return app

    async def _stepping(self, _app: web.Application) -> AsyncIterator[None]:
        task = asyncio.create_task(self.runner.run())
        task.add_done_callback(_report_crash)
        yield
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """The API key, and every refusal as JSON. Only /v1 needs the key, as in vLLM."""
        if self.api_key and request.path.startswith("/v1"):
            given = request.headers.get("Authorization", "")
            if not hmac.compare_digest(given.encode(), f"Bearer {self.api_key}".encode()):
                return web.json_response({"error": "Unauthorized"}, status=401)
        try:
            return await handler(request)
        except ApiError as error:
            return _refusal(error)
        except web.HTTPException as error:
            kind = "NotFoundError" if error.status == 404 else "BadRequestError"
            refusal = ApiError(error.status, f"{request.method} {request.path}: {error.reason}", kind=kind)
            return _refusal(refusal)

    async def _models(self, _request: web.Request) -> web.Response:
        model = {
            "id": self.params.model,
            "object": "model",
            "created": self.started_unix,
            "owned_by": "embedded",
            "root": self.params.model,
            "parent": None,
            "max_model_len": self.params.max_model_len,
        }
        return _json({"object": "list", "data": [model]})

    async def _tokenize(self, request: web.Request) -> web.Response:
        body = parse_body(await request.read())
        check_model(body, self.params.model)
        if isinstance(body.get("prompt"), str):
            ids = tokenizer.encode(body["prompt"])
        elif isinstance(body.get("messages"), list) and all(isinstance(each, dict) for each in body["messages"]):
            ids = self.prompts.chat_ids(body["messages"], body.get("tools"))
        else:
            raise ApiError(400, "Send prompt (a text) or messages (a list).", param="prompt")
        answer = {"count": len(ids), "max_model_len": self.params.max_model_len, "tokens": ids, "token_strs": None}
        return _json(answer)

    async def _detokenize(self, request: web.Request) -> web.Response:
        body = parse_body(await request.read())
        check_model(body, self.params.model)
        ids = body.get("tokens")
        if not isinstance(ids, list) or not all(type(i) is int and 0 <= i < tokenizer.N_VOCAB for i in ids):
            raise ApiError(400, f"tokens must be a list of ids below {tokenizer.N_VOCAB}.", param="tokens")
        return _json({"prompt": tokenizer.decode(ids)})

    async def _health(self, _request: web.Request) -> web.Response:
        return web.Response()

    async def _version(self, _request: web.Request) -> web.Response:
        return _json({"version": VERSION, "emulated": True})

    async def _reset_prefix_cache(self, _request: web.Request) -> web.Response:
        return _json({"success": self.scheduler.pool.reset()})

    async def _metrics(self, _request: web.Request) -> web.Response:
        body = generate_latest(self._registry)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_PLAIN_0_0_4})


def _json(value: object) -> web.Response:
    return web.Response(body=orjson.dumps(value), content_type="application/json")


def _refusal(error: ApiError) -> web.Response:
    return web.Response(body=error.body(), status=error.status, content_type="application/json", headers=error.headers)


def _report_crash(task: asyncio.Task[None]) -> None:
    """A dead step loop would leave every client waiting: end the process instead."""
    if not task.cancelled() and task.exception() is not None:
        loop = task.get_loop()
        loop.call_exception_handler({"message": "the step loop died", "exception": task.exception(), "task": task})
        loop.stop()
