"""The toolbox on real files: what each tool gives, and that no path leads out of the workspace."""

import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.action import (
    Command,
    Complete,
    Definitions,
    Edit,
    Edited,
    EditFailed,
    FileText,
    Finished,
    ListFiles,
    Listing,
    Matches,
    Outline,
    Ran,
    ReadFile,
    Refused,
    Search,
    Write,
)
from simulator.drive.commands import ShellRunner
from simulator.drive.listing import list_files
from simulator.drive.toolbox import Toolbox, apply_earlier

SHOWN = "/home/dev/projects/ledger"
FILES = {
    "README.md": "# Ledger\n",
    ".gitignore": "*.log\n/out/\n!keep.log\n",
    ".github/ci.yml": "on: push\n",
    ".env": "TOKEN=x\n",
    "pkg/__init__.py": "",
    "pkg/core.py": "import os\n\n\nclass Ledger:\n    def total(self):\n        return 1\n\n\ndef main():\n    pass\n",
    "pkg/sub/deep.py": "TOTAL = 1\n",
    "pkg/__pycache__/core.pyc": "total",
    "node_modules/x.js": "total",
    ".venv/x.py": "total",
    "out/x.txt": "total",
    "trace.log": "total",
    "keep.log": "total\n",
    "zeta.txt": "no final newline: total",
}


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "ws"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture
def toolbox(root):
    return Toolbox(root, SHOWN, ShellRunner())


def test_list(toolbox):
    assert toolbox.do(ListFiles()) == Listing(
        (".github/", "pkg/", ".env", ".gitignore", "README.md", "keep.log", "zeta.txt")
    )
    assert toolbox.do(ListFiles("pkg", recursive=True)).paths == (
        "pkg/sub/",
        "pkg/sub/deep.py",
        "pkg/__init__.py",
        "pkg/core.py",
    )
    assert ".github/ci.yml" not in toolbox.do(ListFiles(recursive=True)).paths
    assert toolbox.do(ListFiles(f"{SHOWN}/pkg/sub/")).paths == ("pkg/sub/deep.py",)
    assert toolbox.do(ListFiles("nope")) == Refused("No such folder: nope")
    assert toolbox.do(ListFiles("README.md")) == Refused("No such folder: README.md")


def test_long_listings_keep_the_upper_levels(root):
    for number in range(30):
        (root / f"pkg/sub/f{number:02}.py").touch()
    whole = list_files(root, "", True)
    assert not whole.truncated
    for cap in (7, 12, 20):
        cut = list_files(root, "", True, cap)
        assert cut.truncated and len(cut.paths) == cap
        assert {"README.md", "pkg/", "zeta.txt"} <= set(cut.paths)
        assert [p for p in whole.paths if p in cut.paths] == list(cut.paths)
    assert list_files(root, "", True, len(whole.paths)) == whole


def test_read(toolbox, root):
    assert toolbox.do(ReadFile("README.md", 5, 9)) == FileText("# Ledger\n")
    assert toolbox.do(ReadFile(f"{SHOWN}/pkg/../README.md")) == FileText("# Ledger\n")
    assert toolbox.do(ReadFile(str(root / "README.md"))) == FileText("# Ledger\n")
    assert toolbox.do(ReadFile("nope.md")) == Refused("No such file: nope.md")
    assert toolbox.do(ReadFile("pkg")) == Refused("This is a folder, not a file: pkg")
    with open(root / "big.csv", "wb") as file:
        file.truncate(20_000_001)
    assert toolbox.do(ReadFile("big.csv")).reason.startswith("The file is too large to read (20.0 MB")
    os.mkfifo(root / "pipe")
    assert toolbox.do(ReadFile("pipe")) == Refused("This is not a regular file: pipe")


