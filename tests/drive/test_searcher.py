"""Searches end, whatever expression a model chose, and the next one works."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from simulator.core.action import Refused, Search
from simulator.drive.commands import ShellRunner
from simulator.drive.dialect import BadPattern
from simulator.drive.frames import frame
from simulator.drive.patterns import NotSoon, TooSlow
from simulator.drive.search import search
from simulator.drive.searcher import GRACE_S, Lost, Searcher
from simulator.drive.toolbox import Toolbox

LIMIT_S = 1.0
RUNAWAY = [
    ("(a+)+$", "a" * 20_000 + "!"),
    ("(x+x+)+y", "x" * 50_000 + "z"),
    ("(a|aa)+$", "a" * 90 + "!"),
    ("(a|b|ab)*(bc|c)*$", "ab" * 20_000 + "!"),
    (r"\s+$", " " * 1_000_000 + "x"),
    ("(?i)(?:[a-z]+)+\\d", "A" * 50_000),
]


@pytest.fixture
def searcher():
    made = Searcher(keep=1)
    yield made
    made.close()


def hits(searcher: Searcher, root: Path, regex: str, limit_s: float = 60) -> list[str]:
    return [h.line for h in searcher.search(root, "", regex, None, 0, limit_s).hits]


def searching() -> list[str]:
    """Processes of ours that search, or wait to."""
    told = subprocess.run(["ps", "-o", "args=", "--ppid", str(os.getpid())], capture_output=True, text=True).stdout
    return [line for line in told.splitlines() if "searcher" in line]


@pytest.mark.parametrize(("expression", "line"), RUNAWAY)
def test_a_runaway_ends_at_its_limit_and_a_normal_search_works_afterwards(searcher, tmp_path, expression, line):
    (tmp_path / "a.txt").write_text(f"{line}\nhit\n")
    with pytest.raises(NotSoon):
        search(tmp_path, "", expression, None, 0)
    began = time.monotonic()
    with pytest.raises(TooSlow):
        searcher.search(tmp_path, "", expression, None, 0, LIMIT_S)
    assert time.monotonic() - began < 30 * LIMIT_S, "processor time counted, or the process was waited for"
    assert hits(searcher, tmp_path, "h.t") == ["hit"]
    assert hits(searcher, tmp_path, "(h|i)+t") == ["hit"]


def test_a_process_is_kept_for_the_next_search_and_replaced_when_it_died(searcher, tmp_path):
    (tmp_path / "a.txt").write_text("hit\n")
    assert hits(searcher, tmp_path, "(h|i)+t") == ["hit"]
    (kept,) = searcher._idle
    assert hits(searcher, tmp_path, "(h|i)+t") == ["hit"] and searcher._idle == [kept]
    os.kill(kept._process.pid, signal.SIGKILL)
    kept._process.wait()
    assert hits(searcher, tmp_path, "(h|i)+t") == ["hit"] and searcher._idle != [kept]
    searcher.close()
    assert searching() == []


def test_none_is_kept_unless_asked_for(tmp_path):
    (tmp_path / "a.txt").write_text("hit\n")
    assert hits(Searcher(), tmp_path, "(h|i)+t") == ["hit"]
    assert searching() == []


def test_what_is_wrong_with_an_expression_is_told_as_ever(searcher, tmp_path):
    with pytest.raises(BadPattern, match="not closed"):
        hits(searcher, tmp_path, "(a+")


def test_a_session_that_ends_takes_its_search_with_it_and_no_other(searcher, tmp_path):
    told: dict[str, object] = {}

    def look(name: str) -> None:
        try:
            searcher.search(tmp_path / name, "", "(a+)+$", None, 0, 4 if name == "other" else 600)
        except (Lost, TooSlow) as error:
            told[name] = error

    threads = {name: threading.Thread(target=look, args=(name,)) for name in ("mine", "other")}
    for name, thread in threads.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text("a" * 20_000 + "!")
        thread.start()
    while len(searcher._busy) < 2:
        time.sleep(0.01)
    began = time.monotonic()
    searcher.end(tmp_path / "mine")
    threads["mine"].join(60)
    assert time.monotonic() - began < 60 and isinstance(told["mine"], Lost)
    threads["other"].join(60)
    assert isinstance(told["other"], TooSlow)


def test_a_search_whose_caller_is_gone_ends_itself(tmp_path):
    (tmp_path / "a.txt").write_text("a" * 20_000 + "!")
    program = "from simulator.drive.searcher import main; main()"
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen([sys.executable, "-c", program], stdin=theirs)
    ours.sendall(frame((0.3, (tmp_path, "", "(a+)+$", None, 0))))
    began = time.monotonic()
    assert process.wait(60) == -signal.SIGALRM
    assert time.monotonic() - began > GRACE_S
    ours.close()


def test_the_tool_says_that_its_time_is_over(tmp_path):
    (tmp_path / "a.txt").write_text("a" * 90 + "!z\n")
    toolbox = Toolbox(tmp_path, "/home/dev/p", ShellRunner(), search_limit_s=0.2)
    refused = toolbox.do(Search("(a|aa)+$"))
    assert refused == Refused("The search for '(a|aa)+$' timed out after 0.2 seconds")
    assert toolbox.do(Search("z")).total == 1
