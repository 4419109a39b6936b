"""From a request to what the oracle says: whose conversation it is, which step comes next, and with which mistake."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import xxhash

from simulator import tokenizer
from simulator.core.solution import Said
from simulator.engine.embedded.brain import mistakes, summary
from simulator.engine.embedded.brain.history import Message, shown
from simulator.engine.embedded.brain.library import Known, Library
from simulator.engine.embedded.brain.rates import Rates
from simulator.engine.embedded.brain.speech import spoken
from simulator.engine.embedded.prompts import IM_END
from simulator.engine.embedded.replies import Limits, Reply

#: conversations whose place is remembered
MOST_PLACES = 20_000


@dataclass(frozen=True, slots=True)
class Told:
    """What an answer was, for the log. step: from 0, of `steps`; -1: a summary. tries: how often that step had been
    answered before. mistake: "" for none. fatal: it leaves the task unsolved."""

    session: str
    branch: str
    step: int
    steps: int
    tries: int
    mistake: str
    fatal: bool


@dataclass(slots=True)
class _Place:
    """Where a conversation was when it was last asked, and how often in a row."""

    step: int
    tries: int


class Oracle:
    """seed: with the request's text and the step it decides which mistakes are made. tell: is given every answer."""

    def __init__(self, library: Library, rates: Rates, *, seed: int, tell: Callable[[Told], None]) -> None:
        self.library, self._rates, self._seed, self._tell = library, rates, seed, tell
        self._places: OrderedDict[tuple[str, str, str], _Place] = OrderedDict()
        self.unknown = 0

    def answer(self, messages: Sequence[Message], *, tools: bool, fingerprint: bytes, limits: Limits) -> Reply | None:
        """None: nobody's conversation, or one whose reply's length is not the model's to decide."""
        if limits.forced or limits.min_tok or limits.stop:
            return None
        known = self.library.find(messages, native=tools)
        if known is None:
            self.unknown += 1
            return None
        said, told = self._said(known, messages, tools=tools)
        self._tell(told)
        return _reply(said, limits, fingerprint)

    def _said(self, known: Known, messages: Sequence[Message], *, tools: bool) -> tuple[Said, Told]:
        solution, steps = known.solution, len(known.solution.ways)
        if summary.asked(messages, solution, tools=tools):
            text = summary.summary(solution, summary.done_in(messages, solution))
            return Said(text), Told(solution.session, solution.branch, -1, steps, 0, "", False)
        step, tries = self._place(known, messages)
        fate = mistakes.fate(self._rates, self._seed, known.key, solution)
        if fate.kind == "loop" and step >= fate.at:
            kind, said = "loop" if step > fate.at else "", solution.ways[fate.at].reply
            return said, self._told(known, fate.at, tries, kind)
        if fate.kind == "early_stop" and step == fate.at:
            return solution.ways[-1].reply, self._told(known, step, tries, "early_stop")
        way = solution.ways[step]
        slip = "" if tries else mistakes.slip(self._rates, self._seed, known.key, solution, step)
        if slip:
            luck = mistakes.luck_of(self._seed, known.key, step)
            said = mistakes.mistaken(slip, way, xml=solution.syntax == "xml", luck=luck)
            return said, self._told(known, step, tries, slip)
        if fate.kind == "wrong_edit" and way.wrong is not None:
            return way.wrong, self._told(known, step, tries, "wrong_edit")
        return way.reply, self._told(known, step, tries, "")

    def _told(self, known: Known, step: int, tries: int, kind: str) -> Told:
        solution = known.solution
        fatal = bool(kind) and mistakes.ends(kind, solution, step)
        return Told(solution.session, solution.branch, step, len(solution.ways), tries, kind, fatal)

    def _place(self, known: Known, messages: Sequence[Message]) -> tuple[int, int]:
        """The next step, and how often it was answered before: as the conversation shows, and, since a client may ask
        again without a trace in it, as remembered."""
        name = known.key, known.solution.session, known.solution.syntax
        seen = shown(known.signs, messages)
        before = self._places.get(name)
        at = seen.next if seen.next is not None else (before.step if before else 0)
        step = min(at, len(known.solution.ways) - 1)
        tries = before.tries + 1 if before is not None and before.step == step else 0
        self._places[name] = _Place(step, max(tries, seen.tries))
        self._places.move_to_end(name)
        while len(self._places) > MOST_PLACES:
            self._places.popitem(last=False)
        return step, max(tries, seen.tries)


def _reply(said: Said, limits: Limits, fingerprint: bytes) -> Reply:
    speech, ids = spoken(said, tokenizer.load(), xxhash.xxh3_128_digest(fingerprint))
    ids = [*ids, IM_END]
    finish = "tool_calls" if said.calls else "stop"
    if len(ids) > limits.max_tok:
        ids, finish = ids[: limits.max_tok], "length"
    return Reply(np.asarray(ids, np.int32).tobytes(), [b""] * len(ids), finish, speech=speech)
