"""From another program's files to a run, as a user does it: import, then play, in real time and in virtual time."""

import json
from pathlib import Path

import pytest
from sim import Sim, lines

SCENARIO = """\
name: mine
sessions: 2
ramp_s: 0.1
warmup: {requests: 1}
time_limit_s: 60
trace: {file: mine.jsonl, gap_scale: 0.1}
"""


def files(folder: Path) -> None:
    """A shape-only session with a sub-agent, and a log of two sessions."""
    folder.mkdir()

    def request(t: float, prompt: int, ids: list[int]) -> dict[str, object]:
        return {"t": t, "in": prompt, "out": 6, "hash_ids": ids, "stop": "tool_use", "api_time": 1.0}

    inner = {"type": "subagent", "t": 2.0, "requests": [request(2.0, 130, [7, 8])]}
    requests = [request(0.0, 128, [1, 2]), inner, request(5.0, 200, [1, 2, 3])]
    (folder / "k.json").write_text(json.dumps({"id": "k", "block_size": 64, "requests": requests}))
    usage = {"prompt_tokens": 30, "completion_tokens": 5}
    with (folder / "log.jsonl").open("w") as log:
        for n in (1, 2):
            messages = [{"role": "system", "content": "s"}, {"role": "user", "content": f"do {n}"}]
            choice = {"message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}
            line = {"ts": float(n), "request": {"model": "m", "messages": messages}, "latency_s": 0.2}
            log.write(json.dumps(line | {"response": {"choices": [choice], "usage": usage}}) + "\n")


@pytest.mark.parametrize("more", [[], ["--virtual"]])
def test_imported_sessions_are_played(sim: Sim, more: list[str]) -> None:
    files(sim.folder / "in")
    code, said = sim.run("import", "in", "-o", "mine.jsonl")
    assert code == 0, said
    code, said = sim.run("run", sim.scenario(SCENARIO), "--out", "out", "--plain", *more)
    assert code == 0, said
    rows = lines(sim.folder / "out" / "sessions.jsonl")
    assert sorted((str(r["task_name"]), r["outcome"], r["end_turn"]) for r in rows) == [
        ("k", "completed", 2), ("log-1", "completed", 1), ("log-2", "completed", 1),
    ]  # fmt: skip
    assert all(r["verified"] is None for r in rows), "a recorded session has no result that could be checked"
    sent = lines(sim.folder / "out" / "records.jsonl")
    agents = [r for r in sent if r["kind"] == "agent" and r["purpose"] != "warmup"]
    assert sorted(r["output_tok"] for r in agents) == [5, 5, 6, 6, 6]
    assert [r["prompt_tok"] for r in agents if r["branch"]] == [130]
