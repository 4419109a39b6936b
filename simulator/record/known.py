"""The secrets of a recording: what was learned from one request is taken out of that one and of all later ones."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import quote

import numpy as np
import orjson

from simulator.record.secrets import SHORTEST, worth

REMOVED = "[removed]"
#: secrets that are remembered, the last ones heard of; an agent's key comes with each of its requests
MOST = 4096
#: so many are searched for one by one
FEW = 64
#: a table of eight bytes' hashes, by multiplication
_BITS = 20
_SPREAD, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(64 - _BITS)


@lru_cache(maxsize=MOST)
def forms(secret: str) -> tuple[str, ...]:
    """As it is, in base64, and as JSON, a URL or HTML inside a text would have it; longest first."""
    found = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], html.escape(secret)}
    found |= {quote(secret, safe="", errors="replace"), quote(secret, errors="replace")}
    found.add(base64.b64encode(secret.encode("utf-8", "replace")).decode().rstrip("="))
    return tuple(sorted(found, key=len, reverse=True))


def scrub(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets, in any of their forms. Longer secrets first, so that no part of one is left."""
    for secret in secrets:
        for form in forms(secret):
            text = text.replace(form, REMOVED)
    return text


def scrubbed(value: Any, secrets: Sequence[str]) -> Any:
    """A JSON value without the secrets, keys and numbers included; itself where it holds none."""
    match value:
        case str():
            return scrub(value, secrets)
        case dict():
            return {scrub(str(key), secrets): scrubbed(each, secrets) for key, each in value.items()}
        case list():
            return [scrubbed(each, secrets) for each in value]
        case bool() | None:
            return value
        case _:
            return REMOVED if any(secret in str(value) for secret in secrets) else value


class Known:
    """Remembers secrets, the MOST that were heard of last."""

    def __init__(self) -> None:
        self._marks: dict[str, tuple[bytes, ...]] = {}

    def learn(self, secrets: Iterable[str]) -> None:
        for secret in worth(secrets):
            marks = self._marks.pop(secret, None)
            self._marks[secret] = _marks(secret) if marks is None else marks
        while len(self._marks) > MOST:
            del self._marks[next(iter(self._marks))]

    def within(self, value: Any) -> list[str]:
        """The secrets that a JSON value holds, longest first."""
        raw = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
        likely = self._marks if len(self._marks) <= FEW else self._likely(raw)
        held = [secret for secret in likely if any(mark in raw for mark in self._marks[secret])]
        return sorted(held, key=len, reverse=True)

    def _likely(self, raw: bytes) -> list[str]:
        """Those of which the first eight bytes are there: one look at each place instead of one search a secret."""
        owners = [(secret, mark[:SHORTEST]) for secret, marks in self._marks.items() for mark in marks]
        starts = np.frombuffer(b"".join(start for _, start in owners), "<u8")
        places = [np.frombuffer(raw, "<u8", (len(raw) - at) // 8, at) for at in range(min(8, len(raw) - 7))]
        if not places:
            return []
        seen = np.zeros(1 << _BITS, bool)
        seen[starts * _SPREAD >> _SHIFT] = True
        found = np.concatenate([each[seen[each * _SPREAD >> _SHIFT]] for each in places])
        there = np.isin(starts, found)
        return list(dict.fromkeys(owners[int(at)][0] for at in np.flatnonzero(there)))

    def clean(self, value: Any) -> Any:
        """A JSON value without any of them; itself where it holds none."""
        held = self.within(value)
        return scrubbed(value, held) if held else value


def _marks(secret: str) -> tuple[bytes, ...]:
    """Bytes of which one is in each JSON text that holds the secret."""
    return tuple({orjson.dumps(form)[1:-1] for form in forms(secret)})
