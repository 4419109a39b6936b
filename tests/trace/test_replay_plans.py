"""Recorded sessions as plans: the same bodies, the recorded times, and text of the right size where there is none."""

import itertools
import json
from pathlib import Path
from typing import Any

import made_files as made
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_import_agents import imported

from simulator import tokenizer
from simulator.cli.arrivals import with_traces
from simulator.core import template
from simulator.core.plan import SessionPlan
from simulator.core.scenario import Scenario, scenario_hash
from simulator.core.scenario_file import parse
from simulator.engine.embedded.prompts import Prompts
from simulator.errors import UsageError
from simulator.tasks.mix import draw, more
from simulator.trace.counting import Counter
from simulator.trace.format import Call, Header, SessionLine, TurnLine
from simulator.trace.gaps import gaps
from simulator.trace.replay import DECIDED, Casting, plan
from simulator.trace.synthesise import Cells, overhead_tok, text
from simulator.trace.trace_file import TracedSession, Writer


def casting(name: str = "s0000", copy: int = 0, **changes: Any) -> Casting:
    given: dict[str, Any] = {
        "name": name, "copy": copy, "shared": frozenset(), "model": "served", "window_tok": 1_000_000, "age": 0.0,
        "max_turns": None, "pause": lambda s: s, "took": lambda s: s,
    }  # fmt: skip
    return Casting(**(given | changes))


def bodies(made_plan: SessionPlan) -> list[dict[str, Any]]:
    return [json.loads(made_plan.body(turn, forced=False)) for turn in made_plan.turns]


def test_replayed_bodies_are_the_recorded_ones_but_for_the_listed_fields(tmp_path: Path) -> None:
    start = made.chat("sys", 'do ä "it"\n')
    later = [
        *start,
        {"role": "assistant", "content": "Good"},
        {"role": "user", "content": [{"type": "text", "text": "x"}]},
    ]
    tools = [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]
    lines = [made.log_line(1.0, start), made.log_line(4.0, later)]
    for line in lines:
        line["request"] = {"tools": tools, **line["request"], "max_tokens": 90, "user": "u"}
    _, (session,) = imported(made.rows(tmp_path / "in" / "log.jsonl", lines), to=tmp_path)
    sent = bodies(plan(session, casting()))
    for body, line in zip(sent, lines, strict=True):
        recorded = line["request"]
        assert body.pop("model") == "served" and recorded.pop("model") == "embedded-30b-a3b"
        assert body.pop("max_tokens") == 90 and body["stream_options"]["include_usage"]
        same = {k: v for k, v in body.items() if k not in DECIDED}
        assert same == {k: v for k, v in recorded.items() if k not in DECIDED}
        assert list(same) == [k for k in recorded if k not in DECIDED], "in the recorded order"


def test_a_request_extends_the_one_before_and_a_cut_is_marked(tmp_path: Path) -> None:
    folder = made.classic_task(tmp_path / "in" / "17", turns=4, cut_at=3)
    _, (session,) = imported(folder, to=tmp_path)
    made_plan = plan(session, casting())
    assert [t.cut for t in made_plan.turns] == ["", "", "", "truncated"]
    for before, after in itertools.pairwise(made_plan.turns[:3]):
        assert after.view[: len(before.view)] == before.view
    assert all(t.output_tok == 40 for t in made_plan.turns)
    assert [c.recorded_s for c in made_plan.turns[0].calls] == [1.0] and made_plan.ends and not made_plan.whole


def test_planned_prompts_are_counted_in_the_products_tokenizer(tmp_path: Path) -> None:
    _, (session,) = imported(made.sdk_session(tmp_path / "in").parent, to=tmp_path)
    made_plan = plan(session, casting())
    for turn, body in zip(made_plan.turns, bodies(made_plan), strict=True):
        assert turn.prompt_tok == Counter().prompt(body["messages"], body["tools"])


def test_a_further_copy_has_private_text_behind_the_system_prompt(tmp_path: Path) -> None:
    _, (session,) = imported(made.sdk_session(tmp_path / "in").parent, to=tmp_path)
    first, again = plan(session, casting()), plan(session, casting("s0009", 1))
    assert first.pool[0] == again.pool[0] and first.pool[1] != again.pool[1] and b"s0009" in again.pool[1]


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 9_000), st.lists(st.integers(0, 5), max_size=20), st.sampled_from([16, 64, 512]))
def test_synthesised_prompts_have_the_planned_size(prompt_tok: int, blocks: list[int], size: int) -> None:
    made_prompt = Cells(size, lambda block, place: f"{block}/{place}").prompt(blocks, prompt_tok)
    counted = Counter().prompt(made_prompt)
    assert counted <= max(prompt_tok, 12) and prompt_tok - counted <= overhead_tok()


