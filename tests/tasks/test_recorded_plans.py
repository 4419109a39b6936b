"""Plans of a small task in every profile: mode switches, sub-agents, closed streams, runs that a client ends."""

from __future__ import annotations

import itertools
import random

import orjson
import pytest
from small_task import FILES, STEPS, FolderBench, recorded, spec

from simulator.cline.profiles import PROFILES
from simulator.core.action import (
    Command,
    Complete,
    Definitions,
    Delegate,
    ListFiles,
    Listing,
    ReadFile,
    Search,
    Step,
)
from simulator.core.plan import SessionPlan, Turn
from simulator.core.shape import shape
from simulator.drive.commands import ShellRunner
from simulator.drive.toolbox import Toolbox
from simulator.errors import SimError
from simulator.tasks.delegation import inserted
from simulator.tasks.explore import MOST_REPLIES, explorer, parts
from simulator.tasks.pace import floor_s

ALL = pytest.mark.parametrize("profile", PROFILES)


def sent(plan: SessionPlan, turn: Turn) -> dict:
    return orjson.loads(plan.body(turn, forced=True))


@ALL
def test_every_profile_plans_the_task_and_repeats_it(profile, tmp_path):
    wanted = spec(profile, plan_mode=True, subagents=True)
    one, other = (recorded(tmp_path / name, wanted) for name in "ab")
    assert one.digest() == other.digest() and one.whole
    assert [t.index for t in one.turns] == list(range(len(one.turns)))
    for turn in (*one.turns, *(t for b in one.branches for t in b.turns)):
        body = sent(one, turn)
        assert body["messages"][0]["role"] == "system" and body["max_tokens"] == turn.output_tok
        made = [c["id"] for m in body["messages"] for c in m.get("tool_calls", ())]
        assert made == [m["tool_call_id"] for m in body["messages"] if m["role"] == "tool"], "each call is answered"


@ALL
def test_requests_extend_one_another_but_for_the_switch_of_modes(profile, tmp_path):
    plan = recorded(tmp_path, spec(profile, plan_mode=True, subagents=True))
    cuts = [t.cut for t in plan.turns]
    sdk = PROFILES[profile].client == "sdk"
    assert set(cuts) == ({"", "switched"} if sdk else {""})
    for before, after in itertools.pairwise(plan.turns):
        grown = after.view[: len(before.view)]
        assert grown == before.view if after.cut == "" else grown[0] != before.view[0] and grown[1:] == before.view[1:]
    if sdk:
        at = cuts.index("switched")
        names = [[t["function"]["name"] for t in sent(plan, plan.turns[k])["tools"]] for k in (at - 1, at)]
        assert "switch_to_act_mode" in names[0] and "editor" not in names[0]
        assert "switch_to_act_mode" not in names[1] and "editor" in names[1]


@pytest.mark.parametrize("profile", ["classic-xml", "classic-native"])
def test_classic_says_the_mode_in_every_message(profile, tmp_path):
    plan = recorded(tmp_path, spec(profile, plan_mode=True))
    modes = [m["content"][-1]["text"].rsplit("# Current Mode\n", 1)[1][:8]
             for m in sent(plan, plan.turns[-1])["messages"] if m["role"] == "user"]  # fmt: skip
    at = modes.index("ACT MODE")
    assert modes[:at] == ["PLAN MOD"] * at and set(modes[at:]) == {"ACT MODE"} and at >= 3
    users = [m for m in sent(plan, plan.turns[-1])["messages"] if m["role"] == "user"]
    assert "<user_message>" in users[at]["content"][0]["text"]
    assert "switched from PLAN MODE to ACT MODE" in users[at]["content"][1]["text"]


def test_the_user_takes_time_to_read_a_plan_unless_nobody_ever_pauses(tmp_path):
    for name, think, low in (("a", "recorded", 0.5), ("b", "none", 0.0)):
        plan = recorded(tmp_path / name, spec("classic-xml", plan_mode=True), think=think)
        at = next(t.index for t in plan.turns for c in t.calls if type(c.action).__name__ == "Propose")
        pause = plan.turns[at + 1].think_s
        assert pause > low if low else pause == 0.0


