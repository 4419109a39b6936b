"""ladder.json read again: what no ladder writes is refused in one sentence that names the place, by every reader."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.cli.ladder_show import show
from simulator.cli.rungs import find
from simulator.cli.sides import runs_of
from simulator.core.ladder.told import told
from simulator.errors import UsageError
from simulator.store.ladder import LADDER, LadderFolder

FIGURES = {"output_tok_s": 400.0, "ttft_p50_s": 0.1, "tpot_p50_s": None, "turn_p50_s": 0.4}
REPEAT = {
    "pair": 0, "lane": 0, "life": 0, "run": "runs/a-0", "seed": 1, "agents": None, "synthetic": FIGURES,
    "client_verdict": "ok", "certified": True, "doubts": [], "engine": {"version": "1"}, "error": None, "took_s": 4,
}  # fmt: skip
WHOLE: dict[str, Any] = {
    "schema": 1, "made_by": "sim ladder", "scenario": "s", "seed": 1, "engine_kind": "emulated", "pairs": 1,
    "left_out": [], "engines_met": [],
    "rungs": [
        {"name": name, "rung": name, "digest": name, "argv": ["vllm"], "env": {},
         "repeats": [{**copy.deepcopy(REPEAT), "run": f"runs/{name}-0"}]}
        for name in "ab"
    ],
    "lives": [{"life": 0, "rung": "a", "lane": 0, "start_s": 2.0, "runs_s": [4.0], "wall_s": 7.5}],
}  # fmt: skip


def damaged(path: str, value: Any) -> bytes:
    """The whole ladder with another value at a dotted place; ... takes it away."""
    found: Any = copy.deepcopy(WHOLE)
    *above, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    place = found
    for part in above:
        place = place[part]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return orjson.dumps(found)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("schema", 99, "has schema 99 and this version reads up to 1"),
        ("schema", ..., "states no schema version"),
        ("schema", True, "states no schema version"),
        ("schema", 0, "states no schema version"),
        ("rungs", "x", "rungs: it is `x`, not a list"),
        ("rungs", [1], "rungs.0: it is `1`, not an object"),
        ("rungs.0.name", ..., "rungs.0.name: Field required"),
        ("rungs.1.repeats.0.run", "runs/a-0", "runs/a-0 of b is runs/a-0 of a again, and a run counts once"),
        (
            "rungs.1.repeats",
            [{"run": "runs/b-0", "started_unix_s": 9.5}, {"run": "runs/b-1", "started_unix_s": 9.5}],
            "runs/b-1 of b is runs/b-0 of b again, and a run counts once",
        ),
        ("rungs.1.name", "a", "two rungs are called a"),
        ("rungs.0.repeats", None, "rungs.0.repeats: it is `None`, not a list"),
        ("rungs.0.repeats", ["x"], "rungs.0.repeats.0: it is `x`, not an object"),
        ("rungs.0.repeats.0.pair", "a", "rungs.0.repeats.0.pair: "),
        ("rungs.0.repeats.0.synthetic", [1], "rungs.0.repeats.0.synthetic: it is `[1]`, not an object"),
        ("rungs.0.repeats.0.synthetic.output_tok_s", -5, "output_tok_s: Input should be greater than or equal to 0"),
        ("rungs.0.repeats.0.synthetic.output_tok_s", "400", "output_tok_s: Input should be a valid number"),
        ("rungs.0.repeats.0.doubts", 5, "rungs.0.repeats.0.doubts: it is `5`, not a list"),
        ("lives", 5, "lives: it is `5`, not a list"),
        ("lives", [{"life": "x"}], "lives.0.life: "),
        ("lives.0.runs_s", None, "lives.0.runs_s: it is `None`, not a list"),
        ("left_out", 7, "left_out: it is `7`, not a list"),
        ("pairs", "x", "pairs: "),
    ],
)
def test_a_damaged_ladder_is_refused_by_every_reader(tmp_path: Path, path: str, value: Any, words: str) -> None:
    (tmp_path / LADDER).write_bytes(damaged(path, value))
    folder = LadderFolder.open(tmp_path)
    for read in (lambda: find(tmp_path), lambda: show(tmp_path), folder.load, lambda: runs_of(str(tmp_path / "a"))):
        with pytest.raises(UsageError) as caught:
            read()
        assert words in str(caught.value) and str(tmp_path / LADDER) in str(caught.value)
        assert "\n" not in str(caught.value)
    folder.close()


def test_what_is_left_out_is_filled_in_and_what_later_versions_say_stays() -> None:
    rungs = [{"name": "a", "repeats": [{"run": "r", "took_s": 3}]}]
    raw, checked = told(orjson.dumps({"schema": 1, "more": 1, "rungs": rungs, "lives": [{"life": 2}]}), LADDER)
    (repeat,) = raw["rungs"][0]["repeats"]
    assert (raw["more"], repeat["pair"], repeat["run"], repeat["took_s"]) == (1, 0, "r", 3)
    assert raw["lives"][0]["runs_s"] == [] and checked.rungs[0].repeats[0].run == "r"
    whole = told(orjson.dumps(WHOLE), LADDER)[0]
    assert {key: whole[key] for key in ("scenario", "lives", "left_out")} == {
        key: WHOLE[key] for key in ("scenario", "lives", "left_out")
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["pair", "life", "run"]), inner),
    max_leaves=4,
)
PLACES = (
    "rungs", "rungs.0", "rungs.0.name", "rungs.0.repeats", "rungs.0.repeats.0", "rungs.0.repeats.0.agents",
    "rungs.0.repeats.0.synthetic", "rungs.0.repeats.0.error", "rungs.0.repeats.0.run", "lives", "lives.0",
    "engines_met", "scenario", "interleaving", "synthetic_shape", "random_weights",
)  # fmt: skip


@given(st.sampled_from(PLACES), JSON)
def test_whatever_stands_there_it_is_read_or_refused(path: str, value: Any) -> None:
    from simulator.core.ladder.result import rows
    from simulator.view.ladder import final

    try:
        raw, _ = told(damaged(path, value), LADDER)
    except UsageError:
        return
    assert len(rows(raw)) == len(raw["rungs"]) and final(raw, "there")
