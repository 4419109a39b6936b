"""`sim run --faults`: the schedule reaches the engine, the manifest tells, a dead engine ends the run in a sentence."""

from __future__ import annotations

import re

import orjson
import pytest
from sim import ENDLESS, Sim, descendants, none_left

SCHEDULE = """\
seed: 3
rules:
  - {kind: rate_limited, of: chat, at: [1]}
  - {kind: unavailable, of: chat, at: [4], retry_after_s: 0.2}
  - {kind: death, of: chat, at: [14]}
"""


def test_faults_reach_the_engine_and_its_death_ends_the_run(sim: Sim) -> None:
    (sim.folder / "faults.yaml").write_text(SCHEDULE)
    process = sim.start(
        "run", sim.scenario(ENDLESS), "--faults", "faults.yaml", "--out", "out", "--plain", MARK=str(sim.folder)
    )
    said, _ = process.communicate(timeout=200)
    assert process.returncode == 3, said
    assert "stopped taking connections" in said.strip().splitlines()[-1] and "Traceback" not in said
    assert none_left(str(sim.folder)), descendants(str(sim.folder))
    out = sim.folder / "out"
    faults = orjson.loads((out / "manifest.json").read_bytes())["engine"]["faults"]
    assert faults["file"] == "faults.yaml" and [rule["kind"] for rule in faults["rules"]] == [
        "rate_limited", "unavailable", "death"
    ]  # fmt: skip
    assert "FAULTS ON PURPOSE" in said and "FAULTS ON PURPOSE" in (out / "report.md").read_text()
    records = [orjson.loads(line) for line in (out / "records.jsonl").read_bytes().splitlines()]
    agents = [r for r in records if r["kind"] == "agent" and r["purpose"] == "agent"]
    met = [r["error"] for r in agents if r["error"] in ("rate_limited", "server_error")]
    assert sorted(met) == ["rate_limited", "server_error"]
    assert not any(r["error"] for r in records if r["purpose"] == "warmup"), "the rules are for chat requests"
    assert any(r["error"] in ("cut", "refused") for r in agents), "those that met the death"
    for r in agents:
        again = [
            x for x in agents if (x["session"], x["turn"], x["retry"]) == (r["session"], r["turn"], r["retry"] + 1)
        ]
        assert not again or r["error"]


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        (
            "rules: [{kind: explode, at: [1]}]",
            [],
            r"faults.yaml:1: 'rules.0.kind' is `explode`; docs/faults.md lists the",
        ),
        ("seed: 1\nrules:\n  - {kind: rate_limitted, at: [1]}", [], r"faults.yaml:3: .* did you mean `rate_limited`\?"),
        ("rules: []", ["--endpoint", "http://127.0.0.1:9"], r"--faults is for the embedded engine, not for http"),
        ("rules: []", ["--virtual"], r"--faults needs an engine"),
    ],
)
def test_a_wrong_schedule_is_one_clear_sentence(sim: Sim, text: str, arguments: list[str], said: str) -> None:
    (sim.folder / "faults.yaml").write_text(text)
    code, output = sim.told("run", sim.scenario(), "--faults", "faults.yaml", "--plain", *arguments)
    assert code == 2 and re.search(said, output), output
    assert len(output.strip().splitlines()) == 1 and "Traceback" not in output, output
