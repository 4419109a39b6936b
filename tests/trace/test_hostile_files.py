"""Files that are cut, damaged, huge, deep or made to deceive: a reason each, bounded memory, never a traceback."""

import copy
import json
import random
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import made_files as made
import pytest
import test_import_others as others
from hypothesis import given, settings
from hypothesis import strategies as st
from test_import_agents import CASTING, imported

from simulator.core.traffic.fold import fold
from simulator.errors import UsageError
from simulator.trace.importing import run
from simulator.trace.replay import plan
from simulator.trace.text import MAX_ITEM_BYTES, Bad, members, parsed
from simulator.trace.trace_file import sessions
from simulator.trace.traffic import read_traffic

WEIRD: tuple[Any, ...] = (
    None, -1, 1e308, 10**30, True, "", "x" * 50, [], {}, [[]], {"a": {"b": [1]}}, "2026-99-99", 3.5, [None], [1, "a"],
)  # fmt: skip


def documents(folder: Path) -> dict[str, tuple[str, Any, bool]]:
    """format -> (file name, value, whether it is a list of lines)."""
    usage = {"prompt_tokens": 50, "completion_tokens": 4}
    chat = made.chat("s", "u")
    answered = made.log_line(1.0, chat)
    swe = {"action": "ls", "observation": "x", "response": "ls", "execution_time": 0.5, "query": chat}
    mini = [*chat, {"role": "assistant", "content": "x", "extra": {"response": {"usage": usage}, "timestamp": 2.0}}]
    block = {"t": 0.0, "type": "n", "in": 128, "out": 5, "hash_ids": [1, 2], "stop": "tool_use", "api_time": 2.0}
    inner = {"type": "subagent", "t": 4.0, "requests": [block]}
    row = {"timestamp": 0, "input_length": 700, "output_length": 5, "hash_ids": [1, 2]}
    record = {"messages": chat, "tools": [], "kwargs": {}, "response": answered["response"], "timestamp": 9.0}
    record["latency_sec"] = 1.0
    classic = made.classic_task(folder / "c" / "17") / "api_conversation_history.json"
    sdk = made.sdk_session(folder / "s")
    info, version = {"model_stats": {"api_calls": 1}}, "mini-swe-agent-1.1"
    chats = [row | {"chat_id": n, "parent_chat_id": n - 1} for n in (1, 2)]
    return {
        "cline-classic": (classic.name, json.loads(classic.read_text()), False),
        "cline-sdk": (sdk.name, json.loads(sdk.read_text()), False),
        "claude-code": ("cc1.jsonl", made.claude_session(), True),
        "codex": ("rollout-1.jsonl", others.codex_lines(), True),
        "openhands-events": ("events.jsonl", others.openhands_events(), True),
        "openhands-log": ("1.json", record, False),
        "openai-log": ("log.jsonl", [answered, answered], True),
        "swe-agent": ("x.traj", {"trajectory": [swe], "history": chat, "info": info}, False),
        "mini-swe-agent": ("a.traj.json", {"info": info, "messages": mini, "trajectory_format": version}, False),
        "sharegpt": ("s.json", [{"id": "1", "conversations": [{"from": "human", "value": "a"}]}], False),
        "kv-cache-tester": ("k.json", {"id": "k", "block_size": 64, "requests": [block, inner, block]}, False),
        "mooncake": ("m.jsonl", [row, row], True),
        "bailian": ("b.jsonl", chats, True),
    }  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


def damaged(value: Any, rng: random.Random) -> Any:
    """The value with something odd in one place."""
    path = rng.choice(list(places(value)))
    if not path:
        return value
    out = copy.deepcopy(value)
    at = out
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = rng.choice(WEIRD)
    return out


