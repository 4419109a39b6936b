"""Asks an engine a fixed set of prompts at temperature 0 and notes what it says, token by token where it tells."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp
import orjson

from simulator.core.outcome import error_message
from simulator.drive.endpoint import Endpoint, Exchange
from simulator.errors import EngineError

PATH = "/chat/completions"
#: what a client asks for beside its prompt, and a greedy reply that is read as a whole has no use for
_LEFT_OUT = (
    "stream", "stream_options", "max_completion_tokens", "min_tokens", "ignore_eos", "top_p", "top_k", "min_p", "seed",
    "n",
)  # fmt: skip
FORGET_LIMIT_S = 20.0
#: vLLM's extension: the reply's own token ids come with it
IDS = "return_token_ids"


@dataclass(frozen=True, slots=True)
class Prompt:
    """body: a client's request, JSON."""

    session: str
    turn: int
    profile: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Told:
    """calls: {"name", "arguments"} each. token_ids: None where the server does not tell them. prompt_tok, output_tok:
    the server's usage. error: "" when it was answered. took_s: seconds."""

    session: str
    turn: int
    profile: str
    text: str = ""
    reasoning: str = ""
    calls: tuple[dict[str, str], ...] = ()
    token_ids: tuple[int, ...] | None = None
    finish: str = ""
    prompt_tok: int | None = None
    output_tok: int | None = None
    error: str = ""
    took_s: float = 0.0


class Greedy:
    """model: its name there. max_tok: of a reply; it ends by itself before, where the model says so."""

    def __init__(self, endpoint: Endpoint, model: str, max_tok: int) -> None:
        self._endpoint, self._model, self._max_tok = endpoint, model, max_tok
        self._ids: bool | None = None  # whether the server takes the wish for token ids; None, nobody knows yet

    async def forget(self, root: str) -> bool:
        """Drops the server's prefix cache, so that a pass begins as any other did: what is cached is computed in other
        pieces, which is enough to turn a close choice round. root: its address without /v1. False when it cannot."""
        try:
            limit = aiohttp.ClientTimeout(total=FORGET_LIMIT_S)
            async with self._endpoint.session.post(f"{root}/reset_prefix_cache", timeout=limit) as answer:
                return answer.status == 200
        except (aiohttp.ClientError, TimeoutError, OSError):
            return False

    async def ask_all(self, prompts: Sequence[Prompt], concurrency: int, told: Callable[[Told], None]) -> None:
        """told: called with each reply as it comes. EngineError when nothing answers any more."""
        waiting = iter(prompts)

        async def one_after_another() -> None:
            for prompt in waiting:
                told(await self.ask(prompt))

        async with asyncio.TaskGroup() as group:
            for _ in range(max(1, min(concurrency, len(prompts)))):
                group.create_task(one_after_another())

    async def ask(self, prompt: Prompt) -> Told:
        got = await self._endpoint.post(PATH, self._body(prompt, ids=self._ids is not False))
        if self._ids is None and got.status in (400, 422):
            plain = await self._endpoint.post(PATH, self._body(prompt, ids=False))
            if plain.status == 200:
                self._ids, got = False, plain
        elif got.status == 200 and self._ids is None:
            self._ids = True
        if got.failure == "refused":
            raise EngineError(f"{got.detail}; start the server again, and run again with a new folder")
        return read_reply(prompt, got)

    def _body(self, prompt: Prompt, *, ids: bool) -> bytes:
        fields: dict[str, Any] = orjson.loads(prompt.body)
        for name in _LEFT_OUT:
            fields.pop(name, None)
        fields |= {"model": self._model, "temperature": 0, "max_tokens": self._max_tok, "stream": False}
        return orjson.dumps(fields | {IDS: True} if ids else fields)


def read_reply(prompt: Prompt, got: Exchange) -> Told:
    """Of an exchange without a stream. What cannot be read is an error, and no shorter reply."""
    names = prompt.session, prompt.turn, prompt.profile
    took_s = got.t_end_s - got.t_call_s
    if got.status >= 400:
        return Told(*names, error=f"HTTP {got.status}: {error_message(got.error_body)}"[:300], took_s=took_s)
    if got.failure:
        return Told(*names, error=f"{got.failure}: {got.detail}"[:300], took_s=took_s)
    try:
        reply = orjson.loads(got.body())
        choice = reply["choices"][0]
        said, usage, ids = choice["message"], reply.get("usage") or {}, choice.get("token_ids")
        return Told(
            *names,
            text=_text(said.get("content")),
            reasoning=_text(said.get("reasoning") or said.get("reasoning_content")),
            calls=tuple(_call(each["function"]) for each in said.get("tool_calls") or ()),
            token_ids=None if ids is None else tuple(map(int, ids)),
            finish=_text(choice.get("finish_reason")),
            prompt_tok=usage.get("prompt_tokens"),
            output_tok=usage.get("completion_tokens"),
            took_s=took_s,
        )
    except (orjson.JSONDecodeError, LookupError, TypeError, ValueError, AttributeError) as why:
        return Told(*names, error=f"no chat completion ({type(why).__name__})", took_s=took_s)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _call(function: dict[str, Any]) -> dict[str, str]:
    return {"name": _text(function["name"]), "arguments": _text(function.get("arguments"))}
