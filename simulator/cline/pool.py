"""Messages, each serialised and counted once, whatever the number of requests that carry it.

The counts follow core/template.py to the token: a message costs its rendered text and the marks around it, tools cost
the block that introduces them, and the assistant's opening ends every prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import orjson

from simulator.cline.setup import Setup
from simulator.core import template
from simulator.errors import UsageError

MARKS_TOK = 2  # <|im_start|> and <|im_end|>
END_TOK = 1  # the end mark that closes a reply, counted by engines as output


class Pool:
    """Append-only. `messages[i]` is JSON, `tok[i]` its tokens with overhead, `chars[i]` its JSON's characters."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self.count = count
        self._marks_tok = MARKS_TOK + count(template.AFTER)
        self._opening_tok = count(template.OPENING)
        self.messages: list[bytes] = []
        self.tok: list[int] = []
        self.chars: list[int] = []

    def add(self, message: dict[str, Any]) -> int:
        raw = orjson.dumps(message)
        self.messages.append(raw)
        self.tok.append(self.count(template.render(message)) + self._marks_tok)
        self.chars.append(len(raw) if raw.isascii() else len(raw.decode()))
        return len(self.messages) - 1

    def text(self, role: str, text: str) -> int:
        return self.add({"role": role, "content": text})

    def parts(self, role: str, parts: Sequence[str]) -> int:
        return self.add({"role": role, "content": [{"type": "text", "text": p} for p in parts]})

    def prompt_tok(self, view: Sequence[int]) -> int:
        return sum(self.tok[i] for i in view) + 1 + self._opening_tok

    def tools_tok(self, tools: Sequence[Any]) -> int:
        """What the template adds to a prompt for these tools."""
        return self.count(template.render_tools(tools)) + self._marks_tok if tools else 0

    def generated_tok(self, index: int) -> int:
        """Output tokens of the reply that became assistant message `index`, end mark included."""
        return self.tok[index] - self._marks_tok - self._opening_tok + END_TOK


def calls(made: Sequence[tuple[str, str, str]]) -> list[dict[str, Any]]:
    """`tool_calls` of a message; made: (id, name, arguments as JSON) each."""
    return [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in made]


def merged(base: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    """`extra` over `base`, mappings merged key by key; base's order first."""
    out = dict(base)
    for key, value in extra.items():
        old = out.get(key)
        out[key] = merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return out


def tail(fields: dict[str, Any]) -> bytes:
    """What follows the messages: `],"stream":true,...` without the closing brace."""
    return b"]," + orjson.dumps(fields)[1:-1]


def head(fields: dict[str, Any]) -> bytes:
    """The body up to and including `"messages":[`."""
    return orjson.dumps(fields)[:-1] + b',"messages":['


def reply_room_tok(window_tok: int) -> int:
    """Room that a plan leaves for the reply inside the window."""
    return min(8_192, window_tok // 8)


def too_long(setup: Setup, prompt_tok: int) -> UsageError:
    return UsageError(
        f"a request of {prompt_tok:,} tokens in {setup.cwd} does not fit context_window_tok "
        f"{setup.context_window_tok:,} even after every cut that the client makes; raise the window or choose a "
        "smaller task"
    )
