"""Cline's two clients, Claude Code and request logs: what their files hold comes out as turns."""

import json
from pathlib import Path
from typing import Any

import made_files as made
import pytest

from simulator import tokenizer
from simulator.trace.detect import detect
from simulator.trace.importing import Imported, run
from simulator.trace.replay import Casting, plan
from simulator.trace.trace_file import TracedSession, sessions

CASTING = Casting("s0000", 0, frozenset(), "m", 1_000_000, 0.0, None, lambda s: s, lambda s: s)


def imported(*paths: Path, to: Path, form: str = "") -> tuple[Imported, list[TracedSession]]:
    out = to / "trace.jsonl"
    result = run(paths, out, form, "test")
    return result, list(sessions(out)) if out.exists() else []


def test_a_classic_task_becomes_the_requests_that_the_client_sent(tmp_path: Path) -> None:
    folder = made.classic_task(tmp_path / "in" / "1790000000000")
    result, (session,) = imported(folder, to=tmp_path)
    assert result.exit_code == 0 and not result.left
    first, second, third = session.turns
    assert [t.prompt_tok for t in session.turns] == [6_000, 6_200, 6_400]
    assert [t.cached_tok for t in session.turns] == [3_000, 3_100, 3_200]
    assert (first.t_s, first.took_s, first.first_s) == (0.0, 2.0, 0.8) and second.t_s == 3.0
    assert session.line.totals.prompt_tok == 7, "the source's own totals are kept, whatever they are"
    assert first.add is not None and [m["role"] for m in first.add] == ["system", "user"]
    assert second.keep == 3 and second.add is not None
    assert [m["role"] for m in second.add] == ["tool", "user"], "a native call is answered twice"
    assert second.add[0]["tool_call_id"] == "call-0" and "Result" not in second.add[0]["content"]
    assert [(c.tool, c.took_s) for c in first.calls] == [("read_file", 1.0)] and first.calls[0].result_tok
    assert session.line.profile == "classic-native" and session.line.body and session.line.body["tools"]
    assert session.line.estimated["system prompt"] == "profile classic-native"
    assert "reasoning_content" not in (first.reply or {}), "this client does not send thinking back"
    assert third.calls[0].result_tok is None


def test_xml_calls_and_figures_from_the_ui_file(tmp_path: Path) -> None:
    folder = made.classic_task(tmp_path / "in" / "17", native=False, metrics=False)
    _, (session,) = imported(folder, to=tmp_path)
    assert session.line.profile == "classic-xml" and [t.prompt_tok for t in session.turns] == [6_000, 6_200, 6_400]
    assert [c.tool for c in session.turns[0].calls] == ["read_file"]
    assert session.turns[1].add is not None and [m["role"] for m in session.turns[1].add] == ["user"]


@pytest.mark.parametrize("native", [True, False])
def test_a_result_in_two_texts_counts_whole(tmp_path: Path, native: bool) -> None:
    """Some versions send a label of its own before the result, and a remark behind it; one reply may have two calls."""
    folder = made.classic_task(tmp_path / "in" / "17", native=native)
    path = folder / "api_conversation_history.json"
    history = json.loads(path.read_text())
    label, body, remark = "[read_file for 'a\nb.py'] Result:", "line of the file\n" * 200, "[TODO] keep your list"
    history[2]["content"][:1] = [{"type": "text", "text": text} for text in (label, body, remark)]
    history[3]["content"] = history[3]["content"] + history[1]["content"][-1:]
    history[4]["content"][:1] = [{"type": "text", "text": text} for text in (label, body, f"{label}\nshort", remark)]
    path.write_text(json.dumps(history))
    _, (session,) = imported(folder, to=tmp_path)
    one, two = (tokenizer.count(label) + tokenizer.count(body), tokenizer.count(f"{label}\nshort"))
    assert [call.result_tok for call in session.turns[0].calls] == [one]
    assert [call.result_tok for call in session.turns[1].calls] == [one, two]


