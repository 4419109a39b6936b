"""Calls out of streamed text: the same whatever the pieces, and by the client's rules."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.cline.classic.calls import as_xml
from simulator.cline.live.classic_calls import NEEDED, PARAMS, Situation, action, blocks
from simulator.cline.live.path import keys
from simulator.cline.live.xml import XmlCall, XmlReader
from simulator.core.action import (
    Action,
    Command,
    Complete,
    Declined,
    Definitions,
    Delegate,
    Edit,
    ListFiles,
    Propose,
    ReadFile,
    Search,
    Write,
)

HTML = "<html>\n  <path>not a parameter</path>\n<read_file>nor a tool</read_file>\n</html>\n"
ACTIONS: tuple[Action, ...] = (
    ListFiles("src", recursive=True),
    ReadFile("a b/c.py", 10, 20),
    Search(r"def \w+\(", "src", "*.py"),
    Definitions("src"),
    Edit("x.py", (("def f():\n", "def g():\n"), ("    return 1\n", ""))),
    Edit("x.py", (("    indented\n", "        more <b>\n"),)),
    Write("page.html", HTML),
    Write("first.txt", "    blanks first\n"),
    Command("grep -c '<path>' *.md && echo \"done\"", timeout_s=30.0),
    Propose("1. this\n2. that", "go"),
    Delegate(("look here", "look there")),
    Complete("All done: x > 1 && y < 2"),
)
OFFERED = frozenset(NEEDED)
TEXTS = (
    "I shall call read_file now, or `write_to_file`, and </path> means nothing here.",
    "```\n<read_file>\n<path>in a fence</path>\n</read_file>\n```",
    "<read_file><path>a</path></read_file> and <read_file><path>b</path></read_file>",
    "<write_to_file>\n<path>a.py</path>\n<content>\nx = 1",
    "<read_file>\n<path>src/bil",
    "<read_fil",
    "<execute_command><command>ls</command></execute_command",
    "<read_file><unknown>1</unknown><path>p</path></read_file>",
    "<write_to_file><path>p</path><content>a</content>b</content></write_to_file>",
    "<read_file><path>p<path>q</path></read_file>",
    "",
)


def situation(**changes: object) -> Situation:
    values: dict[str, object] = {
        "cwd": "/home/dev/n", "native": False, "plan_mode": False, "offered": OFFERED, "answer": "go", **changes
    }  # fmt: skip
    return Situation(**values)  # type: ignore[arg-type]


def read(text: str, cuts: list[int] | None = None) -> list[XmlCall]:
    reader = XmlReader(tuple(NEEDED), PARAMS)
    places = [0, *sorted(min(cut, len(text)) for cut in cuts or ()), len(text)]
    for start, end in itertools.pairwise(places):
        reader.feed(text[start:end])
    return reader.finish()


@pytest.mark.parametrize("wanted", ACTIONS)
def test_what_a_model_writes_is_read_back(wanted: Action) -> None:
    text = "Next.\n\n" + as_xml(wanted, "- [x] one\n- [ ] two")
    (call,) = read(text)
    assert call.whole and text[call.start : call.end] == text[7:]
    assert call.params["task_progress"] == "- [x] one\n- [ ] two"
    got = action(call.name, call.params, situation(plan_mode=isinstance(wanted, Propose)))
    assert keys("classic-xml", [got]) == keys("classic-xml", [wanted])
    if isinstance(wanted, Write | Edit | Command | ReadFile):
        assert got == wanted, "to the letter where a file depends on it"


@given(
    st.lists(st.sampled_from([*TEXTS, *(as_xml(a, "") for a in ACTIONS)]), min_size=1, max_size=4),
    st.lists(st.integers(0, 700), max_size=30),
)
def test_any_pieces_give_the_same_calls(parts: list[str], cuts: list[int]) -> None:
    text = "\n".join(parts)
    whole = read(text)
    assert read(text, cuts) == whole
    assert read(text, list(range(len(text)))) == whole


@given(st.text(alphabet="<>/pathredfilcontwos_ \n", max_size=120), st.integers(0, 120))
def test_any_text_can_be_read(text: str, cut: int) -> None:
    assert read(text, [cut]) == read(text)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        (TEXTS[0], []),
        (TEXTS[1], [("read_file", {"path": "in a fence"}, True)]),
        (TEXTS[2], [("read_file", {"path": "a"}, True), ("read_file", {"path": "b"}, True)]),
        (TEXTS[3], [("write_to_file", {"path": "a.py", "content": "x = 1"}, False)]),
        (TEXTS[4], [("read_file", {"path": "src/bil"}, False)]),
        (TEXTS[5], []),
        (TEXTS[6], [("execute_command", {"command": "ls"}, False)]),
        (TEXTS[7], [("read_file", {"path": "p"}, True)]),
        (TEXTS[8], [("write_to_file", {"path": "p", "content": "a"}, True)]),
        (TEXTS[9], [("read_file", {"path": "p<path>q"}, True)]),
        (TEXTS[10], []),
    ],
)
def test_rules(text: str, calls: list[tuple[str, dict[str, str], bool]]) -> None:
    assert [(c.name, c.params, c.whole) for c in read(text)] == calls


def test_a_call_shows_while_it_comes() -> None:
    reader = XmlReader(tuple(NEEDED), PARAMS)
    seen = []
    for char in "Hm. <read_file><path>src/a.py</path></read_file> more":
        reader.feed(char)
        seen.append((reader.open.name, dict(reader.open.params)) if reader.open else None)
    begun = [each for each in seen if each]
    assert seen[0] is None and seen[-1] is None
    assert begun[0] == ("read_file", {}) and begun[-1] == ("read_file", {"path": "src/a.py"})
    assert [c.name for c in reader.calls] == ["read_file"]


@pytest.mark.parametrize(
    ("diff", "found"),
    [
        ("------- SEARCH\na\n=======\nb\n+++++++ REPLACE", (("a\n", "b\n"),)),
        ("<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE", (("a\n", "b\n"),)),
        ("------- SEARCH\na\n=======\n+++++++ REPLACE", (("a\n", ""),)),
        ("------- SEARCH\n=======\nnew\n+++++++ REPLACE", (("", "new\n"),)),
        ("------- SEARCH\na\n=======\nb\n", (("a\n", "b\n"),)),  # its end is missing
        ("------- SEARCH\na\n", ()),
        ("just words", ()),
        ("------- SEARCH\na\n=======\nb\n=======\nc\n+++++++ REPLACE", (("a\n", "b\n=======\nc\n"),)),
    ],
)
def test_blocks(diff: str, found: tuple[tuple[str, str], ...]) -> None:
    assert blocks(diff) == found


@pytest.mark.parametrize(
    ("name", "params", "changes", "mistake"),
    [
        ("read_file", {}, {}, True),
        ("write_to_file", {"path": "a"}, {}, True),
        ("execute_command", {"command": "ls"}, {}, True),
        ("replace_in_file", {"path": "a", "diff": "nothing"}, {}, True),
        ("make_coffee", {"sugar": "2"}, {"native": True}, True),
        ("use_subagents", {"prompt_1": "x"}, {"offered": OFFERED - {"use_subagents"}}, True),
        ("ask_followup_question", {"question": "?"}, {}, False),
        ("use_mcp_tool", {"server_name": "s", "tool_name": "t"}, {}, False),
        ("write_to_file", {"path": "a", "content": "b"}, {"plan_mode": True}, False),
        ("plan_mode_respond", {"response": "a"}, {}, False),
    ],
)
def test_what_is_answered_with_words(
    name: str, params: dict[str, str], changes: dict[str, object], mistake: bool
) -> None:
    got = action(name, params, situation(**changes))
    assert isinstance(got, Declined) and got.tool == name and got.mistake is mistake and got.reason
