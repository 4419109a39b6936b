"""A live model's reply as its client understands it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simulator.core.action import Action, Complete, Declined
from simulator.core.outcome import CALL_MARKS


def looks_like_a_call(*texts: str) -> bool:
    """Whether a call that some server's parser should have taken out was left in one of them."""
    return any(mark in text for text in texts for mark in CALL_MARKS)


@dataclass(frozen=True, slots=True)
class Said:
    """A reply as it came over the wire. calls: {"id", "name", "arguments"} each, native ones. prompt_tok, output_tok,
    cached_tok: the server's usage; None when the client never got it, or the server did not say."""

    text: str
    reasoning: str = ""
    calls: Sequence[Mapping[str, str]] = ()
    prompt_tok: int | None = None
    output_tok: int | None = None
    cached_tok: int | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """One call and the actions that it asks for, at least one. id, arguments: of a native call, "" otherwise. name: ""
    when the reply's mere words stand for an action (an answer that ends the run, a plan)."""

    id: str
    name: str
    arguments: str
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Spoken:
    """text: what of the reply enters the history. progress: the checklist that it brings, or "". sound: whether its
    calls could be read without mending. leftover: it holds what looks like a call that nobody could read."""

    said: Said
    text: str
    calls: tuple[Call, ...]
    progress: str = ""
    sound: bool = True
    leftover: bool = False

    @property
    def actions(self) -> tuple[Action, ...]:
        return tuple(action for call in self.calls for action in call.actions)

    @property
    def mistaken(self) -> bool:
        """It holds a call that could not be read, or not be made."""
        return self.leftover or any(map(_mistake, self.actions))

    @property
    def acts(self) -> bool:
        """It holds a call that can be made."""
        return any(call.name and not _mistake(action) for call in self.calls for action in call.actions)

    @property
    def result(self) -> str | None:
        """The final answer, when the model says that it is done."""
        return next((action.result for action in self.actions if isinstance(action, Complete)), None)


def _mistake(action: Action) -> bool:
    return isinstance(action, Declined) and action.mistake
