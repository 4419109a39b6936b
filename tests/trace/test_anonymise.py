"""Anonymised traces: nothing that was said is in them, and sizes, sharing, times and tool names are those of before."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import made_files as made
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_import_others import codex_lines, openhands_events
from typer.testing import CliRunner

from simulator import tokenizer
from simulator.cli.main import app
from simulator.core import template
from simulator.trace import importing
from simulator.trace.anonymise.lines import Anonymiser
from simulator.trace.anonymise.messages import Messages, cost
from simulator.trace.anonymise.values import Values
from simulator.trace.anonymise.words import Words
from simulator.trace.format import Call, SessionLine, TurnLine
from simulator.trace.trace_file import TracedSession, sessions

CANARY = "kanari"
PLANTED = f" /home/{CANARY}/.ssh sk-{CANARY}-4711"
KEY = b"a key of the test's"
TEXTS = st.text(max_size=60) | st.lists(
    st.sampled_from(["def f(x):\n", "    return ", "12,5 %", "naïve", "🙂", "a.b"])
).map("".join)


def prefix(a: list[Any], b: list[Any]) -> int:
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


@settings(max_examples=50)
@given(TEXTS, TEXTS, TEXTS)
def test_texts_keep_their_size_and_what_they_share(start: str, one: str, two: str) -> None:
    words = Words(KEY)
    old = [tokenizer.encode(start + each) for each in (one, two)]
    new = [tokenizer.encode(words.text(start + each)) for each in (one, two)]
    assert [len(each) for each in new] == [len(each) for each in old]
    assert prefix(*new) == prefix(*old)
    assert words.text(start) == Words(KEY).text(start)
    assert not start.strip() or words.text(start) != start


def test_another_key_gives_other_words() -> None:
    assert Words(b"a").text("the same text") != Words(b"b").text("the same text")


ARGUMENTS = st.dictionaries(TEXTS, TEXTS | st.integers() | st.none() | st.lists(TEXTS, max_size=2), max_size=3)


def user(texts: list[str]) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": each} for each in texts]}


def calling(text: str, arguments: str) -> dict[str, Any]:
    call = {"id": "call_1a", "type": "function", "function": {"name": "read_file", "arguments": arguments}}
    return {"role": "assistant", "content": text or None, "tool_calls": [call]}


MESSAGES = st.one_of(
    st.builds(lambda t: {"role": "user", "content": t}, TEXTS),
    st.lists(TEXTS, max_size=3).map(user),
    st.builds(lambda t, u: {"role": "assistant", "content": t, "reasoning_content": u}, TEXTS, TEXTS),
    st.builds(calling, TEXTS, ARGUMENTS.map(json.dumps) | TEXTS),
    st.builds(lambda t: {"role": "tool", "tool_call_id": "call_1a", "name": "read_file", "content": t}, TEXTS),
)


@settings(max_examples=40)
@given(MESSAGES)
def test_messages_cost_what_they_did(message: dict[str, Any]) -> None:
    words = Words(KEY)
    messages = Messages(words, Values(words, {"read_file"}))
    before = copy.deepcopy(message)
    new = messages.of(message)
    assert message == before and messages.of(message) == new
    assert (cost(new) == cost(message)) == (messages.unequal == 0)
    # where there is a text that can be lengthened or shortened as far as that takes, it always comes out
    told = message["content"] if isinstance(message["content"], str) else ""
    assert not messages.unequal or 2 * tokenizer.count(told) < cost(message)
    assert new["role"] == message["role"] and ("tool_calls" in new) == ("tool_calls" in message)


def test_forms_stay_and_what_they_say_goes() -> None:
    words = Words(KEY)
    values = Values(words, {"look_up", "read_file"})
    field = {"type": "string", "description": PLANTED, "enum": [CANARY]}
    schema = {"type": "object", "properties": {f"{CANARY}_id": field}, "additionalProperties": False}
    schema["required"] = [f"{CANARY}_id"]
    tool = {"type": "function", "function": {"name": "look_up", "description": PLANTED, "parameters": schema}}
    body = {"tools": [tool], "temperature": 0.5, "user": CANARY, "seed": 4711, "x": {CANARY: 1}}
    new = {name: values.setting(each, name) for name, each in body.items()}
    (made,) = new["tools"]
    told = made["function"]
    assert told["name"] == "look_up" and made["type"] == "function" and told["parameters"]["type"] == "object"
    (name,) = told["parameters"]["properties"]
    assert told["parameters"]["required"] == [name] and told["parameters"]["additionalProperties"] is False
    assert new["temperature"] == 0.5 and new["seed"] != 4711 and len(str(new["seed"])) == 4
    assert CANARY not in json.dumps(new)


#: keys under which a number may be a setting
SETTINGS = """temperature top_p top_k min_p n index minimum maximum minItems maxLength start_line end_line insert_line
timeout limit offset budget_tokens max_tokens top_logprobs repetition_penalty seed iban"""
CARD, REAL = 4111111111111111, 38.914159


@pytest.mark.parametrize("name", SETTINGS.split())
@pytest.mark.parametrize("number", [CARD, REAL, 7_000_001, 491])
def test_numbers_that_were_said_go_whatever_they_are_called(name: str, number: float) -> None:
    words = Words(KEY)
    values, messages = Values(words, {"look_up"}), Messages(words, Values(words, {"look_up"}))
    call = calling("", json.dumps({name: number, "deep": [{name: [number]}], "tools": {name: number}}))
    call["tool_calls"][0][name] = number
    parts = {"role": "user", "content": [{"type": "text", "text": "a", name: number}], "name": "x", name: number}
    made = [messages.of(call), messages.of(parts)]
    inner = json.loads(made[0]["tool_calls"][0]["function"]["arguments"])
    (told,) = [each for each in inner.values() if isinstance(each, int | float)]
    assert told != number and len(str(told)) == len(str(number)) and type(told) is type(number)
    schema = {"properties": {name: number}, "default": {name: number}, "enum": [number]}
    tools = [{"type": "function", "function": {"name": "look_up", "parameters": schema}}]
    made += [values.setting(tools, "tools"), values.setting({name: number}, "metadata")]
    assert str(number) not in json.dumps(made)


def test_settings_stay_where_they_are_plausible() -> None:
    values = Values(Words(KEY), ())
    kept = {"temperature": 0.7, "top_p": 0.95, "n": 1, "max_tokens": 32_768, "top_k": -1, "presence_penalty": -1.5}
    assert {name: values.setting(each, name) for name, each in kept.items()} == kept
    odd = {"temperature": REAL, "top_p": 0.123456789, "n": 491512345678, "max_tokens": CARD, "limit": 50, "offset": 7}
    assert not {name for name, each in odd.items() if values.setting(each, name) == each}
    bounds = {"minimum": 1, "maximum": 2000, "minItems": 1, "maxLength": 4096}
    field = {"type": "object", "properties": {"path": {"type": "integer", **bounds}}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": field}}]
    made = values.setting(tools, "tools")[0]["function"]["parameters"]["properties"]["path"]
    assert made == {"type": "integer", **bounds}
    far = [{"function": {"parameters": {"minimum": 7_000_001, "maxLength": CARD}}}]
    assert not {7_000_001, CARD} & set(values.setting(far, "tools")[0]["function"]["parameters"].values())


@pytest.mark.parametrize(
    ("name", "declared", "stays"),
    [
        ("look_up.v2", True, True),
        ("look_up.v2", False, False),
        ("read_file", False, True),
        (f"read the file of {CANARY}", True, False),
        ("x" * 65, True, False),
        ("n\u00e5mn", True, False),
    ],
)
def test_names_of_tools_stay_where_they_are_declared_and_are_names(name: str, declared: bool, stays: bool) -> None:
    function = {"name": name, "description": "d", "parameters": {}}
    choice = {"type": "function", "function": {"name": name}}
    body = {"model": "m", "messages": None, "tool_choice": choice}
    body |= {"tools": [{"type": "function", "function": function}]} if declared else {}
    reply = calling("I look", "{}")
    reply["tool_calls"][0]["function"]["name"] = name
    result = {"role": "tool", "tool_call_id": "call_1a", "name": name, "content": "b"}
    turn = TurnLine(
        session="s", turn=0, prompt_tok=5, output_tok=2, add=(result,), reply=reply, calls=(Call(tool=name),)
    )
    line, (made,) = Anonymiser(KEY, 0.0).session(
        TracedSession(SessionLine(session="s", format="log", body=body), (turn,))
    )
    assert line.body is not None and made.add is not None and made.reply is not None
    told = {made.calls[0].tool, made.reply["tool_calls"][0]["function"]["name"], made.add[0]["name"]}
    told |= {each["function"]["name"] for each in (*line.body.get("tools", ()), line.body["tool_choice"])}
    (new,) = told  # one name everywhere
    assert (new == name) is stays and re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", new)


def log_file(folder: Path) -> Path:
    call = {
        "id": "call_9",
        "type": "function",
        "function": {"name": "read_file", "arguments": '{"path": "a.py", "mine": "b"}'},
    }
    start = made.chat("You help.", "Mend it")
    start[1]["name"] = "somebody"  # type: ignore[index]
    more = [*start, {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_9", "content": "line"}]  # fmt: skip
    lines = [made.log_line(5.0, start, session="one", client="c/1"), made.log_line(9.0, more, session="one")]
    offered = {"name": "read_file", "description": "d", "parameters": {"type": "object", "title": "t"}}
    for line in lines:
        line["request"] |= {"user": "u", "metadata": {"own": "v"}, "stop": ["s"]}
        line["request"]["tools"] = [{"type": "function", "function": offered}]
    return made.rows(folder / "log.jsonl", lines)


def documents(folder: Path) -> None:
    """The formats of which made_files has none."""
    folder.mkdir(parents=True)
    usage = {"usage": {"prompt_tokens": 50, "completion_tokens": 4}}
    extra = {"response": usage, "timestamp": 12.0, "actions": ["ls"]}
    told: list[Any] = [*made.chat("sys", "fix"), {"role": "assistant", "content": "x", "extra": extra}]
    told[1]["extra"] = {"timestamp": 10.0}
    mini = {"info": {"model_stats": {"api_calls": 1}}, "messages": told, "trajectory_format": "mini-swe-agent-1.1"}
    (folder / "m.traj.json").write_text(json.dumps(mini))
    history = [
        {"role": "system", "content": "sys"},
        {"role": "user", "content": "fix"},
        {"role": "assistant", "content": "ls"},
    ]
    step = {
        "action": "ls -F",
        "observation": "a.py",
        "response": "ls",
        "thought": "t",
        "execution_time": 0.5,
        "query": history[:2],
    }
    (folder / "x.traj").write_text(
        json.dumps({"trajectory": [step], "history": history, "info": {"exit_status": "ok"}})
    )
    talk = [{"from": "system", "value": "s"}, {"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]
    (folder / "sharegpt.json").write_text(json.dumps([{"id": "one", "conversations": talk}]))
    response = made.log_line(0, [])["response"] | {"model": "m"}
    record = {"messages": made.chat("sys", "go"), "tools": [], "kwargs": {}, "response": response, "timestamp": 100}
    (folder / "call.json").write_text(json.dumps(record))
    block = {"t": 0.0, "type": "n", "in": 128, "out": 5, "hash_ids": [471147, 2], "stop": "end_turn", "api_time": 2.0}
    (folder / "k.json").write_text(json.dumps({"id": "k", "models": ["m"], "block_size": 64, "requests": [block]}))


FORMATS: dict[str, Callable[[Path], object]] = {
    "classic": lambda folder: made.classic_task(folder / "1790000000000"),
    "sdk": made.sdk_session,
    "claude": lambda folder: made.rows(folder / "c.jsonl", made.claude_session()),
    "codex": lambda folder: made.rows(folder / "rollout-1.jsonl", codex_lines()),
    "openhands": lambda folder: made.rows(folder / "events.jsonl", openhands_events()),
    "log": log_file,
    "documents": documents,
}


def strings(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Places of all strings of a JSON value, and of those inside strings that are JSON objects."""
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from strings(each, (*at, key))
    elif isinstance(value, str):
        yield at
        if value.startswith("{"):
            yield from ((*at, "{}", *inner) for inner in strings(json.loads(value)))


