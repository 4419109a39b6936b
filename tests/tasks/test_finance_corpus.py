"""Every finance template of the kit: its recorded path really solves the task, its check refuses what is wrong, seeds
differ, and a third of the files do not matter."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from simulator import tokenizer
from simulator.cli.trial import tried
from simulator.core.action import Command, Edit, Write
from simulator.core.task import CLASSIC_STYLE, SDK_STYLE, SIZES, Task
from simulator.drive.commands import ShellRunner
from simulator.drive.zygote import ZygoteRunner
from simulator.tasks import catalog

TEMPLATES = [name for name in catalog.of_kind("finance") if name != "finance_yearend"]


@pytest.fixture(scope="module")
def runner() -> Iterator[ZygoteRunner]:
    found = ZygoteRunner(ShellRunner())
    yield found
    found.close()


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_path_solves_it_and_broken_results_are_refused(template: str, runner: ZygoteRunner) -> None:
    one = tried(template, 5, "small", "classic-xml", runner)
    assert one.faults == ()
    assert 12 <= one.turns <= 24 and one.broken >= 4


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_third_of_the_files_does_not_matter(template: str) -> None:
    task = catalog.make(template, 2, "medium", CLASSIC_STYLE)
    paths = {path for commit in task.history for path in commit.files}
    known = set(json.loads(task.check.truth)["untouched"])
    said = " ".join(step.say for step in task.steps) + repr([a for s in task.steps for a in s.actions]) + task.prompt
    other = [p for p in paths - known if p.rpartition("/")[2] not in said and not p.endswith("__init__.py")]
    assert len(other) >= 0.3 * len(paths), (len(other), len(paths))


def blocks(task: Task) -> set[tuple[int, ...]]:
    """64-token blocks at every 16th token of all that is said, written and delivered."""
    said = "".join(
        step.say
        + "".join(a.content for a in step.actions if isinstance(a, Write))
        + "".join(new for a in step.actions if isinstance(a, Edit) for _, new in a.blocks)
        for step in task.steps
    )
    data = "".join((c or b"").decode() for commit in task.history for c in commit.files.values())
    ids = tokenizer.encode(said + data)
    return {tuple(ids[k : k + 64]) for k in range(0, len(ids) - 63, 16)}


@pytest.mark.parametrize("template", TEMPLATES)
def test_seeds_give_distinct_sessions(template: str) -> None:
    found = [catalog.make(template, seed, "medium", SDK_STYLE) for seed in (31, 32)]
    one, other = map(blocks, found)
    assert len(one & other) / len(one) < 0.04
    assert found[0].prompt != found[1].prompt and found[0].name != found[1].name


@pytest.mark.parametrize("template", TEMPLATES)
def test_nothing_is_said_twice_and_no_markup_is_left(template: str) -> None:
    task = catalog.make(template, 3, "medium", CLASSIC_STYLE)
    says = [step.say for step in task.steps]
    assert len(set(says)) == len(says)
    delivered = [(c or b"").decode() for commit in task.history for c in commit.files.values()]
    written = [a.content for s in task.steps for a in s.actions if isinstance(a, Write)]
    text = "\n".join([*says, task.prompt, *written, *delivered])
    assert not set("«»$") & set(text) and "{unit}" not in text and "#if" not in text


@pytest.mark.parametrize("template", TEMPLATES)
def test_equal_arguments_give_equal_tasks(template: str) -> None:
    assert catalog.make(template, 8, "small", SDK_STYLE) == catalog.make(template, 8, "small", SDK_STYLE)
    small, medium = (catalog.make(template, 8, size, CLASSIC_STYLE) for size in SIZES[:2])
    assert len(small.steps) < len(medium.steps) and small.name


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_agent_meets_real_failures(template: str) -> None:
    """A comparison that differs comes before the change that mends it."""
    for seed in range(3):
        task = catalog.make(template, seed, "medium", CLASSIC_STYLE)
        actions = [a for s in task.steps for a in s.actions]
        script = next(a.path for a in actions if isinstance(a, Write) and a.path.endswith(".py"))
        edits = [k for k, a in enumerate(actions) if isinstance(a, Edit) and a.path == script]
        assert len(edits) >= 2
        for k in edits:
            assert any(isinstance(a, Command) for a in actions[k - 5 : k])
