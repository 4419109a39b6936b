"""Recorded solutions as the replies of a model, for the embedded engine's oracle (core/solution.py). They are the
plan's own messages, so that an oracle says what a replay would have had it say.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

import orjson

from simulator.cline.classic import calls as classic
from simulator.cline.profiles import profile
from simulator.core.action import Action, Command, Edit, Write
from simulator.core.plan import SessionPlan, Turn
from simulator.core.solution import Said, Solution, Way, from_line
from simulator.tasks.mistaken import Forms

_NOTES = re.compile(r"(^|/)docs?/")
_BESIDE_CODE = re.compile(
    r"(^|/)(docs?|tests?)/|(^|/)test_[^/]*$|(_test|\.test|\.spec)\.\w+$|\.md$|(^|/)(CHANGELOG|CHANGES)"
)


def solutions_of(plan: SessionPlan, cwd: str | None = None) -> list[Solution]:
    """A recorded session's own solution and its sub-agents'; [] where nothing is recorded. cwd: the folder that the
    client works in, where it is not the plan's."""
    if not plan.turns:
        return []
    conversations = [("", plan.turns), *((branch.name, branch.turns) for branch in plan.branches)]
    found = [_of_turns(plan, name, [t for t in turns if t.purpose != "compaction"]) for name, turns in conversations]
    return found if cwd is None else [_moved(each, cwd) for each in found]


def _moved(solution: Solution, cwd: str) -> Solution:
    return from_line(solution.line().replace(solution.cwd.encode(), cwd.encode()))


def _of_turns(plan: SessionPlan, name: str, turns: Sequence[Turn]) -> Solution:
    chosen = profile(plan.profile)
    content = orjson.loads(plan.pool[turns[0].view[1]])["content"]
    request = content if isinstance(content, str) else content[0]["text"]
    return Solution(
        session=plan.session,
        branch=name,
        client=chosen.client,
        syntax=chosen.calls,
        cwd=plan.cwd,
        request=request.removeprefix("<task>\n").removesuffix("\n</task>"),
        ways=tuple(_way(plan, _reply(plan.pool, turn), [call.action for call in turn.calls]) for turn in turns),
        alike=plan.live is not None and not plan.live.path,  # a task of one's own asks every session the same
    )


def _reply(pool: Sequence[bytes], turn: Turn) -> Said:
    """The reply that was recorded for a turn is the first message of the model's that came after its request."""
    at = max(turn.view) + 1
    while not pool[at].startswith(b'{"role":"assistant"'):
        at += 1
    raw = orjson.loads(pool[at])
    calls = [call["function"] for call in raw.get("tool_calls") or ()]
    pairs = tuple((call["name"], call["arguments"]) for call in calls)
    return Said(raw.get("content") or "", raw.get("reasoning_content") or "", pairs)


def _way(plan: SessionPlan, reply: Said, actions: Sequence[Action]) -> Way:
    chosen, asks = profile(plan.profile), reply.calls
    if chosen.calls == "xml":
        called = [classic.call(action) for action in actions]
        asks = tuple((name, orjson.dumps(arguments).decode()) for name, arguments in called)
    forms = Forms(chosen, reply, plan.cwd)
    return Way(
        reply=reply,
        asks=asks,
        unfit=forms.unfit(actions),
        wrong=forms.wrong(actions),
        changes=any(_changes(action) for action in actions),
        counts=any(_counts(action, plan.task_kind) for action in actions),
        did=_did(reply, actions),
    )


def _changes(action: Action) -> bool:
    return isinstance(action, Edit | Write) or (isinstance(action, Command) and action.effects)


def _counts(action: Action, kind: str) -> bool:
    """Checks of code run it and leave its tests and documents alone; others read what was written, but for notes in a
    folder of documents. Clearing up counts for nothing."""
    if isinstance(action, Edit | Write):
        return not (_BESIDE_CODE if kind == "coding" else _NOTES).search(action.path)
    return isinstance(action, Command) and action.effects and not action.command.startswith("rm ")


def _did(reply: Said, actions: Sequence[Action]) -> str:
    what = [f"{type(a).__name__} {posixpath.basename(getattr(a, 'path', ''))}".rstrip() for a in actions]
    say = " ".join(reply.content.split("<", 1)[0].split())[:160]
    return f"{say} ({', '.join(what)})" if what else say
