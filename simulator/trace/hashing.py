"""Prompts of messages as blocks: each message is tokenised once, and a block's name is a hash of all before its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from simulator import tokenizer
from simulator.core import template
from simulator.core.traffic.call import BLOCK_TOK
from simulator.trace.messages import Message
from simulator.trace.synthesise import text

Ids = NDArray[np.int32]
#: in place of the marks around a message, which are no token of a text
_START, _END, _BOS = -1, -2, -3


class Hasher:
    """The conversation of one branch. Messages are known by identity, so the caller keeps the objects."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, Ids]] = {}
        self._parts: list[Ids] = []
        self._blocks: list[int] = []
        self._opening = len(tokenizer.encode(template.OPENING)) + 1

    def prompt(self, messages: Sequence[Message], tools: Any, unstored: tuple[str, int]) -> tuple[int, list[int], int]:
        """unstored: a key and a number of tokens that stand before everything. Gives how many blocks of the last prompt
        are kept, the new ones' names, and the prompt's tokens."""
        parts = [self._head(unstored), self._of(tools, tools=True), *(self._of(m) for m in messages)]
        same = 0
        for old, new in zip(self._parts, parts, strict=False):
            if old is not new:
                break
            same += 1
        kept_tok = sum(map(len, parts[:same]))
        keep = min(kept_tok // BLOCK_TOK, len(self._blocks))
        ids = np.concatenate(parts[same:]) if same < len(parts) else np.zeros(0, dtype=np.int32)
        before = np.concatenate(parts[:same])[keep * BLOCK_TOK :] if same else np.zeros(0, dtype=np.int32)
        rest = np.concatenate([before, ids])
        state = self._blocks[keep - 1] if keep else 0
        fresh: list[int] = []
        for start in range(0, len(rest) - BLOCK_TOK + 1, BLOCK_TOK):
            state = xxhash.xxh64_intdigest(rest[start : start + BLOCK_TOK].tobytes(), seed=state)
            fresh.append(state)
        self._parts, self._blocks = parts, [*self._blocks[:keep], *fresh]
        return keep, fresh, kept_tok + len(ids) + self._opening

    def _of(self, told: Any, *, tools: bool = False) -> Ids:
        found = self._known.get(id(told))
        if found is None:
            found = self._known[id(told)] = (told, self._encoded(told, tools=tools))
        return found[1]

    def _encoded(self, told: Any, *, tools: bool) -> Ids:
        if tools and not told:
            return np.zeros(0, dtype=np.int32)
        rendered = template.render_tools(told) if tools else template.render(told)
        return np.array([_START, *tokenizer.encode(rendered), _END], dtype=np.int32)

    def _head(self, unstored: tuple[str, int]) -> Ids:
        key = id(unstored)
        found = self._known.get(key)
        if found is None:
            name, tok = unstored
            ids = tokenizer.encode(text(name, tok)) if tok else []
            found = self._known[key] = (unstored, np.array([_BOS, *ids], dtype=np.int32))
        return found[1]
