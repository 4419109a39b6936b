"""The document parsing template: its recorded solutions carried out for real, judged, measured and told apart."""

from __future__ import annotations

import hashlib
import importlib
import itertools
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from simulator.cline.conversation import Conversation
from simulator.cline.profiles import PROFILES
from simulator.cline.setup import Setup
from simulator.core.action import (
    Command,
    Complete,
    Edit,
    EditFailed,
    ListFiles,
    Listing,
    Ran,
    ReadFile,
    Refused,
    Search,
    Write,
)
from simulator.core.task import CLASSIC_STYLE, SDK_STYLE, Style, Task
from simulator.drive.checking import run_check
from simulator.drive.commands import ShellRunner
from simulator.drive.edits import apply_blocks
from simulator.drive.toolbox import Toolbox, apply_earlier
from simulator.drive.workspace import Repository
from simulator.drive.zygote import ZygoteRunner
from simulator.tasks import catalog
from simulator.tokenizer import count, encode

TEMPLATE = "documents_inbox"
ROOT = Path(__file__).resolve().parents[2]
STYLES = {"classic-xml": CLASSIC_STYLE, "sdk": SDK_STYLE}
#: both sizes and clients; several seeds where they are cheap
PLAYED = [("medium", "classic-xml", 1), ("medium", "classic-xml", 2), ("medium", "sdk", 3)]
PLAYED += [("long", "classic-xml", 4), ("long", "sdk", 5)]


@dataclass(frozen=True, slots=True)
class Played:
    """A session carried out on a real checkout that is still there. stream: tokens of all results and replies."""

    task: Task
    root: Path
    before: list[str]
    after: list[str]
    broken: list[object]
    growth_tok: list[int]
    output_tok: list[int]
    stream: list[int]


@pytest.fixture(scope="module")
def runner() -> Iterator[ZygoteRunner]:
    made = ZygoteRunner(ShellRunner())
    yield made
    made.close()


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory, runner: ZygoteRunner) -> dict[tuple[str, str, int], Played]:
    return {key: play(*key, tmp_path_factory.mktemp("session"), runner) for key in PLAYED}


def play(size: str, profile: str, seed: int, folder: Path, runner: ZygoteRunner) -> Played:
    task = catalog.make(TEMPLATE, seed, size, STYLES[profile])
    root = folder / "work"
    Repository.create(folder / "origin.git", task.history).checkout(root, "session")
    box = Toolbox(root, "/home/dev/papers", runner, documents=STYLES[profile].documents)
    before = run_check(root, task.check, runner)
    listing = box.do(ListFiles(".", recursive=True))
    assert isinstance(listing, Listing)
    setup = Setup(task.prompt, "/home/dev/papers", task.name, "m", 10**8, listing, "0" * 40, 1_770_000_000.0)
    talk = Conversation(PROFILES[profile], setup, count)
    broken: list[object] = []
    prompts, outputs, stream = [], [], []
    for step in task.steps:
        prompts.append(talk.requests()[-1].prompt_tok)
        outputs.append(talk.reply(step).output_tok)
        outcomes = [box.do(action) for action in step.actions]
        broken += [(step.actions, o) for o in outcomes if isinstance(o, Refused | EditFailed)]
        written = "".join(getattr(action, "content", "") for action in step.actions)
        stream += encode(step.say + written + "".join(talk.results(outcomes, 1_770_000_000.0 + len(prompts))))
    growth = [b - a for a, b in itertools.pairwise(prompts)]
    return Played(task, root, before, run_check(root, task.check, runner), broken, growth, outputs, stream)


def part(name: str) -> Any:
    return importlib.import_module(f"{catalog.load(TEMPLATE).__package__}.{name}")


def kinds(task: Task) -> dict[str, int]:
    actions = [action for step in task.steps for action in step.actions]
    return {
        "read": sum(isinstance(a, ListFiles | ReadFile | Search) for a in actions),
        "write": sum(isinstance(a, Write | Edit) for a in actions),
        "command": sum(isinstance(a, Command) for a in actions),
        "all": len(actions),
    }


@pytest.mark.parametrize("key", PLAYED, ids=str)
def test_the_recorded_solution_solves_the_task(played: dict[Any, Played], key: tuple[str, str, int]) -> None:
    session = played[key]
    assert session.broken == []
    assert session.before and all("not written" in line for line in session.before)
    assert session.after == []


def test_one_wrong_field_fails_the_check_and_is_named(played: dict[Any, Played], runner: ZygoteRunner) -> None:
    session = played["medium", "classic-xml", 1]
    for path in sorted((session.root / "out").rglob("*.json")):
        name, right = path.relative_to(session.root).as_posix(), path.read_text()
        record = json.loads(right)
        key = list(record)[-1]
        record[key] = f"{record[key]}0"
        path.write_text(json.dumps(record))
        faults = run_check(session.root, session.task.check, runner)
        path.write_text(right)
        assert len(faults) == 1 and faults[0].startswith(f"{name}.{key}: "), faults
    assert run_check(session.root, session.task.check, runner) == []