@ALL
def test_subagents_explore_and_report_to_their_parent(profile, tmp_path):
    plan = recorded(tmp_path, spec(profile, subagents=True))
    spawning = [t for t in plan.turns if t.spawns]
    assert sorted(n for t in spawning for n in t.spawns) == list(range(len(plan.branches)))
    assert all(2 <= len(t.spawns) <= 5 for t in spawning)
    for branch in plan.branches:
        assert 3 <= len(branch.turns) <= MOST_REPLIES
        assert [t.index for t in branch.turns] == list(range(len(branch.turns)))
        assert {t.purpose for t in branch.turns} == {"subagent"} and not any(t.spawns for t in branch.turns)
        assert all(isinstance(c.action, Definitions | Search | ReadFile) for t in branch.turns for c in t.calls)
        assert not branch.turns[-1].calls, "it ends with its report"
        for before, after in itertools.pairwise(branch.turns):
            assert after.view[: len(before.view)] == before.view
    for turn in spawning:
        assert not turn.calls, "sending them out is no tool of the workspace"
        following = orjson.dumps(sent(plan, plan.turns[turn.index + 1])["messages"][len(turn.view) :]).decode()
        for number in turn.spawns:
            assert f"{len(plan.branches[number].turns)} replies" in following or '\\"iterations\\":' in following
            assert "of it was read" in following or "Not opened" in following


@ALL
def test_subagents_have_a_prompt_and_tools_of_their_own(profile, tmp_path):
    plan = recorded(tmp_path, spec(profile, subagents=True))
    own, theirs = sent(plan, plan.turns[0]), sent(plan, plan.branches[0].turns[0])
    assert len(theirs["messages"][0]["content"]) < 0.6 * len(own["messages"][0]["content"])
    names = {t["function"]["name"] for t in theirs.get("tools", ())}
    assert not names & {"use_subagents", "spawn_agent", "write_to_file", "replace_in_file"}
    assert (PROFILES[profile].calls == "native") == bool(names)
    offered = {t["function"]["name"] for t in own.get("tools", ())} | {own["messages"][0]["content"]}
    assert any("use_subagents" in o or "spawn_agent" in o for o in offered)
    assert "environment_details" not in theirs["messages"][1]["content"]


def test_an_empty_repository_has_nothing_to_send_sub_agents_into():
    assert inserted(STEPS, Listing(()), "Do it.", 1) == STEPS


@pytest.mark.parametrize("seed", range(30))
def test_sub_agents_are_sent_out_early_and_before_anything_changes(seed):
    steps = inserted(STEPS * 8, Listing(tuple(FILES)), "Do it.", seed)
    at = [k for k, step in enumerate(steps) if isinstance(step.actions[0], Delegate)]
    assert 1 <= at[0] <= 3 and len(at) >= 1 and all(15 < b - a < 40 for a, b in itertools.pairwise(at))
    assert [s for k, s in enumerate(steps) if k not in at] == list(STEPS * 8)
    assert all(2 <= len(steps[k].actions[0].prompts) <= 5 for k in at)


def test_subagents_come_on_top_of_the_same_work(tmp_path):
    plain = recorded(tmp_path / "a", spec("classic-xml"))
    plan = recorded(tmp_path / "b", spec("classic-xml", subagents=True))
    actions = [[c.action for t in p.turns for c in t.calls] for p in (plain, plan)]
    assert actions[0] == actions[1] and not plain.branches
    assert floor_s(plan, paced=True) > floor_s(plain, paced=True)


@pytest.mark.parametrize("profile", ["classic-native", "compact"])
def test_a_client_that_reads_one_call_closes_the_stream(profile, tmp_path):
    steps = (*STEPS[:5] * 8, *STEPS[5:])
    plan = recorded(tmp_path, spec(profile), steps, parallel_tool_calls=False)
    closed = [t for t in plan.turns if t.stop_after_tok is not None]
    assert 0.15 < len(closed) / len(plan.turns) < 0.55
    for turn in closed:
        assert 0 < turn.stop_after_tok < turn.output_tok
        assert sent(plan, turn)["parallel_tool_calls"] is False
        following = plan.turns[turn.index + 1]
        said = orjson.loads(plan.pool[following.view[len(turn.view)]])
        assert len(said["tool_calls"]) == 1
        assert following.prompt_tok - turn.prompt_tok > turn.stop_after_tok, "the history has what was read"
    reading = recorded(tmp_path / "all", spec(profile), steps)
    assert not any(t.stop_after_tok for t in reading.turns)
    assert sent(reading, reading.turns[0])["parallel_tool_calls"] is True


