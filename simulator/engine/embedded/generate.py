"""/v1/chat/completions and /v1/completions: from a body to a request in the scheduler, and its reply out."""

from __future__ import annotations

import asyncio
import secrets
import time

import orjson
from aiohttp import web

from simulator.engine.embedded.config import EngineParams
from simulator.engine.embedded.faults import Faults, Rule
from simulator.engine.embedded.prompts import Prompt, Prompts
from simulator.engine.embedded.protocol import ApiError, Ask, check_model, overflow, parse_ask, parse_body
from simulator.engine.embedded.replies import Replies, Reply
from simulator.engine.embedded.request import Request
from simulator.engine.embedded.runner import Runner
from simulator.engine.embedded.stream import Stream, Whole, envelope, timings, usage

#: texts longer than this are tokenised in a thread, so that steps do not wait (about 1 ms)
INLINE_CHARS = 20_000

_STATUS_KINDS = {429: "RateLimitError", 500: "InternalServerError", 503: "ServiceUnavailableError"}


class Generator:
    def __init__(
        self, params: EngineParams, prompts: Prompts, replies: Replies, runner: Runner, faults: Faults
    ) -> None:
        self.params = params
        self.prompts = prompts
        self.replies = replies
        self.runner = runner
        self.faults = faults
        self.ordinal = 0

    async def chat(self, request: web.Request) -> web.StreamResponse:
        return await self._generate(request, chat=True)

    async def completion(self, request: web.Request) -> web.StreamResponse:
        return await self._generate(request, chat=False)

    async def _generate(self, http: web.Request, *, chat: bool) -> web.StreamResponse:
        received_s = asyncio.get_running_loop().time()
        fault = self.faults.at(self.ordinal)
        self.ordinal += 1
        raw = await http.read()
        if fault is not None:
            self.runner.stats.faults += 1
            await self._early_fault(http, fault)
        body = parse_body(raw)
        check_model(body, self.params.model)
        ask = parse_ask(body, chat=chat)
        prompt = await self._prompt(ask)
        reply = self._reply(ask, prompt)
        work = Request(
            key=("chatcmpl-" if chat else "cmpl-") + secrets.token_hex(12),
            prompt_tok=prompt.n_tok,
            reply_tok=reply.n_tok,
            hashes=prompt.hashes,
            rest=prompt.tail + reply.ids,
            arrival_s=asyncio.get_running_loop().time(),
            prefill_factor=fault.factor if fault is not None and fault.kind == "slow_prefill" else 1.0,
        )
        if ask.stream:
            cut_after = fault.after_chunks if fault is not None and fault.kind == "cut" else None
            return await self._stream(http, ask, work, reply, received_s, cut_after)
        return await self._whole(ask, work, reply, received_s)

    async def _early_fault(self, http: web.Request, fault: Rule) -> None:
        match fault.kind:
            case "refuse":
                if http.transport is not None:
                    http.transport.abort()
                raise ApiError(503, "refused on purpose")  # goes nowhere: the connection is closed
            case "hang":
                await asyncio.sleep(fault.hang_s if fault.hang_s is not None else float(1 << 30))
            case "status":
                if fault.status == 400:
                    limit = self.params.max_model_len
                    raise overflow(limit, limit + 1, None)
                raise _status_fault(fault)
            case _:
                pass

    async def _prompt(self, ask: Ask) -> Prompt:
        if not ask.chat:
            return self.prompts.text(ask.prompt) if isinstance(ask.prompt, str) else self.prompts.ids(ask.prompt)
        opened = self.prompts.open(ask.messages, ask.tools)
        if opened.todo_chars > INLINE_CHARS:
            loop = asyncio.get_running_loop()
            tokenised = await loop.run_in_executor(None, self.prompts.tokenise, opened.todo)
        else:
            tokenised = self.prompts.tokenise(opened.todo)
        return self.prompts.finish(opened, tokenised)

    def _reply(self, ask: Ask, prompt: Prompt) -> Reply:
        room_tok = self.params.max_model_len - prompt.n_tok
        if room_tok < 1 or (ask.max_tok or 1) > room_tok:
            raise overflow(self.params.max_model_len, prompt.n_tok, ask.max_tok)
        limits = ask.limits(room_tok)
        if ask.choice is not None:
            return self.replies.exact(ask.choice, limits)
        return self.replies.draw(prompt.fingerprint(), limits, request_seed=ask.seed)

    async def _whole(self, ask: Ask, work: Request, reply: Reply, received_s: float) -> web.Response:
        sink = Whole(reply, received_s)
        self.runner.submit(work, sink)
        try:
            await sink.done
        finally:
            self.runner.abort(work)
        head = envelope(chat=ask.chat, chunk=False, key=work.key, created=int(time.time()), model=self.params.model)
        spent = usage(work.prompt_tok, work.cached_tok, reply.n_tok)
        body = {**head, "choices": [sink.choice(chat=ask.chat)], "usage": spent, "metrics": timings(work)}
        return web.Response(body=orjson.dumps(body), content_type="application/json")

    async def _stream(
        self,
        http: web.Request,
        ask: Ask,
        work: Request,
        reply: Reply,
        received_s: float,
        cut_after: int | None,
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        response.enable_chunked_encoding()
        await response.prepare(http)
        transport = http.transport
        if transport is None:
            return response
        head = envelope(chat=ask.chat, chunk=True, key=work.key, created=int(time.time()), model=self.params.model)
        sink = Stream(
            transport,
            reply,
            head,
            chat=ask.chat,
            prompt_tok=work.prompt_tok,
            continuous_usage=ask.continuous_usage,
            received_s=received_s,
            cut_after=cut_after,
        )
        self.runner.submit(work, sink)
        try:
            await sink.done
        except ConnectionResetError:
            # a cut lets the chunks before it arrive; a client that reads nothing would hold its bytes for ever
            transport.close() if cut_after is not None else transport.abort()
            return response
        finally:
            self.runner.abort(work)
        end = b"data: [DONE]\n\n"
        if ask.include_usage:
            spent = usage(work.prompt_tok, work.cached_tok, reply.n_tok)
            last = {**head, "choices": [], "usage": spent, "metrics": timings(work)}
            end = b"data: " + orjson.dumps(last) + b"\n\n" + end
        await response.write_eof(end)
        return response


def _status_fault(fault: Rule) -> ApiError:
    headers = {} if fault.retry_after_s is None else {"Retry-After": f"{fault.retry_after_s:g}"}
    text = f"HTTP {fault.status} on purpose: a fault of the schedule."
    return ApiError(fault.status, text, kind=_STATUS_KINDS[fault.status], headers=headers)
