"""Real clients: `cline@2` and `cline@3` from npm solve a task with the oracle through `sim record`; what was recorded
is imported and replayed, and the replayed bodies are the recorded ones but for the fields that docs/import.md names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from published import CLASSIC, KEY, NATIVE, SDK, Published, set_task
from recorder import recording

from simulator.drive.checking import run_check
from simulator.drive.commands import ShellRunner
from simulator.engine.launch import OracleFiles, start_embedded
from simulator.trace.replay import DECIDED

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE, SEED = "coding_backoffice", 5
#: docs/import.md: a replayed body may differ in these, and in nothing else
MAY_DIFFER = {"model", *DECIDED}


def sim(*arguments: str | Path, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "simulator.cli.main", *map(str, arguments)], cwd=folder, text=True, timeout=400,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(folder / "cache")},
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stdout
    return done.stdout


def rows(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def fixed(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in MAY_DIFFER}


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("client", [CLASSIC, NATIVE, SDK], ids=lambda each: each.profile)
async def test_a_published_client_is_recorded_imported_and_replayed(client: Published, tmp_path: Path) -> None:
    if why := client.missing():
        pytest.skip(why)
    task = set_task(tmp_path / "ws", tmp_path / "solutions.jsonl", client.profile, TEMPLATE, SEED)
    files = OracleFiles(tmp_path / "solutions.jsonl", tmp_path / "oracle.jsonl")
    (tmp_path / "engine.yaml").write_text(f"extends: baseline.yaml\nmodel: {client.model}\n")
    engine = await start_embedded(tmp_path / "engine.yaml", tmp_path / "engine.log", oracle=files)
    try:
        with recording(engine.base_url, tmp_path / "real.jsonl") as recorder:
            said = client.run(f"{recorder.url}/v1", engine.model, tmp_path / "ws", task.prompt, tmp_path / "home")
        assert recorder.stop() == 0, recorder.output
        assert run_check(tmp_path / "ws", task.check, ShellRunner()) == [], said[-2_000:]
        recorded = rows(tmp_path / "real.jsonl")
        assert {row["session"] for row in recorded} == {"s0001"} and KEY not in recorder.log.read_text()
        assert {row["session_by"] for row in recorded} <= {"first", "prefix", "rewritten"}

        sim("import", recorder.log, "-o", "trace.jsonl", folder=tmp_path)
        (tmp_path / "again.yaml").write_text(
            "name: again\nsessions: 1\ntrace: {file: trace.jsonl, gap_cap_s: 0.1}\nwarmup: {requests: 0}\n"
        )
        with recording(engine.base_url, tmp_path / "again.jsonl") as second:
            sim("run", "again.yaml", "--endpoint", second.url, "--plain", "--out", "run", folder=tmp_path)
        assert second.stop() == 0, second.output
    finally:
        await engine.stop()
    replayed = rows(tmp_path / "again.jsonl")
    recorded = [row for row in recorded if row["status"] == 200 and row.get("response")]
    assert len(replayed) == len(recorded) > 5
    for old, new in zip(recorded, replayed, strict=True):
        assert fixed(new["request"]) == fixed(old["request"])
        assert [name for name in new["request"] if name not in MAY_DIFFER] == list(fixed(old["request"]))
        assert new["request"]["model"] == old["request"]["model"], "the same engine serves both"
        planned = old["response"]["usage"]["completion_tokens"]
        assert new["response"]["usage"]["completion_tokens"] == planned
