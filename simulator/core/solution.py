"""A recorded solution as replies: what a model that solves the task says at each step, in its client's own syntax.

Written by tasks/solutions.py from a plan, read by the embedded engine's oracle; a line of JSON a conversation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import orjson

Syntax = Literal["xml", "native"]
Client = Literal["classic", "sdk"]


@dataclass(frozen=True, slots=True)
class Said:
    """One reply. calls: (tool, arguments as JSON) of each native call; calls in XML are part of `content`. after: what
    comes behind the calls."""

    content: str
    reasoning: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    after: str = ""


@dataclass(frozen=True, slots=True)
class Way:
    """One step of the way to the solution.

    reply: as recorded. unfit: the same with an edit whose search text is nowhere in the file; None, nothing is edited.
    wrong: the same with content that does not do what it should; None, nothing is written. asks: (tool, arguments as
    JSON) of each call, in either syntax. changes: the workspace is another after it; counts: in something that the
    task's check looks at, as far as paths tell. did: the step in a few words.
    """

    reply: Said
    asks: tuple[tuple[str, str], ...] = ()
    unfit: Said | None = None
    wrong: Said | None = None
    changes: bool = False
    counts: bool = False
    did: str = ""


@dataclass(frozen=True, slots=True)
class Solution:
    """One conversation's. request: the text of the task, by which the conversation is known. branch: the sub-agent's
    name, "" for the session's own conversation. cwd: the folder that absolute paths in the replies lie in. alike: other
    sessions are asked the same in the same words, so that only the folder tells whose conversation it is."""

    session: str
    branch: str
    client: Client
    syntax: Syntax
    cwd: str
    request: str
    ways: tuple[Way, ...]
    alike: bool = False

    def line(self) -> bytes:
        """As one line of JSON, its end included."""
        return orjson.dumps(asdict(self), option=orjson.OPT_APPEND_NEWLINE)


def from_line(line: bytes) -> Solution:
    """The solution that a line holds. ValueError when it holds none."""
    try:
        raw = orjson.loads(line)
        ways = tuple(_way(each) for each in raw.pop("ways"))
        return Solution(**raw, ways=ways)
    except KeyError as error:
        raise ValueError(f"no solution of this version, it lacks {error}") from None
    except (AttributeError, TypeError) as error:
        raise ValueError(f"no solution: {error}") from None


def _way(raw: Mapping[str, Any]) -> Way:
    said = {key: _said(raw[key]) for key in ("reply", "unfit", "wrong") if raw[key] is not None}
    return Way(asks=_pairs(raw["asks"]), changes=raw["changes"], counts=raw["counts"], did=raw["did"], **said)


def _said(raw: Mapping[str, Any]) -> Said:
    return Said(raw["content"], raw["reasoning"], _pairs(raw["calls"]), raw["after"])


def _pairs(raw: list[list[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, arguments) for name, arguments in raw)