def planted(value: Any, at: tuple[Any, ...]) -> Any:
    if not at:
        return value + PLANTED
    if at[0] == "{}":
        return json.dumps(planted(json.loads(value), at[1:]))
    changed = copy.copy(value)
    changed[at[0]] = planted(value[at[0]], at[1:])
    return changed


def anonymised(anonymiser: Anonymiser, trace: Path) -> str:
    """All lines of it."""
    made_lines = [anonymiser.session(each) for each in sessions(trace)]
    return "".join(row.model_dump_json() for line, turns in made_lines for row in (line, *turns))


@pytest.mark.parametrize("form", FORMATS)
def test_a_canary_in_any_field_of_any_format_is_gone(form: str, tmp_path: Path) -> None:
    FORMATS[form](tmp_path / "in")
    trace, sang, anonymiser = tmp_path / "trace.jsonl", 0, Anonymiser(KEY, 0.0)
    for path in sorted(p for p in (tmp_path / "in").rglob("*") if p.is_file()):
        text = path.read_text()
        lined = path.suffix == ".jsonl"
        whole = [json.loads(line) for line in text.splitlines()] if lined else json.loads(text)
        for at in strings(whole):
            changed = planted(whole, at)
            path.write_text("".join(json.dumps(row) + "\n" for row in changed) if lined else json.dumps(changed))
            if importing.run([tmp_path / "in"], trace, "", "").sessions:
                sang += CANARY in trace.read_text()
                assert CANARY not in anonymised(anonymiser, trace), (path.name, at)
        path.write_text(text)
    assert sang >= 4, "canaries were there before"