def test_search(toolbox):
    found = toolbox.do(Search("(?i)total"))
    assert [(h.path, h.line_no, h.line) for h in found.hits] == [
        ("keep.log", 1, "total"),
        ("pkg/core.py", 5, "    def total(self):"),
        ("pkg/sub/deep.py", 1, "TOTAL = 1"),
        ("zeta.txt", 1, "no final newline: total"),
    ]
    assert found.hits[1].before == ("", "class Ledger:") and found.hits[1].after == ("        return 1", "")
    assert [h.column for h in found.hits] == [1, 9, 1, 19]
    assert found.total == 4
    assert [h.path for h in toolbox.do(Search("total", ".", "*.{log,txt}")).hits] == ["keep.log", "zeta.txt"]
    assert [h.path for h in toolbox.do(Search("total", "trace.log")).hits] == ["trace.log"]
    assert toolbox.do(Search("nowhere")) == Matches((), 0)
    assert "is not valid" in toolbox.do(Search("(")).reason
    assert toolbox.do(Search("x", "nope")) == Refused("No such file or folder: nope")


def test_definitions(toolbox):
    assert toolbox.do(Definitions("pkg")) == Outline(
        (("pkg/core.py", ((4, "class Ledger:"), (5, "    def total(self):"), (9, "def main():"))),)
    )
    assert toolbox.do(Definitions("pkg/core.py")) == toolbox.do(Definitions("pkg"))
    assert toolbox.do(Definitions("nope")) == Refused("No such folder: nope")


def test_edit(toolbox, root):
    done = toolbox.do(Edit("pkg/core.py", (("return 1", "return 2"), ("    pass\n", "    return\n"))))
    assert isinstance(done, Edited) and not done.created
    assert (root / "pkg/core.py").read_text() == done.after and "return 2" in done.after
    assert done.before == FILES["pkg/core.py"]
    failed = toolbox.do(Edit("pkg/core.py", (("return 2", "return 3"), ("missing", ""))))
    assert failed == EditFailed("pkg/core.py", 1, done.after)
    assert (root / "pkg/core.py").read_text() == done.after
    assert toolbox.do(Edit("nope.py", (("a", "b"),))) == Refused("No such file: nope.py")
    assert toolbox.do(Edit("made.py", (("", "x = 1\n"),))) == Edited("made.py", "", "x = 1\n", created=True)


def test_edits_keep_bytes_they_do_not_touch(toolbox, root):
    for name, old, new in [
        ("latin.csv", "größe;1\r\n".encode("cp1252"), "größe;2\r\n".encode("cp1252")),
        ("mark.csv", "é;1\n".encode("utf-8-sig"), "é;2\n".encode("utf-8-sig")),
        ("wide.csv", "é;1\n".encode("utf-16"), "é;2\n".encode("utf-16")),
    ]:
        (root / name).write_bytes(old)
        toolbox.do(Edit(name, ((";1", ";2"),)))
        assert (root / name).read_bytes() == new
    toolbox.do(Edit("latin.csv", (("größe", "→"),)))
    assert (root / "latin.csv").read_text("utf-8") == "→;2\n"


def test_write(toolbox, root):
    assert toolbox.do(Write("a/b/c.txt", "x\r\n")) == Edited("a/b/c.txt", "", "x\r\n", created=True)
    assert (root / "a/b/c.txt").read_bytes() == b"x\r\n"
    assert toolbox.do(Write("a/b/c.txt", "y")) == Edited("a/b/c.txt", "x\r\n", "y")
    assert isinstance(toolbox.do(Write("README.md/x", "y")), Refused)
    assert isinstance(toolbox.do(Write("pkg", "y")), Refused)


def test_commands_see_the_shown_path(toolbox, root):
    done = toolbox.do(Command(f"cd {SHOWN}/pkg && pwd && ls {SHOWN}; pwd | wc -c; echo {SHOWN}-old {SHOWN}2"))
    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert lines[0] == f"{SHOWN}/pkg"
    assert "README.md" in lines
    assert lines[-2] == str(len(f"{os.path.realpath(root)}/pkg") + 1)  # it really was elsewhere
    assert lines[-1] == f"{SHOWN}-old {SHOWN}2"
    assert toolbox.do(Complete("done")) == Finished()


def test_documents_raw_are_mangled_bytes(root):
    (root / "a.pdf").write_bytes(b"%PDF-1.4\n\xff\xfe\x00")
    raw = Toolbox(root, SHOWN, ShellRunner(), documents="raw")
    assert raw.do(ReadFile("a.pdf")) == FileText("%PDF-1.4\n��\x00")
    extracted = Toolbox(root, SHOWN, ShellRunner())
    assert extracted.do(ReadFile("a.pdf")).reason.startswith("No text could be read from the document a.pdf")


