"""What enters a history when a client objects to a reply: the reply as it came, and the client's own words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from simulator.cline import texts
from simulator.cline.classic.client import MISSING
from simulator.cline.profiles import profile
from simulator.cline.recovery import Complaint


def complain(
    profile_name: str, complaint: Complaint, text: str, calls: Sequence[Mapping[str, str]], last: bytes
) -> list[bytes]:
    """The messages, serialised. text, calls ({"id", "name", "arguments"}): what came. last: the history's last message;
    classic repeats its environment block."""
    chosen = profile(profile_name)
    name = calls[0]["name"] if calls else ""
    native = chosen.calls == "native" and bool(calls)
    if chosen.client == "classic":
        said: dict[str, Any] = {"role": "assistant", "content": text or _as_text(calls) or "(nothing)"}
        if native:
            said = {"role": "assistant", "content": text or None, "tool_calls": [_echo(call) for call in calls]}
        told = words(complaint, name, native=chosen.calls == "native")
        parts = [{"type": "text", "text": part} for part in (told, _environment(last)) if part]
        results = [{"role": "tool", "tool_call_id": c["id"], "content": MISSING} for c in calls] if native else []
        return [orjson.dumps(each) for each in (said, *results, {"role": "user", "content": parts})]
    if complaint == "unknown_tool":
        result = orjson.dumps({"error": no_such_tool(name)}).decode()
        answers = [{"role": "tool", "tool_call_id": call["id"], "content": result} for call in calls]
        said = {"role": "assistant", "content": text or None, "tool_calls": [_echo(call) for call in calls]}
        return [orjson.dumps(each) for each in (said, *answers)]
    wanted = {"role": "user", "content": texts.load("sdk/cut_off.md")}
    return [orjson.dumps(each) for each in ({"role": "assistant", "content": text}, wanted)]


def words(complaint: Complaint, name: str, *, native: bool) -> str:
    """The classic client's, about a call of tool `name`."""
    match complaint:
        case "missing_argument":
            return f"[{name}] was called without a value for a parameter that it needs. Call it again with all of them."
        case "unknown_tool":
            return f"[{name}] is not one of the tools. Use only those that the first message describes."
        case _:
            return texts.load("classic/no_tool_native.md" if native else "classic/no_tool.md")


def no_such_tool(name: str) -> str:
    """The sdk client's."""
    return f"NoSuchTool: no tool is called {name}"


def _environment(last: bytes) -> str:
    """The last part of a user message of several, which is its environment block; "" when there is none."""
    content = orjson.loads(last).get("content")
    return str(content[-1].get("text", "")) if isinstance(content, list) and len(content) > 1 else ""


def _as_text(calls: Sequence[Mapping[str, str]]) -> str:
    return "\n".join(f"<{call['name']}>\n{call['arguments']}\n</{call['name']}>" for call in calls)


def _echo(call: Mapping[str, str]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": call["arguments"] or "{}"}
    return {"id": call["id"], "type": "function", "function": function}