@settings(max_examples=8)
@given(st.integers(0, 1 << 30))
@pytest.mark.parametrize("form", [
    "cline-classic", "cline-sdk", "claude-code", "codex", "openhands-events", "openhands-log", "openai-log",
    "swe-agent", "mini-swe-agent", "sharegpt", "kv-cache-tester", "mooncake", "bailian",
])  # fmt: skip
def test_damaged_files_are_imported_or_left_with_a_reason(
    tmp_path_factory: pytest.TempPathFactory, form: str, seed: int
) -> None:
    rng, folder = random.Random(seed), tmp_path_factory.mktemp("damaged")
    name, value, lines = documents(folder)[form]
    value = damaged(value, rng)
    text = "".join(json.dumps(row) + "\n" for row in value) if lines and isinstance(value, list) else json.dumps(value)
    if rng.random() < 0.3:
        text = text[: rng.randrange(len(text) + 1)]
    (folder / "in").mkdir()
    (folder / "in" / name).write_text(text)
    result = run([folder / "in"], folder / "out.jsonl", rng.choice(["", form]), "test")
    assert result.sessions or result.left
    assert all(left.why and "\n" not in left.why for left in result.left)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", "x\n".encode("utf-16"), "UTF-16"),
        ("a.jsonl", b"\x00\x01\x02" * 50, "binary"),
        ("a.jsonl", b'{"request": {"messages": [{"role": "user", "content": "\xe9"}]}}\n', "not UTF-8"),
        ("a.json", b"[" * 400_000, "nested deeper"),
        ("a.jsonl", b'{"request":{"messages":' + b"[" * 3_000 + b"\n", "nested deeper"),
        ("a.jsonl", b'{"ts": NaN}\n', "NaN"),
        ("b.messages.json", b'{"version": 7, "sessionId": "s", "updated_at": "x", "messages": []}', "version 7"),
        ("b.messages.json", b'{"version": 1, "sessionId": "s", "messages": [{"role": "us', "ends early"),
        ("c.csv", b"TIMESTAMP,Context,More\n1,2,3\n", "its columns are"),
        ("d.png", b"\x89PNG\r\n", "no known format"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_told_why(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / name).write_bytes(content)
    result, found = imported(tmp_path / "in", to=tmp_path)
    assert (result.exit_code, found) == (2, []) and not (tmp_path / "trace.jsonl").exists()
    assert said in result.left[0].why


def test_lines_that_point_at_each_other_in_a_circle(tmp_path: Path) -> None:
    lines = made.claude_session()
    lines[1]["parentUuid"] = "u9"
    result, _ = imported(made.rows(tmp_path / "in" / "cc1.jsonl", lines), to=tmp_path)
    assert result.exit_code == 2 and "circle" in result.left[0].why


def test_a_line_that_repeats_an_id_is_left_out(tmp_path: Path) -> None:
    lines = made.claude_session()
    result, (session,) = imported(made.rows(tmp_path / "in" / "cc1.jsonl", [*lines, lines[-1]]), to=tmp_path)
    assert len(session.branch(0)) == 2 and "repeats the id u9" in result.left[0].why


def test_clocks_that_run_backwards_stand_still_and_it_is_noted(tmp_path: Path) -> None:
    start = made.chat("s", "u")
    more = [*start, {"role": "assistant", "content": "Good"}, {"role": "user", "content": "x"}]
    lines = [made.log_line(50.0, start), made.log_line(40.0, more, t_end_s=-3.0)]
    _, (session,) = imported(made.rows(tmp_path / "in" / "log.jsonl", lines), to=tmp_path)
    assert [t.t_s for t in session.turns] == [0.0, 0.0] and session.turns[1].took_s is None
    assert len(session.line.notes) == 2 and any("out of order" in note for note in session.line.notes)


def test_half_a_surrogate_pair_is_mended() -> None:
    assert parsed(rb'"cut \ud83d here"') == "cut � here" and parsed(rb'"\ud83d\ude00"') == "😀"


def test_a_line_longer_than_the_limit_is_skipped_and_the_next_one_read(tmp_path: Path) -> None:
    path = tmp_path / "in" / "log.jsonl"
    path.parent.mkdir()
    with path.open("wb") as file:
        file.write(json.dumps(made.log_line(1.0, made.chat("s", "u"))).encode() + b"\n")
        file.write(b'{"request": "' + b"a" * MAX_ITEM_BYTES + b'"}\n')
        file.write(json.dumps(made.log_line(2.0, made.chat("s", "v"))).encode() + b"\n")
    result, found = imported(path, to=tmp_path)
    assert len(found) == 2 and [(left.line, "longer than" in left.why) for left in result.left] == [(2, True)]


def test_a_large_document_costs_the_memory_of_its_largest_piece(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    piece = json.dumps({"text": 'word "and" [brackets] ' * 400})
    with path.open("w") as file:
        file.write('{"before": 1, "rows": [' + ",".join([piece] * 2_500) + '], "after": {"a": [1, 2]}}')
    size = path.stat().st_size
    tracemalloc.start()
    try:
        seen = sum(key == "rows" for key, _ in members(path))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size > 20_000_000 and seen == 2_500 and peak < size / 3


@settings(max_examples=80)
@given(st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
), st.booleans())  # fmt: skip
def test_pieces_of_a_document_are_its_members(
    tmp_path_factory: pytest.TempPathFactory, value: Any, indented: bool
) -> None:
    path = tmp_path_factory.mktemp("pieces") / "a.json"
    path.write_text(json.dumps(value, indent=2 if indented else None, ensure_ascii=False))
    if not isinstance(value, dict | list):
        with pytest.raises(Bad):
            list(members(path))
        return
    top = {"": value} if isinstance(value, list) else value
    expected = [(k, e) for k, v in top.items() for e in (v if isinstance(v, list) else [v])]
    assert list(members(path)) == expected


def test_a_format_that_is_nearly_one_is_suggested(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean claude-code"):
        run([tmp_path], tmp_path / "t.jsonl", "claude_code", "test")
    with pytest.raises(UsageError, match="no such file or folder"):
        run([tmp_path / "nowhere"], tmp_path / "t.jsonl", "", "test")
    with pytest.raises(UsageError, match="give a file in a folder that exists"):
        run([tmp_path], tmp_path / "no" / "t.jsonl", "", "test")


def test_bodies_that_cannot_be_sent_are_told_on_import_and_on_reading(tmp_path: Path) -> None:
    deep: Any = 1
    for _ in range(300):
        deep = [deep]
    lines = [made.log_line(float(n), made.chat("s", f"u{n}")) for n in range(3)]
    lines[0]["request"]["metadata"] = deep
    lines[1]["request"]["tools"] = ["read"]
    result, found = imported(made.rows(tmp_path / "in" / "log.jsonl", lines), to=tmp_path)
    assert len(found) == 1 and sorted(left.why.split()[-1] for left in result.left) == ["levels", "text"]
    trace = tmp_path / "trace.jsonl"
    for good, bad in (('"role":"user"', '"role":"nobody"'), ('"stream":true', '"tools":"all"')):
        (tmp_path / "bad.jsonl").write_text(trace.read_text().replace(good, bad))
        with pytest.raises(UsageError, match=r"bad.jsonl.*(role|tools)"):
            list(sessions(tmp_path / "bad.jsonl"))


def test_a_file_whose_name_is_no_text(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    with open(bytes(folder) + b"/\xff.jsonl", "w") as file:
        file.write(json.dumps(made.log_line(1.0, made.chat("s", "u"))) + "\n")
    result, _ = imported(folder, to=tmp_path)
    assert result.exit_code == 2 and len(result.left) == 1


@settings(max_examples=60)
@given(st.integers(0, 1 << 30))
def test_a_damaged_trace_is_told_and_nothing_else(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """Whatever reading lets through can be planned and described."""
    rng, folder = random.Random(seed), tmp_path_factory.mktemp("trace")
    made.rows(folder / "in" / "cc1.jsonl", made.claude_session())
    made.rows(
        folder / "in" / "m.jsonl", [{"timestamp": 0, "input_length": 700, "output_length": 5, "hash_ids": [1, 2]}]
    )
    run([folder / "in"], folder / "t.jsonl", "", "test")
    lines = [json.loads(line) for line in (folder / "t.jsonl").read_text().splitlines()]
    made.rows(folder / "t.jsonl", damaged(lines, rng))
    try:
        for session in sessions(folder / "t.jsonl"):
            plan(session, CASTING)
        fold(read_traffic(folder / "t.jsonl"))
    except UsageError as error:
        assert "t.jsonl" in str(error)
