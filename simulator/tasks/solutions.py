"""A plan's recorded solution as the replies of a model, for the embedded engine's oracle (core/solution.py).

The replies are the plan's own messages, so that an oracle says to the byte what a replay would have had it say.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import replace

import orjson

from simulator.cline.classic import calls as classic
from simulator.cline.profiles import Profile, profile
from simulator.cline.sdk import calls as sdk
from simulator.core.action import Action, Command, Edit, Write
from simulator.core.plan import SessionPlan, Turn
from simulator.core.solution import Said, Solution, Way, from_line

#: what a search text that is nowhere in the file begins with
ELSEWHERE = "# as it stood before the change of last week"


def solutions_of(plan: SessionPlan, cwd: str | None = None) -> list[Solution]:
    """The session's own solution and its sub-agents'. cwd: the folder that the client works in, where it is not the
    plan's. None for a task without a recorded solution."""
    if not plan.turns:
        return []
    main = tuple(turn for turn in plan.turns if turn.purpose != "compaction")
    found = [_solution(plan, "", main)]
    found += [_solution(plan, branch.name, branch.turns) for branch in plan.branches]
    return found if cwd is None else [_moved(each, cwd) for each in found]


def _moved(solution: Solution, cwd: str) -> Solution:
    return from_line(solution.line().replace(solution.cwd.encode(), cwd.encode()))


def _solution(plan: SessionPlan, branch: str, turns: Sequence[Turn]) -> Solution:
    chosen = profile(plan.profile)
    first = orjson.loads(plan.pool[turns[0].view[1]])
    return Solution(
        session=plan.session,
        branch=branch,
        client=chosen.client,
        syntax=chosen.calls,
        cwd=plan.cwd,
        request=_request(first["content"]),
        ways=tuple(_way(chosen, _reply(plan.pool, turn), turn, plan.cwd) for turn in turns),
    )


def _request(content: str | list[dict[str, str]]) -> str:
    """The task's text in a conversation's first message."""
    text = content if isinstance(content, str) else content[0]["text"]
    return text.removeprefix("<task>\n").removesuffix("\n</task>")


def _reply(pool: Sequence[bytes], turn: Turn) -> Said:
    """The reply that was recorded for a turn is the first message of the model's that came after its request."""
    at = max(turn.view) + 1
    while not pool[at].startswith(b'{"role":"assistant"'):
        at += 1
    raw = orjson.loads(pool[at])
    calls = [call["function"] for call in raw.get("tool_calls") or ()]
    pairs = tuple((call["name"], call["arguments"]) for call in calls)
    return Said(raw.get("content") or "", raw.get("reasoning_content") or "", pairs)


def _way(chosen: Profile, reply: Said, turn: Turn, cwd: str) -> Way:
    actions = [call.action for call in turn.calls]
    asks = reply.calls
    if chosen.calls == "xml":
        asks = tuple((name, orjson.dumps(params).decode()) for name, params in map(classic.call, actions))
    edits = [a for a in actions if isinstance(a, Edit | Write)]
    return Way(
        reply=reply,
        asks=asks,
        unfit=_other(chosen, reply, [(e, _unfit(e)) for e in edits if isinstance(e, Edit)], cwd),
        wrong=_other(chosen, reply, [(e, _wrong(e)) for e in edits], cwd),
        changes=bool(edits) or any(isinstance(a, Command) and a.effects for a in actions),
        did=_did(reply, actions),
    )


def _unfit(edit: Edit) -> Edit:
    """Its first search text is one that the file has nowhere."""
    (search, new), *others = edit.blocks
    return replace(edit, blocks=((f"{ELSEWHERE}\n{search}\n{ELSEWHERE}\n", new), *others))


def _wrong(edit: Action) -> Action:
    """The first half of the lines of whatever is written is all that is written."""
    if isinstance(edit, Edit):
        return replace(edit, blocks=tuple((search, _half(new)) for search, new in edit.blocks))
    assert isinstance(edit, Write)
    return replace(edit, content=_half(edit.content))


def _half(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(lines[: len(lines) // 2])


def _other(chosen: Profile, reply: Said, changed: Sequence[tuple[Action, Action]], cwd: str) -> Said | None:
    """The reply with other actions in the place of some of its own; None where there is none to change."""
    if not changed:
        return None
    if chosen.calls == "xml":
        content = reply.content
        for old, new in changed:
            content = content.replace(_body(old), _body(new), 1)
        return replace(reply, content=content)
    swaps: dict[tuple[str, str], str] = {}
    for old, new in changed:
        for (name, before), (_, after) in zip(_native(chosen, old, cwd), _native(chosen, new, cwd), strict=True):
            swaps[name, before] = after
    return replace(reply, calls=tuple((name, _swapped(name, arguments, swaps)) for name, arguments in reply.calls))


def _body(action: Action) -> str:
    """What of an XML call the action's content is."""
    return classic.diff(action.blocks) if isinstance(action, Edit) else getattr(action, "content", "")


def _native(chosen: Profile, action: Action, cwd: str) -> list[tuple[str, str]]:
    made = sdk.calls(action, cwd) if chosen.client == "sdk" else [classic.as_native(action, "", cwd)]
    return [(name, orjson.dumps(arguments).decode()) for name, arguments in made]


def _swapped(name: str, arguments: str, swaps: dict[tuple[str, str], str]) -> str:
    """Arguments may hold a checklist beside the action's own."""
    given = orjson.loads(arguments)
    progress = {"task_progress": given.pop("task_progress")} if "task_progress" in given else {}
    after = swaps.get((name, orjson.dumps(given).decode()))
    return arguments if after is None else orjson.dumps(orjson.loads(after) | progress).decode()


def _did(reply: Said, actions: Sequence[Action]) -> str:
    what = [f"{type(a).__name__} {posixpath.basename(getattr(a, 'path', ''))}".rstrip() for a in actions]
    say = " ".join(reply.content.split("<", 1)[0].split())[:160]
    return f"{say} ({', '.join(what)})" if what else say