@pytest.mark.parametrize("spoil", ["{", "[]", "null"])
def test_a_file_that_is_no_record_fails_the_check(played: dict[Any, Played], runner: ZygoteRunner, spoil: str) -> None:
    session = played["medium", "classic-xml", 2]
    path = session.root / "out/payments.json"
    right = path.read_text()
    path.write_text(spoil)
    faults = run_check(session.root, session.task.check, runner)
    path.write_text(right)
    assert faults and all("out/payments.json" in line for line in faults)


def test_spacing_is_the_only_thing_forgiven(played: dict[Any, Played], runner: ZygoteRunner) -> None:
    session = played["medium", "classic-xml", 2]
    path = next((session.root / "out/contracts").glob("*.json"))
    right = path.read_text()
    key = next(k for k, v in json.loads(right).items() if isinstance(v, str) and " " in v)
    verdicts = []
    for change in (lambda v: v.replace(" ", "  "), str.upper, lambda v: v + "."):
        path.write_text(json.dumps({**json.loads(right), key: change(json.loads(right)[key])}))
        verdicts.append(run_check(session.root, session.task.check, runner) == [])
    path.write_text(right)
    assert verdicts == [True, False, False]


def test_traffic_has_the_shape_of_real_sessions(played: dict[Any, Played]) -> None:
    for (size, profile, _), session in played.items():
        steps, turns = len(session.task.steps), (28, 52) if size == "medium" else (80, 130)
        assert turns[0] <= steps <= turns[1]
        growth, output = sorted(session.growth_tok), sorted(session.output_tok)
        assert 400 <= statistics.median(growth) <= 1_400
        assert 1_500 <= growth[int(0.9 * len(growth))] <= 6_000
        assert (1_400 if profile == "classic-xml" else 800) <= statistics.mean(growth) <= 2_100
        assert 150 <= statistics.median(output) <= 450
        assert 600 <= output[int(0.9 * len(output))] <= 1_100


def test_classic_sessions_take_the_large_documents_at_once(played: dict[Any, Played]) -> None:
    """The jumps that make the client truncate: extracted workbooks and exports; the sdk client's results are cut."""
    for (_, profile, _), session in played.items():
        if profile == "classic-xml":
            assert max(session.growth_tok) > 7_000
        else:
            assert max(session.growth_tok) < 12_000


def test_sessions_of_different_seeds_share_next_to_nothing(played: dict[Any, Played]) -> None:
    def blocks(tokens: list[int]) -> set[bytes]:
        cuts = (tokens[i : i + 64] for i in range(0, len(tokens) - 63, 64))
        return {hashlib.md5(repr(cut).encode(), usedforsecurity=False).digest() for cut in cuts}

    cut = {key: blocks(session.stream) for key, session in played.items()}
    for a, b in itertools.combinations(cut, 2):
        if a[2] != b[2]:
            assert len(cut[a] & cut[b]) < 0.02 * min(len(cut[a]), len(cut[b])), (a, b)


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
def test_over_many_seeds_the_path_reads_like_an_engineer_s(style: Style) -> None:
    tasks = [catalog.make(TEMPLATE, seed, "medium", style) for seed in range(40, 46)]
    shares: dict[str, list[float]] = {"read": [], "write": [], "command": []}
    for task in tasks:
        found = kinds(task)
        for kind, values in shares.items():
            values.append(found[kind] / found["all"])
        actions = [action for step in task.steps for action in step.actions]
        assert len(actions) - len(set(actions)) <= 0.08 * len(actions)
        assert isinstance(actions[-1], Complete)
        says = [step.say for step in task.steps]
        assert len(set(says)) == len(says) and 60 <= statistics.median(map(count, says)) <= 250
        marks = [k for k, step in enumerate(task.steps) if step.progress]
        assert all(5 <= b - a <= 11 for a, b in itertools.pairwise(marks[:-1]))
        assert "- [ ]" not in task.steps[-1].progress
        assert not any("{" in say.replace("{'", "").replace("{}", "") or " ." in say for say in says)
    mean = {kind: statistics.mean(values) for kind, values in shares.items()}
    assert 0.33 <= mean["read"] <= 0.48 and 0.19 <= mean["write"] <= 0.30 and 0.25 <= mean["command"] <= 0.45
    assert len({len(task.steps) for task in tasks}) > 2
    assert len({task.name for task in tasks}) == len(tasks)


