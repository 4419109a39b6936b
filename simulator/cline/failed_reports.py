"""What a parent's history holds of sub-agents that failed: an error in place of their recorded report."""

from __future__ import annotations

import re
from collections.abc import Sequence

import orjson

from simulator.cline.profiles import profile


def with_errors(profile_name: str, results: Sequence[bytes], errors: Sequence[str]) -> list[bytes]:
    """results: the messages that answer a turn's calls, as planned. errors: one a sub-agent, in the order in which they
    were sent out; "" for one that gave its report. Messages without a failed report come back as they are."""
    if profile(profile_name).client == "classic":
        return [_classic(raw, errors) for raw in results]
    tools = [n for n, raw in enumerate(results) if orjson.loads(raw)["role"] == "tool"][-len(errors) :]
    out = list(results)
    for place, error in zip(tools, errors, strict=False):
        if error:
            answer = orjson.dumps({"text": "", "finishReason": "error", "error": error}).decode()
            out[place] = orjson.dumps({**orjson.loads(out[place]), "content": answer})
    return out


def _classic(raw: bytes, errors: Sequence[str]) -> bytes:
    message = orjson.loads(raw)
    parts = message.get("content")
    if message.get("role") != "user" or not isinstance(parts, list):
        return raw
    changed = [{**part, "text": _section(str(part.get("text", "")), errors)} for part in parts]
    return raw if changed == parts else orjson.dumps({**message, "content": changed})


def _section(text: str, errors: Sequence[str]) -> str:
    """One text of all reports, each under a heading with its number: the failed ones' bodies are exchanged."""
    failed = 0
    for number, error in enumerate(errors, 1):
        heading = re.search(rf"^## {number}\. [^\n]*\n(?=Done: )", text, re.MULTILINE)
        if not error or heading is None:
            continue
        following = re.search(rf"\n\n## {number + 1}\. [^\n]*\nDone: ", text[heading.end() :])
        end = heading.end() + following.start() if following else len(text)
        text = f"{text[: heading.end()]}Failed: {error}{text[end:]}"
        failed += 1
    if failed:
        text = text.replace(f"{len(errors)} done, 0 failed", f"{len(errors) - failed} done, {failed} failed", 1)
    return text
