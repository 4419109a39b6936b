"""Most events of a stream differ in their text and their token counts alone. Once one of them has been read in full,
the next ones are matched against it, byte by byte, instead of being parsed; whatever does not match is parsed.

A match is no guess: all bytes around the text are those of an event whose meaning is known, and the text is a JSON
string by the grammar.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

#: where an event's text may begin; the last ones begin reasoning
_TEXTS = (b'"text":"', b'"content":"', b'"reasoning":"', b'"reasoning_content":"')
_THOUGHTS = _TEXTS[2:]
_STRING = rb'([^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*)'
_COUNT = re.compile(rb'"(completion_tokens|prompt_tokens|total_tokens)":(\d+)')
_USAGE_KEYS = {"completion_tokens", "prompt_tokens", "total_tokens", "prompt_tokens_details"}


@dataclass(frozen=True, slots=True)
class Plain:
    """prefix: the event's bytes before its text, "data:" included. rest: matches from the text to the empty line;
    groups: the text as JSON has it, completion tokens so far (none where the event had no usage). thought: the text is
    reasoning."""

    prefix: bytes
    rest: re.Pattern[bytes]
    thought: bool


def plain(line: bytes, chunk: dict[str, Any]) -> Plain | None:
    """From a whole "data:" line and what it parsed to; None when it is not an event of text alone."""
    choices: list[dict[str, Any]] = chunk.get("choices") or []
    usage: dict[str, Any] = chunk.get("usage") or {}
    if len(choices) != 1 or chunk.get("error") or chunk.get("metrics") or choices[0].get("finish_reason"):
        return None
    delta = choices[0].get("delta") or {}
    if delta.get("tool_calls") or not usage.keys() <= _USAGE_KEYS:
        return None
    texts = [choices[0].get("text"), delta.get("content"), delta.get("reasoning"), delta.get("reasoning_content")]
    said = [n for n, text in enumerate(texts) if text]
    if len(said) != 1:
        return None
    text, mark = texts[said[0]], _TEXTS[said[0]]
    start = line.find(mark) + len(mark)
    string = re.compile(_STRING).match(line, start)
    if start < len(mark) or string is None or orjson.loads(b'"' + string.group(1) + b'"') != text:
        return None
    if usage and (len(_COUNT.findall(line, string.end())) != len(usage.keys() - {"prompt_tokens_details"})):
        return None
    return Plain(line[:start], _rest(_COUNT.sub(rb'"\1":0', line[string.end() :])), mark in _THOUGHTS)


@lru_cache(maxsize=256)
def _rest(after: bytes) -> re.Pattern[bytes]:
    """What follows the text, its counts replaced by 0: the same for most streams of a server."""
    pattern = re.escape(after)
    for name in (b"prompt_tokens", b"total_tokens"):
        pattern = pattern.replace(b'"%b":0' % name, rb'"%b":\d{1,8}' % name)
    counted = pattern.replace(b'"completion_tokens":0', rb'"completion_tokens":(\d{1,8})', 1)
    return re.compile(_STRING + (counted if counted != pattern else pattern + b"()") + rb"\n\n")
