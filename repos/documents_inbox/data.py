"""Text of the recipe, kept in files/: grammars (YAML) and code templates. Read once a process, when first asked for."""

from __future__ import annotations

import functools
from pathlib import Path
from string import Template
from typing import Any

import yaml

_FILES = Path(__file__).parent / "files"


@functools.cache
def grammar(name: str) -> dict[str, Any]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C one is ten times as fast, where libyaml is there
    return dict(yaml.load((_FILES / f"{name}.yaml").read_text(encoding="utf-8"), loader))


@functools.cache
def template(name: str) -> Template:
    return Template((_FILES / name).read_text(encoding="utf-8"))
