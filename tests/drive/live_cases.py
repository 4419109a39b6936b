"""Replies of a scripted model in each client's own form, for live sessions."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from talking import BUG, CWD, Played, Says

from simulator.cline.classic.calls import as_native, as_xml
from simulator.cline.profiles import profile as profile_of
from simulator.cline.sdk import calls as sdk
from simulator.core.action import Action, Command, Complete, Edit, ReadFile, Write
from simulator.drive.wall import PARTS

PROFILES = ("classic-xml", "classic-glm", "classic-native", "compact", "sdk")
READ, FIX = ReadFile("calc.py"), Edit("calc.py", (("    return x + x + 1\n", "    return x + x\n"),))
WRONG = Write("calc.py", BUG.replace("+ 1", "- 1"))
DONE = Complete("double() doubles now.")
PATH: tuple[tuple[Action, ...], ...] = (
    (READ,),
    (FIX,),
    (Command("python -c 'import calc; print(calc.double(2))'"),),
    (DONE,),
)

NOTHING = Says("I think it is fine as it is.")


def said(profile: str, *actions: Action, text: str = "Next.", **more: Any) -> Says:
    """The reply of a model that does these, in its client's own form."""
    chosen = profile_of(profile)
    if chosen.client == "sdk":
        made = [call for action in actions for call in sdk.calls(action, CWD)]
        return Says(sdk.answer(text, actions), tuple((n, json.dumps(a)) for n, a in made), **more)
    if chosen.calls == "native":
        made = [as_native(action, "", CWD) for action in actions]
        return Says(text, tuple((n, json.dumps(a)) for n, a in made), **more)
    return Says("\n\n".join([text, *(as_xml(action, "") for action in actions)]), **more)


def steps(profile: str, *replies: Sequence[Action] | Says) -> Callable[[dict[str, Any], int], Says]:
    """One reply a request; the last one for ever."""

    def script(body: dict[str, Any], n: int) -> Says:
        reply = replies[min(n, len(replies) - 1)]
        return reply if isinstance(reply, Says) else said(profile, *reply)

    return script


def adds_up(done: Played) -> None:
    session = done.session
    parts = sum(getattr(session, f"{part}_s") for part in PARTS)
    assert parts == pytest.approx(session.t_end_s - session.t_ready_s, abs=1e-6)
    _is_told(done)


def _is_told(done: Played) -> None:
    """The transcript has every request once, and of each message the first time that it was sent."""
    lines, shown = done.lines.transcript, list[Any]()
    assert [(line["request"], line["turn"], line["outcome"]) for line in lines] == [
        (r.request, r.turn, r.outcome) for r in done.lines.requests
    ]
    for line, body in zip(lines, done.model.bodies, strict=True):
        new = [message for message in body["messages"] if message not in shown]
        assert [message for message in line["sent"] if message not in shown] == new
        assert line["messages"] == len(body["messages"]) and all(sent in body["messages"] for sent in line["sent"])
        shown += line["sent"]
