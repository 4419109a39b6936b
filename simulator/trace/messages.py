"""Messages of other clients in the form in which an OpenAI-compatible server gets them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from simulator.trace.text import Bad, compact

Message = dict[str, Any]
ROLES = ("system", "developer", "user", "assistant", "tool", "function")


def mapping(value: Any) -> dict[str, Any]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """The value where it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def checked(message: Any) -> Message:
    """The message itself when it has a form that can be sent and counted; else Bad."""
    if not isinstance(message, dict):
        raise Bad("a message is no object")
    if message.get("role") not in ROLES:
        raise Bad(f"a message has the role {message.get('role')!r}")
    content = message.get("content")
    if isinstance(content, list):
        for part in content:
            if not isinstance(part, dict) or not isinstance(part.get("text", ""), str):
                raise Bad("a part of a message's content is no object with a text")
    elif content is not None and not isinstance(content, str):
        raise Bad("a message's content is neither text nor a list of parts")
    made = message.get("tool_calls")
    if made is not None and not isinstance(made, list):
        raise Bad("a message's tool_calls is no list")
    for call in made or ():
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise Bad("a tool call has no function with a name")
        if not isinstance(function.get("arguments", ""), str):
            raise Bad("a tool call's arguments are no text")
    return message


def checked_body(body: Message | None) -> Message | None:
    """The body itself when its tools have a form that can be sent and counted; else Bad."""
    tools = (body or {}).get("tools")
    if tools is not None and not isinstance(tools, list):
        raise Bad("`tools` of a body is no list")
    for tool in tools or ():
        if not isinstance(tool, dict) or not isinstance(mapping(tool.get("function")).get("name", ""), str):
            raise Bad("one of a body's tools is no object, or its function's name is no text")
    return body


def text_of(content: Any) -> str:
    """What a content says: a text, or the texts of its parts on lines of their own."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_part_text(part) for part in content)
    return "" if content is None else compact(content)


def _part_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        for key in ("text", "content"):
            if isinstance(part.get(key), str):
                return str(part[key])
        if part.get("type") in ("image", "image_url", "input_image"):
            return "[image]"
    return compact(part)


def call(ident: str, name: str, arguments: Any) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else compact(arguments)
    return {"id": ident, "type": "function", "function": {"name": name, "arguments": text}}


def assistant(text: str, calls: list[dict[str, Any]], reasoning: str = "") -> Message:
    message: Message = {"role": "assistant", "content": text or None}
    if reasoning:
        message["reasoning_content"] = reasoning
    if calls:
        message["tool_calls"] = calls
    elif not text:
        message["content"] = ""
    return message


def blocks(message: Any) -> Iterator[dict[str, Any]]:
    """The content blocks of a message in the Anthropic form; a text is one block."""
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, list):
        for block in content:
            if not isinstance(block, dict):
                raise Bad("a content block is no object")
            yield block
    elif content is not None:
        raise Bad("a message's content is neither text nor a list of blocks")


def said(given: Iterable[dict[str, Any]], *, reasoning: bool) -> Message:
    """An assistant's content blocks as one message. reasoning: hidden thinking goes with it."""
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[dict[str, Any]] = []
    for block in given:
        match block.get("type"):
            case "text":
                texts.append(_text(block, "text"))
            case "thinking":
                thoughts.append(_text(block, "thinking"))
            case "tool_use":
                calls.append(call(str(block.get("id") or ""), str(block.get("name") or ""), block.get("input") or {}))
    return assistant("\n".join(texts), calls, "".join(thoughts) if reasoning else "")


def heard(given: Iterable[dict[str, Any]]) -> list[Message]:
    """A user's content blocks: a `tool` message for each result, and one of the user's for all that is not."""
    out: list[Message] = []
    texts: list[str] = []
    for block in given:
        if block.get("type") == "tool_result":
            out.append(tool_result(str(block.get("tool_use_id") or ""), text_of(block.get("content"))))
        elif block.get("type") == "text":
            texts.append(_text(block, "text"))
        else:
            texts.append(_part_text(block))
    if texts:
        parts = [{"type": "text", "text": text} for text in texts]
        out.append({"role": "user", "content": texts[0] if len(texts) == 1 else parts})
    return out


def tool_result(ident: str, text: str) -> Message:
    return {"role": "tool", "tool_call_id": ident, "content": text}


def _text(block: dict[str, Any], key: str) -> str:
    value = block.get(key)
    if not isinstance(value, str):
        raise Bad(f"a block of type {block.get('type')!r} has no {key}")
    return value


def made_calls(message: Message | None) -> list[tuple[str, str]]:
    """(id, tool name) of each call of an assistant's message."""
    calls = (message or {}).get("tool_calls") or ()
    return [(str(c.get("id") or ""), str(c["function"]["name"])) for c in calls]
