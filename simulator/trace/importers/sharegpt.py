"""ShareGPT: {id, conversations: [{from, value}]}, in an array or a line each; neither times nor token counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simulator.trace import messages as wire
from simulator.trace.asked import Asked
from simulator.trace.draft import Draft, Figures
from simulator.trace.messages import Message
from simulator.trace.text import Bad, members, rows

_ROLES = {"system": "system", "human": "user", "user": "user", "gpt": "assistant", "chatgpt": "assistant",
          "assistant": "assistant", "bing": "assistant", "bard": "assistant", "function_call": "assistant",
          "tool": "user", "observation": "user", "function_response": "user"}  # fmt: skip


def read(path: Path, asked: Asked) -> Iterator[Draft]:
    for number, line, value in _conversations(path):
        try:
            if isinstance(value, Bad):
                raise value
            yield _session(value, f"{path.stem}-{number}")
        except Bad as why:
            asked.leave(path, f"conversation {number}: {why}", line)


def _conversations(path: Path) -> Iterator[tuple[int, int, Any]]:
    """(number, line or 0, value)."""
    with path.open("rb") as file:
        array = file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"["
    if array:
        for number, (_, value) in enumerate(members(path), 1):
            yield number, 0, value
    else:
        for number, (line, value) in enumerate(rows(path), 1):
            yield number, line, value


def _session(value: Any, fallback: str) -> Draft:
    told = value.get("conversations") if isinstance(value, dict) else None
    if not isinstance(told, list):
        raise Bad("it has no list of conversations")
    draft = Draft(
        format="sharegpt", session=str(value.get("id") or fallback), stored=True,
        body={"model": "", "messages": None, "stream": True}, estimated={"body": "messages only"},
    )  # fmt: skip
    prompt: list[Message] = []
    for each in told:
        said = each if isinstance(each, dict) else {}
        role = _ROLES.get(str(said.get("from", said.get("role"))))
        if role is None:
            raise Bad(f"somebody in it is called {said.get('from')!r:.40}")
        message = {"role": role, "content": wire.text_of(said.get("value", said.get("content")))}
        if role == "assistant" and prompt:
            draft.turn(prompt, message, Figures())
        prompt = [*prompt, message]
    return draft
