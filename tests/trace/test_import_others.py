"""The other formats, each with a small file of its form."""

import json
from pathlib import Path
from typing import Any

import made_files as made
import pytest
from test_import_agents import REAL, imported


def text(path: Path, value: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value)
    return path


def codex_lines() -> list[dict[str, Any]]:
    def line(second: int, kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": f"2026-09-21T10:00:{second:02d}.000Z", "type": kind, "payload": payload}

    def tokens(total: int, last: int) -> dict[str, Any]:
        usage = {
            "input_tokens": last,
            "cached_input_tokens": last // 2,
            "output_tokens": 7,
            "reasoning_output_tokens": 3,
        }
        return {"total_token_usage": usage | {"input_tokens": total}, "last_token_usage": usage}

    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Looking"}]}
    return [
        line(0, "session_meta", id="cx", cwd="/srv", originator="codex_cli", base_instructions={"text": "Be good."}),
        line(0, "turn_context", model="gpt-5-codex"),
        line(1, "response_item", type="message", role="user", content=[{"type": "input_text", "text": "fix it"}]),
        line(2, "event_msg", type="token_count", info=None),
        line(3, "response_item", type="reasoning", summary=[], encrypted_content="x"),
        line(4, "response_item", **said),
        line(4, "response_item", type="function_call", name="shell", arguments='{"command":["ls"]}', call_id="c1"),
        line(5, "event_msg", type="token_count", info=tokens(3_000, 3_000)),
        line(8, "response_item", type="function_call_output", call_id="c1", output="a.py"),
        line(8, "event_msg", type="token_count", info=tokens(3_000, 3_000)),
        line(11, "response_item", **said),
        line(11, "event_msg", type="token_count", info=tokens(6_100, 3_100)),
    ]


def test_codex(tmp_path: Path) -> None:
    path = made.rows(tmp_path / "in" / "rollout-1.jsonl", codex_lines())
    result, (session,) = imported(path, to=tmp_path)
    first, second = session.turns
    assert result.exit_code == 0 and session.line.totals.prompt_tok == 6_100 == first.prompt_tok + second.prompt_tok
    assert first.add is not None and [m["role"] for m in first.add] == ["system", "user"]
    assert first.reply and first.reply["content"] == "Looking" and first.calls[0].tool == "shell"
    assert (first.calls[0].took_s, first.reasoning_tok, first.cached_tok) == (3.0, 3, 1_500)
    assert second.keep == 3 and second.t_s == 7.0 and session.line.model == "gpt-5-codex"


def openhands_events() -> list[dict[str, Any]]:
    def event(n: int, kind: str, source: str = "agent", **more: Any) -> dict[str, Any]:
        return {"id": f"e{n}", "timestamp": f"2026-09-21T10:00:{n:02d}.5", "source": source, "kind": kind, **more}

    def stats(n: int, prompt: int, output: int) -> dict[str, Any]:
        used = {"prompt_tokens": prompt, "completion_tokens": output, "cache_read_tokens": 0}
        metrics = {"model_name": "m", "accumulated_token_usage": used}
        return event(n, "ConversationStateUpdateEvent", key="stats", value={"usage_to_metrics": {"default": metrics}})

    def action(n: int, ident: str, reply: str) -> dict[str, Any]:
        call = {"id": ident, "name": "terminal", "arguments": "{}"}
        return event(n, "ActionEvent", thought=[{"text": "hm"}], tool_name="terminal", tool_call_id=ident,
                     tool_call=call, llm_response_id=reply)  # fmt: skip

    def seen(n: int, ident: str) -> dict[str, Any]:
        return event(n, "ObservationEvent", tool_call_id=ident, observation={"content": [{"text": "ok"}]})

    tools = [{"type": "function", "function": {"name": "t"}}]
    return [
        event(0, "SystemPromptEvent", system_prompt={"text": "sys"}, tools=tools),
        event(1, "MessageEvent", "user", llm_message={"role": "user", "content": [{"text": "go"}]}),
        stats(3, 1_000, 20), action(4, "c1", "r1"), action(4, "c2", "r1"), seen(5, "c1"), seen(6, "c2"),
        event(7, "Condensation", forgotten_event_ids=["e4", "e5", "e6"], summary="it went well", summary_offset=2),
        stats(8, 1_900, 50), action(9, "c3", "r2"),
    ]  # fmt: skip


@pytest.mark.parametrize("as_folder", [False, True])
def test_openhands_events(tmp_path: Path, as_folder: bool) -> None:
    if as_folder:
        path = tmp_path / "in"
        for n, event in enumerate(openhands_events()):
            text(path / "conv1" / "events" / f"event-{n:05d}.json", json.dumps(event))
    else:
        path = made.rows(tmp_path / "in" / "events.jsonl", openhands_events())
    result, (session,) = imported(path, to=tmp_path)
    first, second = session.turns
    assert result.exit_code == 0, result.left
    assert [t.prompt_tok for t in session.turns] == [1_000, 900] and [t.output_tok for t in session.turns] == [20, 30]
    assert len(first.calls) == 2 and first.reply and len(first.reply["tool_calls"]) == 2
    assert second.keep == 2 and second.add is not None and second.add[0]["content"] == "it went well"
    assert (
        session.line.body
        and session.line.body["tools"]
        and session.line.session == ("conv1" if as_folder else "events")
    )


def test_openhands_logs_of_a_folder_are_linked(tmp_path: Path) -> None:
    start = made.chat("sys", "go")
    more = [*start, {"role": "assistant", "content": "Good"}, {"role": "user", "content": "on"}]
    for n, messages in ((2, more), (1, start)):
        response = made.log_line(0, messages)["response"]
        record = {
            "messages": messages,
            "tools": [],
            "kwargs": {"temperature": 0},
            "response": response | {"model": "m"},
        }
        record |= {"cost": 0.1, "timestamp": 100.0 + n, "latency_sec": 0.5}
        text(tmp_path / "in" / f"{9 - n}.json", json.dumps(record))
    result, (session,) = imported(tmp_path / "in", to=tmp_path)
    assert result.exit_code == 0 and [t.keep for t in session.turns] == [0, 3]
    assert session.turns[0].took_s == 0.5 and session.turns[1].t_s == 1.0


@pytest.mark.parametrize("key", ["query", "messages"])
def test_swe_agent(tmp_path: Path, key: str) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    history: list[dict[str, Any]] = [
        {"role": "system", "content": "sys", "message_type": "system_prompt"},
        {"role": "user", "content": "fix"},
        {"role": "assistant", "content": "ls", "tool_calls": [call], "action": "ls"},
        {"role": "tool", "content": "a.py", "tool_call_ids": ["c1"]},
        {"role": "assistant", "content": "done", "action": "submit"},
    ]
    cut = (2, 4) if key == "query" else (4, 5)
    steps = [
        {"action": "ls -F", "observation": "a.py", "response": "ls", "execution_time": 0.5, key: history[: cut[0]]},
        {"action": "submit", "observation": "", "response": "done", "execution_time": 0.1, key: history[: cut[1]]},
    ]
    info = {"model_stats": {"tokens_sent": 900, "tokens_received": 30, "api_calls": 2}}
    path = text(tmp_path / "in" / "x.traj", json.dumps({"trajectory": steps, "history": history, "info": info}))
    _, (session,) = imported(path, to=tmp_path)
    first, second = session.turns
    assert first.add is not None and len(first.add) == 2 and second.keep == 3 and len(second.add or ()) == 1
    assert first.calls[0].took_s == 0.5 and first.calls[0].result_tok and second.calls[0].tool == "submit"
    assert session.line.totals.prompt_tok == 900 and "turn.prompt_tok" in session.line.estimated


def test_mini_swe_agent_in_both_versions(tmp_path: Path) -> None:
    response = {"usage": {"prompt_tokens": 50, "completion_tokens": 4}}
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "sys"},
        {"role": "user", "content": "fix", "extra": {"timestamp": 10.0}},
        {"role": "assistant", "content": "x", "extra": {"response": response, "timestamp": 12.0, "actions": ["ls"]}},
        {"role": "user", "content": "a.py", "extra": {"timestamp": 12.5}},
        {"role": "assistant", "content": "y", "extra": {"response": response, "timestamp": 15.0, "actions": []}},
        {"role": "exit", "content": "", "extra": {"timestamp": 15.1}},
    ]  # fmt: skip
    whole = {"info": {"model_stats": {"api_calls": 2}}, "messages": messages, "trajectory_format": "mini-swe-agent-1.1"}
    text(tmp_path / "in" / "b.traj.json", json.dumps(whole))
    text(tmp_path / "in" / "a.traj.json", json.dumps([{"role": m["role"], "content": m["content"]} for m in messages]))
    text(tmp_path / "in" / "c.traj.json", json.dumps(whole | {"trajectory_format": "mini-swe-agent-7"}))
    result, (old, new) = imported(tmp_path / "in", to=tmp_path)
    assert [t.prompt_tok for t in new.turns] == [50, 50] and new.turns[0].took_s == 2.0 and new.turns[1].t_s == 2.5
    assert new.turns[0].calls[0].took_s == 0.5 and len(old.turns) == 2 and old.line.clock == ""
    assert [(left.path.name, "version" in left.why) for left in result.left] == [("c.traj.json", True)]


