"""The shape of planned traffic: the figures by which one's own agents are compared with a synthetic test."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import orjson

from simulator.core.action import Complete, Propose, Recorded, SwitchToAct
from simulator.core.plan import SessionPlan

BLOCK_TOK = 64
_RULES = ("system", "developer")
_WORDS = (Complete, Propose, SwitchToAct)  # these do nothing in a workspace


@dataclass(frozen=True, slots=True)
class Spread:
    """Quantiles and mean of a sample; n is its size."""

    n: int
    p10: float
    p50: float
    p90: float
    mean: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread | None:
        if not values:
            return None
        p10, p50, p90 = (float(q) for q in np.quantile(values, (0.1, 0.5, 0.9)))
        return cls(len(values), p10, p50, p90, float(np.mean(values)))


@dataclass(frozen=True, slots=True)
class Shape:
    """Of whole sessions, from their first turn, wherever a run will meet them.

    growth_tok: prompt growth of a call over the one before, where it grew. cut_share: of calls whose history was cut.
    cut_sessions: sessions with at least one cut. repeat_share: of tool calls equal to an earlier one of their session.
    switched_sessions: those that begin in plan mode. subagents: conversations of sub-agents; subagent_calls: requests
    in them, of which `calls` and the spreads hold none. stopped: calls whose stream the client closes. profiles: how
    many sessions each has.
    """

    sessions: int
    calls: int
    turns: Spread | None
    prompt_tok: Spread | None
    growth_tok: Spread | None
    output_tok: Spread | None
    first_prompt_tok: Spread | None
    tool_calls: int
    repeat_share: float
    cut_share: float
    cut_sessions: int
    tools: dict[str, int]
    switched_sessions: int
    subagents: int
    subagent_calls: int
    stopped: int
    profiles: dict[str, int]


def shape(plans: Iterable[SessionPlan]) -> Shape:
    turns, prompts, growths, outputs, firsts = [], [], [], [], []
    calls = cuts = cut_sessions = repeats = total = 0
    switched = subagents = subagent_calls = stopped = 0
    tools: dict[str, int] = {}
    profiles: dict[str, int] = {}
    for plan in plans:
        if not plan.turns:
            continue  # a live session of a task without a recorded solution
        profiles[plan.profile] = profiles.get(plan.profile, 0) + 1
        switched += any(isinstance(c.action, Propose) for t in plan.turns for c in t.calls)
        subagents += len(plan.branches)
        subagent_calls += sum(len(branch.turns) for branch in plan.branches)
        stopped += sum(t.stop_after_tok is not None for t in plan.turns)
        agent = [t for t in plan.turns if t.purpose == "agent"]
        turns.append(len(agent))
        firsts.append(agent[0].prompt_tok)
        prompts += [t.prompt_tok for t in agent]
        outputs += [t.output_tok for t in agent]
        growths += [b.prompt_tok - a.prompt_tok for a, b in itertools.pairwise(agent) if b.prompt_tok > a.prompt_tok]
        cut_here = sum(t.cut not in ("", "switched") for t in agent)
        calls, cuts, cut_sessions = calls + len(agent), cuts + cut_here, cut_sessions + bool(cut_here)
        actions = [c.action for t in agent for c in t.calls if not isinstance(c.action, _WORDS)]
        total += len(actions)
        told = [repr(a) for a in actions if not isinstance(a, Recorded)]  # of recorded calls only the name is known
        repeats += len(told) - len(set(told))
        for action in actions:
            name = action.tool if isinstance(action, Recorded) else type(action).__name__
            tools[name] = tools.get(name, 0) + 1
    return Shape(
        sessions=len(turns),
        calls=calls,
        turns=Spread.of(turns),
        prompt_tok=Spread.of(prompts),
        growth_tok=Spread.of(growths),
        output_tok=Spread.of(outputs),
        first_prompt_tok=Spread.of(firsts),
        tool_calls=total,
        repeat_share=repeats / total if total else 0.0,
        cut_share=cuts / calls if calls else 0.0,
        cut_sessions=cut_sessions,
        tools=tools,
        switched_sessions=switched,
        subagents=subagents,
        subagent_calls=subagent_calls,
        stopped=stopped,
        profiles=profiles,
    )


def shared_blocks(plans: Iterable[SessionPlan], encode: Callable[[str], list[int]]) -> float:
    """Share of 64-token blocks that at least two sessions have in common, by content, outside the system prompt and
    tools. Each session's messages are one token stream, cut in aligned blocks."""
    owners: dict[bytes, set[int]] = {}
    total: list[tuple[int, bytes]] = []
    for number, plan in enumerate(plans):
        text = "\n".join(message_text(raw) for raw in plan.pool if orjson.loads(raw).get("role") not in _RULES)
        ids = np.asarray(encode(text), dtype=np.int32)
        for start in range(0, len(ids) - BLOCK_TOK + 1, BLOCK_TOK):
            key = hashlib.blake2b(ids[start : start + BLOCK_TOK].tobytes(), digest_size=8).digest()
            owners.setdefault(key, set()).add(number)
            total.append((number, key))
    return sum(len(owners[key]) > 1 for _, key in total) / len(total) if total else 0.0


def message_text(raw: bytes) -> str:
    """What a message of a plan's pool says: its text parts and its tool calls' arguments."""
    message = orjson.loads(raw)
    content = message.get("content")
    parts = [content] if isinstance(content, str) else [p.get("text", "") for p in content or ()]
    parts += [call["function"]["arguments"] for call in message.get("tool_calls") or ()]
    return "\n".join(parts)