def test_a_cut_history_is_what_was_sent(tmp_path: Path) -> None:
    folder = made.classic_task(tmp_path / "in" / "17", turns=4, cut_at=3, native=False)
    _, (session,) = imported(folder, to=tmp_path)
    last = session.turns[3]
    assert last.keep == 3 and last.add is not None and len(last.add) == 3, "messages 2 and 3 are gone"


def test_an_sdk_session_has_its_results_cut_again(tmp_path: Path) -> None:
    long = [{"query": "a", "result": "x" * 20_000, "success": True}]
    result, (session,) = imported(made.sdk_session(tmp_path / "in", long).parent, to=tmp_path)
    assert result.exit_code == 0
    first, second = session.turns
    assert first.add is not None and first.add[0]["content"] == "Be brief." and first.add[1]["content"] == "Do it"
    assert second.add is not None and len(json.loads(second.add[0]["content"])[0]["result"]) == 8_000
    assert first.calls[0].took_s == 0.2 and second.t_s == 0.7 and session.line.totals.prompt_tok == 1_800
    assert session.line.profile == "sdk" and "system prompt" not in session.line.estimated


def test_claude_code_lines_of_one_reply_are_one_call_and_side_chains_are_branches(tmp_path: Path) -> None:
    path = made.rows(tmp_path / "in" / "cc1.jsonl", made.claude_session())
    result, (session,) = imported(path, to=tmp_path)
    assert result.exit_code == 0, result.left
    own, side = session.branch(0), session.branch(1)
    assert [t.prompt_tok for t in own] == [15_003, 15_206] and [t.output_tok for t in own] == [50, 20]
    assert [t.cached_tok for t in own] == [0, 15_003]
    assert own[0].reply and own[0].reply["content"] == "I send somebody." and len(own[0].reply["tool_calls"]) == 1
    assert own[0].spawns == (1,) and [t.prompt_tok for t in side] == [4_003] and side[0].purpose == "subagent"
    assert own[0].calls[0].took_s == 4.0
    assert 14_900 < session.line.unstored_tok < 15_003 and "unstored_tok" in session.line.estimated


def test_a_way_that_was_taken_back_is_told(tmp_path: Path) -> None:
    lines = made.claude_session()
    lines.insert(7, made.claude_line(8, 3, "user", "no, stop"))
    result, (session,) = imported(made.rows(tmp_path / "in" / "cc1.jsonl", lines), to=tmp_path)
    assert len(session.branch(0)) == 2 and result.exit_code == 1
    assert "took back" in result.left[0].why


def test_a_log_is_told_apart_by_what_its_requests_continue(tmp_path: Path) -> None:
    a = made.chat("sys", "task a")
    b = made.chat("sys", "task b")
    lines = [
        made.log_line(100.0, a),
        made.log_line(101.0, b),
        made.log_line(103.0, [*a, {"role": "assistant", "content": "Good"}, {"role": "user", "content": "on"}]),
        made.log_line(104.0, [*b, {"role": "assistant", "content": "Good"}, {"role": "user", "content": "on"}]),
    ]
    result, found = imported(made.rows(tmp_path / "in" / "log.jsonl", lines), to=tmp_path)
    assert result.exit_code == 0 and [len(s.turns) for s in found] == [2, 2]
    first, second = found[0].turns
    assert second.keep == 3 and second.t_s == 3.0 and first.first_s == 0.2 and first.took_s == 1.5
    assert found[0].line.body == {"model": "embedded-30b-a3b", "messages": None, "temperature": 0, "stream": True}
    assert first.recount_tok is not None and result.recounted == 4


