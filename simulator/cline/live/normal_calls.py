"""A reply's tool calls in one spelling, so that those of two engines can be held against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from simulator.cline.live.arguments import read
from simulator.cline.live.classic_calls import NEEDED, PARAMS
from simulator.cline.live.xml import XmlReader
from simulator.cline.profiles import profile


def normal_calls(client: str, text: str, native: Sequence[Mapping[str, str]]) -> tuple[tuple[str, str], ...]:
    """(name, arguments) of each call in order. client: a profile's name, which says whether calls stand in the text.
    native: {"name", "arguments"} each. Arguments that are JSON come back without blanks, keys in order, 1.0 as 1; what
    is none stays as it is. Calls in XML have their parameters as JSON; a call that the reply's end cut says so."""
    found = [(each["name"], _one_spelling(each["arguments"])) for each in native]
    if profile(client).calls == "xml":
        reader = XmlReader(tuple(NEEDED), PARAMS)
        reader.feed(text)
        found += [(call.name + " (cut)" * (not call.whole), _dumped(call.params)) for call in reader.finish()]
    return tuple(found)


def _one_spelling(arguments: str) -> str:
    fields, sound = read(arguments)
    return _dumped(_plain(fields)) if sound else arguments


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _dumped(fields: Mapping[str, Any]) -> str:
    return orjson.dumps(fields, option=orjson.OPT_SORT_KEYS).decode()
