"""Outcome -> the text that a client sends back, for recorded and for real outcomes alike.

The caller folds: `text = render_result(profile, action, outcome, state)`, then `state = advance(profile, state, action,
text)`. For a real outcome beside a recorded one, render the real one in the same state and advance with the *recorded*
text, so that one difference does not drag others behind it.
"""

from __future__ import annotations

from simulator.cline.classic import results as classic
from simulator.cline.profiles import Profile
from simulator.cline.sdk import results as sdk
from simulator.cline.state import ResultState
from simulator.core.action import Action, Complete, Outcome


def render_result(profile: Profile, action: Action, outcome: Outcome, state: ResultState) -> str:
    """The result text before any cut at send time; "" for Complete, which no result follows."""
    if isinstance(action, Complete):
        return ""
    match profile.client:
        case "classic":
            return classic.render(action, outcome, state)
        case "sdk":
            return sdk.render(action, outcome, state)


def advance(profile: Profile, state: ResultState, action: Action, text: str) -> ResultState:
    """The state after a call whose result was `text`."""
    return classic.advance(state, action, text) if profile.client == "classic" else state
