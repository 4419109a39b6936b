"""Result texts of the classic client: forms, limits and what depends on history."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.cline.classic import calls, results
from simulator.cline.profiles import PROFILES
from simulator.cline.results import advance, render_result
from simulator.cline.state import ResultState
from simulator.core import action as act

CLASSIC = PROFILES["classic-xml"]
FRESH = ResultState("/home/dev/p")


def render(action: act.Action, outcome: act.Outcome, state: ResultState = FRESH) -> str:
    return render_result(CLASSIC, action, outcome, state)


def fold(*pairs: tuple[act.Action, act.Outcome]) -> list[str]:
    state, out = FRESH, []
    for action, outcome in pairs:
        out.append(render(action, outcome, state))
        state = advance(CLASSIC, state, action, out[-1])
    return out


def numbered(text: str) -> list[tuple[int, str]]:
    return [(int(no), line) for no, line in re.findall(r"^(\d+) \| (.*)$", text, re.MULTILINE)]


def test_a_short_file_whole():
    text = render(act.ReadFile("a.py"), act.FileText("x = 1\n\ny = 2\n"))
    assert text == "[read_file for 'a.py'] Result:\n1 | x = 1\n2 | \n3 | y = 2\n\n(File has 3 lines total.)"


def test_a_long_file_shows_a_thousand_lines_and_where_to_go_on():
    text = render(act.ReadFile("a.py"), act.FileText("".join(f"line {i}\n" for i in range(1, 2501))))
    assert numbered(text)[0] == (1, "line 1") and numbered(text)[-1] == (1000, "line 1000")
    assert text.endswith("(Showing lines 1-1000 of 2500 total. Use start_line=1001 to go on.)")


@given(st.integers(1, 60), st.integers(1, 80), st.integers(0, 80))
def test_ranges_show_exactly_their_lines(total, first, length):
    text = render(
        act.ReadFile("a", first, first + length), act.FileText("".join(f"l{i}\n" for i in range(1, total + 1)))
    )
    assert numbered(text) == [(no, f"l{no}") for no in range(min(first, total), min(total, first + length) + 1)]


def test_extracted_text_ends_at_400_kb():
    text = render(act.ReadFile("a.pdf"), act.FileText("word " * 100_000, extracted=True))
    assert 400_000 < len(text) < 400_300 and "500,000 characters" in text


def test_second_and_third_read_of_the_same_content_are_marked():
    read = (act.ReadFile("a.py"), act.FileText("x = 1\n"))
    first, second, third, fourth = fold(read, read, read, read)
    assert "[" not in first.partition("\n")[2]
    assert second.splitlines()[1].startswith("[File already read]")
    assert third.splitlines()[1].startswith("[DUPLICATE READ]") and " 3 times" in third
    assert " 4 times" in fourth
    body = first.partition("\n")[2]
    assert all(t.endswith(body) for t in (second, third, fourth)), "the content is given again each time"


def test_a_changed_file_or_another_range_is_a_first_read():
    texts = fold(
        (act.ReadFile("a.py"), act.FileText("x = 1\n")),
        (act.ReadFile("a.py"), act.FileText("x = 2\n")),
        (act.ReadFile("a.py", 1, 1), act.FileText("x = 2\n")),
        (act.ReadFile("a.py"), act.FileText("x = 2\n")),
    )
    assert ["already read" in t for t in texts] == [False, False, False, True]


def test_an_edit_sends_the_whole_file_back():
    after = "a\n" * 500
    text = render(act.Edit("a.py", (("b", "a"),)), act.Edited("a.py", "b\n", after))
    assert f'<final_file_content path="a.py">\n{after}\n</final_file_content>' in text
    assert len(text) > len(after)


def test_a_failed_edit_shows_the_file_and_after_three_another_tool():
    failed = (act.Edit("a.py", (("nope", "x"),)), act.EditFailed("a.py", 0, "real text\n"))
    worked = (act.Edit("a.py", (("real", "x"),)), act.Edited("a.py", "real text\n", "x text\n"))
    texts = fold(failed, failed, failed, worked, failed)
    assert all("real text" in t for t in texts[:3])
    assert ["write_to_file" in t for t in texts] == [False, False, True, False, False]


def test_file_text_that_quotes_the_failure_is_no_failure():
    notice = f"{results.NOT_FOUND}1 is not in a.md\n"
    fine = (act.Write("a.md", notice), act.Edited("a.md", "", notice, created=True))
    failed = (act.Edit("a.md", (("nope", "x"),)), act.EditFailed("a.md", 0, "t\n"))
    assert "write_to_file" not in fold(fine, fine, fine, failed)[-1]


@pytest.mark.parametrize(
    ("ran", "first"),
    [
        (act.Ran(0, "ok\n"), "exit code 0"),
        (act.Ran(2, "bad\n"), "exit code 2"),
        (act.Ran(None, "slow\n", timed_out=True), "stopped"),
    ],
)
def test_command_status_then_output(ran, first):
    lines = render(act.Command("make"), ran).split("\n")
    assert lines[0] == "[execute_command for 'make'] Result:" and first in lines[1]
    assert lines[2:] == ["Output:", ran.output.rstrip("\n")]


@pytest.mark.parametrize(("lines", "kept"), [(500, 500), (501, 501), (1_000, 501), (1_001, 206), (90_000, 206)])
def test_command_output_cuts(lines, kept):
    output = results.cut_output("".join(f"{i}\n" for i in range(lines)), "seq")
    if lines == 501:
        assert "output truncated" in output and output.count("\n") == 500
        return
    assert len(output.split("\n")) == pytest.approx(kept, abs=2)
    assert output.startswith("0\n") and str(lines - 1) in output
    assert ("Full output saved to: /tmp/" in output) == (lines > 1_000)


@pytest.mark.parametrize("output", ["x" * 3_000_000, "é" * 300_000, ("y" * 100_000 + "\n") * 2_000, "z\n" * 600_000])
def test_large_output_keeps_both_ends_and_says_where_the_rest_is(output):
    marked = "begin" + output + "end\n"
    text = results.cut_output(marked, "yes")
    assert len(text.encode()) <= results.OUTPUT_BYTES_HARD and "left out" in text
    assert text.startswith("begin") and text.split("\n")[-3].endswith("end")
    assert text.split("\n")[-1].startswith("Full output saved to: /tmp/")


def test_the_limit_is_bytes_and_not_characters():
    assert results.cut_output("x" * 400_000, "c") == "x" * 400_000
    assert "Full output saved to" in results.cut_output("é" * 400_000, "c")


def test_a_limit_that_the_model_asks_for_is_in_the_call():
    assert calls.call(act.Command("make"))[1] == {"command": "make", "requires_approval": False}
    asked = act.Command("make", timeout_s=90)
    assert calls.call(asked)[1] == {"command": "make", "requires_approval": False, "timeout": 90}
    assert "<timeout>90</timeout>" in calls.as_xml(asked, "")


def test_search_blocks_and_limits():
    hits = tuple(act.Hit(f"f{i // 100}.py", i, f"hit {i}", ("b2", "b1"), ("a1", "a2")) for i in range(1, 351))
    text = render(act.Search("hit", "src", "*.py"), act.Matches(hits, 350))
    assert text.startswith("[search_files for 'hit' in '*.py'] Result:\nFound 350 results; the first 300")
    assert text.count("│hit ") == 300 and text.count("\nf") == 4
    assert "│b1\n│hit 1\n│a1\n│----" in text and "b2" not in text, "one line of context on each side"


def test_search_stops_at_a_quarter_megabyte():
    hits = tuple(act.Hit("f.py", i, "y" * 5_000) for i in range(200))
    text = render(act.Search("y"), act.Matches(hits, 200))
    assert len(text) < 260_000 and "0.25 MB" in text


def test_listing_is_relative_and_capped():
    paths = tuple(f"src/f{i:03}.py" for i in range(250))
    text = render(act.ListFiles("src"), act.Listing(paths))
    lines = text.split("\n")
    assert lines[1] == "f000.py" and lines[200] == "f199.py" and "Only part" in lines[-1]


def test_refusal_names_the_reason():
    assert "<error>\nFile not found: x\n</error>" in render(act.ReadFile("x"), act.Refused("File not found: x"))


def test_old_copies_keep_first_line_and_frame():
    edited = render(act.Edit("a.py", (("b", "a"),)), act.Edited("a.py", "b\n", "SECRET\n"))
    read = render(act.ReadFile("a.py"), act.FileText("SECRET\n"))
    for text in (edited, read):
        short = results.without_file(text)
        assert short.startswith(text.split("\n")[0]) and "SECRET" not in short and "[NOTE]" in short
    assert '<final_file_content path="a.py">' in results.without_file(edited)


@given(st.lists(st.tuples(st.text(max_size=40), st.text(max_size=40)), min_size=1, max_size=4))
def test_diff_blocks_are_well_formed(blocks):
    text = calls.diff(tuple(blocks))
    lines = text.split("\n")
    assert lines[0] == calls.SEARCH and lines[-1] == calls.REPLACE
    assert lines.count(calls.DIVIDER) >= len(blocks)
