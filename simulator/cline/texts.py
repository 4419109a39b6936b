"""Prompt texts and tool descriptions, read from this package's data files when first asked for."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from importlib import resources
from typing import Any

import yaml

_SLOT = re.compile(r"\{\{(\w+)\}\}")
RULER = "\n\n====\n\n"


@functools.cache
def load(name: str) -> str:
    """Text of text/NAME without its last line end, e.g. "classic/rules.md"."""
    return (resources.files("simulator.cline") / "text" / name).read_text(encoding="utf-8").rstrip("\n")


def fill(text: str, values: Mapping[str, str]) -> str:
    """Every {{slot}} replaced in one pass (so that a value which looks like a slot stays); KeyError: unknown slot."""
    return _SLOT.sub(lambda m: values[m[1]], text)


def system_prompt(sections: tuple[str, ...], values: Mapping[str, str]) -> str:
    return fill(RULER.join(load(s) for s in sections), values)


@functools.cache
def _tools(name: str) -> tuple[dict[str, Any], ...]:
    return tuple(yaml.safe_load(load(name)))


def tools(name: str, tool_set: str) -> list[dict[str, Any]]:
    """Tools in the API's form. The file lists {name, sets, description, parameters}; a tool without `sets` belongs to
    the sdk's command line in both modes."""
    return [
        {
            "type": "function",
            "function": {"name": t["name"], "description": t["description"], "parameters": t["parameters"]},
        }
        for t in _tools(name)
        if tool_set in t.get("sets", ("cli", "cli-plan"))
    ]
