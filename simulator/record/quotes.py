"""Whether one request holds words of another, however they are wrapped: as JSON in JSON, in tags, with marks around."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import orjson

#: characters that no serialiser changes, in a row, that are taken for a quotation
SHORTEST = 40
MOST = 160
_RUN = re.compile(rf"[A-Za-z0-9 ,.:;()_-]{{{SHORTEST},{MOST}}}")


def texts_of(value: Any, depth: int = 0) -> Iterable[str]:
    """Every string in it; of strings that are JSON themselves, those in them as well."""
    if isinstance(value, str):
        yield value
        if value[:1] in "{[" and depth < 8:
            try:
                yield from texts_of(orjson.loads(value), depth + 8)
            except orjson.JSONDecodeError:
                return
    elif isinstance(value, dict) and depth < 64:
        for each in value.values():
            yield from texts_of(each, depth + 1)
    elif isinstance(value, list) and depth < 64:
        for each in value:
            yield from texts_of(each, depth + 1)


def snippet(message: Any) -> str:
    """A message's longest run of plain characters; "" when it has none that is long enough to know it by."""
    longest = ""
    for text in texts_of(message):
        for found in _RUN.finditer(text[:20_000]):
            if len(found[0].strip()) > len(longest):
                longest = found[0].strip()
    return longest if len(longest) >= SHORTEST else ""


def spoken(message: Any) -> str:
    """All that a reply's calls say, for a search."""
    if not isinstance(message, dict):
        return ""
    return "\n".join(texts_of([message.get("tool_calls"), message.get("content")]))