def test_every_field_of_the_trace_itself() -> None:
    texts = {name: CANARY for name in ("session", "format", "origin", "client", "profile", "model", "cwd")}
    body = {"model": CANARY, "messages": None, CANARY: [CANARY], "stop": CANARY, "seed": 471147}
    line = SessionLine(
        **texts, clock="unix", start_s=1_790_000_000.0, notes=(CANARY,), body=body,  # type: ignore[arg-type]
        estimated={"model": CANARY, CANARY: "x"},
    )  # fmt: skip
    turn = TurnLine(
        session=CANARY, turn=0, t_s=1.5, prompt_tok=5, output_tok=2, finish=CANARY, add_blocks=(471147, 8, 471147),
        estimated={"prompt_tok": CANARY}, body={CANARY: CANARY},
    )  # fmt: skip
    told = TurnLine(
        session=CANARY, turn=1, prompt_tok=5, output_tok=2,
        add=({"role": CANARY, CANARY: CANARY, "content": CANARY},),
        reply={"role": "assistant", "content": CANARY, "refusal": CANARY},
        calls=(Call(tool="read_file", id=CANARY, result=CANARY),),
    )  # fmt: skip
    made_line, turns = Anonymiser(KEY, 1_790_000_000.0).session(TracedSession(line, (turn, told)))
    text = "".join(row.model_dump_json() for row in (made_line, *turns))
    assert CANARY not in text and "471147" not in text and "1790000000" not in text
    assert made_line.start_s == 0.0 and turns[0].t_s == 1.5 and turns[1].calls[0].tool == "read_file"
    blocks = turns[0].add_blocks
    assert blocks is not None and blocks[0] == blocks[2] != blocks[1]


