"""The office-library template: its work can be done for real, its check knows right from wrong, its seeds differ."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator import tokenizer
from simulator.cline.conversation import Conversation
from simulator.cline.profiles import PROFILES
from simulator.cline.setup import Setup
from simulator.core.action import (
    Command,
    Complete,
    Definitions,
    Edit,
    EditFailed,
    ListFiles,
    Listing,
    Matches,
    Outcome,
    Ran,
    ReadFile,
    Refused,
    Search,
    Write,
)
from simulator.core.normalise import outcome_text
from simulator.core.task import CLASSIC_STYLE, SDK_STYLE, Style, Task
from simulator.drive.checking import run_check
from simulator.drive.commands import ShellRunner
from simulator.drive.toolbox import Toolbox
from simulator.drive.workspace import Repository
from simulator.drive.zygote import ZygoteRunner
from simulator.tasks import catalog

TEMPLATE = "coding_backoffice"
TURNS = {"medium": (35, 60), "long": (95, 150)}
CASES = [
    (1, "medium", CLASSIC_STYLE),
    (2, "medium", SDK_STYLE),
    (3, "medium", CLASSIC_STYLE),
    (8, "medium", SDK_STYLE),
    (4, "long", SDK_STYLE),
    (6, "long", CLASSIC_STYLE),
]
SHOWN = "/home/dev/projects/office"
recipe: Any = catalog.load(TEMPLATE)


@dataclass(frozen=True, slots=True)
class Walked:
    """A recorded path after it was done: outcomes[i] belong to steps[i], and so do texts[i] (reply and results as the
    client sends them), prompt_tok[i] and output_tok[i]."""

    task: Task
    style: Style
    before: list[str]
    outcomes: list[list[Outcome]]
    after: list[str]
    texts: list[str]
    prompt_tok: list[int]
    output_tok: list[int]


@pytest.fixture(scope="module")
def runner() -> Iterator[ZygoteRunner]:
    found = ZygoteRunner(ShellRunner())
    yield found
    found.close()


def walk(task: Task, style: Style, folder: Path, runner: ZygoteRunner) -> Walked:
    repository = Repository.create(folder / "r.git", task.history)
    workspace = repository.checkout(folder / "work", "session")
    tools = Toolbox(workspace.path, SHOWN, runner)
    before = run_check(workspace.path, task.check, runner)
    listing = tools.do(ListFiles(".", recursive=True))
    assert isinstance(listing, Listing)
    setup = Setup(task.prompt, SHOWN, task.name, "m", 10_000_000, listing, repository.head, 1_772_438_400.0)
    talk = Conversation(PROFILES["classic-xml" if style.echo_after_edit else "sdk"], setup, tokenizer.count)
    done = Walked(task, style, before, [], [], [], [], [])
    for number, step in enumerate(task.steps):
        done.prompt_tok.append(talk.requests()[-1].prompt_tok)
        done.output_tok.append(talk.reply(step).output_tok)
        outcomes = [tools.do(action) for action in step.actions]
        done.outcomes.append(outcomes)
        results = talk.results(outcomes, 1_772_438_400.0 + 10 * number)
        done.texts.append("\n".join((step.say, *results)))
    done.after.extend(run_check(workspace.path, task.check, runner))
    return done


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory, runner: ZygoteRunner) -> list[Walked]:
    return [
        walk(catalog.make(TEMPLATE, seed, size, style), style, tmp_path_factory.mktemp("coding"), runner)
        for seed, size, style in CASES
    ]


def test_every_action_works(walks: list[Walked]) -> None:
    for walked in walks:
        for step, outcomes in zip(walked.task.steps, walked.outcomes, strict=True):
            for action, outcome in zip(step.actions, outcomes, strict=True):
                assert not isinstance(outcome, EditFailed | Refused), f"{walked.task.name}: {action} gave {outcome}"
                assert not isinstance(outcome, Matches) or outcome.total, f"{walked.task.name}: no hit for {action}"
                assert not isinstance(outcome, Ran) or not outcome.timed_out


def test_check_fails_before_and_passes_after(walks: list[Walked]) -> None:
    for walked in walks:
        assert len(walked.before) >= 2, walked.task.name
        assert walked.after == [], walked.task.name


def test_suite_is_green_at_first_and_at_last_and_red_only_on_the_way(walks: list[Walked]) -> None:
    red = 0
    for walked in walks:
        runs = [
            (action.command, outcome)
            for step, outcomes in zip(walked.task.steps, walked.outcomes, strict=True)
            for action, outcome in zip(step.actions, outcomes, strict=True)
            if isinstance(action, Command) and isinstance(outcome, Ran)
        ]
        full = [ran.exit_code for command, ran in runs if "discover" in command and "-p" not in command]
        assert full == [0, 0], walked.task.name
        red += sum(ran.exit_code == 1 for command, ran in runs if "unittest" in command)
        assert all(ran.exit_code in (0, 1) for _, ran in runs)
    assert red >= 2  # tests written first, and a first try that was wrong


def test_commands_print_the_same_each_time(tmp_path: Path, runner: ZygoteRunner, walks: list[Walked]) -> None:
    again = walk(walks[0].task, walks[0].style, tmp_path, runner)
    for first, second in zip(walks[0].outcomes, again.outcomes, strict=True):
        timed = re.compile(r"in \d+\.\d+s")
        assert [timed.sub("", outcome_text(o)) for o in first] == [timed.sub("", outcome_text(o)) for o in second]


def test_traffic_has_the_shape_of_measured_sessions(walks: list[Walked]) -> None:
    outputs: list[int] = []
    for walked in walks:
        low, high = TURNS[walked.task.size]
        name = f"{walked.task.name} {walked.task.size}"
        assert low <= len(walked.task.steps) <= high, f"{name}: {len(walked.task.steps)} turns"
        growth = np.diff(walked.prompt_tok)
        outputs += walked.output_tok
        floor = 1_150 if walked.style.echo_after_edit else 850
        assert 350 <= np.median(growth) <= 1_250, f"{name}: median growth {np.median(growth)}"
        assert floor <= np.mean(growth) <= 2_000, f"{name}: mean growth {np.mean(growth)}"
        assert 1_500 <= np.percentile(growth, 90) <= 5_000, name
        says = [tokenizer.count(s.say) for s in walked.task.steps[:-1]]
        assert np.percentile(says, 10) >= 55 and np.percentile(says, 95) <= 260, f"{name}: {sorted(says)}"
    assert 170 <= np.median(outputs) <= 450 and 500 <= np.percentile(outputs, 90) <= 1_100


def test_tools_are_mixed_and_rarely_repeated(walks: list[Walked]) -> None:
    for walked in walks:
        calls = [action for step in walked.task.steps for action in step.actions if not isinstance(action, Complete)]
        looks = sum(isinstance(c, ReadFile | Search | ListFiles | Definitions) for c in calls) / len(calls)
        edits = sum(isinstance(c, Edit | Write) for c in calls) / len(calls)
        repeated = sum(n - 1 for n in Counter(map(repr, calls)).values()) / len(calls)
        assert 0.33 <= looks <= 0.56 and 0.14 <= edits <= 0.28, f"{walked.task.name}: {looks:.2f} {edits:.2f}"
        assert 0.25 <= 1 - looks - edits <= 0.47 and repeated <= 0.08, walked.task.name


def test_paths_end_with_a_result_and_keep_a_checklist(walks: list[Walked]) -> None:
    for walked in walks:
        steps = walked.task.steps
        assert [isinstance(a, Complete) for s in steps for a in s.actions].index(True) == sum(
            len(s.actions) for s in steps
        ) - 1
        if walked.style.echo_after_edit:
            assert all(len(s.actions) == 1 for s in steps)
        lists = [i for i, s in enumerate(steps) if s.progress]
        assert all(5 < b - a <= 11 for a, b in itertools.pairwise(lists[:-1]))


def test_long_files_are_read_in_ranges_where_results_are_cut(walks: list[Walked]) -> None:
    for walked in walks:
        if walked.style.max_result_chars is None:
            continue
        for step, outcomes, text in zip(walked.task.steps, walked.outcomes, walked.texts, strict=True):
            if len(outcomes) == 1 and isinstance(step.actions[0], ReadFile):
                assert len(text) - len(step.say) < walked.style.max_result_chars


def blocks(walked: Walked) -> set[tuple[int, ...]]:
    tokens = tokenizer.encode("\n".join(walked.texts))
    return {tuple(tokens[i : i + 64]) for i in range(0, len(tokens) - 63, 64)}


def test_seeds_share_almost_nothing(walks: list[Walked]) -> None:
    for one, two in itertools.combinations(map(blocks, walks), 2):
        assert len(one & two) / min(len(one), len(two)) < 0.02


def test_repository_has_a_history_and_a_package_of_real_size(walks: list[Walked]) -> None:
    for walked in walks:
        history = walked.task.history
        files: dict[str, bytes | None] = {}
        for commit in history:
            files |= commit.files
        modules = [p for p in files if p.endswith(".py") and not p.startswith("tests/")]
        assert 8 <= len(history) <= 16 and len({c.author for c in history}) >= 2
        assert all(a.when_s < b.when_s for a, b in itertools.pairwise(history))
        assert 25 <= len(modules) <= 45, len(modules)
        assert {"README.md", "CHANGELOG.md", "pyproject.toml", ".gitignore"} <= files.keys()
        assert 100 <= tokenizer.count(walked.task.prompt) <= 420


def test_same_arguments_same_task() -> None:
    assert catalog.make(TEMPLATE, 21, "long", SDK_STYLE) == catalog.make(TEMPLATE, 21, "long", SDK_STYLE)
    one, two = (catalog.make(TEMPLATE, 21, size, CLASSIC_STYLE) for size in ("medium", "long"))
    assert one.name == two.name and one.prompt != two.prompt


def test_names_differ_between_seeds() -> None:
    module = sys.modules[recipe.build.__module__]
    names = [module.words.project(seed)[0] for seed in range(12_000)]
    assert len(set(names)) == len(names)


@dataclass(frozen=True, slots=True)
class Everything:
    """A repository with every unit there is, and an item of each kind for each."""

    world: Any
    items: list[Any]

    def write(self, root: Path, fault: str, feature: str, tests: str = "") -> None:
        stages = {path: {"fault": fault, "feature": feature} for path in self.world.sources()}
        for unit in self.world.units:
            stages[unit.test_path] = {"fault": tests or fault, "feature": feature}
        for path, text in recipe.history.files_at(self.world, stages, "1.0").items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)


@pytest.fixture(scope="module", params=[7])
def everything(request: pytest.FixtureRequest) -> Everything:
    units = len(sys.modules[recipe.build.__module__].unit_keys())
    world = recipe.build(request.param, units)
    return Everything(world, [recipe.solve.Item(u, kind) for u in world.units for kind in ("fault", "feature")])


def test_check_tells_each_fault_and_each_missing_feature(
    everything: Everything, tmp_path: Path, runner: ZygoteRunner
) -> None:
    check = recipe._check(everything.items)
    for stage in ("new", "old", "slip"):
        everything.write(tmp_path / stage, stage, "old" if stage == "slip" else stage)
    assert run_check(tmp_path / "new", check, runner) == []
    named = {line.partition(":")[0] for line in run_check(tmp_path / "old", check, runner)}
    assert named == {f"{i.unit.names['mod']} ({i.kind})" for i in everything.items}
    named = {line.partition(":")[0] for line in run_check(tmp_path / "slip", check, runner)}
    wrong = [u for u in everything.world.units if u.module.has_slip("fault")]
    assert {f"{u.names['mod']} (fault)" for u in wrong} <= named and len(wrong) >= 10


def test_suite_notices_faults_only_with_the_new_tests(
    everything: Everything, tmp_path: Path, runner: ZygoteRunner
) -> None:
    command = "python -m unittest discover -s tests -t ."
    for name, fault, tests in (("right", "new", "new"), ("faulty", "old", "old"), ("tested", "old", "new")):
        everything.write(tmp_path / name, fault, "old", tests)
        ran = runner.run(command, tmp_path / name, 60.0)
        assert (ran.exit_code == 0) == (name != "tested"), ran.output
        red = {found for found in re.findall(r"^(?:FAIL|ERROR): \w+ \(tests\.(\w+)\.", ran.output, re.MULTILINE)}
        units = {"test_" + u.names["mod"] for u in everything.world.units}
        assert red == (units if name == "tested" else set())


def test_generated_code_is_clean(everything: Everything, tmp_path: Path) -> None:
    rules = ["--isolated", "--select=E,F,I,UP,B,SIM,RUF", "--line-length=120", "--target-version=py311"]
    for stage in ("old", "new"):
        everything.write(tmp_path / stage, stage, stage)
        found = subprocess.run(
            [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format=concise", *rules, "."],
            cwd=tmp_path / stage, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert found.returncode == 0, found.stdout
