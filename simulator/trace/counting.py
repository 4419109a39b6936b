"""Tokens of messages in the product's tokenizer and template, each counted once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from simulator import tokenizer
from simulator.cline.pool import END_TOK, MARKS_TOK
from simulator.core import template
from simulator.trace.messages import Message

HOW = f"counted with {tokenizer.NAME}"
#: names of models whose tokenizer is the product's own, or has the same vocabulary
_OURS = re.compile(r"embedded-|mistral-nemo|ministral-8b|pixtral-12b|nemotron-(nano-|3-nano|h-)", re.IGNORECASE)
_BOS_TOK = 1


def ours(model: str) -> bool:
    """Whether the model's prompts can be recounted here to the token (but for its template's marks)."""
    return bool(_OURS.search(model))


class Counter:
    """Remembers what it counted by identity, so the caller keeps the same objects for the same messages."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, int]] = {}
        self._after = tokenizer.count(template.AFTER)
        self._opening = tokenizer.count(template.OPENING)

    def message(self, message: Message) -> int:
        """With the marks around it."""
        found = self._known.get(id(message))
        if found is None:
            tok = tokenizer.count(template.render(message)) + MARKS_TOK + self._after
            found = self._known[id(message)] = (message, tok)
        return found[1]

    def tools(self, tools: Any) -> int:
        if not isinstance(tools, list) or not tools:
            return 0
        found = self._known.get(id(tools))
        if found is None:
            tok = tokenizer.count(template.render_tools(tools)) + MARKS_TOK + self._after
            found = self._known[id(tools)] = (tools, tok)
        return found[1]

    def prompt(self, messages: Sequence[Message], tools: Any = None) -> int:
        return sum(map(self.message, messages)) + self.tools(tools) + _BOS_TOK + self._opening

    def reply(self, message: Message) -> int:
        """Tokens generated for a reply, its end mark included."""
        return max(1, self.message(message) - MARKS_TOK - self._after - self._opening + END_TOK)
