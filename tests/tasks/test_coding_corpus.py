"""Templates of the coding kit: each is carried out, checked and broken once, and its package keeps its promises."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simulator.cli.trial import lay, tried
from simulator.core.action import Command, EditFailed, Matches, Outcome, Ran, Refused
from simulator.core.task import CLASSIC_STYLE, SDK_STYLE, Task
from simulator.drive.checking import run_check
from simulator.drive.commands import ShellRunner
from simulator.drive.toolbox import Toolbox
from simulator.drive.workspace import Repository
from simulator.drive.zygote import ZygoteRunner
from simulator.tasks import catalog, programs

OLDER = "coding_backoffice"  # has a kit of its own and test_coding.py
TEMPLATES = [n for n in catalog.templates() if catalog.kind_of(n) == "coding" and n != OLDER]
EACH = pytest.mark.parametrize("template", TEMPLATES)


@pytest.fixture(scope="module")
def runner() -> Iterator[ZygoteRunner]:
    found = ZygoteRunner(ShellRunner())
    yield found
    found.close()


def kit(module: str) -> Any:
    return importlib.import_module(f"sim_repos._kit_coding.{module}")


def runnable(template: str) -> None:
    if lacks := catalog.lacking(template):
        pytest.skip(f"{template} needs {programs.why_not(lacks[0])}")


def drawn(template: str, seed: int, size: str) -> Any:
    return catalog.load(template).drawn(seed, size)


@EACH
def test_a_small_one_is_solved_and_its_broken_results_are_refused(template: str, runner: ZygoteRunner) -> None:
    runnable(template)
    one = tried(template, 3, "small", "classic-xml", runner)
    assert one.faults == () and 12 <= one.turns <= 24 and one.broken >= 4


def carried_out(task: Task, folder: Path, runner: ZygoteRunner) -> list[tuple[Any, Outcome]]:
    repository = Repository.create(folder / "r.git", task.history)
    workspace = repository.checkout(folder / "work", "session")
    tools = Toolbox(workspace.path, "/home/dev/projects/office", runner)
    return [(action, tools.do(action)) for step in task.steps for action in step.actions]


@EACH
def test_every_action_of_a_medium_one_does_what_its_words_say(
    template: str, tmp_path: Path, runner: ZygoteRunner
) -> None:
    runnable(template)
    task = catalog.make(template, 4, "medium", SDK_STYLE)
    done = carried_out(task, tmp_path, runner)
    assert not [a for a, o in done if isinstance(o, EditFailed | Refused) or (isinstance(o, Matches) and not o.total)]
    ran = [(a.command, o.exit_code, o.output) for a, o in done if isinstance(o, Ran)]
    assert {code for _, code, _ in ran} <= {0, 1}
    told = re.compile(r"\bfail(s|ure)?\b|\bred\b|not pass yet", re.IGNORECASE)
    says = [s.say for s in task.steps]
    for number, step in enumerate(task.steps[:-1]):
        for action in step.actions:
            if isinstance(action, Command) and (action.command, 1) in [(c, code) for c, code, _ in ran]:
                assert told.search(says[number] + says[number + 1]), action.command


@EACH
def test_the_history_is_long_and_the_same_each_time(template: str) -> None:
    task = catalog.make(template, 5, "medium", CLASSIC_STYLE)
    assert task == catalog.make(template, 5, "medium", CLASSIC_STYLE)
    assert len(task.history) >= 20 and len({c.author for c in task.history}) >= 3
    assert task.history == catalog.make(template, 5, "medium", SDK_STYLE).history
    other = catalog.make(template, 6, "medium", CLASSIC_STYLE)
    assert task.name != other.name and task.prompt != other.prompt
    files = {path for commit in task.history for path in commit.files}
    assert files & {"pyproject.toml", "package.json"} and {"README.md", "CHANGELOG.md"} <= files
    assert sum(path.startswith(("tests/", "test/")) for path in files) >= 6
    assert sum(path.startswith("docs/") for path in files) >= 3


@EACH
def test_much_of_a_repository_has_nothing_to_do_with_the_task(template: str) -> None:
    job = drawn(template, 7, "medium")
    head = job.head()
    meant = {path for item in job.items for path in item.files} | set(job.extra)
    beside = sum(len(text) for path, text in head.items() if path not in meant)
    assert beside >= 0.3 * sum(map(len, head.values()))


@EACH
def test_what_is_asked_for_is_in_no_workspace(template: str) -> None:
    """Neither the hidden tests nor the digests of the kept ones."""
    job = drawn(template, 8, "medium")
    task = catalog.make(template, 8, "medium", CLASSIC_STYLE)
    for item in job.items:
        hidden = item.text("check")
        assert hidden in task.check.truth.encode().decode("unicode_escape") and len(hidden) > 80
        assert not any(hidden[:80] in text for text in job.head().values())


PACKAGES = sorted({p.name for p in (catalog.REPOS / "_packages").iterdir()})


@pytest.mark.parametrize("package", PACKAGES)
def test_each_piece_of_work_is_noticed_by_its_tests_and_by_the_check(
    package: str, tmp_path: Path, runner: ZygoteRunner
) -> None:
    """All done: suite and check are content. One undone, or done in the first, wrong way: its new tests, which
    are of the suite, and the check both complain; the suite without the new tests does not notice that it is undone."""
    kits, checks, runs = kit("package"), kit("check"), kit("runs")
    world = kits.build(package, 11)
    if world.script and programs.why_not("node"):
        pytest.skip(programs.why_not("node"))
    done = kits.staged(world, (), "new")
    final = world.files(done)
    for path, text in final.items():
        lay(tmp_path, {path: text.encode()})

    def suite() -> int | None:
        return runner.run(runs.whole(world)[0], tmp_path, 60.0).exit_code

    assert suite() == 0
    assert run_check(tmp_path, checks.check(world, list(world.items.values()), final, final), runner) == []
    for item in world.items.values():
        check = checks.check(world, [item], final, final)
        for stage in ("old", "slip") if world.slips(item) else ("old",):
            changed = world.undone(item, stage)
            lay(tmp_path, {p: text.encode() or None for p, text in changed.items()})
            assert run_check(tmp_path, check, runner), f"{item.key} {stage} passes its check"
            if item.kind != "move":
                own = runs.several(world, [path for path in item.tests if path in final])
                assert runner.run(own, tmp_path, 60.0).exit_code == 1, f"{item.key} {stage} passes the new tests"
            if stage == "old":
                stages = kits.staged(world, [item.key], stage)
                lay(tmp_path, {p: world.text(p, stages).encode() or None for p in item.tests})
                assert suite() == 0, f"{item.key}: the tests before it fail"
            lay(tmp_path, {p: final[p].encode() if p in final else None for p in (*changed, *item.tests)})


def test_tests_are_known_by_their_text() -> None:
    kept_of = kit("check").kept_of
    text = "class A(B):\n    def test_x(self):\n        pass\n\n    @skip\n    def test_y(self):\n        pass\n"
    one = kept_of("tests/test_a.py", text)
    assert set(one) == {"A", "A.test_x", "A.test_y"}
    assert kept_of("tests/test_a.py", text.replace("pass\n\n", "pass  \n\n\n")) == one, "blank ends and lines between"
    changed = kept_of("tests/test_a.py", text.replace("    def test_x", '    @skip("x")\n    def test_x'))
    assert changed["A.test_x"] != one["A.test_x"] and changed["A.test_y"] == one["A.test_y"]
    script = 'test("adds", () => {\n  ok();\n});\n'
    two = kept_of("test/a.test.ts", script)
    assert set(two) == {"adds"} and kept_of("test/a.test.ts", script.replace("test(", "test.skip(")) != two


def test_an_unlisted_file_of_a_package_is_an_error(tmp_path: Path) -> None:
    kits = kit("package")
    growth = tmp_path / "commits.txt"
    growth.write_text("a.py :: Start\n")
    with pytest.raises(ValueError, match=r"commits\.txt lacks b\.py"):
        kits._growth(tmp_path, {}, {"a.py": None, "b.py": None})