def tokens(prompt: list[dict[str, Any]]) -> list[int]:
    return [i for m in prompt for i in [-1, *tokenizer.encode(template.render(m)), -2]]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_prompts_share_tokens_as_far_as_they_share_blocks(common: int, a: int, b: int) -> None:
    cells = Cells(64, lambda block, place: f"{block}/{place if block is None else ''}")
    left, right = [*range(common), *range(1_000, 1_000 + a)], [*range(common), *range(2_000, 2_000 + b)]
    if not left or not right:
        return
    one, two = (tokens(cells.prompt(ids, 64 * len(ids))) for ids in (left, right))
    same = next((n for n, (x, y) in enumerate(zip(one, two, strict=False)) if x != y), min(len(one), len(two)))
    assert same >= 64 * common - overhead_tok() - 5  # BOS and the opening of the reply are not in these tokens
    if a and b:
        assert same <= 64 * common + 4, "what is private is not shared"


def test_a_text_of_one_key_begins_with_a_shorter_one() -> None:
    assert (
        text("a", 70).startswith(text("a", 64))
        and tokenizer.count(text("a", 70)) == 70
        and text("a", 9) != text("b", 9)
    )


def traced(turns: list[TurnLine], **line: Any) -> TracedSession:
    return TracedSession(SessionLine(session="a", format="x", **line), tuple(turns))


def turn(n: int, t_s: float | None, took_s: float | None, *, branch: int = 0, calls: tuple[Call, ...] = (),
         spawns: tuple[int, ...] = ()) -> TurnLine:  # fmt: skip
    return TurnLine(session="a", branch=branch, turn=n, t_s=t_s, took_s=took_s, prompt_tok=100, output_tok=50,
                    calls=calls, spawns=spawns)  # fmt: skip


def test_a_gap_is_what_neither_reply_nor_tools_nor_sub_agents_took() -> None:
    slow, task = Call(tool="run", took_s=3.0), Call(tool="Task", took_s=9.0)
    session = traced([
        turn(0, 0.0, 2.0, calls=(slow,)),
        turn(1, 6.0, 1.0, calls=(slow, task), spawns=(1,)),
        turn(0, 8.0, 1.0, branch=1),
        turn(1, 14.0, 1.0, branch=1),
        turn(2, 15.5, None),
        turn(3, 30.0, 1.0),
    ])  # fmt: skip
    found = gaps(session)
    assert found[0, 1].pause_s == 1.0, "6 s less 2 s of reply and 3 s of tool"
    assert found[0, 1].calls_s == (3.0, 0.0), "the sub-agent's call is the wait for it"
    assert found[0, 2].pause_s == 0.5 and found[1, 1].pause_s == 5.0
    assert found[0, 3].pause_s == 12.5, "a reply of unknown duration is taken for a second and 20 ms a token"


def test_times_that_are_not_known_make_no_gaps() -> None:
    found = gaps(traced([turn(0, None, None, calls=(Call(tool="x"),)), turn(1, None, None)]))
    assert [found[0, n].pause_s for n in range(2)] == [0.0, 0.0] and found[0, 0].calls_s == (0.0,)


