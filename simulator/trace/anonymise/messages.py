"""A message without what it says, that costs as many tokens as before."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from simulator import tokenizer
from simulator.core import template
from simulator.trace.anonymise.values import Values, arguments
from simulator.trace.anonymise.words import Words
from simulator.trace.messages import ROLES, Message

THOUGHTS = ("reasoning", "reasoning_content")
IMAGES = ("image", "image_url", "input_image")
#: one grey dot, for servers that look at images
DOT = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="
)
TRIES = 6


class Messages:
    """unequal: messages whose tokens could not be matched, as nothing in them is a text."""

    def __init__(self, words: Words, values: Values) -> None:
        self._words, self._values = words, values
        self.unequal = 0

    def of(self, message: Message) -> Message:
        made = {self._values.key(name): self._field(name, value) for name, value in message.items()}
        self._match(message, made)
        return made

    def _field(self, name: str, value: Any) -> Any:
        words = self._words
        match name:
            case "role":
                return value if value in ROLES else "user"
            case "content" if isinstance(value, str):
                return words.text(value)
            case "content" if isinstance(value, list):
                return [self._part(part) for part in value]
            case "tool_calls" if isinstance(value, list):
                return [self._call(call) for call in value]
            case "tool_call_id" if isinstance(value, str):
                return words.shaped(value)
            case "name" if isinstance(value, str):
                return self._values.tool(value)
            case _:
                return self._values.of(value, name)

    def _part(self, part: Any) -> Any:
        if isinstance(part, dict) and part.get("type") in IMAGES:
            return {"type": "image_url", "image_url": {"url": DOT}}
        return self._values.of(part)

    def _call(self, call: Any) -> Any:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict):
            return self._values.of(call)
        made = self._values.of({name: each for name, each in call.items() if name not in ("function", "id")})
        told = self._values.of({name: each for name, each in function.items() if name not in ("name", "arguments")})
        told = {"name": self._values.tool(str(function.get("name", ""))), **told}
        if isinstance(function.get("arguments"), str):
            told["arguments"] = arguments(function["arguments"], self._values.of, self._words)
        ident = {"id": self._words.shaped(call["id"])} if isinstance(call.get("id"), str) else {}
        return {**ident, **made, "function": told}

    def _match(self, old: Message, made: Message) -> None:
        """Words more or fewer at the end of the longest text until both cost the same."""
        wanted = cost(old)
        for _ in range(TRIES):
            missing = wanted - cost(made)
            if not missing:
                return
            place = max(_places(made), key=lambda each: len(each[0]), default=None)
            if place is None:
                break
            text, put = place
            put(self._words.more(text, missing))
        self.unequal += wanted != cost(made)


def cost(message: Message) -> int:
    """Tokens of its text between the marks of the template."""
    return tokenizer.count(template.render(message))


Put = Callable[[str], None]


def _places(message: Message) -> Iterator[tuple[str, Put]]:
    """The texts of a message, and how each is replaced."""
    for name in ("content", *THOUGHTS):
        if isinstance(message.get(name), str) and message[name]:
            yield message[name], _putter(message, name)
    for part in message["content"] if isinstance(message.get("content"), list) else ():
        if isinstance(part, dict) and isinstance(part.get("text"), str) and part["text"]:
            yield part["text"], _putter(part, "text")
    for call in message.get("tool_calls") or ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict) and isinstance(function.get("arguments"), str):
            yield from _in_arguments(function)


def _in_arguments(function: dict[str, Any]) -> Iterator[tuple[str, Put]]:
    text = function["arguments"]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        yield text, _putter(function, "arguments")
        return
    tight = ", " not in text[:200] and '": ' not in text[:200]

    def write(owner: Any, key: Any) -> Put:
        def put(new: str) -> None:
            owner[key] = new
            separators = (",", ":") if tight else (", ", ": ")
            function["arguments"] = json.dumps(value, ensure_ascii=False, separators=separators)

        return put

    for owner, key in _strings(value):
        yield owner[key], write(owner, key)


def _strings(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        if isinstance(each, str) and each:
            yield value, key
        else:
            yield from _strings(each)


def _putter(owner: dict[str, Any], key: str) -> Put:
    def put(new: str) -> None:
        owner[key] = new

    return put
