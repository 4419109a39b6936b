"""A session's plan, ready to be played many times: each turn with its token count and its blocks' hashes.

The messages go through the embedded engine's own template, tokeniser and hash chain once; nothing is tokenised while
the clock runs. Turns that carry the same messages in the same order therefore name the same blocks, as they do in real
time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import orjson

from simulator.core.action import Action, Edit, Recorded, Write
from simulator.core.plan import SessionPlan, Turn
from simulator.engine.embedded.prompts import Prompts


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call: answered after recorded_s, not carried out."""

    tool: str
    recorded_s: float
    result_chars: int
    edits: bool


@dataclass(frozen=True, slots=True)
class Beat:
    """One request and what follows it. prompt_tok: as the engine counts. hashes: of the prompt's full blocks; the first
    n_shared of them stand in other sessions too. tail: int32 ids after the last full block. The rest as in Turn."""

    index: int
    purpose: str
    prompt_tok: int
    planned_prompt_tok: int
    output_tok: int
    max_tok: int | None
    think_s: float
    calls: tuple[Call, ...]
    hashes: tuple[bytes, ...]
    tail: bytes
    n_shared: int
    spawns: tuple[int, ...]
    stop_after_tok: int | None

    def salted(self, salt: bytes) -> list[bytes]:
        """The blocks' names in a session of its own: what no other session shares is marked with its salt."""
        if not salt:
            return list(self.hashes)
        n = self.n_shared
        return [*self.hashes[:n], *[salt + each for each in self.hashes[n:]]]


@dataclass(frozen=True, slots=True)
class Script:
    """turns: the session's own conversation; branches: its sub-agents'."""

    session: str
    template: str
    kind: str
    size: str
    name: str
    profile: str
    turns: tuple[Beat, ...]
    branches: tuple[tuple[Beat, ...], ...]
    start_turn: int
    end_turn: int

    def start_at(self, age: float) -> int:
        """Turn at which a session is met of which the share `age` is done. A summary call and the request that carries
        its result belong together."""
        start = min(int(age * len(self.turns)), len(self.turns) - 1)
        while start and self.turns[start - 1].purpose == "compaction":
            start -= 1
        return start

    @property
    def peak_tok(self) -> int:
        """The longest context of the session, reply included."""
        return max(b.prompt_tok + b.output_tok for b in self.turns)

    @property
    def mean_tok(self) -> float:
        """Mean over its turns of the context, reply included."""
        return sum(b.prompt_tok + b.output_tok for b in self.turns) / len(self.turns)


def script(plan: SessionPlan, prompts: Prompts) -> Script:
    """Tokenises and hashes a plan's messages, each once."""
    messages = [orjson.loads(each) for each in plan.pool]
    tails = plan.tails or (plan.tail,) * len(plan.heads)
    tools = [orjson.loads(h + t + b"}").get("tools") for h, t in zip(plan.heads, tails, strict=True)]

    def beat(turn: Turn) -> Beat:
        prompt = prompts.chat([messages[i] for i in turn.view], tools[turn.head])
        return Beat(
            index=turn.index,
            purpose=turn.purpose,
            prompt_tok=prompt.n_tok,
            planned_prompt_tok=turn.prompt_tok,
            output_tok=turn.output_tok,
            max_tok=turn.max_tok,
            think_s=turn.think_s,
            calls=tuple(
                Call(tool_name(c.action), c.recorded_s, len(c.recorded), isinstance(c.action, Edit | Write))
                for c in turn.calls
            ),
            hashes=tuple(prompt.hashes),
            tail=prompt.tail,
            n_shared=0,
            spawns=turn.spawns,
            stop_after_tok=turn.stop_after_tok,
        )

    return Script(
        session=plan.session,
        template=plan.task_template,
        kind=plan.task_kind,
        size=plan.task_size,
        name=plan.task_name,
        profile=plan.profile,
        turns=tuple(beat(turn) for turn in plan.turns),
        branches=tuple(tuple(beat(turn) for turn in branch.turns) for branch in plan.branches),
        start_turn=plan.start_turn,
        end_turn=plan.last_turn,
    )


def mark_shared(scripts: Sequence[Script]) -> list[Script]:
    """Counts in each turn the leading blocks that another script has too."""
    holders = Counter(key for each in scripts for key in _all_hashes(each))
    shared = {key for key, count in holders.items() if count > 1}
    return [_marked(each, shared) for each in scripts]


def _all_hashes(each: Script) -> set[bytes]:
    beats: Iterable[Beat] = (b for turns in (each.turns, *each.branches) for b in turns)
    return {key for beat in beats for key in beat.hashes}


def _marked(each: Script, shared: set[bytes]) -> Script:
    def mark(beat: Beat) -> Beat:
        n = next((i for i, key in enumerate(beat.hashes) if key not in shared), len(beat.hashes))
        return replace(beat, n_shared=n)

    turns = tuple(mark(beat) for beat in each.turns)
    return replace(each, turns=turns, branches=tuple(tuple(mark(b) for b in branch) for branch in each.branches))


def tool_name(action: Action) -> str:
    """As in tools.jsonl of a run in real time."""
    if isinstance(action, Recorded):
        return action.tool
    names = {"ListFiles": "list", "ReadFile": "read"}
    kind = type(action).__name__
    return names.get(kind, kind.lower())