def test_a_session_ends_before_a_turn_that_does_not_fit(tmp_path: Path) -> None:
    lines = [
        TurnLine(session="a", turn=n, prompt_tok=1_000 * (n + 1), output_tok=10, add_blocks=(n,)) for n in range(5)
    ]
    made_plan = plan(traced(lines, block_tok=512), casting(window_tok=3_500))
    assert len(made_plan.turns) == 3 and [t.prompt_tok // 100 for t in made_plan.turns] == [10, 20, 30]


def test_what_is_not_stored_stands_in_front_and_is_shared_by_a_clients_sessions() -> None:
    message = {"role": "user", "content": "hello"}
    made_plans = [
        plan(traced([turn(0, 0.0, 1.0).model_copy(update={"add": (message,)})], client="cc", unstored_tok=n), casting())
        for n in (300, 500)
    ]
    first = [orjson.loads(p.pool[0]) for p in made_plans]
    assert [m["role"] for m in first] == ["system", "system"] and first[1]["content"].startswith(first[0]["content"])
    plain = Counter().prompt([message])
    assert [p.turns[0].prompt_tok - plain for p in made_plans] == [300, 500]


def trace_file(path: Path, starts: list[float | None]) -> Path:
    with Writer(path, Header()) as writer:
        for n, start in enumerate(starts):
            clock: Any = "unix" if start is not None else ""
            line = SessionLine(session=f"r{n}", format="x", clock=clock, start_s=start)
            writer.session(line, [TurnLine(session=f"r{n}", turn=0, prompt_tok=50, output_tok=5)])
    return path


def scenario(folder: Path, text_: str) -> Any:
    return with_traces(parse(text_, "s.yaml"), folder / "s.yaml")


def test_drawn_sessions_come_in_rounds_and_recorded_ones_once(tmp_path: Path) -> None:
    trace_file(tmp_path / "t.jsonl", [5.0, 1.0, 3.0])
    drawn = scenario(tmp_path, "{name: a, sessions: 2, window_s: 9, trace: {file: t.jsonl, sessions: drawn}}")
    order = [draw(drawn, n % 2, n // 2).recorded for n in range(9)]
    assert [copy for _, copy in order] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert all(sorted(place for place, _ in order[k : k + 3]) == [0, 1, 2] for k in (0, 3, 6))
    once = scenario(tmp_path, "{name: a, sessions: 2, trace: t.jsonl}")
    assert [draw(once, n % 2, n // 2).recorded for n in range(3)] == [(0, 0), (1, 0), (2, 0)]
    assert [more(once, 0, 1), more(once, 1, 1), more(drawn, 1, 99)] == [True, False, True]
    assert once.think.kind == "recorded" and once.start == "beginning"
    assert Scenario.model_validate(once.model_dump(mode="json")) == once, "what a manifest holds can be read back"


def test_sessions_arrive_as_they_were_recorded(tmp_path: Path) -> None:
    trace_file(tmp_path / "t.jsonl", [5.0, 1.0, 3.0])
    found = scenario(tmp_path, "{name: a, sessions: 2, arrival: {kind: recorded, scale: 0.5}, trace: t.jsonl}")
    assert (found.arrival.kind, found.arrival.times_s, found.arrival.scale) == ("trace", (0.0, 2.0, 4.0), 0.5)


@pytest.mark.parametrize(
    ("text_", "said"),
    [
        ("{name: a, sessions: 9, trace: t.jsonl}", "has 3 to play once"),
        ("{name: a, sessions: 1, trace: nowhere.jsonl}", "nowhere.jsonl: No such file"),
        ("{name: a, sessions: 1, trace: t.jsonl, profiles: {sdk: 1}}", "`profiles` says which sessions are drawn"),
        ("{name: a, sessions: 1, trace: t.jsonl, tools: real}", "nothing that a `trace` recorded is executed"),
        ("{name: a, sessions: 1, window_s: 9, arrival: {kind: recorded}}", "needs a `trace`"),
        ("{name: a, sessions: 1, trace: {file: t.jsonl, sesions: once}}", "did you mean `sessions`"),
        ("{name: a, sessions: 1, trace: {file: t.jsonl, sessions: drawn}}", "never ends by itself"),
        ("{name: a, sessions: 1, arrival: {kind: recorded}, trace: u.jsonl}", "does not say when each session began"),
    ],
)  # fmt: skip
def test_a_scenario_that_cannot_be_played_is_told_why(text_: str, said: str, tmp_path: Path) -> None:
    trace_file(tmp_path / "t.jsonl", [5.0, 1.0, 3.0])
    trace_file(tmp_path / "u.jsonl", [5.0, None])
    with pytest.raises(UsageError, match=said):
        scenario(tmp_path, text_)


def test_a_session_too_long_for_the_window_is_told_before_anything_starts(tmp_path: Path) -> None:
    with Writer(tmp_path / "t.jsonl", Header()) as writer:
        long = TurnLine(session="r", turn=0, prompt_tok=200_000, output_tok=5)
        writer.session(SessionLine(session="r", format="x"), [long])
    with pytest.raises(UsageError, match="the longest with 200,000"):
        scenario(tmp_path, "{name: a, sessions: 1, trace: t.jsonl}")


def test_a_known_tokenizers_prompts_are_recounted_as_its_engine_counts_them(tmp_path: Path) -> None:
    """Within 1 %: the embedded engine counts a prompt, its log is imported, the product counts it again."""
    engine = Prompts(16)
    tools = [{"type": "function", "function": {"name": "read", "description": "d " * 50, "parameters": {}}}]
    call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": '{"path": "ä.py"}'}}
    messages: list[dict[str, Any]] = [*made.chat("You are careful. " * 40, "Fix the ledger, 1,234.50 € off")]
    lines = []
    for n in range(4):
        line = made.log_line(float(n), list(messages))
        line["request"]["tools"] = tools
        line["response"]["usage"]["prompt_tokens"] = engine.chat(messages, tools).n_tok
        lines.append(line)
        messages += [{"role": "assistant", "content": None, "tool_calls": [call]}]
        messages += [{"role": "tool", "tool_call_id": "c", "content": "def f(x):\n    return x\n" * 30}]
    result, _ = imported(made.rows(tmp_path / "in" / "log.jsonl", lines), to=tmp_path)
    assert result.recounted == 4 and result.worst_recount < 0.01


def test_where_a_trace_lies_does_not_change_the_work(tmp_path: Path) -> None:
    hashes = []
    for name, starts in (("a", [5.0, 1.0]), ("b", [5.0, 1.0]), ("c", [5.0, 2.0])):
        (tmp_path / name).mkdir()
        trace_file(tmp_path / name / f"{name}.jsonl", starts)
        text_ = f"{{name: {name}, sessions: 1, trace: {name}.jsonl}}"
        hashes.append(scenario_hash(scenario(tmp_path / name, text_)))
    assert hashes[0] == hashes[1] != hashes[2]