def test_a_log_that_names_sessions_is_believed_and_streams_are_put_together(tmp_path: Path) -> None:
    delta = [{"index": 0, "id": "c", "function": {"name": "rea", "arguments": '{"a"'}}]
    more = [{"index": 0, "function": {"name": "d", "arguments": ":1}"}}]
    chunks = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Let me "}}]},
        'data: {"choices":[{"index":0,"delta":{"content":"see"}}]}',
        {"choices": [{"index": 0, "delta": {"tool_calls": delta}}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": more}, "finish_reason": "tool_calls"}]},
        {"choices": [], "usage": {"prompt_tokens": 77, "completion_tokens": 12}},
        "data: [DONE]",
    ]
    line = made.log_line(5.0, made.chat("s", "u"), session="mine") | {"chunks": chunks}
    del line["response"]
    other = made.log_line(6.0, made.chat("s2", "u2"), session="mine")
    _, (session,) = imported(made.rows(tmp_path / "in" / "log.jsonl", [line, other]), to=tmp_path)
    first = session.turns[0]
    assert session.line.session == "mine" and len(session.turns) == 2
    assert first.reply == {
        "role": "assistant", "content": "Let me see",
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "read", "arguments": '{"a":1}'}}],
    }  # fmt: skip
    assert (first.prompt_tok, first.output_tok, first.finish) == (77, 12, "tool_calls")


def test_a_cut_history_stays_with_its_session(tmp_path: Path) -> None:
    start = made.chat("sys", "task a")
    long = [*start, {"role": "assistant", "content": "1"}, {"role": "user", "content": "2"}]
    cut = [*start, {"role": "assistant", "content": "(cut)"}, {"role": "user", "content": "3"}]
    lines = [made.log_line(1.0, start), made.log_line(2.0, long), made.log_line(3.0, cut)]
    _, found = imported(made.rows(tmp_path / "in" / "log.jsonl", lines), to=tmp_path)
    assert [len(s.turns) for s in found] == [3] and found[0].turns[2].keep == 2


