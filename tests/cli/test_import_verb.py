"""`sim import` as it is typed: what it says, what it refuses, how it exits."""

import json
from pathlib import Path

import pytest

from simulator.cli.importing import main
from simulator.errors import UsageError


def log(folder: Path, warmups: int = 3) -> Path:
    choice = {"message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}
    mark = {"log": "openai-requests", "version": 1}
    lines = [mark | {"ts": 1.0, "request": {"model": "m", "prompt": "hi"}}] * warmups
    lines.append(mark | {
        "ts": 2.0, "session": "a", "request": {"model": "m", "messages": [{"role": "user", "content": "go"}]},
        "response": {"choices": [choice], "usage": {"prompt_tokens": 30, "completion_tokens": 5}},
    })  # fmt: skip
    path = folder / "requests.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_clean_recording_is_imported_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([log(tmp_path)], tmp_path / "t.jsonl", "", every=False, force=False) == 0
    said = capsys.readouterr().out
    assert "passed over: 3 requests on /completions" in said and "left out" not in said


def test_a_log_of_nothing_else_is_no_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = log(tmp_path)
    path.write_text(path.read_text().splitlines(keepends=True)[0])
    assert main([path], tmp_path / "t.jsonl", "", every=False, force=False) == 2
    assert "holds no session" in capsys.readouterr().out and not (tmp_path / "t.jsonl").exists()


def test_a_trace_that_is_there_is_kept_unless_it_is_to_go(tmp_path: Path) -> None:
    out = tmp_path / "t.jsonl"
    out.write_text("mine\n")
    with pytest.raises(UsageError, match="--force"):
        main([log(tmp_path)], out, "", every=False, force=False)
    assert out.read_text() == "mine\n"
    assert main([log(tmp_path)], out, "", every=False, force=True) == 0 and '"trace"' in out.read_text()


def test_a_folder_is_no_trace(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        main([log(tmp_path)], tmp_path, "", every=False, force=True)
