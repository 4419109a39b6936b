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
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    spans = [list(code[1:]) for code in matcher.get_opcodes() if code[0] != "equal"]
    while (odd := next((k for k, s in enumerate(spans) if not _found_once(a, s)), None)) is not None:
        span = spans[odd]
        if span[0] > 0:  # the lines around a change are equal in both, so both ends move alike
            span[0], span[2] = span[0] - 1, span[2] - 1
        if span[1] < len(a):
            span[1], span[3] = span[1] + 1, span[3] + 1
        spans = _joined(spans)
    return tuple(("".join(a[i1:i2]), "".join(b[j1:j2])) for i1, i2, j1, j2 in spans)


def _found_once(lines: list[str], span: list[int]) -> bool:
    block = "".join(lines[span[0] : span[1]])
    return (span[0], span[1]) == (0, len(lines)) or (block != "" and "".join(lines).count(block) == 1)


def _joined(spans: list[list[int]]) -> list[list[int]]:
    out: list[list[int]] = []
    for span in spans:
        if out and span[0] < out[-1][1]:
            out[-1] = [out[-1][0], span[1], out[-1][2], span[3]]
        else:
            out.append(span)
    return out
