"""The independent check: hidden tests that are in no workspace, and whether the tests that came with the repository
are still as they were."""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Mapping, Sequence

from simulator.core.task import Check
from simulator.tasks import begin

from . import asking
from .package import Item, World, is_test

#: `kept_of` is put into the program as it stands here, so that both sides take a test's text in one way
_SHARED = '''
def kept_of(path, text):
    """test -> digest of its lines, trailing blanks aside."""
    lines = [line.rstrip() for line in text.splitlines()]
    spans = {}
    if path.endswith(".py"):
        for group in ast.parse(text).body:
            if not isinstance(group, ast.ClassDef):
                continue
            for node in group.body:
                if isinstance(node, ast.FunctionDef):
                    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                    spans[group.name + "." + node.name] = (first - 1, node.end_lineno)
            first = min([group.lineno, *(d.lineno for d in group.decorator_list)])
            spans[group.name] = (first - 1, group.lineno)
    else:
        for start, line in enumerate(lines):
            found = re.match(r"test[.(]", line) and re.search(r'"([^"]+)"', line)
            if found:
                end = next((n for n in range(start, len(lines)) if lines[n] == "});"), len(lines))
                spans[found[1]] = (start, end + 1)
    return {name: hashlib.sha1("\\n".join(lines[a:b]).encode()).hexdigest()[:12] for name, (a, b) in spans.items()}
'''

_PYTHON = """
import ast, hashlib, json, re, sys
"""

_KEPT = """
truth = json.load(sys.stdin)
wrong = []
for path, kept in truth["kept"].items():
    try:
        found = kept_of(path, plain_file(path, own=False).decode("utf-8"))
    except (OSError, ValueError, SyntaxError):
        wrong.append(path + ": the tests in it are gone")
        continue
    for name, digest in kept.items():
        if found.get(name) != digest:
            wrong.append(path + ": `" + name + "` was changed or removed")
"""

_RUN = """
wrong += ask(truth["cases"])
"""

_END = """
print("\\n".join(wrong))
sys.exit(1 if wrong else 0)
"""


def kept_of(path: str, text: str) -> dict[str, str]:
    """test -> digest of its lines; path decides the language."""
    space: dict[str, object] = {"ast": ast, "hashlib": hashlib, "re": re}
    exec(_SHARED, space)
    made: dict[str, str] = space["kept_of"](path, text)  # type: ignore[operator]
    return made


def kept(head: Mapping[str, str], final: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """path -> the tests that were there at the start and that the work leaves alone."""
    out = {}
    for path in sorted(head):
        if is_test(path) and path in final and path.endswith((".py", ".test.ts")):
            after = kept_of(path, final[path])
            same = {n: d for n, d in kept_of(path, head[path]).items() if after.get(n) == d}
            if same:
                out[path] = same
    return out


def check(world: World, items: Sequence[Item], head: Mapping[str, str], final: Mapping[str, str]) -> Check:
    """Hidden tests of what was asked for and of what must still work; one case a `check` section and a `keep` one."""
    cases = []
    for item in items:
        for section in ("check", "keep"):
            if item.text(section):
                cases.append({"title": f"{item.title} ({section})", "source": item.text(section) + "\n"})
    program = _PYTHON + _SHARED + (asking.NODE if world.script else asking.PYTHON) + _KEPT + _RUN + _END
    return Check(begin.program(program), json.dumps({"kept": kept(head, final), "cases": cases}))
