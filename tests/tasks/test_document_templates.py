"""Every document template made with the kit: a small instance is carried out, judged and broken."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from simulator.cli.trial import lay
from simulator.core.action import Command, Complete, EditFailed, Ran, Refused
from simulator.core.task import CLASSIC_STYLE, SDK_STYLE, Task
from simulator.drive.checking import run_check
from simulator.drive.commands import ShellRunner
from simulator.drive.edits import apply_blocks
from simulator.drive.toolbox import Toolbox
from simulator.drive.workspace import Repository
from simulator.drive.zygote import ZygoteRunner
from simulator.tasks import catalog

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = [n for n in catalog.templates() if catalog.kind_of(n) == "documents" and n != "documents_inbox"]
STYLES = {n: (CLASSIC_STYLE, SDK_STYLE)[k % 2] for k, n in enumerate(TEMPLATES)}


made = functools.cache(catalog.make)


@pytest.fixture(scope="module")
def runner() -> Iterator[ZygoteRunner]:
    zygote = ZygoteRunner(ShellRunner())
    yield zygote
    zygote.close()


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_recorded_way_solves_it_and_what_is_broken_fails(
    template: str, tmp_path: Path, runner: ZygoteRunner
) -> None:
    style = STYLES[template]
    task = made(template, 3, "small", style)
    root = tmp_path / "work"
    Repository.create(tmp_path / "origin.git", task.history).checkout(root, "session")
    box = Toolbox(root, "/home/dev/papers", runner, documents=style.documents)
    assert run_check(root, task.check, runner)
    for step in task.steps:
        for action in step.actions:
            outcome = box.do(action)
            assert not isinstance(outcome, Refused | EditFailed), (action, outcome)
            if isinstance(outcome, Ran):
                # a first version may stop with an error, which its next edit mends
                assert outcome.exit_code == 0 or "Error: " in outcome.output, (action, outcome)
                assert str(root) not in outcome.output and sys.prefix not in outcome.output
                if isinstance(action, Command) and not action.effects and "unittest" not in action.command:
                    assert box.do(action) == outcome
    assert run_check(root, task.check, runner) == []
    broken = catalog.broken(template, task)
    assert len(broken) >= 4
    for name, files in broken:
        kept = {path: (root / path).read_bytes() for path in files}
        assert kept != files, name
        lay(root, files)
        complaints = run_check(root, task.check, runner)
        assert complaints and not complaints[0].startswith("the check"), name
        lay(root, kept)
    assert run_check(root, task.check, runner) == []


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_changed_paper_fails_the_check(template: str, tmp_path: Path, runner: ZygoteRunner) -> None:
    task = made(template, 3, "small", STYLES[template])
    truth = json.loads(task.check.truth)
    papers = {path: data for commit in task.history for path, data in commit.files.items() if path in truth["papers"]}
    lay(tmp_path, papers)
    for path, content in truth["files"].items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(sys.modules["sim_repos._kit_documents.truth"].written(path, content))
    assert run_check(tmp_path, task.check, runner) == []
    spoilt = sorted(papers)[0]
    (tmp_path / spoilt).write_bytes((papers[spoilt] or b"") + b" ")
    assert run_check(tmp_path, task.check, runner) == [f"{spoilt}: a paper was changed"]


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_third_of_the_papers_does_not_matter(template: str) -> None:
    task = made(template, 11, "medium", CLASSIC_STYLE)
    needed = json.loads(task.check.truth)["papers"]
    folder = next(iter(needed)).split("/")[0] + "/"
    papers = [path for commit in task.history for path in commit.files if path.startswith(folder)]
    assert len(set(papers)) == len(papers) and set(needed) <= set(papers)
    assert len(needed) <= 0.7 * len(papers)


@pytest.mark.parametrize("template", TEMPLATES)
def test_seeds_and_sizes_give_work_of_their_own(template: str) -> None:
    tasks = [made(template, seed, "medium", SDK_STYLE) for seed in (11, 12)]
    assert len({t.name for t in tasks}) == len({t.prompt for t in tasks}) == len({t.check.truth for t in tasks}) == 2
    said = [{step.say for step in task.steps} for task in tasks]
    assert len(said[0] & said[1]) <= 1
    turns = [len(made(template, *which).steps) for which in ((3, "small", STYLES[template]), (11, "medium", SDK_STYLE))]
    assert 10 <= turns[0] <= 21 and 34 <= turns[1] <= 56


@pytest.mark.parametrize("template", TEMPLATES)
def test_replies_read_like_an_agent_s(template: str) -> None:
    for style in (CLASSIC_STYLE, SDK_STYLE):
        steps = made(template, 11, "medium", style).steps
        says = [step.say for step in steps]
        assert len(set(says)) == len(says) and 300 <= statistics.median(map(len, says)) <= 1_200
        assert not any("{" in say.replace("{}", "") or "  " in say or " ." in say for say in says)
        marks = [step.progress for step in steps if step.progress]
        assert len(marks) >= 4 and "- [ ]" not in marks[-1] and "- [ ]" in marks[0]
        assert isinstance(steps[-1].actions[0], Complete)


def test_same_arguments_same_bytes_in_any_process() -> None:
    """Another hash seed, time zone and locale."""
    program = (
        "import hashlib; from simulator.tasks import catalog; from simulator.core.task import SDK_STYLE;"
        "made = lambda t: repr(catalog.make(t, 3, 'small', SDK_STYLE)).encode();"
        f"print([hashlib.sha256(made(t)).hexdigest() for t in {TEMPLATES!r}])"
    )

    def digest(task: Task) -> str:
        return hashlib.sha256(repr(task).encode()).hexdigest()

    here = [digest(made(t, 3, "small", SDK_STYLE)) for t in TEMPLATES]
    env = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Pacific/Auckland", "LC_ALL": "C"}
    there = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=env, capture_output=True, check=True)
    assert there.stdout.decode().strip() == repr(here)


@pytest.mark.parametrize(
    ("before", "after"),
    [("a\nb\nc\n", "a\nB\nc\n"), ("a\na\na\n", "a\nb\na\n"), ("x\n", "x\ny\n"), ("p\nq\np\nq\n", "p\nq\nnew\np\nq\n")],
)
def test_a_repair_turns_one_version_into_the_other(before: str, after: str) -> None:
    catalog.load(TEMPLATES[0])
    assert apply_blocks(before, sys.modules["sim_repos._kit_documents.code"].repair(before, after)) == after
