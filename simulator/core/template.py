"""The chat template by which plans are counted and which the embedded engine uses: the ChatML form, that of the
served models. `<|im_start|>role\\n ... <|im_end|>\\n`, tools as JSON in a first system block, and the assistant's
opening at the end. The two marks are one token each and belong to no text.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from typing import Any

import orjson

#: between a turn's end mark and the next turn's start mark
AFTER = "\n"
OPENING = "assistant\n"

_TOOLS = """system
# Tools

Functions are at your disposal for the work that the user asks for. Each is described by one line of JSON between the \
tags below: its name, what it does, and the schema of its arguments.
<tools>
%s
</tools>

To call one, answer with an object that holds its name and its arguments, alone between these tags:
<tool_call>
{"name": <name of the function>, "arguments": <its arguments as an object>}
</tool_call>"""


def render_tools(tools: Sequence[Any]) -> str:
    """The text of the block that introduces the tools, one line of JSON each."""
    return _TOOLS % "\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools)


def render(message: dict[str, Any]) -> str:
    """A message's text between its turn markers. As templates do, it shows calls as JSON with blanks after the
    separators, a call's arguments as an object, list parts on lines of their own, and no call ids."""
    out = [str(message.get("role", "user")), "\n"]
    for key in ("reasoning", "reasoning_content"):
        if isinstance(message.get(key), str):
            out += ["<think>\n", message[key], "\n</think>\n"]
    content = message.get("content")
    if isinstance(content, str):
        out.append(content)
    elif isinstance(content, list):
        out.append("\n".join(part.get("text", "") for part in content if isinstance(part, dict)))
    for call in message.get("tool_calls") or ():
        out += ["\n<tool_call>\n", json.dumps(_called(call), ensure_ascii=False), "\n</tool_call>"]
    return "".join(out)


def _called(call: Any) -> Any:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return call
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        with contextlib.suppress(orjson.JSONDecodeError):
            arguments = orjson.loads(arguments)
    return {"name": function.get("name"), "arguments": arguments}
