"""Text in place of what a trace only gives the size of: words that are one token each, chosen by what they stand for.

A prompt's blocks are cut into cells of a fixed grid, a message each. Two prompts that begin with the same blocks thus
begin with the same tokens, up to the block in which they part; the marks around messages are part of the count.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Sequence

import numpy as np

from simulator import tokenizer
from simulator.cline.pool import MARKS_TOK
from simulator.core import template
from simulator.trace.messages import Message

#: tokens of a cell, at least; a multiple of the block size is taken
CELL_TOK = 1_024
_WORDS = 4_096
_BOS_TOK = 1


@functools.cache
def _words() -> tuple[str, ...]:
    """Words with the blank before them, each a token that no neighbour changes."""
    plain = re.compile(rb" [a-z]{3,9}")
    found = sorted(w.decode() for w in tokenizer.load().token_byte_values() if plain.fullmatch(w))
    return tuple(found[:: max(1, len(found) // _WORDS)][:_WORDS])


@functools.lru_cache(maxsize=65_536)
def _block(key: str, tok: int) -> tuple[str, ...]:
    words = _words()
    drawn = np.frombuffer(hashlib.shake_128(key.encode()).digest(2 * tok), dtype=np.uint16) % len(words)
    return tuple(words[n] for n in drawn)


def text(key: str, tok: int) -> str:
    """A text of `tok` tokens, the same for the same key; a longer one begins with a shorter one of its key."""
    return "".join(_block(key, max(tok, 1))[:tok]) if tok > 0 else ""


@functools.cache
def overhead_tok() -> int:
    """Of a user's message: the marks and the role's line."""
    return MARKS_TOK + tokenizer.count(template.AFTER) + tokenizer.count("user\n")


def message(words: str) -> Message:
    return {"role": "user", "content": words}


class Cells:
    """Messages of the prompts of one session. key: of a block's name and place, what its text depends on."""

    def __init__(self, block_tok: int, key: Callable[[int | None, int], str]) -> None:
        self._block_tok, self._key = max(1, block_tok), key
        self._size = -(-CELL_TOK // self._block_tok) * self._block_tok
        self._opening = tokenizer.count(template.OPENING)
        self._made: dict[tuple[tuple[int, ...], int, int], Message] = {}

    def prompt(self, blocks: Sequence[int], prompt_tok: int) -> list[Message]:
        """prompt_tok: of the whole prompt, template included; what the blocks do not cover is private text. The result
        misses it by less than a message's overhead where the last cell would be no longer than that."""
        room = max(prompt_tok - self._opening, 1)
        out = []
        for start in range(0, room, self._size):
            tok = min(self._size, room - start) - (_BOS_TOK if not start else 0) - overhead_tok()
            if tok > 0:
                out.append(self._cell(blocks, start, tok))
        return out or [message(text(self._key(None, 0), 1))]

    def _cell(self, blocks: Sequence[int], start: int, words: int) -> Message:
        each = self._block_tok
        first = start // each
        named = tuple(blocks[first : first + -(-words // each)])
        found = self._made.get((named, start, words))
        if found is None:
            parts = [_block(self._key(block, first + n), each) for n, block in enumerate(named)]
            missing = range(first + len(named), first + -(-words // each))
            parts += [_block(self._key(None, place), each) for place in missing]
            chosen = [word for part in parts for word in part][:words]
            found = self._made[(named, start, words)] = message("".join(chosen))
        return found
