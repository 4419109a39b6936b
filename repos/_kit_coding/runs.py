"""Test commands of a package in its language, and how many cases each runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from . import facts
from .package import World, is_test

NODE = "sh tools/test.sh"


def total(files: Mapping[str, str]) -> int:
    """Cases of the whole suite."""
    return sum(len(facts.tests(text)) for path, text in files.items() if is_test(path))


def whole(world: World) -> list[str]:
    """Commands that run everything, quiet ones first."""
    if world.script:
        return [f"{NODE} test/all.ts", f"{NODE} test/all.ts 2>&1", f"VERBOSE=1 {NODE} test/all.ts"]
    base = "python -m unittest discover"
    return [f"{base} -s tests -t .", f"{base} -b -s tests -t .", f"{base} -t . -s tests -v", f"{base} -v -s tests -t ."]


def of(world: World, path: str, group: str = "") -> list[str]:
    """Commands for one test file, or for one group of cases in it: a class (Python) or words of their names."""
    if world.script:
        if group:
            return [
                f"{NODE} --test-name-pattern='{group}' {path}",
                f"VERBOSE=1 {NODE} --test-name-pattern='{group}' {path}",
            ]
        return [f"{NODE} {path}", f"VERBOSE=1 {NODE} {path}", f"{NODE} ./{path}"]
    dotted = path.removesuffix(".py").replace("/", ".")
    if group:
        return [f"python -m unittest {flag}{dotted}.{group}" for flag in ("-v ", "", "-b ", "-f -v ", "-v -b ")]
    return [f"python -m unittest {flag}{dotted}" for flag in ("-v ", "", "-v -b ", "-f ", "-f -v ", "-v -f -b ")]


def several(world: World, paths: Sequence[str]) -> str:
    """One command for some test files."""
    if world.script:
        return " && ".join(f"{NODE} {p}" for p in paths)
    return "python -m unittest -v " + " ".join(p.removesuffix(".py").replace("/", ".") for p in paths)


def cases(text: str, group: str = "") -> int:
    if not group:
        return len(facts.tests(text))
    if f"class {group}(" in text:
        return len(facts.tests(re.split(r"\nclass ", text.split(f"class {group}(", 1)[1])[0]))
    return sum(group in name for name in facts.tests(text))
