"""`sim map`: made, interrupted, gone on with, drawn again; and against two engines that answer."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from fixtures_engine import engine_settings
from fixtures_run import Shape, write_run

from simulator.cli.map import MAP, Question, draw, main
from simulator.cli.outputs import Outputs
from simulator.engine.launch import start_embedded
from simulator.errors import SimError
from tests.e2e.sim import Sim, interrupt, wait_for

SMALL = Question("top", "baseline", "1,8", "256,1024", "32", "0,0.8")
STDOUT = Outputs(json=Path("-"))


def test_a_map_is_made_marked_gone_on_with_and_drawn_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = write_run(tmp_path / "mine", Shape(slots=4, window_s=8))
    asked = replace(SMALL, inputs="256", mark=mine, out=tmp_path / "map")
    assert main(asked, Outputs(html=tmp_path / "m.html")) == 0
    told = capsys.readouterr().out
    assert "EMULATED" in told and "top wins" in told and "[A+" in told and "your traffic" in told
    assert "EMULATED" in (tmp_path / "m.html").read_text() and "spec-map-0" in (tmp_path / "m.html").read_text()
    file = tmp_path / "map" / MAP
    whole = orjson.loads(file.read_bytes())
    assert len(whole["measured"]) == 3 * 3  # two shapes and the run's own; two columns and the run's own
    part = {**whole, "measured": whole["measured"][:-2]}
    file.write_bytes(orjson.dumps(part))
    assert main(asked, STDOUT) == 0
    said = capsys.readouterr()
    assert "7 cells are there already, 2 left" in said.err

    def by_place(cells: list[dict[str, float]]) -> list[dict[str, float]]:
        return sorted(cells, key=lambda c: (c["input_tok"], c["output_tok"], c["cached"], c["at_once"]))

    assert by_place(orjson.loads(said.out)["measured"]) == by_place(whole["measured"])
    assert draw(tmp_path / "map", STDOUT) == 0
    assert orjson.loads(capsys.readouterr().out)["wins"]["a"] > 0
    with pytest.raises(SimError, match="another question"):
        main(replace(asked, inputs="1024"), Outputs())


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    def refused(**changes: object) -> str:
        with pytest.raises(SimError) as caught:
            main(replace(SMALL, **changes), Outputs())  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)
        return str(caught.value)

    assert "did you mean baseline" in refused(b="baselin")
    assert "same name" in refused(b="top")
    assert "--concurrency 0" in refused(at_once="0")
    assert "--inputs x" in refused(inputs="x")
    assert "--cached 1" in refused(cached="1")
    assert "more than" in refused(inputs=",".join(map(str, range(1, 900))), cached="0,0.5")
    silent = write_run(tmp_path / "run", Shape(slots=2, window_s=5))
    (silent / "records.jsonl").write_bytes(b"")
    assert "no request brought output" in refused(mark=silent)
    assert "is not empty" in refused(out=silent)
    two = ("http://127.0.0.1:9", "http://127.0.0.1:9")
    assert "--cached 0,0.8" in refused(endpoints=two)
    assert "give --out" in refused(endpoints=two, cached="0")
    gone = refused(endpoints=two, cached="0", out=tmp_path / "gone")
    assert gone.startswith("A, 256/32 at 1:") and "127.0.0.1:9" in gone


def test_ctrl_c_keeps_what_was_done_and_says_so(tmp_path: Path) -> None:
    sim = Sim(tmp_path, tmp_path / "cache")
    process = sim.start("map", "top", "baseline", "--out", "m", "--inputs", "64", "--outputs", "512", "--cached", "0",
                        "--concurrency", ",".join(map(str, range(20, 60))))  # fmt: skip
    wait_for(tmp_path / "m" / MAP)
    interrupt(process)
    told, _ = process.communicate(timeout=200)
    assert process.returncode == 130, told
    assert "sim: interrupted; the cells that were done are in m/map.json" in told and "Traceback" not in told
    assert 0 < len(orjson.loads((tmp_path / "m" / MAP).read_bytes())["measured"]) < 40


async def test_real_endpoints_are_measured_one_after_the_other(tmp_path: Path) -> None:
    """Two engines that answer over HTTP, as any would; they are emulated ones, and say so themselves."""
    sim = Sim(tmp_path, tmp_path / "cache")
    busy = engine_settings(tmp_path, front_end={"per_request_s": 0.1})  # over every prompt, one after the other
    engines = [await start_embedded(each, tmp_path / f"{n}.log") for n, each in enumerate((None, busy))]
    a, b = (each.base_url for each in engines)
    try:
        code, told = await asyncio.to_thread(
            sim.run, "map", "fast", "slow", "--endpoint-a", a, "--endpoint-b", b, "--concurrency", "2",
            "--inputs", "64", "--outputs", "8", "--out", "map", "--json", "map.json",
        )  # fmt: skip
    finally:
        for engine in engines:
            await engine.stop()
    assert code == 0, told
    found = orjson.loads((tmp_path / "map.json").read_bytes())
    assert found["measured"][0]["a"] > found["measured"][0]["b"] and found["emulated"] and not found["virtual"]
    assert "EMULATED ENGINE: not a GPU" in told
    runs = sorted(each.name for each in (tmp_path / "map" / "runs").iterdir() if each.is_dir())
    assert runs == ["64-8-2-a", "64-8-2-b"]
