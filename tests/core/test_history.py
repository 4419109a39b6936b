"""Runs as rows: whatever a manifest lacks, filters, order, groups."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.history import Engine, Group, Row, Wanted, arrange, row_of

MANIFEST: dict[str, Any] = {
    "t0_unix_s": 1_790_000_000.5, "label": "mtp3", "scenario_name": "32_agents", "ended": 1.0,
    "engine": {"kind": "real", "version": "0.33.0", "config": "top", "model": "m"},
}  # fmt: skip
SUMMARY: dict[str, Any] = {
    "agent": {"output_tok_s": 1_200.0, "turn_latency_s": {"p50": 3.5}},
    "synthetic": {"output_tok_s": 9_000.0},
    "client": {"verdict": "ok"},
}


def row(path: str, began_s: float | None = 0.0, group: str = "", **fields: Any) -> Row:
    known: dict[str, Any] = dict(
        label="a", scenario="s", engine=Engine(), agents_tok_s=None, synthetic_tok_s=None, turn_p50_s=None, client="",
        note="", made_by="saturate" if group else "",
    )  # fmt: skip
    return Row(path=path, began_s=began_s, group=group, **{**known, **fields})


def test_a_whole_run() -> None:
    found = row_of("r", MANIFEST, SUMMARY)
    assert (found.label, found.scenario, found.engine.told()) == ("mtp3", "32_agents", "real 0.33.0 top")
    assert (found.agents_tok_s, found.synthetic_tok_s, found.turn_p50_s) == (1_200, 9_000, 3.5)
    assert (found.client, found.note, found.began_s) == ("ok", "", 1_790_000_000.5)


@pytest.mark.parametrize(
    ("engine", "told"),
    [
        ({"kind": "emulated", "params": "top.yaml", "model": "m"}, "EMULATED top"),
        ({"kind": "emulated"}, "EMULATED"),
        ({"kind": "real", "model": "m"}, "real m"),
        ({"kind": "real", "version": "0.33.0", "random_weights": True}, "random weights 0.33.0"),
        ({}, "unknown"),
        ("vllm", "unknown"),
    ],
)
def test_engines(engine: Any, told: str) -> None:
    assert row_of("r", {**MANIFEST, "engine": engine}, SUMMARY).engine.told() == told


@pytest.mark.parametrize(
    ("manifest", "summary", "note"),
    [
        ({}, None, "killed, or still going on; not folded, see `sim report`"),
        ({"ended": 1, "stopped": "interrupted"}, SUMMARY, "stopped: interrupted"),
        ({"ended": 1, "stopped": "", "engine_changed": ["pid"]}, SUMMARY, "another engine at its end"),
        ({"ended": 1}, {"agent": None, "synthetic": None}, "no request was recorded"),
    ],
)
def test_what_has_to_be_known_first(manifest: dict[str, Any], summary: dict[str, Any] | None, note: str) -> None:
    assert row_of("r", manifest, summary).note == note


anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=3) | st.integers(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(sorted(MANIFEST)), inner, max_size=2),
    max_leaves=4,
)


@given(
    st.dictionaries(st.sampled_from(sorted(MANIFEST)), anything),
    st.dictionaries(st.sampled_from(sorted(SUMMARY)), anything),
)
def test_no_content_is_fatal(manifest: dict[str, Any], summary: dict[str, Any]) -> None:
    found = row_of("r", manifest, summary)
    assert isinstance(found.label, str) and found.engine.told()
    assert all(each is None or each == each for each in (found.began_s, found.agents_tok_s, found.turn_p50_s))


@pytest.mark.parametrize(
    ("wanted", "takes"),
    [
        (Wanted(), True),
        (Wanted(label="MTP3"), True),
        (Wanted(label="mtp"), False),
        (Wanted(label="mtp*", scenario="32_*", engine="real"), True),
        (Wanted(engine="0.33.?"), True),
        (Wanted(engine="top"), True),
        (Wanted(engine="emulated"), False),
        (Wanted(scenario="512_512"), False),
    ],
)
def test_filters(wanted: Wanted, takes: bool) -> None:
    assert wanted.takes(row_of("r", MANIFEST, SUMMARY)) == takes


def test_newest_first_and_a_search_stands_once_where_its_newest_probe_does() -> None:
    rows = [row("old", 1), row("p1", 2, "sat"), row("mid", 3), row("p2", 4, "sat"), row("new", 5), row("undated", None)]
    found = arrange(rows, {"sat": "8 agents"})
    assert [each.path for each in found] == ["new", "sat", "mid", "old", "undated"]
    group = found[1]
    assert isinstance(group, Group) and [each.path for each in group.runs] == ["p2", "p1"] and group.said == "8 agents"
    assert group.began_s == 2, "a search began with its first probe"
    (ladder,) = arrange([row("p1", 2, "lad"), row("p2", 4, "lad")], {}, {"lad": 1.0})
    assert ladder.began_s == 1.0, "and a ladder when its command was given"


def test_a_run_begins_when_it_is_asked_for() -> None:
    assert row_of("r", {"asked_unix_s": 90.0, "t0_unix_s": 100.0}, None).began_s == 90.0
    assert row_of("r", {"asked_unix_s": "x", "t0_unix_s": 100.0}, None).began_s == 100.0
