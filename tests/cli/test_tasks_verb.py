"""`sim tasks`: templates listed and shown, broken ones named, tasks of one's own from a skeleton to a plan."""

from __future__ import annotations

import re
from pathlib import Path

import git
import pytest

from simulator.cli.own_tasks import with_tasks
from simulator.cli.tasks import checked, listed, shown
from simulator.cli.tasks_new import made
from simulator.core.scenario import scenario_hash
from simulator.core.scenario_file import parse
from simulator.core.task import CLASSIC_STYLE
from simulator.drive.checking import run_check
from simulator.drive.commands import ShellRunner
from simulator.drive.workspace import Repository
from simulator.errors import UsageError
from simulator.tasks import catalog
from tests.e2e.sim import Sim

SCENARIO = "name: t\nsessions: 1\nrefill: false\ntasks: {coding: 1}\n"


def sim(*words: object, cwd: Path) -> tuple[int, str]:
    return Sim(cwd, cwd / "cache").told(*map(str, words))


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A folder with both kinds of tasks of one's own, as `sim tasks new` makes them."""
    assert made(tmp_path / "mine" / "dates", False, None) == 0
    assert made(tmp_path / "mine" / "prices", True, None) == 0
    return tmp_path / "mine"


def test_skeletons_are_sound_as_they_are(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked((str(mine / "dates"), str(mine / "prices")), 2, ("small",), "sdk", None) == 0
    said = capsys.readouterr().out
    assert said.count("sound     dates") == 2 and "7 turns, 1 wrong result refused" in said


@pytest.mark.parametrize(
    ("file", "old", "new", "why"),
    [
        ("dates/solution/dates.py", ">", ">=", "the solution fails its check"),
        ("dates/task.yaml", "python -I tests/test_hidden_dates.py", "test -d .", "passes before anything was"),
        ("dates/broken/a constant/dates.py", "days + 1", "days", "differs in nothing|passes the check"),
        ("prices/recipe.py", 'net * rate // 100\\n"', 'net\\n"', "its recorded solution fails its check"),
        ("prices/recipe.py", '{"prices.py": task', '{"other.py": task', "passes the check"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_and_the_exit_code_is_1(
    mine: Path, file: str, old: str, new: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (mine / file).read_text()
    assert old in text
    (mine / file).write_text(text.replace(old, new))
    name = file.split("/")[0]
    if why.startswith("differs"):  # the wrong result is the delivered file then
        (mine / file).write_text((mine / "dates/repo/dates.py").read_text())
    assert checked((str(mine / name),), 1, ("small",), "classic-xml", None) == 1
    said = capsys.readouterr().out
    assert re.search(why, said) and f"not sound: {name} (small, seed 1)" in said


def test_without_a_solution_nothing_shows_that_the_check_can_pass(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = mine / "dates" / "task.yaml"
    path.write_text(path.read_text().replace("solution: solution", "# solution: solution"))
    assert checked((str(mine / "dates"),), 1, ("small",), "sdk", None) == 0
    said = capsys.readouterr().out
    assert "unproven  dates" in said and "nothing shows that the check can pass; 5 wrong results refused" in said
    assert said.endswith("unproven: dates\n") and "sound" not in said


def test_what_lacks_a_program_is_left_out_with_the_cure(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = mine / "dates" / "task.yaml"
    path.write_text(path.read_text().replace("# needs: [node]", "needs: [no-such-program]"))
    assert checked((str(mine / "dates"),), 1, ("small",), "sdk", None) == 0
    said = capsys.readouterr().out
    assert said == (
        "  left out  dates, for it needs no-such-program, and there is none: install no-such-program\n"
        "nothing was checked\n"
    )


def test_a_form_for_ones_own_repository_is_refused_until_it_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "total.py").write_text("def total(lines):\n    return sum(lines[:-1])\n")
    folder = tmp_path / "mine" / "lines"
    assert made(folder, False, tmp_path / "shop") == 0
    assert [path.name for path in folder.rglob("*")] == ["task.yaml"], "nothing of the sample"
    said = capsys.readouterr().out
    for part in ("--tasks-dir", "`mode: live`", "`templates: [lines]`", "`tasks: {coding: 1}`"):
        assert part in said
    with pytest.raises(UsageError, match=r"task.yaml: `request` still says TO BE WRITTEN"):
        checked((str(folder),), 1, ("small",), "sdk", None)
    path = folder / "task.yaml"
    path.write_text(path.read_text().replace("TO BE WRITTEN: what", "What"))
    with pytest.raises(UsageError, match=r"`check.command` still says TO BE WRITTEN"):
        checked((str(folder),), 1, ("small",), "sdk", None)
    path.write_text(path.read_text().replace('"TO BE WRITTEN: run', '"false # run'))
    assert checked((str(folder),), 1, ("small",), "sdk", None) == 0
    assert "unproven: lines" in capsys.readouterr().out


def test_a_task_of_ones_own_shows_what_decides(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown("dates", 1, "small", mine) == 0
    said = capsys.readouterr().out
    assert "      python -I tests/test_hidden_dates.py\n" in said
    assert "with 1 hidden file: tests/test_hidden_dates.py" in said and "1 commit\n" in said
    assert "No recorded path" in said and "Its solution has 1 file: dates.py." in said


def test_a_template_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown("finance_bonds", 2, "small", None) == 0
    said = capsys.readouterr().out
    for part in ("REQUEST", "REPOSITORY", "RECORDED PATH", "CHECK", "wanted", "tests/test_helpers.py"):
        assert part in said


def test_the_command_line_says_what_is_wrong(mine: Path) -> None:
    code, said = sim("tasks", "check", "finance_bond", cwd=mine)
    assert code == 2 and "did you mean `finance_bonds`" in said
    code, said = sim("tasks", "new", mine / "dates", cwd=mine)
    assert code == 2 and "not empty" in said
    code, said = sim("tasks", "show", "dates", "--tasks-dir", mine, "--size", "huge", cwd=mine)
    assert code == 2 and "small, medium, long" in said
    code, said = sim("tasks", "show", "dates", "--tasks-dir", mine / "dates", cwd=mine)
    assert code == 2 and f"is a task itself; give its parent, {mine}" in said
    code, said = sim("tasks", "list", "--help", cwd=mine)
    assert code == 0 and "--measure" in said


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("reqest: x", "unknown key `reqest`; did you mean `request`"),
        ("check: {comand: x}", "did you mean `command`"),
        ("kind: office", "`kind` is `office`"),
        ("check: {command: x, timeout_s: 900}", "timeout_s"),
        ("repo: nowhere", "nowhere: no such folder"),
        ("check: {command: x, hidden: nothing}", "is no folder"),
        ("commit: v9", "repo"),
    ],
)
def test_a_wrong_task_file_is_one_sentence(mine: Path, change: str, why: str) -> None:
    path = mine / "dates" / "task.yaml"
    key = change.split(":")[0]
    lines, skip = [], False
    for line in path.read_text().splitlines():
        skip = line.startswith(f"{key}:") or (skip and line.startswith(" "))
        lines += [] if skip else [line]
    path.write_text("\n".join([*lines, change]) + "\n")
    if key == "commit":
        git.Repo.init(mine / "dates" / "repo")
    catalog.load.cache_clear()
    catalog.own.read.cache_clear()
    with pytest.raises(UsageError, match=why):
        catalog.make("dates", 1, "small", CLASSIC_STYLE, mine)


def test_a_git_repository_gives_its_last_commits(mine: Path, tmp_path: Path) -> None:
    where = tmp_path / "shop"
    repo = git.Repo.init(where)
    for number, text in enumerate(("one", "two", "three")):
        (where / "a.txt").write_text(text)
        (where / f"run{number}.sh").write_text("#!/bin/sh\necho hi\n")
        (where / f"run{number}.sh").chmod(0o755)
        (where / "link").unlink(missing_ok=True)
        (where / "link").symlink_to("a.txt")
        repo.git.add("-A")
        repo.git.execute(["git", "-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-qm", text])
    (where / "a.txt").write_text("not committed")
    folder = tmp_path / "own" / "shop_task"
    assert made(folder, False, where) == 0
    path = folder / "task.yaml"
    path.write_text(path.read_text().replace("# history: 20", "history: 2").replace("TO BE WRITTEN", "Please"))
    task = catalog.make("shop_task", 3, "small", CLASSIC_STYLE, tmp_path / "own")
    assert [c.message for c in task.history] == ["two", "three"]
    assert set(task.history[0].files) == {"a.txt", "run0.sh", "run1.sh"} and set(task.history[1].files) == {
        "a.txt",
        "run2.sh",
    }
    root = tmp_path / "work"
    Repository.create(tmp_path / "bare.git", task.history).checkout(root, "s")
    assert (root / "a.txt").read_text() == "three" and (root / "run2.sh").stat().st_mode & 0o111
    before = catalog.digest(tmp_path / "own")
    repo.git.execute(["git", "-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-qam", "four"])
    assert catalog.digest(tmp_path / "own") != before


def test_hidden_tests_are_never_in_the_workspace_and_cannot_be_edited_away(mine: Path, tmp_path: Path) -> None:
    task = catalog.make("dates", 1, "small", CLASSIC_STYLE, mine)
    root = tmp_path / "work"
    Repository.create(tmp_path / "bare.git", task.history).checkout(root, "s")
    runner = ShellRunner()
    (root / "tests" / "test_hidden_dates.py").write_text("")  # an agent that guesses the name
    assert run_check(root, task.check, runner)
    (root / "dates.py").write_text((mine / "dates/solution/dates.py").read_text())
    assert run_check(root, task.check, runner) == []
    assert (root / "tests" / "test_hidden_dates.py").read_text() == "", "the workspace is as it was"


def test_a_scenario_takes_them_by_folder_and_by_name(mine: Path, tmp_path: Path) -> None:
    source = tmp_path / "s.yaml"
    both = parse(SCENARIO + "tasks_dir: mine\n", "s.yaml")
    with pytest.raises(UsageError, match=r"dates has no recorded way.*mode: live"):
        with_tasks(both, source)
    one = with_tasks(parse(SCENARIO + "tasks_dir: mine\ntemplates: [prices]\n", "s.yaml"), source)
    assert one.tasks_dir == str(mine)
    assert catalog.chosen("coding", 5, mine, one.templates) == "prices"
    assert "prices" in catalog.of_kind("coding", mine) and "prices" not in catalog.of_kind("coding")
    with pytest.raises(UsageError, match="did you mean `prices`"):
        with_tasks(parse(SCENARIO + "tasks_dir: mine\ntemplates: [price]\n", "s.yaml"), source)
    with pytest.raises(UsageError, match="none of kind finance"):
        with_tasks(parse(SCENARIO.replace("coding", "finance") + "tasks_dir: mine\ntemplates: [prices]\n", "s"), source)
    with pytest.raises(UsageError, match="no such folder"):
        with_tasks(parse(SCENARIO + "tasks_dir: yours\n", "s.yaml"), source)
    plain = parse(SCENARIO, "s.yaml")
    assert scenario_hash(plain) == scenario_hash(plain.model_copy(update={"tasks_dir": "x"})) != scenario_hash(one)


def test_a_plan_of_ones_own_template(mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "s.yaml").write_text(SCENARIO + "sizes: {small: 1}\ntemplates: [prices]\n")
    code, said = sim("plan", "s.yaml", "--tasks-dir", mine, cwd=tmp_path)
    assert code == 0 and "1 session, 7 calls" in said, said


def test_a_template_that_lacks_a_program_is_not_drawn(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = mine / "prices" / "recipe.py"
    path.write_text(path.read_text().replace("NEEDS = ()", 'NEEDS = ("no-such-program",)'))
    assert catalog.lacking("prices", mine) == ("no-such-program",)
    assert "prices" not in catalog.of_kind("coding", mine)
    with pytest.raises(UsageError, match="prices needs no-such-program"):
        catalog.of_kind("coding", mine, ("prices",))
    assert listed(mine, False) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "(missing)" not in said
    assert "* prices is left out, for it needs no-such-program, and there is none: install no-such-program" in said


def test_a_recipe_that_cannot_be_read_is_named(mine: Path) -> None:
    (mine / "prices" / "recipe.py").write_text("KIND = 'coding'\nimport nothing_there\n")
    with pytest.raises(UsageError, match=r"prices/recipe.py: it cannot be used: ModuleNotFoundError"):
        catalog.kind_of("prices", mine)
