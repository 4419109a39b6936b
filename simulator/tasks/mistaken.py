"""A recorded reply with another action in the place of its own: an edit that does not fit, content that is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import orjson

from simulator.cline.classic import calls as classic
from simulator.cline.profiles import Profile
from simulator.cline.sdk import calls as sdk
from simulator.core.action import Action, Edit, Write
from simulator.core.solution import Said

#: the line around a search text that is nowhere in the file
ELSEWHERE = "# as it stood before the change of last week"


@dataclass(frozen=True, slots=True)
class Forms:
    """Of one reply. cwd: the folder that absolute paths in it lie in."""

    profile: Profile
    reply: Said
    cwd: str

    def unfit(self, actions: Sequence[Action]) -> Said | None:
        """The first search text of each edit is nowhere in its file; None, nothing is edited."""
        return self._with([(a, _unfit(a)) for a in actions if isinstance(a, Edit)])

    def wrong(self, actions: Sequence[Action]) -> Said | None:
        """All that is written has only the first half of its lines; None, nothing is written."""
        return self._with([(a, _wrong(a)) for a in actions if isinstance(a, Edit | Write)])

    def _with(self, changed: Sequence[tuple[Action, Action]]) -> Said | None:
        if not changed:
            return None
        if self.profile.calls == "xml":
            content = self.reply.content
            for old, new in changed:
                content = content.replace(_body(old), _body(new), 1)
            return replace(self.reply, content=content)
        swaps: dict[tuple[str, str], str] = {}
        for old, new in changed:
            for (name, before), (_, after) in zip(self._native(old), self._native(new), strict=True):
                swaps[name, before] = after
        calls = self.reply.calls
        return replace(self.reply, calls=tuple((name, _swapped(name, given, swaps)) for name, given in calls))

    def _native(self, action: Action) -> list[tuple[str, str]]:
        sdk_calls = self.profile.client == "sdk"
        made = sdk.calls(action, self.cwd) if sdk_calls else [classic.as_native(action, "", self.cwd)]
        return [(name, orjson.dumps(arguments).decode()) for name, arguments in made]


def _unfit(edit: Edit) -> Edit:
    (search, new), *others = edit.blocks
    return replace(edit, blocks=((f"{ELSEWHERE}\n{search}\n{ELSEWHERE}\n", new), *others))


def _wrong(action: Edit | Write) -> Edit | Write:
    if isinstance(action, Edit):
        return replace(action, blocks=tuple((search, _half(new)) for search, new in action.blocks))
    return replace(action, content=_half(action.content))


def _half(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(lines[: len(lines) // 2])


def _body(action: Action) -> str:
    """What of an XML call the action's content is."""
    return classic.diff(action.blocks) if isinstance(action, Edit) else getattr(action, "content", "")


def _swapped(name: str, arguments: str, swaps: dict[tuple[str, str], str]) -> str:
    """Arguments may hold a checklist beside the action's own."""
    given = orjson.loads(arguments)
    progress = {"task_progress": given.pop("task_progress")} if "task_progress" in given else {}
    after = swaps.get((name, orjson.dumps(given).decode()))
    return arguments if after is None else orjson.dumps(orjson.loads(after) | progress).decode()
