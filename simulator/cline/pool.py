"""Messages, each serialised and counted once, whatever the number of requests that carry it.

The counts follow a chatml template, the form that the served models use: a message costs its text plus
`<|im_start|>role\\n` and `<|im_end|>\\n`; text parts of a list are joined by a line end; a call is wrapped in
`<tool_call>` lines as JSON; a generation prompt ends the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import orjson

from simulator.cline.setup import Setup
from simulator.errors import UsageError

MESSAGE_TOK = 5  # <|im_start|>, role, line end; <|im_end|>, line end
REPLY_TOK = 3  # <|im_start|>assistant and its line end
END_TOK = 1  # the end mark that closes a reply, counted by engines as output
CALL_TOK = 16  # <tool_call>, {"name": , "arguments": }, </tool_call> and line ends
TOOLS_TOK = 90  # the paragraph with which a template introduces its tools


class Pool:
    """Append-only. `messages[i]` is JSON, `tok[i]` its tokens with overhead, `chars[i]` its JSON's characters."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self.count = count
        self.messages: list[bytes] = []
        self.tok: list[int] = []
        self.chars: list[int] = []

    def add(self, message: dict[str, Any], tok: int) -> int:
        """tok: tokens of what the template shows, without the message's overhead."""
        raw = orjson.dumps(message)
        self.messages.append(raw)
        self.tok.append(tok + MESSAGE_TOK)
        self.chars.append(len(raw) if raw.isascii() else len(raw.decode()))
        return len(self.messages) - 1

    def text(self, role: str, text: str) -> int:
        return self.add({"role": role, "content": text}, self.count(text))

    def parts(self, role: str, parts: Sequence[str]) -> int:
        content = [{"type": "text", "text": p} for p in parts]
        return self.add({"role": role, "content": content}, self.count("\n".join(parts)))

    def prompt_tok(self, view: Sequence[int]) -> int:
        return sum(self.tok[i] for i in view) + REPLY_TOK


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