@pytest.mark.parametrize("lines", [False, True])
def test_sharegpt(tmp_path: Path, lines: bool) -> None:
    told = [{"from": "system", "value": "s"}, {"from": "human", "value": "a"}, {"from": "gpt", "value": "b"},
            {"from": "human", "value": "c"}, {"from": "gpt", "value": "d"}]  # fmt: skip
    values = [{"id": "one", "conversations": told}, {"id": "two", "conversations": [{"from": "ghost", "value": "x"}]}]
    path = tmp_path / "in" / "sharegpt.json"
    text(path, "\n".join(map(json.dumps, values)) if lines else json.dumps(values))
    result, (session,) = imported(path, to=tmp_path)
    assert len(session.turns) == 2 and session.turns[1].keep == 3 and session.turns[1].prompt_tok > 8
    assert "ghost" in result.left[0].why and result.exit_code == 1


def test_kv_cache_tester_with_a_sub_agent(tmp_path: Path) -> None:
    def request(t: float, prompt: int, ids: list[int], stop: str = "tool_use") -> dict[str, Any]:
        return {"t": t, "type": "n", "in": prompt, "out": 5, "hash_ids": ids, "stop": stop, "api_time": 2.0}

    inner = {"type": "subagent", "t": 4.0, "requests": [request(0.0, 64, [90]), request(3.0, 128, [90, 91])]}
    requests = [request(0.0, 128, [1, 2]), inner, request(12.0, 192, [1, 2, 3], "end_turn"), request(20.0, 130, [1, 4])]
    value = {"id": "k", "models": ["m"], "block_size": 64, "hash_id_scope": "local", "requests": requests}
    _, (session,) = imported(text(tmp_path / "in" / "k.json", json.dumps(value)), to=tmp_path)
    own, side = session.branch(0), session.branch(1)
    assert [(t.keep_blocks, t.add_blocks) for t in own] == [(0, (1, 2)), (2, (3,)), (1, (4,))]
    assert own[0].spawns == (1,) and [t.t_s for t in side] == [4.0, 7.0] and session.line.block_scope == "session"


