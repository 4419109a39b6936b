"""A check reads a result only where it is itself the file that was asked for: no link, pipe, device or folder."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from simulator.core.task import CLASSIC_STYLE, SDK_STYLE, Task
from simulator.drive.checking import run_check
from simulator.drive.commands import ShellRunner
from simulator.tasks import catalog, own
from simulator.tasks.plain_file import plain_file

Place = Callable[[Path, Path], object]
#: what stands in the place of a file that was moved away: (its path, where it is now)
IN_PLACE: dict[str, tuple[Place, str]] = {
    "a link": (lambda path, moved: path.symlink_to(moved), "a link stands in its place"),
    "a link to nothing": (lambda path, moved: path.symlink_to("nowhere"), "a link stands in its place"),
    "a second name": (lambda path, moved: os.link(moved, path), "it has a second name, as a hard link"),
    "a pipe": (lambda path, moved: os.mkfifo(path), "no regular file"),
    "a device": (lambda path, moved: os.mknod(path, 0o20666, os.makedev(1, 5)), "no regular file"),
    "a folder": (lambda path, moved: path.mkdir(), "no regular file"),
}


def put(kind: str, path: Path, moved: Path) -> str:
    """-> the clause that is said of it."""
    path.rename(moved)
    try:
        IN_PLACE[kind][0](path, moved)
    except PermissionError:
        moved.rename(path)
        pytest.skip("not everybody can make one")
    return IN_PLACE[kind][1]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "work" / "out").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


@pytest.mark.parametrize("kind", IN_PLACE)
def test_what_is_no_file_of_its_own(here: Path, tmp_path: Path, kind: str) -> None:
    path = here / "out" / "x.json"
    path.write_bytes(b"{}")
    assert plain_file("out/x.json") == plain_file("./out//x.json") == b"{}"
    clause = put(kind, path, tmp_path / "moved")
    with pytest.raises(OSError) as found:
        plain_file("out/x.json")
    assert found.value.strerror == clause


def test_a_folder_on_the_way_that_is_a_link_and_a_way_out(here: Path, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(b"{}")
    (here / "side").symlink_to(tmp_path)
    for path in ("side/x.json", "../x.json", str(tmp_path / "x.json")):
        with pytest.raises(OSError):
            plain_file(path)
    with pytest.raises(FileNotFoundError):
        plain_file("out/none.json")


def test_where_content_alone_counts_a_second_name_is_none_of_its_business(here: Path, tmp_path: Path) -> None:
    (here / "paper").write_bytes(b"p")
    os.link(here / "paper", tmp_path / "copy")
    assert plain_file("paper", own=False) == b"p"


@pytest.fixture(scope="module", params=["documents_minutes", "documents_inbox", "finance_vat"])
def solved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Task, Path, str]:
    """A task, a folder that its check is content with, and the path of a result."""
    root = tmp_path_factory.mktemp("solved")
    task = catalog.make(request.param, 3, "small", SDK_STYLE if "inbox" not in request.param else CLASSIC_STYLE)
    truth = json.loads(task.check.truth)
    for commit in task.history:
        for path, content in commit.files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content or b"")
    if "files" in truth:
        written = sys.modules["sim_repos._kit_documents.truth"].written
        files = {path: written(path, content) for path, content in truth["files"].items()}
    else:
        wanted = truth["wanted"].items()
        results = {name: {key: value for key, (value, _) in entry.items()} for name, entry in wanted}
        report = "\n".join(figure for _, figure in truth["headlines"])
        files = {truth["results"]: json.dumps(results).encode(), truth["report"]: report.encode()}
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    return task, root, next(iter(files))


@pytest.mark.parametrize("kind", IN_PLACE)
def test_a_check_says_so_and_does_not_wait(solved: tuple[Task, Path, str], tmp_path: Path, kind: str) -> None:
    task, root, path = solved
    runner = ShellRunner()
    if kind == "a link":
        assert run_check(root, task.check, runner) == []
    clause = put(kind, root / path, tmp_path / "moved")
    try:
        (complaint,) = run_check(root, task.check, runner)
        assert complaint.startswith(f"{path}: ") and complaint.endswith(clause)
    finally:
        (root / path).rmdir() if kind == "a folder" else (root / path).unlink()
        (tmp_path / "moved").rename(root / path)


@pytest.mark.parametrize("kind", IN_PLACE)
def test_tests_of_a_repository_that_stand_elsewhere_are_gone(tmp_path: Path, kind: str) -> None:
    task = catalog.make("coding_parser_faults", 3, "small", CLASSIC_STYLE)
    kept = sorted(json.loads(task.check.truth)["kept"])
    root = tmp_path / "work"
    for commit in task.history:
        for path, content in commit.files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content or b"")
    runner = ShellRunner()
    gone = f"{kept[0]}: the tests in it are gone"
    assert gone not in run_check(root, task.check, runner)
    put(kind, root / kept[0], tmp_path / "moved")
    assert (gone in run_check(root, task.check, runner)) == (kind != "a second name")


@pytest.mark.parametrize("kind", [*IN_PLACE, "a folder that is a link"])
def test_hidden_files_of_ones_own_task_take_their_place(tmp_path: Path, kind: str) -> None:
    root, beside = tmp_path / "work", tmp_path / "beside"
    (root / "tests").mkdir(parents=True)
    beside.mkdir()
    os.mkfifo(root / "pipe")
    (root / "tests" / "hidden.py").write_text("raise SystemExit(1)\n")
    if kind == "a folder that is a link":
        (root / "tests" / "hidden.py").unlink()
        (root / "tests").rmdir()
        (root / "tests").symlink_to(beside)
    else:
        put(kind, root / "tests" / "hidden.py", beside / "moved")
    before = {path: path.read_bytes() for path in beside.iterdir()}
    check = own.check("python tests/hidden.py", {"tests/hidden.py": b"print('right')\n"}, 30.0)
    assert run_check(root, check, ShellRunner()) == []
    assert {path: path.read_bytes() for path in beside.iterdir()} == before
