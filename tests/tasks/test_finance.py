"""The year-end template: its work can be done for real, its check knows right from wrong, its seeds differ."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from simulator import tokenizer
from simulator.cline.classic.calls import as_xml
from simulator.core.action import (
    Action,
    Command,
    Complete,
    Definitions,
    Edit,
    Edited,
    EditFailed,
    FileText,
    Finished,
    ListFiles,
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

TEMPLATE = "finance_yearend"
TURNS = {"small": (16, 24), "medium": (28, 50), "long": (80, 130)}
CASES = [
    (5, "small", CLASSIC_STYLE),
    (3, "medium", CLASSIC_STYLE),
    (11, "medium", SDK_STYLE),
    (4, "long", SDK_STYLE),
]
SHOWN = "/home/dev/projects/close"


def make(seed: int, size: str, style: Style) -> Task:
    return catalog.make(TEMPLATE, seed, size, style)


@pytest.fixture(scope="module")
def runner() -> Iterator[ZygoteRunner]:
    found = ZygoteRunner(ShellRunner())
    yield found
    found.close()


@dataclass(frozen=True, slots=True)
class Done:
    task: Task
    style: Style
    root: Path
    before: list[str]
    outcomes: list[list[Outcome]]


def carry_out(task: Task, style: Style, folder: Path, runner: ZygoteRunner) -> Done:
    root = folder / task.name
    Repository.create(folder / "bare.git", task.history).checkout(root, "session")
    before = run_check(root, task.check, runner)
    toolbox = Toolbox(root, SHOWN, runner)
    return Done(task, style, root, before, [[toolbox.do(a) for a in step.actions] for step in task.steps])


@pytest.fixture(scope="module", params=CASES, ids=lambda c: f"{c[1]}-{c[0]}-{c[2].documents}")
def done(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, runner: ZygoteRunner) -> Done:
    return carry_out(make(*request.param), request.param[2], tmp_path_factory.mktemp("finance"), runner)


def fits(action: object, outcome: Outcome) -> bool:
    match action, outcome:
        case (_, Refused() | EditFailed()):
            return False
        case Search(), Matches(total=total):
            return total > 0
        case ReadFile(), FileText(text=text):
            return bool(text)
        case Command(), Ran(exit_code=code, output=output):
            return code is not None and (bool(output) or code == 0)
        case ((Edit() | Write()), Edited(before=before, after=after)):
            return before != after
        case Complete(), Finished():
            return True
    return isinstance(action, ListFiles | Definitions)


def test_every_step_works_and_only_the_red_test_fails(done: Done) -> None:
    failed = []
    for step, outcomes in zip(done.task.steps, done.outcomes, strict=True):
        for action, outcome in zip(step.actions, outcomes, strict=True):
            assert fits(action, outcome), (action, outcome)
            if isinstance(outcome, Ran) and outcome.exit_code:
                failed.append(outcome.output)
    assert len(failed) == 1 and "FAILED" in failed[0], failed
    text = "\n".join(o.output for outcomes in done.outcomes for o in outcomes if isinstance(o, Ran))
    assert text.count("Traceback") == failed[0].count("Traceback")


def test_the_check_fails_before_and_passes_after(done: Done, runner: ZygoteRunner) -> None:
    assert all("missing" in line for line in done.before) and done.before
    assert run_check(done.root, done.task.check, runner) == []


def write_results(done: Done, runner: ZygoteRunner) -> list[str]:
    """Removes the results and runs the commands that write them -> what the check says."""
    toolbox = Toolbox(done.root, SHOWN, runner)
    for name in json.loads(done.task.check.truth)["results"]:
        (done.root / name).unlink()
    for step in done.task.steps:
        for action in step.actions:
            if isinstance(action, Command) and action.effects:
                toolbox.do(action)
    return run_check(done.root, done.task.check, runner)


def test_each_first_draft_really_was_wrong(done: Done, runner: ZygoteRunner) -> None:
    """A script as first written gives wrong results, or its own strict comparison refuses to write them; the other
    results stay right."""
    if done.task.size == "long":
        pytest.skip("the medium ones show it")
    actions = [a for s in done.task.steps for a in s.actions]
    edited = {a.path for a in actions if isinstance(a, Edit)}
    drafts = [a for a in actions if isinstance(a, Write) and a.path in edited]
    parts = 1 if done.task.size == "small" else 3
    assert len(drafts) == parts
    touched = set()
    for draft in drafts:
        final = (done.root / draft.path).read_text()
        (done.root / draft.path).write_text(draft.content)
        faults = write_results(done, runner)
        (done.root / draft.path).write_text(final)
        assert len({fault.split(":")[0] for fault in faults}) == 1, (draft.path, faults)
        touched.add(faults[0].split(":")[0])
        for name in json.loads(done.task.check.truth)["results"]:
            (done.root / name).touch()
    assert len(touched) == parts
    assert write_results(done, runner) == []


def test_the_data_is_left_alone(done: Done) -> None:
    head = {path: content for commit in done.task.history for path, content in commit.files.items()}
    changed = [path for path, content in head.items() if (done.root / path).read_bytes() != content]
    assert len(changed) == 1 and changed[0].endswith(".py") and not changed[0].startswith("tests/")


def tamper(done: Done, name: str, keys: list[str], value: str | None) -> str:
    """Write another value at a place of a result file -> the file's text before."""
    path = done.root / name
    text = path.read_text()
    data = json.loads(text)
    place = data
    for key in keys[:-1]:
        place = place[key]
    if value is None:
        del place[keys[-1]]
    else:
        place[keys[-1]] = value
    path.write_text(json.dumps(data))
    return text


