"""A call's arguments as JSON, and what can be made of them when they are none: clients repair what they can.

Forgiven: an end that is missing, commas too many or too few, line ends and tabs inside strings, strings in single
quotes, names without quotes, Python's words for true, false and null.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

MAX_NESTED = 64
_BLANK = re.compile(r"[\s,]*")
_BARE = re.compile(r"[^\s,:\]}\[{\"']+")
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d{1,3})?")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}


def read(arguments: str) -> tuple[dict[str, Any], bool]:
    """(fields, whether they were sound JSON). No fields when there is no object in it at all."""
    text = arguments.strip()
    if not text:
        return {}, True
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        found = None
    if isinstance(found, dict):
        return found, True
    if isinstance(found, str):  # an object that was made a string once too often
        return read(found)[0], False
    start = text.find("{")
    fields = _Tolerant(text, start).value(0) if start >= 0 else {}
    return (fields if isinstance(fields, dict) else {}), False


class _Tolerant:
    """Reads one value from `at` on and never fails: what cannot be read is left out."""

    def __init__(self, text: str, at: int) -> None:
        self._text, self._at = text, at

    def value(self, depth: int) -> Any:
        char = self._peek()
        if char == "{" and depth < MAX_NESTED:
            return self._object(depth)
        if char == "[" and depth < MAX_NESTED:
            return self._list(depth)
        if char in ('"', "'"):
            return self._string(char)
        return self._bare()

    def _peek(self) -> str:
        """The next character that counts; "" at the end."""
        found = _BLANK.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return self._text[self._at : self._at + 1]

    def _object(self, depth: int) -> dict[str, Any]:
        self._at += 1
        out: dict[str, Any] = {}
        while (char := self._peek()) and char != "}":
            if char in "]:[{":
                self._at += 1  # stands for nothing here
                continue
            name = self._string(char) if char in "\"'" else str(self._bare())
            if self._peek() != ":":
                continue  # a name whose value was cut off
            self._at += 1
            if self._peek() not in ("", "}"):
                out[name] = self.value(depth + 1)
        self._at += 1
        return out

    def _list(self, depth: int) -> list[Any]:
        self._at += 1
        out: list[Any] = []
        while (char := self._peek()) and char != "]":
            if char in "}:":
                break  # the list was never closed
            out.append(self.value(depth + 1))
        self._at += char == "]"
        return out

    def _string(self, quote: str) -> str:
        text, at, out = self._text, self._at + 1, []
        while at < len(text) and text[at] != quote:
            if text[at] == "\\" and at + 1 < len(text):
                mark = text[at + 1]
                code = text[at + 2 : at + 6] if mark == "u" else ""
                if len(code) == 4 and all(c in "0123456789abcdefABCDEF" for c in code):
                    out.append(chr(int(code, 16)))
                    at += 6
                else:
                    out.append(_ESCAPES.get(mark, mark))
                    at += 2
            else:
                out.append(text[at])
                at += 1
        self._at = at + 1
        return _paired("".join(out))

    def _bare(self) -> Any:
        found = _BARE.match(self._text, self._at)
        if found is None:
            self._at += 1
            return None
        self._at = found.end()
        word = found[0]
        if word in _WORDS:
            return _WORDS[word]
        number = _NUMBER.fullmatch(word)
        if number is None:
            return word
        return float(word) if number[1] or number[2] else int(word)


def _paired(text: str) -> str:
    """Two halves of one character, each escaped, become it; half a one becomes a mark of what is lost."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
