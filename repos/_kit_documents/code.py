"""Code that lies in the repository or that the agent writes: templates filled with a seed's names, and repairs."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from difflib import SequenceMatcher
from pathlib import Path
from string import Template
from typing import Any

import yaml


@functools.cache
def _template(path: Path) -> Template:
    return Template(path.read_text(encoding="utf-8"))


@functools.cache
def grammar(path: Path) -> dict[str, Any]:
    """A YAML file; the C loader is ten times as fast, where libyaml is there."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return dict(yaml.load(path.read_text(encoding="utf-8"), loader))


def quoted(text: str) -> str:
    """As a Python literal in double quotes."""
    return json.dumps(text, ensure_ascii=False)


def render(folder: Path, name: str, names: Mapping[str, object], **more: object) -> str:
    """The code template `name`.py.txt of a folder; $NAME is replaced, $$ is a dollar."""
    return _template(folder / f"{name}.py.txt").substitute({**names, **more})


def repair(before: str, after: str) -> tuple[tuple[str, str], ...]:
    """SEARCH/REPLACE blocks that turn one text into the other, with a line of context on each side where a changed line
    alone would not be found first at its own place."""
    a, b = before.splitlines(keepends=True), after.splitlines(keepends=True)
    blocks = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        low, high = i1, i2
        while (low == high or before.count("".join(a[low:high])) != 1) and (low > 0 or high < len(a)):
            low, high = max(0, low - 1), min(len(a), high + 1)
        blocks.append(("".join(a[low:high]), "".join(a[low:i1]) + "".join(b[j1:j2]) + "".join(a[i2:high])))
    return tuple(blocks)
