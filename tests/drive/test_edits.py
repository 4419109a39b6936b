"""SEARCH/REPLACE blocks: a table of every way to be found, and properties over random texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.drive.edits import FailedBlock, apply_blocks

CODE = "def a():\n    return 1\n\n\ndef b():\n    return 1\n"

CASES = {
    "exact": (CODE, [("def a():\n", "def c():\n")], CODE.replace("def a", "def c")),
    "first match only": (CODE, [("return 1", "return 2")], CODE.replace("return 1", "return 2", 1)),
    "second block goes on behind the first": (CODE, [("return 1", "x"), ("return 1", "y")],
                                              "def a():\n    x\n\n\ndef b():\n    y\n"),
    "wrong order": (CODE, [("def b", "def c"), ("def a", "def d")], FailedBlock(1)),
    "replacement is not searched": ("a\nb\n", [("a\n", "b\nb\n"), ("b\n", "c\n")], "b\nb\nc\n"),
    "deleted": (CODE, [("def a():\n    return 1\n\n\n", "")], "def b():\n    return 1\n"),
    "indentation differs": (CODE, [("return 1\n\n\ndef b():\n", "pass\n")], "def a():\n    pass\n    return 1\n"),
    "trimmed lines": (CODE, [("  def b():\n  return 1\n", "B\n")], "def a():\n    return 1\n\n\nB\n"),
    "trimmed, newline of the file stays": ("  x = 1\nz\n", [("x =  1", "-")], FailedBlock(0)),
    "trimmed without final newline": ("\tx = 1  \nz\n", [("  x = 1 ", "y = 2")], "y = 2\nz\n"),
    "trimmed at the end of a file without newline": ("a\n  b", [(" b\n", "c\n")], "a\nc\n"),
    "carriage returns": ("a\r\nb\r\nc\r\n", [("b\nc\n", "d\n")], "a\r\nd\n"),
    "carriage returns, no final newline": ("a\r\nb\r\nc\r\n", [("a\nb", "d")], "d\r\nc\r\n"),
    "anchors": ("{\n  one\n  two\n}\n", [("{\nuno\ndos\n}\n", "{}\n")], "{}\n"),
    "anchors need three lines": ("{\n  one\n}\n", [("{\n}\n", "{}\n")], FailedBlock(0)),
    "anchors keep the number of lines": ("{\n  one\n}\n", [("{\na\nb\n}\n", "{}\n")], FailedBlock(0)),
    "exact wins over an earlier trimmed place": (" a\n b\na\nb\n", [("a\nb\n", "X\n")], " a\n b\nX\n"),
    "blank search lines match nothing by trimming": ("a\n\n\n", [("   \n", "x")], FailedBlock(0)),
    "empty search is the whole file": ("old\n", [("", "new\n")], "new\n"),
    "empty search in an empty file": ("", [("", "new\n")], "new\n"),
    "empty search after another block": ("a", [("a", "b"), ("", "c")], FailedBlock(1)),
    "no blocks": (CODE, [], CODE),
    "form feeds are no line ends": ("a\x0cb\nc\n", [(" c\n", "d\n")], "a\x0cb\nd\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_table(name):
    text, blocks, expected = CASES[name]
    assert apply_blocks(text, blocks) == expected


LINES = st.lists(st.text("ab {}\t", max_size=6), min_size=1, max_size=12)


@given(LINES, st.data(), st.text("xyz\n", max_size=8))
def test_a_range_of_lines_is_found_at_its_first_place(lines, data, replacement):
    text = "\n".join(lines) + "\n"
    first = data.draw(st.integers(0, len(lines) - 1))
    last = data.draw(st.integers(first, len(lines) - 1))
    search = "\n".join(lines[first : last + 1]) + "\n"
    assert apply_blocks(text, [(search, replacement)]) == text.replace(search, replacement, 1)


@given(LINES, st.data())
def test_lost_indentation_changes_only_the_lines_meant(lines, data):
    lines = [f"{i}{line}" for i, line in enumerate(lines)]  # distinct, so that there is one right place
    text = "".join(f"  {line}\n" for line in lines)
    first = data.draw(st.integers(0, len(lines) - 1))
    last = data.draw(st.integers(first, len(lines) - 1))
    search = "".join(f"\t{line.strip()}\n" for line in lines[first : last + 1])
    after = apply_blocks(text, [(search, "NEW\n")])
    assert after == "".join(f"  {line}\n" for line in lines[:first]) + "NEW\n" + "".join(
        f"  {line}\n" for line in lines[last + 1 :]
    )


@given(st.text("ab\n", max_size=20), st.lists(st.tuples(st.text("abc\n", max_size=5), st.text("cd\n")), max_size=4))
def test_failing_names_the_first_block_that_does_not_fit(text, blocks):
    result = apply_blocks(text, blocks)
    if isinstance(result, FailedBlock):
        assert isinstance(apply_blocks(text, blocks[: result.index]), str)
        assert apply_blocks(text, blocks[: result.index + 1]) == result
    else:
        assert all(isinstance(apply_blocks(text, blocks[:n]), str) for n in range(len(blocks)))