def test_a_trace_keeps_sizes_sharing_times_and_tools(tmp_path: Path) -> None:
    system = "You are an agent. " * 30
    talks = [made.chat(system, f"Task {n}: mend it", "I look", f"result {n % 2}", "well", "go on") for n in range(3)]
    lines = [
        made.log_line(10.0 * n + cut, talk[:cut], session=f"x{n}") for n, talk in enumerate(talks) for cut in (2, 4, 6)
    ]
    made.rows(tmp_path / "log.jsonl", lines)
    importing.run([tmp_path / "log.jsonl"], tmp_path / "old.jsonl", "", "")
    result = CliRunner().invoke(app, ["anonymise", str(tmp_path / "old.jsonl"), "-o", str(tmp_path / "new.jsonl")])
    assert result.exit_code == 0 and "3 sessions, 9 turns" in result.output, result.output
    old, new = list(sessions(tmp_path / "old.jsonl")), list(sessions(tmp_path / "new.jsonl"))
    texts = "content", "add", "reply", "session", "body"
    for a, b in zip(old, new, strict=True):
        for x, y in zip(a.turns, b.turns, strict=True):
            assert x.model_dump(exclude=set(texts)) == y.model_dump(exclude=set(texts))
            assert [cost(m) for m in x.add or ()] == [cost(m) for m in y.add or ()]
    assert [s.line.start_s for s in new] == [pytest.approx((s.line.start_s or 0) - 2.0) for s in old]
    prompts = [[prompt(s) for s in each] for each in (old, new)]
    for n, m in combinations(range(3), 2):
        assert prefix(prompts[0][n], prompts[0][m]) == prefix(prompts[1][n], prompts[1][m]) > 100


def prompt(session: TracedSession) -> list[int]:
    """Tokens of the last prompt of a session."""
    held: list[Any] = []
    for turn in session.turns:
        held = [*held[: turn.keep], *(turn.add or ()), turn.reply]
    return tokenizer.encode("\x00".join(template.render(m) for m in held[:-1]))


def test_refusals_are_one_sentence(tmp_path: Path) -> None:
    made.rows(tmp_path / "log.jsonl", [made.log_line(1.0, made.chat("a", "b"))])
    result = CliRunner().invoke(app, ["anonymise", str(tmp_path / "log.jsonl"), "-o", str(tmp_path / "n.jsonl")])
    assert result.exit_code != 0 and "sim import" in str(result.exception)
    importing.run([tmp_path / "log.jsonl"], tmp_path / "t.jsonl", "", "")
    same = CliRunner().invoke(app, ["anonymise", str(tmp_path / "t.jsonl"), "-o", str(tmp_path / "t.jsonl")])
    assert "is the trace itself" in str(same.exception)
