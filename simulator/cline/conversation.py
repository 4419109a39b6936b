"""A client's conversation with the model, grown from recorded steps.

    talk = Conversation(PROFILES["classic-xml"], setup, tokenizer.count)
    for step in task.steps:
        drafts = talk.requests()              # what is sent now
        reply = talk.reply(step)              # what the model answered, in tokens
        texts = talk.results(outcomes, now)   # what its tools gave

Every message is serialised and counted once; a request is a view on them, so that a request's bytes extend those of
the one before except where the protocol cuts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from simulator.cline import pool
from simulator.cline.classic.client import Classic
from simulator.cline.profiles import Profile
from simulator.cline.sdk.client import Sdk
from simulator.cline.setup import RESERVED, Draft, Reply, Setup
from simulator.core.action import Outcome, Step
from simulator.errors import UsageError

__all__ = ["Conversation", "Draft", "Reply", "Setup"]


class _Client(Protocol):
    heads: list[bytes]
    tails: list[bytes]
    pool: pool.Pool
    ended: str

    def requests(self) -> list[Draft]: ...
    def reply(self, step: Step, sent: Draft) -> Reply: ...
    def results(self, outcomes: Sequence[Outcome], now_unix_s: float) -> list[str]: ...


class Conversation:
    """heads, pool, tail, tails: as core.plan.SessionPlan wants them; tails[i] belongs to heads[i], tail is tails[0].

    count: tokens of a text in the engine's tokenizer; all planned figures and the client's decisions follow it.
    """

    def __init__(self, profile: Profile, setup: Setup, count: Callable[[str], int]) -> None:
        taken = [key for key in setup.extra_body if key in RESERVED]
        if taken:
            raise UsageError(f"extra_body may not set {', '.join(taken)}: the plan decides it; remove it there")
        self._client: _Client = (Classic if profile.client == "classic" else Sdk)(profile, setup, count)
        self.heads, self.tails, self.tail = self._client.heads, self._client.tails, self._client.tails[0]
        self._drafts: list[Draft] | None = None

    @property
    def pool(self) -> list[bytes]:
        return self._client.pool.messages

    def requests(self) -> list[Draft]:
        """What is sent now, the agent's request last; asked again before the reply, the same. UsageError when it cannot
        be made to fit the window."""
        if self._drafts is None:
            self._drafts = self._client.requests()
        return self._drafts

    @property
    def ended(self) -> str:
        """Why the client itself ended the run, "" while it goes on: "loop_guard" (identical calls), "no_tool" (replies
        without a call). Asked after results()."""
        return self._client.ended

    def reply(self, step: Step) -> Reply:
        """Appends the recorded reply to the agent's request; gives what it takes."""
        sent = self.requests()[-1]
        self._drafts = None
        return self._client.reply(step, sent)

    def results(self, outcomes: Sequence[Outcome], now_unix_s: float) -> list[str]:
        """Appends what the client sends after the reply's actions, one outcome each; gives the result text of each
        action ("" for Complete) before any cut at send time."""
        return self._client.results(outcomes, now_unix_s)
