"""Ignore rules against git's own opinion, and what searching makes of odd files."""

import os
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator.drive.globs import parse
from simulator.drive.ignore import walk
from simulator.drive.search import MAX_HITS, MAX_LINE_CHARS, expand_braces, search

NAMES = ["a.py", "b.log", "docs/a.py", "docs/api/c.txt", "src/b.log", "src/out/a.py", "src/out/deep/b.log", "out/z"]
PATTERNS = st.sampled_from(
    ["*.log", "!b.log", "out/", "/out", "docs/*", "!docs/api", "**/deep", "src/**/b.log", "a.py", "/a.py", "*", "!*/",
     "!*.py", "# c", "", "deep/", "[ab].py", "?.txt", r"\!x", "api/c.txt", "src/out",
     "[!a].log", "[a-c]*", "**", "docs/**", "**/out/", "*a.p?", r"\a.py", "a.py  ", "[]b].log", "!/out/", 
     "[z-a].py", "out/**/b.log", "src/*/b.log", "*o*g", "**/*p*/**/*c*t", "!deep", "!c.txt", "/*/a.py", "x\\"]
)  # fmt: skip
RULES = st.lists(PATTERNS, max_size=5)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    root = tmp_path_factory.mktemp("tree")
    subprocess.run(["git", "init", "-q", root], check=True)
    for name in NAMES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x\n")
    return root


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(top=RULES, src=RULES, docs=RULES)
def test_the_same_files_as_git_sees(tree, top, src, docs):
    for folder, rules in (("", top), ("src", src), ("docs", docs)):
        (tree / folder / ".gitignore").write_text("\n".join(rules))
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
    told = subprocess.run(
        ["git", "ls-files", "-z", "--others", "--exclude-standard"], cwd=tree, env=env, capture_output=True, check=True
    )
    assert sorted(walk(tree, hidden=True)) == sorted(filter(None, told.stdout.decode().split("\0")))


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 40 + "*b", "a" * 250),
        ("*a" * 40 + "*b", "/".join(["a" * 200] * 20)),
        ("**/a/" * 20 + "b", "a/" * 2_000 + "a"),
        ("*a*b/" * 9 + "**/" + "*a*/" * 5 + "c", ("ab" * 50 + "/") * 40 + "d"),
    ],
)
def test_a_pattern_that_could_fit_in_many_ways_is_tried_in_one(pattern, path):
    assert parse(pattern).fits(path) is False


def test_walk_is_in_path_order_at_every_level(tmp_path):
    for name in ("b/a", "a.txt", "a/z", "b/B", "B", "a/y/x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert list(walk(tmp_path, hidden=False)) == ["B", "a/y/x", "a/z", "a.txt", "b/B", "b/a"]


def lines_of(tmp_path, regex, file_pattern=None, path="", context=0):
    return [(h.path, h.line_no, h.line) for h in search(tmp_path, path, regex, file_pattern, context, alone=True).hits]


def test_what_counts_as_text(tmp_path):
    (tmp_path / "binary").write_bytes(b"x\0hit\n")
    (tmp_path / "dos").write_bytes(b"one\r\nhit\r\n")
    (tmp_path / "latin").write_bytes(b"caf\xe9 hit\n")
    (tmp_path / "mark").write_bytes(b"\xef\xbb\xbfhit\n")
    (tmp_path / "wide").write_bytes("hit é\n".encode("utf-16"))
    (tmp_path / "feed").write_bytes(b"a\x0cb\x85hit\n")
    assert lines_of(tmp_path, "hit$|^hit") == [
        ("dos", 2, "hit"),
        ("feed", 1, "a\x0cb�hit"),
        ("latin", 1, "caf� hit"),
        ("mark", 1, "hit"),
        ("wide", 1, "hit é"),
    ]


def test_hits_are_capped_and_still_counted(tmp_path):
    (tmp_path / "many").write_text("hit\n" * (MAX_HITS + 50))
    (tmp_path / "more").write_text("hit\n")
    found = search(tmp_path, "", "hit", None, 2)
    assert (len(found.hits), found.total) == (MAX_HITS, MAX_HITS + 51)
    assert found.hits[0].before == () and found.hits[1].before == ("hit",)
    (tmp_path / "long").write_text("y" * 10_000)
    assert len(lines_of(tmp_path, "y+")[0][2]) == MAX_LINE_CHARS


def test_globs(tmp_path):
    for name in ("a.py", "b.ts", "src/c.py", "src/d.tsx", "src/sub/e.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("hit\n")
    cases = {
        None: 5, "*": 5, "*.py": 3, "*.{ts,tsx}": 2, "!*.py": 2, "src/*.py": 1, "src/**/*.py": 2, "**/e.py": 1,
        "[ab].*": 2, "*.js": 0, "/a.py": 1,
        "src": 3, "sub/": 1, "!src/": 2, "src/**": 3,
    }  # fmt: skip
    assert {pattern: len(lines_of(tmp_path, "hit", pattern)) for pattern in cases} == cases
    assert [name for name, *_ in lines_of(tmp_path, "hit", "*.py", "src")] == ["src/c.py", "src/sub/e.py"]
    whole = {head + tail for head in ("a", "bc", "bd") for tail in (".x", ".y")}
    assert set(expand_braces("{a,b{c,d}}.{x,y}")) == whole
    assert expand_braces("a{b") == ["a{b"]