def test_one_cent_a_millionth_or_a_lost_figure_is_named(done: Done, runner: ZygoteRunner) -> None:
    results = json.loads(done.task.check.truth)["results"]
    for name, rows in results.items():
        for keys, want, tolerance in (rows[0], rows[-1]):
            off = float(want) + (0.01 if tolerance == "0.004" else 2.1 * float(tolerance))
            for value in (f"{off:.8f}", "nan", "n/a", None):
                text = tamper(done, name, keys, value)
                faults = run_check(done.root, done.task.check, runner)
                (done.root / name).write_text(text)
                assert len(faults) == 1 and name in faults[0] and keys[-1] in faults[0], (value, faults)


def test_a_report_without_a_headline_figure_is_named(done: Done, runner: ZygoteRunner) -> None:
    truth = json.loads(done.task.check.truth)
    report = done.root / truth["report"]
    text = report.read_text()
    label, figure = truth["headlines"][-1]
    report.write_text(text.replace(figure, "?"))
    faults = run_check(done.root, done.task.check, runner)
    report.write_text(text)
    assert any(label in fault for fault in faults)


def test_the_client_with_short_results_reads_within_them(done: Done) -> None:
    reads = [
        (action, outcome.text)
        for step, outcomes in zip(done.task.steps, done.outcomes, strict=True)
        for action, outcome in zip(step.actions, outcomes, strict=True)
        if isinstance(action, ReadFile) and isinstance(outcome, FileText)
    ]
    several = any(len(step.actions) > 1 for step in done.task.steps)
    assert several == (done.style == SDK_STYLE)
    for action, text in reads:
        lines = text.splitlines()[(action.start_line or 1) - 1 : action.end_line]
        assert lines, action
        if done.style.max_result_chars:
            assert sum(len(line) + 8 for line in lines) <= done.style.max_result_chars, action


