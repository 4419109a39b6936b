"""Result texts of the SDK client: JSON, two cuts, commands in place of missing tools."""

from __future__ import annotations

import shutil
import subprocess

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.cline.profiles import PROFILES
from simulator.cline.results import render_result
from simulator.cline.sdk import calls, results
from simulator.cline.state import ResultState
from simulator.core import action as act

CWD = "/home/dev/p"


def render(action: act.Action, outcome: act.Outcome) -> str:
    return render_result(PROFILES["sdk"], action, outcome, ResultState(CWD))


def row(action: act.Action, outcome: act.Outcome) -> dict:
    value = orjson.loads(render(action, outcome))
    return value[0] if isinstance(value, list) else value


def test_read_numbers_are_right_aligned():
    text = row(act.ReadFile("a.py"), act.FileText("".join(f"l{i}\n" for i in range(1, 101))))
    assert list(text) == ["query", "result", "success"] and text["query"] == CWD + "/a.py" and text["success"] is True
    assert text["result"].startswith("  1 | l1\n  2 | l2\n") and text["result"].endswith("\n100 | l100")


def test_read_range_in_query():
    text = row(act.ReadFile("a.py", 2, 3), act.FileText("a\nb\nc\nd\n"))
    assert (text["query"], text["result"]) == (CWD + "/a.py:2-3", "2 | b\n3 | c")


def test_executors_stop_at_2000_lines_and_48000_characters():
    lines = row(act.ReadFile("a"), act.FileText("x\n" * 5_000))["result"]
    assert "\n2000 | x" in lines and "2001 |" not in lines and "start_line 2001" in lines
    assert len(row(act.ReadFile("a"), act.FileText("y" * 99_000))["result"]) == 48_000
    assert len(row(act.Command("yes"), act.Ran(0, "y" * 99_000))["result"]) == 48_000


@given(st.integers(8_001, 300_000))
def test_each_string_is_cut_to_8000_when_sent(size):
    whole = render(act.Command("cat"), act.Ran(0, "a" + "b" * (size - 2) + "c"))
    (cut,) = orjson.loads(results.sent(whole))
    assert len(cut["result"]) == 8_000
    assert cut["result"].startswith("ab") and cut["result"].endswith("bc")


@given(st.text(max_size=3_000))
def test_short_results_are_sent_as_they_are(text):
    whole = render(act.Command("cat"), act.Ran(0, text))
    if max(map(len, (v for v in orjson.loads(whole)[0].values() if isinstance(v, str)))) <= 8_000:
        assert orjson.loads(results.sent(whole)) == orjson.loads(whole)


@given(st.text(min_size=1), st.integers(200, 400))
def test_middle_cut_never_exceeds_its_limit(text, limit):
    long = text * 50
    cut = results.middle_cut(long, limit)
    assert len(cut) <= limit and (cut == long) == (len(long) <= limit)


def test_several_ranges_each_have_their_own_cut():
    """The limit holds for each string, so that one message may carry far more."""
    rows = [{"query": str(k), "result": "z" * 9_000, "success": True} for k in range(35)]
    assert 35 * 8_000 < len(results.sent(orjson.dumps(rows).decode())) < 35 * 8_200


def test_edit_shows_only_what_changed():
    before = "".join(f"line {i}\n" for i in range(1, 400))
    edit = act.Edit("a.py", (("line 7\n", "LINE 7\n"), ("line 9\n", "line 9\nline 9b\n")))
    after = before.replace("line 7\n", "LINE 7\n").replace("line 9\n", "line 9\nline 9b\n")
    one, two = (orjson.loads(t) for t in results.render_each(edit, act.Edited("a.py", before, after), ResultState(CWD)))
    assert one["result"] == f"Edited {CWD}/a.py\n```diff\n-7: line 7\n+7: LINE 7\n```"
    assert two["result"] == f"Edited {CWD}/a.py\n```diff\n+10: line 9b\n```"


def test_an_edit_found_only_loosely_is_shown_as_one_change():
    before, after = "  a\n  b\n  c\n", "  x\n  b\n  y\n"
    edit = act.Edit("a.py", (("a \n", "x\n"), ("c \n", "y\n")))
    one, two = results.render_each(edit, act.Edited("a.py", before, after), ResultState(CWD))
    assert "+1:   x" in one and "+3:   y" in one and orjson.loads(two)["success"]


def test_failures_say_so():
    failed = row(act.Edit("a.py", (("q", "x"),)), act.EditFailed("a.py", 0, "t"))
    assert list(failed) == ["query", "result", "error", "success"] and failed["success"] is False
    assert row(act.ReadFile("x"), act.Refused("no such file"))["error"] == "no such file"
    command = row(act.Command("false"), act.Ran(2, "boom\n"))
    assert command["result"] == "[Command exited with code 2]\nboom\n" and command["success"] is False
    assert row(act.Command("sleep 99"), act.Ran(None, "", True))["success"] is False


def test_search_form_and_cap():
    hits = tuple(act.Hit("a.py", i + 3, "    def f():", ("b3", "b2", "b1"), ("a1", "a2", "a3"), 5) for i in range(150))
    text = row(act.Search("def f"), act.Matches(hits, 150))["result"]
    assert text.startswith("Found 150 results for pattern: def f\n") and text.count("> ") == 100
    assert "a.py:3:5\n  1: b2\n  2: b1\n> 3:     def f():\n  4: a1\n  5: a2\n" in text


@pytest.mark.parametrize(
    "action",
    [
        act.ListFiles("."),
        act.ListFiles("src", recursive=True),
        act.ListFiles("src"),
        act.Definitions("src/a.py"),
        act.Definitions("src"),
    ],
)
def test_the_shell_command_prints_what_the_result_claims(tmp_path, action):
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "src" / "a.py").write_text("def one():\n    pass\n\n\nclass Two:\n    x = 1\n")
    (tmp_path / "src" / "deep" / "b.py").write_text("y = 1\n")
    (tmp_path / "README.md").write_text("hello\n")
    outcome = {
        act.ListFiles("."): act.Listing(("src/", "README.md")),
        act.ListFiles("src"): act.Listing(("src/deep/", "src/a.py")),
        act.ListFiles("src", recursive=True): act.Listing(("src/deep/", "src/deep/b.py", "src/a.py")),
    }.get(action, act.Outline((("src/a.py", ((1, "def one():"), (5, "class Two:"))),)))
    ran = subprocess.run(calls.command_of(action), shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert ran.stderr == ""
    assert sorted(row(action, outcome)["result"].splitlines()) == sorted(ran.stdout.splitlines())


@pytest.mark.skipif(shutil.which("rg") is None, reason="ripgrep is not installed")
def test_the_search_command_prints_what_the_result_claims(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("x = 1\nit's = 2\n")
    action = act.Search("it's", "src", "*.py")
    ran = subprocess.run(calls.command_of(action), shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert row(action, act.Matches((act.Hit("src/a.py", 2, "it's = 2"),), 1))["result"] == ran.stdout


def test_a_search_without_hits_in_a_folder_is_a_failed_command():
    assert row(act.Search("nope", "src"), act.Matches((), 0))["error"] == "Command exited with code 1"
    assert row(act.Search("nope"), act.Matches((), 0))["result"].startswith("Found 0 results")


def test_outdated_read_keeps_its_query():
    text = results.outdated(render(act.ReadFile("a.py"), act.FileText("x\n")))
    assert orjson.loads(text) == [{"query": CWD + "/a.py", "result": results.OUTDATED, "success": True}]
