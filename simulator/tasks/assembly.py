"""Several conversations of one session, its own and its sub-agents', in one pool of messages and one list of frames."""

from __future__ import annotations

from dataclasses import dataclass, replace

from simulator.cline.conversation import Conversation
from simulator.core.plan import Branch, Turn


@dataclass(frozen=True, slots=True)
class Grown:
    """A sub-agent's finished conversation. turns: views and heads are its own."""

    name: str
    talk: Conversation
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Parts:
    """As core.plan.SessionPlan wants them; the session's own messages and frames come first and keep their places."""

    heads: tuple[bytes, ...]
    tails: tuple[bytes, ...]
    pool: tuple[bytes, ...]
    branches: tuple[Branch, ...]


class Assembly:
    def __init__(self, talk: Conversation) -> None:
        self._talk = talk
        self._grown: list[Grown] = []

    def branch(self, grown: Grown) -> int:
        """Adds one; gives its index."""
        self._grown.append(grown)
        return len(self._grown) - 1

    def parts(self) -> Parts:
        frames = list(zip(self._talk.heads, self._talk.tails, strict=True))
        pool = list(self._talk.pool)
        branches = []
        for grown in self._grown:
            places = []
            for frame in zip(grown.talk.heads, grown.talk.tails, strict=True):
                if frame not in frames:
                    frames.append(frame)
                places.append(frames.index(frame))
            turns = [_moved(turn, len(pool), places) for turn in grown.turns]
            pool += grown.talk.pool
            branches.append(Branch(grown.name, tuple(turns)))
        heads, tails = zip(*frames, strict=True)
        return Parts(heads, tails, tuple(pool), tuple(branches))


def _moved(turn: Turn, by: int, places: list[int]) -> Turn:
    return replace(turn, view=tuple(i + by for i in turn.view), head=places[turn.head])