@pytest.fixture
def outside(tmp_path, root):
    (tmp_path / "secret.txt").write_text("secret total")
    (tmp_path / "ws-other").mkdir()
    (tmp_path / "ws-other/x.txt").write_text("secret total")
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    (root / "up").symlink_to(tmp_path)
    (root / "loop").symlink_to("loop")
    (root / "inner").symlink_to("pkg")
    (root / ".git").mkdir()
    (root / ".git/config").write_text("[core]\n")
    return tmp_path


HOSTILE = [
    "../secret.txt", "pkg/../../secret.txt", "/etc/passwd", "link.txt", "up/secret.txt", "up/new/file.txt", "..",
    f"{SHOWN}/../secret.txt", f"{SHOWN}-other/x.txt", "../ws-other/x.txt", ".git/config", ".git/hooks/pre-commit",
    "pkg/../.git/config", "a\0b", "//etc/passwd", "~/x" + "/.." * 9,
]  # fmt: skip


@pytest.mark.parametrize("path", HOSTILE)
def test_nothing_outside_is_read_or_written(toolbox, outside, path):
    before = {p: p.read_bytes() for p in outside.rglob("*") if p.is_file()}
    for action in (
        ReadFile(path),
        Write(path, "bad"),
        Edit(path, (("", "bad"),)),
        ListFiles(path, recursive=True),
        Search("secret|root|core", path),
        Definitions(path),
    ):
        assert isinstance(toolbox.do(action), Refused), action
    assert {p: p.read_bytes() for p in outside.rglob("*") if p.is_file()} == before


def test_links_are_not_followed_out_and_may_be_used_within(toolbox, outside, root):
    assert {h.path for h in toolbox.do(Search("secret")).hits} == set()
    assert "up/" not in toolbox.do(ListFiles(recursive=True)).paths
    assert toolbox.do(ReadFile("inner/core.py")) == FileText(FILES["pkg/core.py"])
    assert toolbox.do(Write("inner/new.py", "x")).path == "pkg/new.py"
    assert isinstance(toolbox.do(ReadFile("loop")), Refused)


PIECES = st.sampled_from(["..", ".", "pkg", "up", "link.txt", "inner", "new", "", "/", "sub", "loop", "secret.txt"])


@given(st.lists(PIECES, max_size=6), st.booleans())
def test_no_made_up_path_gets_out(tmp_path_factory, pieces, absolute):
    base = tmp_path_factory.mktemp("h")
    root = base / "ws"
    (root / "pkg/sub").mkdir(parents=True)
    (base / "secret.txt").write_text("secret")
    (root / "link.txt").symlink_to(base / "secret.txt")
    (root / "up").symlink_to(base)
    (root / "inner").symlink_to("pkg")
    (root / "loop").symlink_to("loop")
    path = ("/" if absolute else "") + "/".join(pieces)
    toolbox = Toolbox(root, SHOWN, ShellRunner())
    done = toolbox.do(ReadFile(path))
    assert isinstance(done, Refused)  # nothing inside can be read either: there is no file
    toolbox.do(Write(path, "bad"))
    assert sorted(p.name for p in base.iterdir()) == ["secret.txt", "ws"]
    assert (base / "secret.txt").read_text() == "secret"


def test_earlier_actions_are_those_that_change_files(root):
    asked = []

    class Counting:
        def run(self, command, cwd, timeout_s, stdin=b""):
            asked.append(command)
            return Ran(0, "")

    toolbox = Toolbox(root, SHOWN, Counting())
    apply_earlier(
        toolbox,
        [
            ReadFile("README.md"),
            Write("n.txt", "n\n"),
            Command("python -m unittest"),
            Edit("n.txt", (("n", "m"),)),
            Command("python gen.py", effects=True),
            Complete("x"),
        ],
    )
    assert asked == ["python gen.py"]
    assert (root / "n.txt").read_text() == "m\n"


def test_threads_may_share_a_toolbox(toolbox):
    results = []
    threads = [threading.Thread(target=lambda: results.append(toolbox.do(Search("total")))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8 and len(set(results)) == 1
