"""Tool calls out of a reply's text, read while it streams.

The client looks for nothing but the tags that it knows: in prose the opening tag of a tool, in a tool those of
parameters and the tool's closing tag, in a parameter its closing tag alone. So a tag inside a file's content is
content, a bare tool name in prose is prose, and an opening tag counts wherever it stands, in a code fence as well. A
reply that ends inside a call leaves the call as far as it came, and the client takes that.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

#: values that keep their blanks: the text of a file
VERBATIM = ("content", "diff")


@dataclass(frozen=True, slots=True)
class XmlCall:
    """params: by name, blanks around them taken off but for VERBATIM ones, which lose the line end behind their opening
    tag. start, end: the call's place in the reply. whole: its closing tag has come."""

    name: str
    params: dict[str, str]
    start: int
    end: int
    whole: bool


class XmlReader:
    """`feed` the reply's text in any pieces. calls: those whose closing tag has come, in order."""

    def __init__(self, tools: Collection[str], params: Collection[str]) -> None:
        self._opens = re.compile("<(" + "|".join(map(re.escape, tools)) + ")>")
        self._inner = "|".join(f"<(?P<p{n}>{re.escape(name)})>" for n, name in enumerate(params))
        self._longest = max(len(name) for name in (*tools, *params)) + 3
        self._text = ""
        self._at = 0  # what lies before needs no other look
        self._tool, self._start = "", 0
        self._in_tool: re.Pattern[str] | None = None
        self._param, self._value_at = "", 0
        self._params: dict[str, str] = {}
        self.calls: list[XmlCall] = []

    @property
    def text(self) -> str:
        return self._text

    @property
    def open(self) -> XmlCall | None:
        """The call that has begun and not ended, as far as it has come."""
        if not self._tool:
            return None
        params = dict(self._params)
        if self._param:
            params[self._param] = _value(self._param, self._text[self._value_at :])
        return XmlCall(self._tool, params, self._start, len(self._text), whole=False)

    def feed(self, piece: str) -> None:
        self._text += piece
        while self._step():
            pass

    def finish(self) -> list[XmlCall]:
        """The reply is over: all calls, one that is still open as it stands."""
        return [*self.calls, *filter(None, [self.open])]

    def _step(self) -> bool:
        """Moves on to the next tag; False when it has not come yet."""
        if self._param:
            return self._close_param()
        if self._tool:
            return self._inside()
        found = self._opens.search(self._text, self._at)
        if found is None:
            return self._wait()
        self._tool, self._start, self._at = found[1], found.start(), found.end()
        self._in_tool = re.compile(f"{self._inner}|</{re.escape(self._tool)}>")
        self._params = {}
        return True

    def _inside(self) -> bool:
        assert self._in_tool is not None
        found = self._in_tool.search(self._text, self._at)
        if found is None:
            return self._wait()
        self._at = found.end()
        if found.lastgroup is not None:
            self._param, self._value_at = found[found.lastgroup], self._at
        else:
            self.calls.append(XmlCall(self._tool, self._params, self._start, self._at, whole=True))
            self._tool = ""
        return True

    def _close_param(self) -> bool:
        tag = f"</{self._param}>"
        end = self._text.find(tag, self._at)
        if end < 0:
            return self._wait()
        self._params[self._param] = _value(self._param, self._text[self._value_at : end])
        self._param, self._at = "", end + len(tag)
        return True

    def _wait(self) -> bool:
        """The start of a tag may have come, so a tag's length is looked at again."""
        self._at = max(self._at, len(self._text) - self._longest)
        return False


def _value(name: str, raw: str) -> str:
    if name not in VERBATIM:
        return raw.strip()
    return raw.removeprefix("\r").removeprefix("\n") if raw.strip() else ""
