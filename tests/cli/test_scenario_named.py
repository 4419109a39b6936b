"""A scenario that is not where it was said to be: what is told instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.cli.run import read_scenario
from simulator.errors import UsageError


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("scenarios", "scenarios is a folder; give a file in it, for example scenarios/128_agents.yaml"),
        ("8_agents_smoke", "8_agents_smoke: no such scenario file; did you mean scenarios/8_agents_smoke.yaml?"),
        ("8_agent_smoke.yaml", "did you mean scenarios/8_agents_smoke.yaml?"),
        ("scenarios/8_agents_smoke", "did you mean scenarios/8_agents_smoke.yaml?"),
        ("mine", "did you mean mine.yaml?"),
        ("xyz.yaml", "no such scenario file; scenarios/ has 128_agents.yaml, 8_agents_smoke.yaml"),
    ],
)
def test_what_was_meant_is_said(named: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scenarios").mkdir()
    for name in ("scenarios/128_agents.yaml", "scenarios/8_agents_smoke.yaml", "mine.yaml"):
        (tmp_path / name).write_text("name: a")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as caught:
        read_scenario(Path(named))
    assert str(caught.value).endswith(said)
