"""A client whose model is live, by profile.

client = begin(plan.profile, plan.live, plan.cwd, tokenizer.count)
draft = client.request()                  # what is sent now
spoken = client.read(Said(text, ...))     # what the client makes of the reply
client.hear(spoken, draft)                # it enters the history
client.results(outcomes, now)             # one for each of spoken.actions
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from simulator.cline import pool
from simulator.cline.live.classic import LiveClassic
from simulator.cline.live.sdk import LiveSdk
from simulator.cline.live.spoken import Said, Spoken
from simulator.cline.profiles import Profile, subagent
from simulator.cline.profiles import profile as find_profile
from simulator.cline.retry import Change
from simulator.cline.setup import Draft, Setup
from simulator.core.action import Outcome
from simulator.core.live import LiveStart
from simulator.core.usage import stream_options


class LiveClient(Protocol):
    """one_call: it takes one call a reply, and closes the stream when it has come. ended: why the client itself ends
    the run ("loop_guard", "no_tool", "mistakes"), "" while it goes on; asked after results()."""

    profile: Profile
    heads: list[bytes]
    tails: list[bytes]
    pool: pool.Pool
    ended: str
    one_call: bool

    def request(self) -> Draft: ...
    def summarised(self, text: str) -> None: ...
    def shorten(self, change: Change) -> bool: ...
    def cut_off(self, said: Said) -> None: ...
    def read(self, said: Said) -> Spoken: ...
    def hear(self, spoken: Spoken, sent: Draft) -> None: ...
    def results(self, outcomes: Sequence[Outcome], now_unix_s: float) -> list[str]: ...


class Beginning:
    """How the conversations of one session begin: its own, and those of its sub-agents."""

    def __init__(self, profile_name: str, start: LiveStart, cwd: str, count: Callable[[str], int]) -> None:
        self._profile, self._start, self._count = find_profile(profile_name), start, count
        self._setup = _setup(start, cwd)

    def own(self) -> LiveClient:
        return _client(self._profile, self._setup, self._count, self._start.answer)

    def subagent(self, prompt: str) -> LiveClient:
        setup = replace(self._setup, task_prompt=prompt, mode="act", subagents=False)
        return _client(subagent(self._profile), setup, self._count, "")


def body(client: LiveClient, draft: Draft, reply_tok: int | None) -> bytes:
    """The request's JSON. reply_tok: the limit on its reply that the user has set, if any."""
    messages = b",".join([client.pool.messages[i] for i in draft.view])
    most = [limit for limit in (draft.max_tok, reply_tok) if limit is not None]
    length = b',"max_tokens":%d' % min(most) if most else b""
    return b"".join((client.heads[draft.head], messages, client.tails[draft.head], length, b"}"))


def _client(profile: Profile, setup: Setup, count: Callable[[str], int], answer: str) -> LiveClient:
    return (LiveClassic if profile.client == "classic" else LiveSdk)(profile, setup, count, answer)


def _setup(start: LiveStart, cwd: str) -> Setup:
    return Setup(
        task_prompt=start.prompt,
        cwd=cwd,
        repo_name=start.repo_name,
        model=start.model,
        context_window_tok=start.context_window_tok,
        listing=start.listing,
        latest_commit=start.latest_commit,
        start_unix_s=start.start_unix_s,
        cached_double_count=start.cached_double_count,
        parallel_tool_calls=start.parallel_tool_calls,
        subagents=start.subagents,
        mode="plan" if start.plan_mode else "act",
        extra_body={"stream_options": stream_options(start.usage)},
    )