def test_shapes_of_requests(tmp_path: Path) -> None:
    rows = [{"timestamp": 0, "input_length": 700, "output_length": 5, "hash_ids": [1, 2]},
            {"timestamp": 1_500, "input_length": 900, "output_length": 6, "hash_ids": [1, 3]},
            {"timestamp": 1_600, "input_length": "many", "output_length": 6, "hash_ids": [1]}]  # fmt: skip
    result, found = imported(made.rows(tmp_path / "in" / "mooncake.jsonl", rows), to=tmp_path)
    assert [(s.line.start_s, s.turns[0].prompt_tok, s.line.block_tok) for s in found] == [
        (0.0, 700, 512),
        (1.5, 900, 512),
    ]
    assert result.left[0].line == 3


def test_bailian_requests_are_linked_by_their_parents(tmp_path: Path) -> None:
    def row(chat: int, parent: int, at: float) -> dict[str, Any]:
        return {"chat_id": chat, "parent_chat_id": parent, "timestamp": at, "input_length": 32, "output_length": 4,
                "type": "text", "turn": 1, "hash_ids": [chat, chat + 1]}  # fmt: skip

    rows = [row(1, -1, 0.0), row(2, -1, 1.0), row(3, 1, 5.0), row(4, 4, 6.0), row(3, 2, 7.0)]
    result, found = imported(made.rows(tmp_path / "in" / "b.jsonl", rows), to=tmp_path)
    assert [len(s.turns) for s in found] == [2, 1, 1] and found[0].turns[1].t_s == 5.0
    assert "second time" in result.left[0].why


def test_azure(tmp_path: Path) -> None:
    rows = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\nnever,1,2\n"
    rows += "2023-11-16 18:15:50,10,5\n"
    result, found = imported(text(tmp_path / "in" / "azure.csv", rows), to=tmp_path)
    assert [(s.turns[0].prompt_tok, s.turns[0].output_tok) for s in found] == [(374, 44), (10, 5)]
    assert found[1].line.start_s and found[0].line.start_s and 3 < found[1].line.start_s - found[0].line.start_s < 3.4
    assert result.left[0].line == 3


@pytest.mark.skipif(Path() == REAL, reason="real traces are not on this machine")
def test_all_real_files_are_read(tmp_path: Path) -> None:
    result, found = imported(REAL, to=tmp_path)
    assert [left.path.name for left in result.left] == ["README.md"]
    formats = {s.line.format for s in found}
    assert formats >= {"azure", "mooncake", "mini-swe-agent", "swe-agent", "kv-cache-tester"}
    assert formats >= {"openhands-log", "openhands-events", "cline-sdk", "cline-classic"}
