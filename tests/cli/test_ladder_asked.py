"""What `sim ladder` refuses before anything is started, and how it shares out GPUs and cores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simulator.cli.ladder import main
from simulator.cli.ladder_asked import Asked, lanes, load, rungs
from simulator.core.scenario_file import parse
from simulator.engine.serving.ladder_file import load_ladder
from simulator.errors import UsageError

SCENARIO = "name: s\nsessions: 2\nwindow_s: 9\nsynthetic: {requests: 8, concurrency: 4}\n"
RUNGS = """\
rungs:
  - {name: baseline, engine: embedded, params: baseline}
  - {name: top, engine: embedded, params: top}
  - {name: pinned, engine: embedded, params: top, env: {CUDA_VISIBLE_DEVICES: 3}}
"""
REAL = """\
  - {name: dummy, model: {path: nowhere/m}, args: {load-format: dummy}}
  - {name: weights, model: {path: nowhere/m}}
"""


@pytest.fixture
def asked(tmp_path: Path) -> Any:
    (tmp_path / "rungs.yaml").write_text(RUNGS + REAL)
    (tmp_path / "s.yaml").write_text(SCENARIO)
    given = {"file": tmp_path / "rungs.yaml", "scenario": tmp_path / "s.yaml", "out": tmp_path / "out"}
    return lambda **more: Asked(**{**given, "only": "baseline,top", **more})


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"only": "baseline,tpo"}, "no rung tpo; did you mean top"),
        ({"only": ""}, "engines of both kinds, which are never compared; choose with --only, such as baseline,top"),
        ({"only": "dummy,weights"}, "random and real weights, which are never compared"),
        ({"scenario": None}, "names no scenario; give one"),
        ({"scenario": Path("nowhere.yaml")}, "no such scenario file"),
        ({"agents_only": True, "synthetic_only": True}, "exclude each other"),
        ({"concurrency": "8,x"}, "such as 8,32,128"),
        ({"concurrency": "0"}, "such as 8,32,128"),
        ({"concurrency": "4", "overrides": ("arrival={kind: constant, sessions_per_s: 1}",)}, "is an open loop"),
        ({"overrides": ("sesions=3",)}, "did you mean"),
        ({"seed": -1}, "a seed is 0 or above"),
        ({"gpus": "0,0"}, "name each lane's GPU once"),
        ({"gpus": "0,,1"}, "name each lane's GPU once"),
        ({"gpus": "0,1", "lanes": 3}, "--gpus alone says how many lanes"),
        ({"only": "top,pinned", "lanes": 2}, "pinned states CUDA_VISIBLE_DEVICES itself"),
        ({"only": "dummy", "lanes": 2}, "shows 1 GPUs; give fewer lanes"),
        ({"file": Path("nowhere.yaml")}, "no such engine configuration"),
    ],
)
def test_a_mistake_is_told_before_anything_is_written(
    asked: Any, more: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5")
    with pytest.raises(UsageError, match=r".") as error:
        main(asked(**more))
    assert said in str(error.value) and "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("level", "stated", "more", "changes"),
    [
        (8, 512, (), ["sessions=8", "synthetic.concurrency=8", "synthetic.requests=64"]),
        (32, 512, (), ["sessions=32", "synthetic.concurrency=32", "synthetic.requests=128"]),
        (128, 512, (), ["sessions=128", "synthetic.concurrency=128", "synthetic.requests=512"]),
        (400, 512, (), ["sessions=400", "synthetic.concurrency=400", "synthetic.requests=800"]),
        (8, 12, (), ["sessions=8", "synthetic.concurrency=8", "synthetic.requests=16"]),
        (8, 512, ("synthetic.requests=9",), ["sessions=8", "synthetic.concurrency=8"]),
        (8, 512, ("sessions=0",), ["synthetic.concurrency=8", "synthetic.requests=64"]),
        (8, 512, ("synthetic=null",), ["sessions=8"]),
        (None, 512, (), []),
    ],
)
def test_a_level_loads_only_traffic_that_is_sent(
    level: int | None, stated: int, more: tuple[str, ...], changes: list[str]
) -> None:
    scenario = parse(SCENARIO.replace("requests: 8", f"requests: {stated}"), "s.yaml", more)
    assert list(load(level, scenario, more)) == changes


def test_lanes_take_gpus_and_equal_shares_of_the_cores(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,6,7")

    def found(**more: Any) -> Any:
        ask = asked(**more)
        return lanes(ask, rungs(load_ladder(ask.file), ask.only))

    (alone,) = found()
    assert (alone.gpus, alone.cores) == (None, None), "one lane has all there is"
    assert [lane.gpus for lane in found(only="dummy", lanes=2)] == ["4", "6"]
    assert [lane.gpus for lane in found(only="dummy", gpus="0+1,2+3")] == ["0,1", "2,3"]
    assert [lane.gpus for lane in found(lanes=2)] == [None, None], "an emulated engine has no GPU"
    shares = [set(lane.cores or ()) for lane in found(lanes=2)]
    assert len(shares[0]) == len(shares[1]) and not shares[0] & shares[1]
    many = found(lanes=64)
    assert (len(many) == 64 and all(lane.cores is None for lane in many)) or len(shares[0]) >= 32
