"""What will be sent: a session's messages, and which of them each request carries. Everything is decided before the
run from scenario and seed, so two engines (and two runs) get byte-identical work.

A session keeps one pool of messages, each already serialised. A request is a *view*: indices into the pool. Growth
appends to the view; truncation and compaction cut it. The body is then a join of ready bytes, which costs microseconds
however long the history is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from simulator.core.action import Action
from simulator.core.live import LiveStart
from simulator.core.task import Check


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One tool call of a turn: done for real in the workspace, its real result compared with `recorded`.

    recorded: the recorded outcome as plain text (core/normalise.outcome_text), what a real outcome is compared with;
        the text that the client sends is in the pool.
    recorded_s: the latency that `paced` tools hold the answer to, seconds.
    """

    action: Action
    recorded: str
    recorded_s: float


@dataclass(frozen=True, slots=True)
class Turn:
    """One request and what follows its reply.

    purpose: "agent", "subagent" (in a branch), or "compaction" (the client's own summary call; no tools follow).
    view: indices into SessionPlan.pool, in sending order.
    cut: "" when the view extends the previous agent turn's; else "truncated", "compacted", "stale_reads", or "switched"
        (the mode changed, and with it the system prompt and the tools).
    head: index into SessionPlan.heads (what precedes the messages in the body).
    prompt_tok, output_tok: planned, in the scenario's tokenizer (prompt: template overhead and tools included).
    think_s: pause before the request, after the previous turn's tools.
    max_tok: the client's own limit on the reply, sent when lengths are not forced; None, it sets none.
    spawns: indices into SessionPlan.branches: sub-agents that this turn's calls start, all at once; the next turn waits
        for all of them.
    stop_after_tok: the client closes the stream once so many output tokens have come (it has seen a whole tool call
        and reads no further); None, it reads to the end.
    """

    index: int
    purpose: str
    view: tuple[int, ...]
    cut: str
    head: int
    prompt_tok: int
    output_tok: int
    think_s: float
    calls: tuple[PlannedCall, ...] = ()
    max_tok: int | None = None
    spawns: tuple[int, ...] = ()
    stop_after_tok: int | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """A sub-agent: a conversation of its own in its parent's workspace, its calls read only. Its turns' views point
    into the session's pool and their heads into its heads; `index` counts from 0 within the branch."""

    name: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class SessionPlan:
    """heads: bytes of the body up to and including `"messages":[`. tail: bytes after the messages, from `]` on, up to
    (not including) the length fields and the closing brace. start_turn: turns before it count as already done (their
    text is in the history, their edits are applied to the workspace before the session starts). end_turn: stop before
    this turn; None, play to the end. check: what must hold of the workspace after the last turn. tails: when given,
    tails[i] follows heads[i] in place of `tail` (a compaction request has no tools). branches: its sub-agents, in the
    order in which they are sent out. ends: why the client itself ends the session after its last turn ("loop_guard",
    "no_tool"), so that no solution is there to check; "" where the task is carried through. live: how a session begins
    that the model's own replies carry on; the rest is then the recorded way beside it, if any, of which nothing is
    sent."""

    session: str
    task_template: str
    task_kind: str
    task_size: str
    task_seed: int
    task_name: str
    profile: str
    cwd: str
    heads: tuple[bytes, ...]
    pool: tuple[bytes, ...]
    tail: bytes
    turns: tuple[Turn, ...]
    check: Check
    start_turn: int = 0
    end_turn: int | None = None
    tails: tuple[bytes, ...] = ()
    branches: tuple[Branch, ...] = ()
    ends: str = ""
    live: LiveStart | None = None

    @property
    def last_turn(self) -> int:
        """One past the last turn that will be played."""
        return len(self.turns) if self.end_turn is None else min(self.end_turn, len(self.turns))

    @property
    def whole(self) -> bool:
        """Whether it is played to its end, so that the check applies."""
        return self.last_turn == len(self.turns) and not self.ends

    def body(self, turn: Turn, *, forced: bool, live: Sequence[bytes] | None = None) -> bytes:
        """The request's JSON. forced: the reply's length is fixed to the plan's (`ignore_eos`, `min_tokens` =
        `max_tokens`). live: the messages, where the session's history has left the plan's (cline/overlay.py)."""
        length = b""
        if forced:
            n = str(turn.output_tok).encode()
            length = b',"max_tokens":' + n + b',"min_tokens":' + n + b',"ignore_eos":true'
        elif turn.max_tok is not None:
            length = b',"max_tokens":' + str(turn.max_tok).encode()
        tail = self.tails[turn.head] if self.tails else self.tail
        messages = b",".join([self.pool[i] for i in turn.view] if live is None else live)
        return b"".join((self.heads[turn.head], messages, tail, length, b"}"))

    def digest(self) -> str:
        """SHA-256 over everything that decides what is sent and when: every body's parts, pauses, recorded latencies,
        tool calls and what they are expected to give."""
        digest = hashlib.sha256(repr((self.session, self.start_turn, self.cwd, self.ends)).encode())
        if self.live is not None:
            digest.update(repr(self.live).encode())
        for blob in (*self.heads, *self.pool, self.tail, *self.tails):
            digest.update(hashlib.sha256(blob).digest())
        for turn in (*self.turns, *(turn for branch in self.branches for turn in branch.turns)):
            sent = (turn.index, turn.view, turn.head, turn.output_tok, turn.think_s, turn.max_tok, turn.spawns)
            digest.update(repr((sent, turn.stop_after_tok, turn.purpose)).encode())
            digest.update(repr([(c.action, c.recorded, c.recorded_s) for c in turn.calls]).encode())
        return digest.hexdigest()


def plan_hash(digests: Iterable[str]) -> str:
    """One hash over all sessions' digests, in order."""
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()