def test_a_mixed_folder_gives_what_it_can_and_names_the_rest(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    made.classic_task(folder / "tasks" / "17")
    made.sdk_session(folder / "sdk")
    (folder / "notes.txt").write_text("buy milk")
    (folder / "empty.jsonl").write_text("")
    (folder / "state").mkdir()
    (folder / "state" / "ui_messages.json").write_text("[]")
    made.rows(folder / "log.jsonl", [made.log_line(1.0, made.chat("s", "u")), {"request": 4}])
    result, found = imported(folder, to=tmp_path)
    assert {s.line.format for s in found} == {"cline-classic", "cline-sdk", "openai-log"} and result.exit_code == 1
    why = {left.path.name: (left.line, left.why) for left in result.left}
    assert set(why) == {"notes.txt", "empty.jsonl", "ui_messages.json", "log.jsonl"}
    assert why["log.jsonl"][0] == 2 and why["empty.jsonl"][1] == "it is empty"


def test_the_same_session_twice_is_taken_once_and_another_of_its_name_is_renamed(tmp_path: Path) -> None:
    made.sdk_session(tmp_path / "in" / "a")
    made.sdk_session(tmp_path / "in" / "b")
    other = made.sdk_session(tmp_path / "in" / "c", "another result")
    text = other.read_text().replace('"inputTokens": 900', '"inputTokens": 901')
    other.write_text(text)
    result, found = imported(tmp_path / "in", to=tmp_path)
    assert sorted(s.line.session for s in found) == ["s1", "s1~2"] and "second time" in result.left[0].why


def test_importing_a_trace_keeps_it(tmp_path: Path) -> None:
    made.sdk_session(tmp_path / "in")
    _, first = imported(tmp_path / "in", to=tmp_path)
    again = tmp_path / "again"
    again.mkdir()
    _, second = imported(tmp_path / "trace.jsonl", to=again)
    assert first == second


REAL = next((p / "shared/traces" for p in Path(__file__).resolve().parents if (p / "shared/traces").is_dir()), Path())


@pytest.mark.skipif(Path() == REAL, reason="real traces are not on this machine")
@pytest.mark.parametrize("folder", ["cline_classic", "cline_sdk", "claude_code_hashed"])
def test_real_files_add_up_to_their_own_totals(folder: str, tmp_path: Path) -> None:
    result, found = imported(REAL / folder, to=tmp_path)
    assert result.exit_code == 0 and found
    for session in found:
        totals = session.line.totals
        assert sum(t.prompt_tok for t in session.turns) == totals.prompt_tok
        assert sum(t.output_tok for t in session.turns) == totals.output_tok


def test_a_recorders_sub_agents_and_summaries_belong_to_their_session(tmp_path: Path) -> None:
    """The recorder says how it found a session, whose sub-agent it is, and which request only asks for a summary."""
    found = {"session": "s1", "session_by": "prefix"}
    side = {"session": "s2", "session_by": "first", "parent": "s1"}
    lines = [
        made.log_line(10.0, made.chat("s", "u"), **found),
        made.log_line(12.0, made.chat("look", "v"), **side),
        made.log_line(13.0, made.chat("look", "v", "Good", "w"), **side),
        made.log_line(14.0, made.chat("sum up", "all"), **found, purpose="compaction"),
        made.log_line(16.0, made.chat("s", "summary"), **found),
        made.log_line(17.0, made.chat("x", "y"), session="h", session_by="header"),
    ]
    result, (first, named) = imported(made.rows(tmp_path / "in" / "log.jsonl", lines), to=tmp_path)
    assert result.exit_code == 0 and [t.purpose for t in first.branch(0)] == ["agent", "compaction", "agent"]
    assert first.turns[0].spawns == (1,) and [t.t_s for t in first.branch(1)] == [2.0, 3.0]
    assert "prefix" in first.line.estimated["session"] and "session" not in named.line.estimated
    cuts = [t.cut for t in plan(first, CASTING).turns]
    assert cuts == ["", "", "compacted"]


def test_parallel_results_other_lines_and_a_compaction(tmp_path: Path) -> None:
    """Results of parallel calls hang beside the line, other lines stand between, and a compaction starts anew."""
    calls = [{"type": "tool_use", "id": f"t{n}", "name": "Read", "input": {}} for n in (1, 2)]
    results = [{"type": "tool_result", "tool_use_id": f"t{n}", "content": f"text {n}"} for n in (1, 2)]
    first = {"id": "m1", "usage": made.claude_usage(9_000, 0, 9)}
    link = {"type": "system", "subtype": "turn_duration", "uuid": "u6", "parentUuid": "u5", "sessionId": "cc1"}
    cut = {"type": "system", "subtype": "compact_boundary", "uuid": "u9", "parentUuid": None, "logicalParentUuid": "u8"}
    lines = [
        made.claude_line(1, None, "user", "go"),
        made.claude_line(2, 1, "assistant", [calls[0]], **first),
        made.claude_line(3, 2, "assistant", [calls[1]], **first),
        made.claude_line(4, 2, "user", [results[0]]),
        made.claude_line(5, 3, "user", [results[1]]),
        link,
        made.claude_line(7, 6, "assistant", "I see.", id="m2", usage=made.claude_usage(50, 9_003, 5)),
        made.claude_line(8, 7, "user", "more"),
        cut,
        made.claude_line(10, 9, "user", "Summary of it all"),
        made.claude_line(11, 10, "assistant", "Good.", id="m3", usage=made.claude_usage(800, 0, 4)),
    ]  # fmt: skip
    result, (session,) = imported(made.rows(tmp_path / "in" / "cc1.jsonl", lines), to=tmp_path)
    one, two, three = session.branch(0)
    assert result.exit_code == 0, result.left
    assert len(one.calls) == 2 and [c.took_s for c in one.calls] == [1.0, 2.0]
    assert two.add is not None and [m["content"] for m in two.add] == ["text 1", "text 2"]
    assert three.keep == 0 and three.add is not None and [m["content"] for m in three.add] == ["Summary of it all"]


def test_older_side_chains_without_names_are_told_apart(tmp_path: Path) -> None:
    task = {"type": "tool_use", "id": "t1", "name": "Task", "input": {}}
    side = {"isSidechain": True}
    usage = {"usage": made.claude_usage(100, 0, 2)}
    lines = [
        made.claude_line(1, None, "user", "go"),
        made.claude_line(2, 1, "assistant", [task], id="m1", **usage),
        made.claude_line(3, None, "user", "look left", **side),
        made.claude_line(4, None, "user", "look right", **side),
        made.claude_line(5, 3, "assistant", [{"type": "text", "text": "left"}], id="m2", **usage, **side),
        made.claude_line(6, 4, "assistant", [{"type": "text", "text": "right"}], id="m3", **usage, **side),
    ]
    result, (session,) = imported(made.rows(tmp_path / "in" / "cc1.jsonl", lines), to=tmp_path)
    assert result.exit_code == 0 and session.branches == 2 and session.turns[0].spawns == (1, 2)


def test_providers_that_count_cached_tokens_apart(tmp_path: Path) -> None:
    folder = made.classic_task(tmp_path / "in" / "17", turns=1)
    path = folder / "api_conversation_history.json"
    path.write_text(path.read_text().replace('"providerId": "openai"', '"providerId": "anthropic"'))
    _, (session,) = imported(folder, to=tmp_path)
    assert (session.turns[0].prompt_tok, session.turns[0].cached_tok) == (9_000, 3_000)


def test_reads_that_a_later_one_shows_again_are_replaced_once_enough_can_be_won(tmp_path: Path) -> None:
    """Ten reads of nearly 8,000 characters each; the eleventh to twentieth read the same files."""
    path = made.sdk_session(tmp_path / "in")
    about = json.loads(path.read_text())
    first, messages = about["messages"][0], []
    for n in range(21):
        call = {"type": "tool_use", "id": f"c{n}", "name": "read_files", "input": {"files": [{"path": f"f{n % 10}"}]}}
        row = {"query": f"f{n % 10}", "result": f"{n} " + "x" * 7_000, "success": True}
        result = {"type": "tool_result", "tool_use_id": f"c{n}", "name": "read_files", "content": [row]}
        spent = {"inputTokens": 1_000 + n, "outputTokens": 9, "cacheReadTokens": 0, "cacheWriteTokens": 0}
        messages += [
            {"role": "assistant", "content": [call], "ts": made.T0_MS + 1_000 * n, "metrics": spent},
            {"role": "user", "content": [result], "ts": made.T0_MS + 1_000 * n + 500},
        ]
    path.write_text(json.dumps(about | {"messages": [first, *messages]}))
    _, (session,) = imported(path.parent, to=tmp_path)
    held: list[dict[str, Any]] = []
    superseded = []
    for turn in session.turns:
        held = [*held[: turn.keep], *(turn.add or ())]
        superseded.append(sum("superseded" in str(m["content"]) for m in held))
        held = [*held, turn.reply or {}]
    assert superseded[:20] == [0] * 20 and superseded[20] == 10, "all at once, and only when it pays"
    assert session.turns[20].keep < 5 and all(t.keep > 2 * n for n, t in enumerate(session.turns[1:20], 1))


def test_a_recorders_log_is_known_whatever_its_first_requests_were(tmp_path: Path) -> None:
    """Two warm-ups on /completions, then prompts larger than the beginning that is looked at."""
    mark = {"log": "openai-requests", "version": 1}
    warm = [{**mark, "ts": float(n), "session": f"w{n}", "request": {"model": "m", "prompt": "hi"}} for n in (1, 2)]
    line = mark | made.log_line(3.0, made.chat("be brief", "word " * 30_000), session="a", session_by="first")
    result, found = imported(made.rows(tmp_path / "in" / "requests.jsonl", [*warm, line]), to=tmp_path)
    assert result.exit_code == 0 and [s.line.session for s in found] == ["a"] and not result.left
    assert list(result.aside.values()) == [2] and "/completions" in next(iter(result.aside))


def test_a_format_is_found_behind_what_is_none(tmp_path: Path) -> None:
    """No mark, and lines of another kind first; together they are longer than the beginning that is looked at."""
    lines = [{"ts": 1.0, "note": "started " * 9_000}, made.log_line(3.0, made.chat("be brief", "word " * 30_000))]
    result, found = imported(made.rows(tmp_path / "in" / "gateway.jsonl", lines), to=tmp_path)
    assert (len(found), result.exit_code, len(result.left)) == (1, 1, 1)


def test_a_line_too_long_to_look_at_says_by_its_beginning_what_it_is(tmp_path: Path) -> None:
    line = {"log": "openai-requests"} | made.log_line(3.0, made.chat("s", "word " * 1_800_000))
    path = made.rows(tmp_path / "in" / "a.jsonl", [line, line])
    assert detect(path) == "openai-log"


def test_a_refusal_of_json_names_the_way_out(tmp_path: Path) -> None:
    result, _ = imported(made.rows(tmp_path / "in" / "a.jsonl", [{"some": "thing"}]), to=tmp_path)
    assert result.exit_code == 2 and "--format" in result.left[0].why


def xml_talk(system: str) -> list[dict[str, Any]]:
    said = "I look.\n<read_file>\n<path>a.py</path>\n</read_file>\n<list_files>\n<path>.</path>\n</list_files>"
    start = made.chat(system, "fix it")
    after = [*start, {"role": "assistant", "content": said}, {"role": "user", "content": "[read_file] Result:\nx = 1"}]
    return [made.log_line(10.0, start, said), made.log_line(14.0, after, "Done, `<read_file>` is a tag.")]


def test_calls_in_xml_are_the_tools_of_a_log_and_of_its_replay(tmp_path: Path) -> None:
    system = "Tools:\n<read_file>\n<path>p</path>\n</read_file>\n<list_files>\n<path>p</path>\n</list_files>"
    _, (session,) = imported(made.rows(tmp_path / "in" / "log.jsonl", xml_talk(system)), to=tmp_path)
    first, second = session.turns
    assert [(c.tool, c.took_s) for c in first.calls] == [("read_file", 2.5)], "the client takes one call a reply"
    assert session.line.estimated["calls.took_s"]
    played = plan(session, CASTING)
    assert [(c.action.tool, c.recorded_s) for c in played.turns[0].calls] == [("read_file", 2.5)]  # type: ignore[union-attr]
    assert played.turns[1].think_s == 0.0, "what the tool took is no pause"
    assert second.calls == (), "a tag that is only talked about"


def test_a_replays_calls_stand_in_the_next_requests_history(tmp_path: Path) -> None:
    """What the engine said is not what was played, in XML and in native calls."""
    system = "Tools:\n<read_file>\n<path>p</path>\n</read_file>"
    first, second = xml_talk(system)
    first["response"]["choices"][0]["message"]["content"] = "grey otters count the rain"
    call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    start = made.chat("s", "go")
    result = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
    after = [*start, {"role": "assistant", "content": None, "tool_calls": [call]}, result]
    lines = [first, second, made.log_line(20.0, start, "sleet"), made.log_line(23.0, after, "sleet again")]
    _, found = imported(made.rows(tmp_path / "in" / "log.jsonl", lines), to=tmp_path)
    told = [[(c.tool, c.id, c.took_s, bool(c.result_tok)) for c in s.turns[0].calls] for s in found]
    assert told == [[("read_file", "", 2.5, False)], [("run", "c1", 1.5, True)]]
    assert [s.turns[1].calls for s in found] == [(), ()], "of a last reply nothing else is known"


def test_tags_are_no_calls_where_the_prompt_offers_none(tmp_path: Path) -> None:
    _, (session,) = imported(made.rows(tmp_path / "in" / "log.jsonl", xml_talk("Be brief.")), to=tmp_path)
    assert [turn.calls for turn in session.turns] == [(), ()]


def test_native_calls_of_a_log_take_until_the_next_request(tmp_path: Path) -> None:
    call = {"type": "function", "function": {"name": "run", "arguments": "{}"}}
    said = {"role": "assistant", "content": None, "tool_calls": [call | {"id": i} for i in ("c1", "c2")]}
    start = made.chat("s", "go")
    after = [*start, said, *({"role": "tool", "tool_call_id": i, "content": "ok"} for i in ("c1", "c2"))]
    lines = [made.log_line(10.0, start), made.log_line(15.5, after)]
    lines[0]["response"]["choices"][0]["message"] = said
    _, (session,) = imported(made.rows(tmp_path / "in" / "log.jsonl", lines), to=tmp_path)
    assert [(c.id, c.took_s) for c in session.turns[0].calls] == [("c1", 2.0), ("c2", 2.0)]
