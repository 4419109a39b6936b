"""Calls that a client reads out of a reply's text: Cline's classic clients, and those that took over its form."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from simulator.cline.live.classic_calls import NEEDED, PARAMS
from simulator.cline.live.xml import XmlReader
from simulator.trace.messages import Message, made_calls, text_of


def calls_of(prompt: Sequence[Message], reply: Message | None) -> list[tuple[str, str]]:
    """(id, tool) of each call of a reply: those of its `tool_calls`; without any, the one in its text, whose id is "".
    A tool is looked for in the text when the system prompt shows its tag, so that a tag that other clients' models
    write is none. Such a client takes one call a reply, also one that the reply's end cut behind a parameter's tag."""
    native = made_calls(reply)
    if native or reply is None or not prompt or prompt[0].get("role") != "system":
        return native
    told = text_of(reply.get("content"))
    tools = _offered(text_of(prompt[0].get("content"))) if "<" in told else ()
    if not tools:
        return []
    reader = XmlReader(tools, PARAMS)
    reader.feed(told)
    return [("", call.name) for call in reader.finish()[:1] if call.whole or call.params]


@functools.lru_cache(maxsize=64)
def _offered(system: str) -> tuple[str, ...]:
    return tuple(name for name in NEEDED if f"<{name}>" in system and f"</{name}>" in system)