def test_shape_of_the_traffic(done: Done) -> None:
    task = done.task
    low, high = TURNS[task.size]
    assert low <= len(task.steps) <= high
    if task.size == "small":
        return  # too few turns for shares
    replies = [tokenizer.count(step.say) + sum(argument_tok(a) for a in step.actions) for step in task.steps]
    results = [sum(tokenizer.count(outcome_text(o)) for o in outcomes) for outcomes in done.outcomes]
    assert 180 <= np.median(replies) <= 450 and 500 <= np.quantile(replies, 0.9) <= 1_300
    growth = np.array(replies) + np.array(results)
    assert 400 <= np.median(growth) <= 1_300 and 1_700 <= np.quantile(growth, 0.9) <= 5_000
    assert 900 <= growth.mean() <= 2_200
    actions = [a for step in task.steps for a in step.actions]
    share = Counter(group(a) for a in actions)
    total = len(actions)
    assert 0.33 <= share["look"] / total <= 0.55
    assert 0.18 <= share["change"] / total <= 0.30
    assert 0.25 <= share["run"] / total <= 0.42
    assert 1 - len(set(actions)) / total <= 0.08
    lists = [k for k, step in enumerate(task.steps) if step.progress]
    assert all(b - a <= 10 for a, b in itertools.pairwise(lists))
    assert isinstance(task.steps[-1].actions[0], Complete)


def argument_tok(action: Action) -> int:
    """Of the call as the classic client's model writes it."""
    return tokenizer.count(as_xml(action, ""))


def group(action: object) -> str:
    match action:
        case Write() | Edit():
            return "change"
        case Command():
            return "run"
        case Complete():
            return "end"
    return "look"


def blocks(task: Task) -> set[tuple[int, ...]]:
    """64-token blocks at every 16th token of all that is said, written and delivered: stricter than aligned ones."""
    said = "".join(step.say + "".join(a.content for a in step.actions if isinstance(a, Write)) for step in task.steps)
    data = "".join((c or b"").decode() for commit in task.history for c in commit.files.values())
    ids = tokenizer.encode(said + data)
    return {tuple(ids[k : k + 64]) for k in range(0, len(ids) - 63, 16)}


@pytest.mark.parametrize("size", ["medium", "long"])
def test_seeds_give_distinct_sessions(size: str) -> None:
    found = [make(seed, size, CLASSIC_STYLE) for seed in range(20, 23)]
    assert len({task.name for task in found}) == len({task.prompt for task in found}) == len(found)
    sets = [blocks(task) for task in found]
    for k, one in enumerate(sets):
        for other in sets[k + 1 :]:
            assert len(one & other) / len(one) < 0.02


def test_a_request_for_one_thing_is_not_in_the_plural() -> None:
    prompts = [
        catalog.make(name, seed, "small", CLASSIC_STYLE).prompt
        for name in catalog.templates()
        if name.startswith("finance_")
        for seed in range(1, 4)
    ]
    assert any(re.search(r"\b1 [a-z]+ ", prompt) for prompt in prompts), "some have one unit"
    for prompt in prompts:
        assert not re.search(r"(?<![\d.,/-])\b1 [a-z]+s\b", prompt), prompt
        assert not re.search(r"day counts is|round is", prompt), prompt


def test_says_do_not_repeat_and_have_no_markup_left() -> None:
    for seed in (1, 2):
        task = make(seed, "long", SDK_STYLE)
        says = [step.say for step in task.steps]
        assert len(set(says)) == len(says)
        text = "\n".join(
            [*says, task.prompt, *(a.content for s in task.steps for a in s.actions if isinstance(a, Write))]
        )
        assert not set("«»") & set(text) and "$" not in text


def test_equal_arguments_give_equal_tasks() -> None:
    assert make(8, "long", SDK_STYLE) == make(8, "long", SDK_STYLE)
    assert make(8, "medium", SDK_STYLE).history == make(8, "medium", CLASSIC_STYLE).history


@pytest.mark.parametrize("seed", range(100, 104))
def test_many_seeds_can_be_made(seed: int) -> None:
    """Edits are applied to the text as it will be while a task is made, so that making it already proves they fit."""
    for size, (low, high) in TURNS.items():
        for style in (CLASSIC_STYLE, SDK_STYLE):
            assert low <= len(make(seed, size, style).steps) <= high
