"""`sim why` on runs in the states that users bring them in."""

from __future__ import annotations

import shutil
from pathlib import Path

import orjson
import pytest
from fixtures_run import Shape, of_its_own, write_run

from simulator.cli.outputs import Outputs
from simulator.cli.why import main
from simulator.errors import Incomparable, SimError, UsageError

PUBLISHED = Path(__file__).resolve().parents[2] / "reports" / "h200_random_weights"
SMALL = Shape(slots=3, window_s=8)


def two(tmp_path: Path, **other: object) -> tuple[Path, Path]:
    return write_run(tmp_path / "a", SMALL), write_run(tmp_path / "b", Shape(slots=4, window_s=8), **other)


def test_a_sentence_figures_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = Outputs(tmp_path / "why.md", tmp_path / "why.html", tmp_path / "why.json")
    assert main(PUBLISHED / "baseline", PUBLISHED / "top", "both", out) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "top makes 19 % more tokens a second than baseline: 1.79x tokens a step from drafts" in told
    assert "top makes 41 % more tokens a second" in told and "EMULATED" not in told
    assert "random weights" in told and "suggests" in told
    answer = orjson.loads((tmp_path / "why.json").read_bytes())
    for kind in ("agent", "synthetic"):
        part = answer["traffic"][kind]
        assert part["holds"] and abs(part["product"] / part["ratio"] - 1) < 0.01
        assert part["sentence"] in (tmp_path / "why.md").read_text().replace("\\", "")
    assert "1.79x tokens a step" in (tmp_path / "why.html").read_text()


def test_without_the_engines_counters_the_split_is_coarser_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = two(tmp_path)
    (b / "engine.jsonl").unlink()
    assert main(a, b, "agents", Outputs(json=Path("-"))) == 0
    answer = orjson.loads(capsys.readouterr().out)
    part = answer["traffic"]["agent"]
    assert part["basis"] == "records" and "coarser" in part["notes"][0] and part["holds"]
    assert any("EMULATED" in mark for mark in answer["marks"])


def test_emulated_runs_are_marked_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = two(tmp_path)
    main(a, b, "both", Outputs(tmp_path / "w.md", tmp_path / "w.html"))
    for text in (capsys.readouterr().out, (tmp_path / "w.md").read_text(), (tmp_path / "w.html").read_text()):
        assert "EMULATED ENGINE" in text


def refused(a: Path, b: Path, traffic: str = "both") -> SimError:
    with pytest.raises(SimError) as caught:
        main(a, b, traffic, Outputs())
    assert str(caught.value).count("\n") == 0
    return caught.value


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    a, b = two(tmp_path, engine={"kind": "emulated", "model": "another"})
    assert isinstance(refused(a, b), Incomparable) and "two models" in str(refused(a, b))
    real = write_run(tmp_path / "real", SMALL, engine={"kind": "real", "model": "hybrid-30b-a3b"})
    assert isinstance(refused(a, real), Incomparable) and "kinds of engine" in str(refused(a, real))
    assert "--traffic agent" in str(refused(a, a, "agent"))
    alone = write_run(tmp_path / "alone", Shape(slots=3, window_s=8, synthetic=0))
    assert "no synthetic request" in str(refused(a, alone, "synthetic"))
    copy = shutil.copytree(a, tmp_path / "copy")
    for same in (a, copy):
        assert "stands on both sides; a run compared with itself says nothing" in str(refused(a, same))
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "is empty" in str(refused(a, empty))
    silent = tmp_path / "silent"
    of_its_own(shutil.copytree(a, silent))
    (silent / "records.jsonl").write_bytes(b"")
    assert "no traffic in common" in str(refused(a, silent))
    with pytest.raises(UsageError, match="no folder that exists"):
        main(a, a, "both", Outputs(md=tmp_path / "nowhere" / "why.md"))
