"""The trace format: its schema, and what a file that breaks it is told."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import made_files as made
import pytest

from simulator.errors import UsageError
from simulator.trace.format import VERSION, Header, SessionLine, TurnLine, schema
from simulator.trace.importing import run
from simulator.trace.trace_file import Writer, sessions

ROOT = Path(__file__).resolve().parents[2]


def test_the_schema_in_the_repository_is_the_formats() -> None:
    stored = json.loads((ROOT / "simulator/trace/schema.json").read_text())
    assert stored == json.loads(json.dumps(schema())), "python -m simulator.trace.format > simulator/trace/schema.json"


def test_the_page_names_every_field() -> None:
    page = (ROOT / "docs/trace_format.md").read_text()
    for name, model in schema()["$defs"].items():
        for field in model["properties"]:
            assert f"`{field}`" in page, f"docs/trace_format.md says nothing of {name}.{field}"


def test_what_is_imported_fits_the_schema(tmp_path: Path) -> None:
    """By a validator that knows nothing of this product."""
    made.classic_task(tmp_path / "in" / "17")
    made.rows(tmp_path / "in" / "cc1.jsonl", made.claude_session())
    made.rows(tmp_path / "in" / "m.jsonl", [{"timestamp": 0, "input_length": 700, "output_length": 5, "hash_ids": [1]}])
    assert run([tmp_path / "in"], tmp_path / "t.jsonl", "", "test").exit_code == 0
    validator = jsonschema.Draft202012Validator(json.loads((ROOT / "simulator/trace/schema.json").read_text()))
    lines = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    assert {line["kind"] for line in lines} == {"trace", "session", "turn", "end"}
    for line in lines:
        validator.validate(line)
        for wrong in (line | {"kind": "other"}, line | {"more": 1}):
            assert not validator.is_valid(wrong)


def write(path: Path, lines: list[Any]) -> Path:
    path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
    return path


HEAD = {"kind": "trace", "version": VERSION}
SESSION = {"kind": "session", "session": "a", "format": "x"}
TURN = {"kind": "turn", "session": "a", "turn": 0, "prompt_tok": 10, "output_tok": 2}


def end(n_sessions: int = 1, turns: int = 1) -> dict[str, Any]:
    return {"kind": "end", "sessions": n_sessions, "turns": turns}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([{"kind": "trace", "version": 9}], "version 9"),
        (["not json\n"], "no trace of ours"),
        ([HEAD, SESSION, TURN], "ends early"),
        ([HEAD, SESSION, TURN, end(2)], "counts 2 sessions"),
        ([HEAD, SESSION, TURN, SESSION, end()], "comes twice"),
        ([HEAD, TURN, end()], "does not follow"),
        ([HEAD, SESSION, end(1, 0)], "no turn of its own"),
        ([HEAD, SESSION, TURN | {"promt_tok": 3}, end()], "did you mean `prompt_tok`"),
        ([HEAD, SESSION, TURN | {"prompt_tok": -3}, end()], ":3: `prompt_tok`"),
        ([HEAD, SESSION, TURN | {"took_s": -0.5}, end()], "`took_s`"),
        ([HEAD, SESSION, TURN | {"cached_tok": 11}, end()], "more than prompt_tok"),
        ([HEAD, SESSION, TURN | {"turn": 3}, end()], "turn 3 of branch 0"),
        ([HEAD, SESSION, TURN | {"t_s": 5}, TURN | {"turn": 1, "t_s": 4}, end(1, 2)], "before the one that it follows"),
        ([HEAD, SESSION, TURN | {"keep": 2, "add": []}, end()], "keeps 2 of 0"),
        ([HEAD, SESSION, TURN | {"spawns": [1]}, end()], "each branch is started by one turn"),
        ([HEAD, SESSION, TURN | {"spawns": [1]}, TURN | {"branch": 1, "spawns": [1]}, end(1, 2)], "starts no branches"),
        ([HEAD, SESSION, TURN, '{"kind": "turn", "session\n'], "it is not JSON"),
        ([HEAD, SESSION, TURN, end(), TURN], "follows the trace's last line"),
        ([HEAD, SESSION, "[" * 5000 + "\n"], "deeper than"),
        ([HEAD, {"kind": "sesion"}], "none of them"),
    ],
)
def test_a_broken_trace_is_told_where_and_why(lines: list[Any], said: str, tmp_path: Path) -> None:
    path = write(tmp_path / "trace.jsonl", lines)
    with pytest.raises(UsageError, match=f"(?s)trace.jsonl.*{said}"):
        list(sessions(path))


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    session = SessionLine(session="a", format="x", clock="unix", start_s=5.0, body={"model": "m", "messages": None})
    own = TurnLine(
        session="a", turn=0, prompt_tok=3, output_tok=1, add=({"role": "user", "content": "x"},), spawns=(1,)
    )
    side = TurnLine(session="a", turn=0, branch=1, prompt_tok=3, output_tok=1, add_blocks=(1, 2))
    with Writer(tmp_path / "t.jsonl", Header()) as writer:
        writer.session(session, [own, side])
    (found,) = sessions(tmp_path / "t.jsonl")
    assert (found.line, found.turns, found.branches) == (session, (own, side), 1)


def test_a_writer_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), Writer(tmp_path / "t.jsonl", Header()):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