@pytest.mark.parametrize(("profile", "calls"), [("sdk", 5), ("classic-xml", 9)])
def test_the_sdk_ends_a_session_that_repeats_itself(profile, calls, tmp_path):
    stuck = (STEPS[0], *[Step("Again.", (ReadFile("README.md"),))] * 9, *STEPS[6:])
    plan = recorded(tmp_path, spec(profile), stuck)
    same = [c for t in plan.turns for c in t.calls if c.action == ReadFile("README.md")]
    assert len(same) == calls
    assert (plan.ends, plan.whole) == (("loop_guard", False) if profile == "sdk" else ("", True))


def test_classic_ends_after_three_replies_without_a_tool(tmp_path):
    words = tuple(Step(f"I think about it, {k}.", ()) for k in range(4))
    plan = recorded(tmp_path / "a", spec("classic-native"), (STEPS[0], *words, *STEPS[6:]))
    assert plan.ends == "no_tool" and len(plan.turns) == 4 and not plan.whole
    mixed = (STEPS[0], *words[:2], STEPS[1], *words[2:], *STEPS[6:])
    assert recorded(tmp_path / "b", spec("classic-native"), mixed).whole, "a call in between starts the count anew"


def test_cached_tokens_counted_twice_cut_a_session_at_half_its_window(tmp_path):
    steps = (STEPS[0], *(Step("More.", (Command(f"seq {k} 900"),)) for k in range(1, 40)), *STEPS[6:])
    largest = []
    for double in (False, True):
        wanted = {"cached_double_count": double, "context_window_tok": 64_000}
        plan = recorded(tmp_path / str(double), spec("classic-native"), steps, **wanted)
        at = next(t.index for t in plan.turns if t.cut == "truncated")
        largest.append(plan.turns[at - 1].prompt_tok)
    assert 0.4 < largest[1] / largest[0] < 0.65


def test_a_shape_tells_whose_sessions_they_are_and_what_only_some_do(tmp_path):
    wanted = [
        (spec("sdk", plan_mode=True, subagents=True), {}),
        (spec("classic-native"), {"parallel_tool_calls": False}),
        (spec("classic-native"), {}),
    ]
    plans = [
        recorded(tmp_path / str(k), one, STEPS[:5] * 4 + STEPS[5:], **more) for k, (one, more) in enumerate(wanted)
    ]
    found = shape(plans)
    assert found.profiles == {"sdk": 1, "classic-native": 2} and found.switched_sessions == 1
    assert found.subagents == len(plans[0].branches) > 0
    assert found.subagent_calls == sum(len(b.turns) for b in plans[0].branches)
    assert found.calls == sum(len(p.turns) for p in plans), "sub-agents' calls are beside them"
    assert found.stopped == sum(t.stop_after_tok is not None for t in plans[1].turns) > 0
    assert found.cut_sessions == 0, "a change of mode loses nothing"


def test_a_solution_that_does_not_solve_the_task_is_no_plan(tmp_path):
    with pytest.raises(SimError, match="still wrong"):
        recorded(tmp_path, spec("sdk"), (STEPS[0], STEPS[-1]))


@pytest.mark.parametrize("wanted", [1, 2, 3, 5])
def test_parts_cover_whole_folders_and_do_not_overlap(wanted, tmp_path):
    found = FolderBench(tmp_path).do(ListFiles(".", recursive=True))
    assert isinstance(found, Listing)
    made = parts(found, wanted)
    files = [f for part in made for f in part.files]
    assert len(made) == wanted and len(set(files)) == len(files) and set(files) <= set(FILES)
    for part in made:
        assert part.folder == "." or all(f.startswith(part.folder + "/") for f in part.files)


@pytest.mark.parametrize("paths", [(), ("a/",), ("one.txt",), ("x/paper.pdf",), ("x/y/z.json", "x/y/z.md")])
def test_an_explorer_ends_in_any_repository(paths, tmp_path):
    toolbox = Toolbox(tmp_path, "/shown", ShellRunner())
    for path in paths:
        if not path.endswith("/"):
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text("k: 1\n")
    made = parts(Listing(paths), 3)
    assert bool(made) == any(not path.endswith("/") for path in paths)
    for part in made:
        walk = explorer(part, random.Random(1))
        step, replies = next(walk), 1
        while not isinstance(step.actions[0], Complete):
            step, replies = walk.send(toolbox.do(step.actions[0])), replies + 1
        assert 3 <= replies <= MOST_REPLIES
