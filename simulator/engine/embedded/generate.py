"""/v1/chat/completions and /v1/completions: from a body to a request in the scheduler, and its reply out."""

from __future__ import annotations

import asyncio
import secrets
import time

import orjson
from aiohttp import web

from simulator.engine.embedded import mishaps
from simulator.engine.embedded.brain.oracle import Oracle
from simulator.engine.embedded.config import EngineParams
from simulator.engine.embedded.faults import Faults, Rule, Schedule
from simulator.engine.embedded.prompts import Prompt, Prompts
from simulator.engine.embedded.protocol import Ask, check_model, overflow, parse_ask, parse_body
from simulator.engine.embedded.replies import Replies, Reply
from simulator.engine.embedded.request import Request
from simulator.engine.embedded.runner import Runner
from simulator.engine.embedded.stream import Stream, Whole, envelope, timings, usage

#: texts longer than this are tokenised in a thread, so that steps do not wait (about 1 ms)
INLINE_CHARS = 20_000


class Generator:
    def __init__(
        self,
        params: EngineParams,
        prompts: Prompts,
        replies: Replies,
        runner: Runner,
        faults: Schedule,
        oracle: Oracle | None = None,
    ) -> None:
        self.params = params
        self.prompts = prompts
        self.replies = replies
        self.runner = runner
        self.faults = Faults(faults)
        self.oracle = oracle

    async def chat(self, request: web.Request) -> web.StreamResponse:
        return await self._generate(request, chat=True)

    async def completion(self, request: web.Request) -> web.StreamResponse:
        return await self._generate(request, chat=False)

    async def _generate(self, http: web.Request, *, chat: bool) -> web.StreamResponse:
        received_s = asyncio.get_running_loop().time()
        raw = await http.read()
        fault = self.faults.meet(chat=chat, body=raw, now_s=received_s)
        if fault is not None:
            self.runner.stats.faults += 1
            await mishaps.before(http, fault, self.params.max_model_len)
        body = parse_body(raw)
        check_model(body, self.params.model)
        ask = parse_ask(body, chat=chat)
        prompt = await self._prompt(ask)
        reply = self._reply(ask, prompt)
        if fault is not None and fault.kind == "length":
            reply = mishaps.shortened(reply)
        work = Request(
            key=("chatcmpl-" if chat else "cmpl-") + secrets.token_hex(12),
            prompt_tok=prompt.n_tok,
            reply_tok=reply.n_tok,
            hashes=prompt.hashes,
            rest=prompt.tail + reply.ids,
            arrival_s=asyncio.get_running_loop().time(),
            stops=reply.finish != "length",
            prefill_factor=fault.factor if fault is not None and fault.kind == "slow_prefill" else 1.0,
        )
        if not ask.stream:
            return await self._whole(ask, work, reply, received_s)
        head = envelope(chat=chat, chunk=True, key=work.key, created=int(time.time()), model=self.params.model)
        if fault is not None and fault.kind in mishaps.INSTEAD:
            return await mishaps.instead(http, fault, ask, head, prompt.n_tok)
        return await self._stream(http, ask, work, reply, received_s, head, fault)

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
        if self.oracle is not None and ask.chat:
            fingerprint, tools = prompt.fingerprint(), bool(ask.tools)
            told = self.oracle.answer(ask.messages, tools=tools, fingerprint=fingerprint, limits=limits)
            if told is not None:
                return told
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
        head: dict[str, object],
        fault: Rule | None,
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        response.enable_chunked_encoding()
        await response.prepare(http)
        transport = http.transport
        if transport is None:
            return response
        kind = "" if fault is None else fault.kind
        stream = Stream(
            transport,
            reply,
            head,
            chat=ask.chat,
            prompt_tok=work.prompt_tok,
            continuous_usage=ask.continuous_usage and kind != "usage_missing",
            received_s=received_s,
            break_after=fault.after_chunks if fault is not None and kind in mishaps.BREAKS else None,
        )
        sink = mishaps.paced(fault, stream)
        if stream.break_after == 0:
            stream.done.set_exception(ConnectionResetError("broken off before its first output"))
        else:
            self.runner.submit(work, sink)
        try:
            await sink.done
        except ConnectionResetError:
            if fault is not None and kind in mishaps.BREAKS and not transport.is_closing():
                self.runner.abort(work)
                await mishaps.break_off(fault, response, transport)
            else:
                transport.abort()  # a client that reads nothing would hold its bytes for ever
            return response
        finally:
            if kind != "deaf":
                self.runner.abort(work)
            if isinstance(sink, mishaps.Paced):
                sink.close()
        end = b"data: [DONE]\n\n"
        if ask.include_usage and kind != "usage_missing":
            factor = 2 if kind == "usage_wrong" else 1
            spent = usage(factor * work.prompt_tok, work.cached_tok, factor * reply.n_tok)
            last = {**head, "choices": [], "usage": spent, "metrics": timings(work)}
            end = b"data: " + orjson.dumps(last) + b"\n\n" + end
        await response.write_eof(end)
        return response