def test_every_slip_is_mended_by_its_edit() -> None:
    scripts, trade, brief, words = part("scripts"), part("trade"), part("brief"), part("assemble").words
    seen = set()
    for seed in range(12):
        world = trade.build(seed, "long")
        spec = brief.make_spec(words.stream(seed, "spec"), world)
        for supplier in world.suppliers:
            right = scripts.reader_module(supplier, spec, "doc")
            for slip in scripts.possible_slips(supplier):
                wrong = scripts.reader_module(supplier, spec, "doc", [slip])
                assert wrong != right and apply_blocks(wrong, scripts.repair(wrong, right)) == right
                seen.add(slip)
        pairs = [(scripts.goods_module, s) for s in ("returns", "sheet")] + [(scripts.cross_module, "part")]
        for module, slip in [*pairs, *((scripts.bank_module, s) for s in ("encoding", "exact"))]:
            wrong, right = module(spec, "doc", [slip]), module(spec, "doc")
            assert wrong != right and apply_blocks(wrong, scripts.repair(wrong, right)) == right
    assert seen == {"thousands", "first_page", "day_first", "charges"}


def test_all_deviations_occur_and_differ_from_seed_to_seed() -> None:
    trade, brief, truth, words = part("trade"), part("brief"), part("truth"), part("assemble").words
    found, verdicts = set(), []
    for seed in range(16):
        world = trade.build(seed, "medium")
        spec = brief.make_spec(words.stream(seed, "spec"), world)
        by_code = {code: name for name, code in spec.flags.items()}
        answers = truth.truth(world, spec)["out/crosscheck.json"]
        found |= {by_code[code] for codes in answers.values() for code in codes}
        verdicts += [bool(codes) for codes in answers.values()]
    assert 0.3 < statistics.mean(verdicts) < 0.8  # neither all suspicious nor all clean
    assert found == set(part("world").DEVIATIONS)


def test_same_arguments_same_bytes_in_any_process() -> None:
    """Another hash seed, time zone, locale and folder; the history's bytes and the steps are the same."""
    program = (
        "import hashlib; from simulator.tasks import catalog; from simulator.core.task import SDK_STYLE;"
        f"print(hashlib.sha256(repr(catalog.make({TEMPLATE!r}, 9, 'medium', SDK_STYLE)).encode()).hexdigest())"
    )
    here = hashlib.sha256(repr(catalog.make(TEMPLATE, 9, "medium", SDK_STYLE)).encode()).hexdigest()
    env = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Pacific/Auckland", "LC_ALL": "C"}
    there = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=env, capture_output=True, check=True)
    assert there.stdout.decode().strip() == here


def test_commands_say_the_same_twice(played: dict[Any, Played], runner: ZygoteRunner) -> None:
    """What a replay compares: every command of a finished session that changes nothing, run twice more."""
    session = played["medium", "classic-xml", 1]
    box = Toolbox(session.root, "/home/dev/papers", runner)
    for step in session.task.steps:
        for action in step.actions:
            if isinstance(action, Command) and "unittest" not in action.command:
                first, second = box.do(action), box.do(action)
                assert isinstance(first, Ran) and first == second and str(session.root) not in first.output


def test_a_session_can_begin_in_the_middle(tmp_path: Path, runner: ZygoteRunner) -> None:
    """A slot that starts late repeats only edits, writes and the commands marked as having effects."""
    task = catalog.make(TEMPLATE, 6, "medium", SDK_STYLE)
    Repository.create(tmp_path / "origin.git", task.history).checkout(tmp_path / "work", "session")
    box = Toolbox(tmp_path / "work", "/home/dev/papers", runner, documents="raw")
    actions = [action for step in task.steps for action in step.actions]
    apply_earlier(box, actions[: len(actions) // 2])
    for action in actions[len(actions) // 2 :]:
        assert not isinstance(box.do(action), Refused | EditFailed)
    assert run_check(tmp_path / "work", task.check, runner) == []


def test_no_paper_hides_another() -> None:
    """Every paper has a path of its own, and its record as well; numbers that are keys are distinct."""
    trade, brief, words = part("trade"), part("brief"), part("assemble").words
    for seed in range(60):
        world = trade.build(seed, "long" if seed % 3 == 0 else "medium")
        spec = brief.make_spec(words.stream(seed, "spec"), world)
        papers = [name for name in spec.paths if ":" in name]
        assert len({spec.paths[p] for p in papers}) == len({spec.out(p) for p in papers}) == len(papers)
        assert len(papers) == len(world.suppliers) + 2 * len(world.invoices())
        assert len(set(spec.keys[f] for f in (*spec.fields["invoice"], *spec.line))) == len(
            {*spec.fields["invoice"], *spec.line}
        )
