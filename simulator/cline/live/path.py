"""How far a live session keeps to the recorded way: which calls it makes of those that the recording has, and when it
first makes others."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from simulator.cline.classic import calls as classic
from simulator.cline.profiles import profile
from simulator.cline.sdk import calls as sdk
from simulator.core.action import Action, Complete, Declined, Delegate, Edit, Insert, Propose, SwitchToAct

Key = tuple[str, str]
_END: Key = (Complete.__name__, "")


def keys(profile_name: str, actions: Sequence[Action]) -> tuple[Key, ...]:
    """The calls of one reply, such that two replies ask for the same when theirs are equal: an edit in two places is as
    good as two edits, blanks at the ends of a text do not count, nor do the words of an answer or a plan."""
    return tuple(key for action in actions for key in _keys(profile(profile_name).client, action))


class Divergence:
    """path: the recorded actions, a step each."""

    def __init__(self, profile_name: str, path: Sequence[Sequence[Action]]) -> None:
        self._name = profile_name
        self._steps = [keys(profile_name, actions) for actions in path]
        self._made: Counter[Key] = Counter()
        self._turn = 0
        self._first: int | None = None

    def add(self, actions: Sequence[Action]) -> None:
        """What the next turn does."""
        made = keys(self._name, actions)
        self._made.update(made)
        recorded = self._steps[self._turn] if self._turn < len(self._steps) else ()
        if self._first is None and made != recorded:
            self._first = self._turn
        self._turn += 1

    @property
    def first(self) -> int | None:
        """The first turn that differs, one that the live session did not get to as well; None: none did, or nothing is
        recorded."""
        if not self._steps:
            return None
        if self._first is None and self._turn < len(self._steps):
            return self._turn
        return self._first

    @property
    def share(self) -> float | None:
        """Of the recorded calls, how many were made, wherever; None when nothing is recorded. The end is none of them:
        a model that does nothing but end has gone no part of the way."""
        recorded = Counter(key for step in self._steps for key in step if key != _END)
        total = recorded.total()
        return (recorded & self._made).total() / total if total else None


def _keys(client: str, action: Action) -> list[Key]:
    match action:
        case Complete() | SwitchToAct() | Propose():
            return [(type(action).__name__, "")]
        case Delegate(prompts):
            return [("Delegate", prompt.strip()) for prompt in prompts]
        case Declined(tool, arguments):
            return [(f"declined {tool}", arguments)]
        case Insert(path, line, text):
            return [("insert", json.dumps([path, line, text.strip()]))]
    if client == "sdk":
        return [(name, _told(arguments)) for name, arguments in sdk.calls(action, "/")]
    if isinstance(action, Edit):
        return [("replace_in_file", _told({"path": action.path, "diff": classic.diff((b,))})) for b in action.blocks]
    name, params = classic.call(action)
    return [(name, _told(params))]


def _told(params: object) -> str:
    return json.dumps(_trimmed(params), sort_keys=True)


def _trimmed(value: object) -> object:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, dict):
        return {key: _trimmed(each) for key, each in value.items() if each is not None}
    return [_trimmed(each) for each in value] if isinstance(value, list) else value
