"""The house's own rules: which room may import which, what is pure, what must never be in it."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "simulator"
#: room -> rooms it may import besides itself, errors and the tokenizer
MAY_IMPORT = {
    "core": set(),
    "cline": {"core"},
    "tasks": {"core", "cline"},
    "drive": {"core", "cline"},
    "engine": {"core"},
    "store": {"core"},
    "record": {"core"},
    "virtual": {"core", "cline", "tasks", "engine", "store"},
    "view": {"core", "store"},
    "trace": {"core", "cline"},
    "cli": {"core", "cline", "tasks", "drive", "engine", "store", "view", "virtual", "trace", "record"},
}
IMPURE = {
    "asyncio",
    "time",
    "socket",
    "subprocess",
    "threading",
    "pathlib",
    "os",
    "shutil",
    "tempfile",
    "aiohttp",
    "httpx",
}


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def modules(room: str) -> list[Path]:
    return sorted((PACKAGE / room).rglob("*.py"))


@pytest.mark.parametrize("room", sorted(MAY_IMPORT))
def test_imports_point_one_way(room: str) -> None:
    allowed = MAY_IMPORT[room] | {room, "errors", "tokenizer"}
    for path in modules(room):
        for name in imports(path):
            parts = name.split(".")
            if parts[0] == "simulator" and len(parts) > 1 and (PACKAGE / parts[1]).is_dir():
                assert parts[1] in allowed, f"{path.relative_to(ROOT)} imports {name}"


def test_every_room_has_its_rule() -> None:
    rooms = {p.name for p in PACKAGE.iterdir() if p.is_dir() and any(p.glob("*.py"))}
    assert rooms == set(MAY_IMPORT)


@pytest.mark.parametrize("room", ["core", "cline"])
def test_pure_rooms_touch_no_clock_file_or_network(room: str) -> None:
    for path in modules(room):
        used = {name.split(".")[0] for name in imports(path)}
        assert not used & IMPURE, f"{path.relative_to(ROOT)} imports {sorted(used & IMPURE)}"
        calls = {n.func.id for n in ast.walk(ast.parse(path.read_text()))
                 if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}  # fmt: skip
        assert not calls & {"print", "open", "input"}, f"{path.relative_to(ROOT)} calls {sorted(calls)}"


def test_modules_and_functions_stay_small() -> None:
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text()
        assert source.count("\n") <= 320, f"{path.relative_to(ROOT)} has {source.count(chr(10))} lines"
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                assert lines <= 65, f"{path.relative_to(ROOT)}:{node.name} has {lines} lines"


def test_no_paths_of_a_machine_and_no_index_addresses() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    pattern = re.compile(
        r"(?<![\w.])/(?:root|work|Users)/\w|--index-url|--extra-index-url|(?:pypi|files)\.pythonhosted"
    )
    for name in listed:
        path = ROOT / name
        if path.suffix in {".py", ".md", ".yaml", ".toml", ".lock", ""} and path.is_file() and path != Path(__file__):
            found = pattern.search(path.read_text(errors="replace"))
            assert not found, f"{name} names {found.group()}"
