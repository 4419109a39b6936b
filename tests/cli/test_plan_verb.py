"""`sim plan` of a trace: what is said of it, and what cannot be asked of it."""

from pathlib import Path

import pytest

from simulator.cli.arrivals import with_traces
from simulator.cli.plan import main
from simulator.cli.planning import Planning
from simulator.core.plan import SessionPlan
from simulator.core.scenario_file import parse
from simulator.core.shape import shared_blocks
from simulator.errors import UsageError
from simulator.tasks.breadth import shared
from simulator.trace.format import Header, SessionLine, TurnLine
from simulator.trace.replay import Casting, plan
from simulator.trace.trace_file import Writer, sessions

SCENARIO = "name: mine\nsessions: 2\ntrace: t.jsonl\n"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sessions whose rules, told with the role behind the content, are all that they share."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with Writer(tmp_path / "t.jsonl", Header()) as writer:
        for name in ("a", "b"):
            rules = {"content": "one rule after the other " * 80, "role": "developer"}
            task = {"role": "user", "content": f"{name} " * 300}
            turn = TurnLine(session=name, turn=0, prompt_tok=700, output_tok=5, add=(rules, task))
            writer.session(SessionLine(session=name, format="x"), [turn])
    path = tmp_path / "replay.yaml"
    path.write_text(SCENARIO)
    return path


def test_a_trace_is_told_without_tasks(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The note on templates can only come where a program is missing, as on a machine without Node.js."""
    assert main(SCENARIO, source, ()) == 0
    said = capsys.readouterr().out
    assert "is left out" not in said
    assert "of 64-token blocks outside system prompt and tools stand in two sessions" in said


def test_the_levels_of_a_ladder_find_their_plans(source: Path) -> None:
    """As a ladder's life asks for them: nothing is left to plan at any level."""
    assert main(SCENARIO, source, (), "served", concurrency="1,2") == 0
    told: list[tuple[int, int]] = []
    for most in (1, 2):
        scenario = with_traces(parse(SCENARIO, str(source), (f"sessions={most}",)), source)
        planning = Planning(shared(scenario), "served", lambda done, of: told.append((done, of)), most)
        planning.wait()
        planning.close()
    assert len(told) == 2 and all(done == of > 0 for done, of in told), "each found whole at the first look"


def test_rules_are_no_common_blocks_wherever_their_role_stands(source: Path) -> None:
    casting = Casting("s", 0, frozenset(), "m", 100_000, 0.0, None, lambda s: s, lambda s: s)
    plans: list[SessionPlan] = [plan(each, casting) for each in sessions(source.with_name("t.jsonl"))]
    assert shared_blocks(plans, lambda text: list(text.encode())) == 0.0


def test_a_trace_has_no_solutions_to_write(source: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no recorded solution"):
        main(SCENARIO, source, (), None, tmp_path / "solutions.jsonl")
    assert not (tmp_path / "solutions.jsonl").exists()
