"""What lies in a workspace that no tool expects: each has its ordinary answer, and none stops a session."""

import os
import time

import orjson
import pytest

from simulator.cline.profiles import PROFILES
from simulator.cline.results import render_result
from simulator.cline.state import ResultState
from simulator.core.action import (
    Command,
    Definitions,
    Edit,
    Edited,
    FileText,
    ListFiles,
    Outline,
    ReadFile,
    Refused,
    Search,
    Write,
)
from simulator.core.normalise import outcome_text
from simulator.drive.commands import ShellRunner
from simulator.drive.encodings import clean, decode, is_binary
from simulator.drive.toolbox import Toolbox
from simulator.drive.toolhost import ToolHost

SHOWN = "/home/dev/p"


@pytest.fixture
def box(tmp_path):
    (tmp_path / "a.py").write_text("def total():\n    pass\n")
    return Toolbox(tmp_path, SHOWN, ShellRunner())


@pytest.mark.parametrize("folder", ["", "sub/"])
@pytest.mark.parametrize("kind", ["fifo", "folder", "huge", "loop"])
def test_ignore_rules_that_are_no_file_are_none(box, tmp_path, folder, kind):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/b.py").write_text("total\n")
    place = tmp_path / folder / ".gitignore"
    match kind:
        case "fifo":
            os.mkfifo(place)
        case "folder":
            place.mkdir()
        case "loop":
            place.symlink_to(".gitignore")
        case "huge":
            with open(place, "wb") as file:
                file.write(b"*.py\n")
                file.truncate(1 << 30)
    assert [h.path for h in box.do(Search("total")).hits] == ["a.py", "sub/b.py"]
    assert {"a.py", "sub/b.py"} <= set(box.do(ListFiles(recursive=True)).paths)
    assert box.do(Definitions(".")) == Outline((("a.py", ((1, "def total():"),)),))


def test_pipes_devices_sockets_and_huge_files_are_passed_over(box, tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "null.py").symlink_to("/dev/zero")
    (tmp_path / "loop.py").symlink_to("loop.py")
    with open(tmp_path / "sparse.py", "wb") as file:
        file.truncate(1 << 30)
    for name in ("pipe.py", "null.py", "loop.py", "sparse.py"):
        assert isinstance(box.do(ReadFile(name)), Refused)
        assert isinstance(box.do(Edit(name, (("a", "b"),))), Refused)
    assert box.do(ReadFile("sparse.py")).reason == (
        "The file is too large to read (1073.7 MB, the limit is 20 MB): sparse.py"
    )
    assert isinstance(box.do(Definitions("sparse.py")), Refused)
    assert [path for path, _ in box.do(Definitions(".")).files] == ["a.py"]
    assert [h.path for h in box.do(Search("total")).hits] == ["a.py"]
    assert isinstance(box.do(Write("pipe.py", "x")), Refused)


BAD_PATHS = ["\ud800", "a/\udfff.py", "a\0b", "x" * 300, "d/" * 3_000 + "x", "a.py/b"]


@pytest.mark.parametrize("path", BAD_PATHS)
@pytest.mark.parametrize("profile", ["classic-xml", "sdk"])
def test_paths_that_no_file_can_have(box, path, profile):
    for action in (
        ReadFile(path),
        Edit(path, (("a", "b"),)),
        Write(path, "x"),
        ListFiles(path),
        Search("x", path),
        Definitions(path),
    ):
        outcome = box.do(action)
        assert isinstance(outcome, Refused), action
        text = render_result(PROFILES[profile], ReadFile("p"), outcome, ResultState(SHOWN))
        assert text and orjson.dumps(outcome_text(outcome))


def test_names_that_are_no_text_are_shown_with_a_mark(box, tmp_path):
    odd = os.fsencode(tmp_path) + b"/caf\xe9.py"
    with open(odd, "w") as file:
        file.write("def odd():\n    pass\n")
    (tmp_path / "two\nlines.py").write_text("def odd(): ...\n")
    assert box.do(ListFiles()).paths == ("a.py", "caf\ufffd.py", "two\nlines.py")
    assert [h.path for h in box.do(Search("odd")).hits] == ["caf\ufffd.py", "two\nlines.py"]
    assert [path for path, _ in box.do(Definitions(".")).files] == ["a.py", "caf\ufffd.py", "two\nlines.py"]
    assert box.do(ReadFile("two\nlines.py")) == FileText("def odd(): ...\n")
    for outcome in (box.do(ListFiles()), box.do(Search("odd")), box.do(Command("ls"))):
        assert orjson.dumps(outcome_text(outcome))


def test_folders_deeper_than_calls_and_than_paths(box, tmp_path):
    here = os.open(tmp_path, os.O_RDONLY)
    for name in ["d"] * 1_100 + ["e" * 200] * 12:  # 4,600 characters: more than a path may have
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    deep = tmp_path / ("d/" * 1_100)
    (deep / "far.py").write_text("def far(): ...\n")
    began = time.monotonic()
    assert [h.path for h in box.do(Search("def")).hits] == ["a.py", "d/" * 1_100 + "far.py"]
    listed = box.do(ListFiles(recursive=True))
    assert listed.truncated and len(listed.paths) == 200
    assert time.monotonic() - began < 60
    os.system(f"rm -rf '{tmp_path}/d'")  # pytest's own cleaning would need as many calls


@pytest.mark.parametrize(
    ("data", "binary"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", True),
        (b"\x7fELF\x02\x01\x01\0\0\0\0", True),
        (b"text\0text", True),
        ("Grüße, alle".encode("utf-16"), False),
        ("Gr\u00fc\u00dfe, alle".encode("utf-16-le"), False),
        ("Gr\u00fc\u00dfe, alle".encode("utf-16-be"), False),
        ("Grüße".encode("utf-32"), False),
        ("Grüße".encode("cp1252"), False),
        (b"", False),
    ],
)
def test_binary_files_are_refused_and_text_is_not(box, tmp_path, data, binary):
    assert is_binary(data) == binary
    (tmp_path / "f").write_bytes(data)
    done = box.do(ReadFile("f"))
    if binary:
        assert done == Refused("This is a binary file, which cannot be read as text: f")
        assert box.do(Edit("f", (("t", "u"),))) == Refused("This is a binary file, which cannot be read as text: f")
        assert (tmp_path / "f").read_bytes() == data
    else:
        assert done.text in ("Grüße, alle", "Grüße", "")
        assert isinstance(box.do(Edit("f", (("Gr", "GR"),) if data else (("", "x"),))), Edited)
        assert decode((tmp_path / "f").read_bytes())[0] == (done.text.replace("Gr", "GR") or "x")


def test_lone_surrogates_never_get_into_a_result():
    assert clean("a\ud800b\udfffc") == "a\ufffdb\ufffdc"


async def test_odd_requests_leave_the_tool_process_alive(tmp_path):
    os.mkfifo(tmp_path / ".gitignore")
    (tmp_path / "slow.txt").write_text("a" * 90 + "!\n")
    host = await ToolHost.start(threads=2)
    try:
        await host.open("s1", tmp_path, SHOWN)
        for action in (ReadFile("\ud800"), ReadFile(".gitignore"), Search("("), Command("echo '\ud800'", timeout_s=5)):
            made = await host.replay("s1", action, "something else")
            assert not made.matched and made.difference
        assert (await host.do("s1", ReadFile("slow.txt"))).outcome == FileText("a" * 90 + "!\n")
    finally:
        await host.close()
