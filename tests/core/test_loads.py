"""A ladder over levels of load: who leads where, where that changes, and what is not said of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.choice.choice import AGENTS, SYNTHETIC, Repeat, Rung
from simulator.core.choice.loads import ByLoad, by_load
from simulator.view.by_load import sentences

NOISE = (1.0, 0.997, 1.003, 1.001, 0.998, 1.002)
#: rung -> level -> (agents, synthetic) tok/s; the agents' leader changes between 32 and 128, 512/512's never
SPEEDS = {
    "base": {8: (500, 1500), 32: (1400, 4200), 128: (3300, 8500)},
    "deep": {8: (800, 2000), 32: (1800, 5000), 128: (3400, 8600)},
    "flat": {8: (650, 2600), 32: (1600, 5900), 128: (3900, 11_800)},
}
Speeds = dict[str, dict[int, tuple[float, float]]]


def ladder(speeds: Speeds, pairs: int = 1, *, limited: bool = False) -> list[Rung]:
    def repeat(pair: int, both: tuple[float, float], shift: int) -> Repeat:
        noise = NOISE[(pair + shift) % len(NOISE)] if pairs > 1 else 1.0
        parts = [{"output_tok_s": each * noise, "turn_p50_s": 1_000 / (each * noise)} for each in both]
        return Repeat(pair, parts[0], parts[1], limited)

    levels = list(dict.fromkeys(level for each in speeds.values() for level in each))
    return [
        Rung(f"{name}@{level}", tuple(repeat(n, at[level], shift) for n in range(pairs)), level=level)
        for level in levels
        for shift, (name, at) in enumerate(speeds.items())
        if level in at
    ]


def found(speeds: Speeds, pairs: int = 1, **more: bool) -> ByLoad:
    seen = by_load(ladder(speeds, pairs, **more))
    assert seen is not None
    return seen


def test_repeats_decide_where_the_lead_passes_on() -> None:
    seen = found(SPEEDS, 6)
    (change,) = seen.changes
    assert (change.kind, change.below, change.above, change.before, change.after) == (AGENTS, 32, 128, "deep", "flat")
    assert change.decided and change.ahead == pytest.approx(1 - 1600 / 1800, abs=0.01)
    assert change.behind == pytest.approx(1 - 3400 / 3900, abs=0.01)
    said = sentences(seen, "512/512")
    assert said[0] == "Agents, by how many at once: deep leads at 8 and 32, flat at 128."
    assert "the lead passes from deep to flat (flat is 11" in said[1] and "suggest" not in " ".join(said)
    assert said[2] == "512/512, by how many at once: flat leads at 8, 32 and 128."
    assert said[3].startswith("Tuned on 512/512 at 128 at once you would pick flat; on it your agents run 18.")
    assert said[3].endswith("and as well as anywhere at 128.") and len(said) == 4


def test_one_run_a_rung_only_seems() -> None:
    seen = found(SPEEDS)
    said = sentences(seen, "512/512")
    assert not seen.changes[0].decided and "suggest this and decide nothing" in said[1]
    assert all("seem" in each for each in said), said


def test_a_lone_rung_leads_nothing() -> None:
    alone = by_load([rung for rung in ladder(SPEEDS) if rung.plain == next(iter(SPEEDS))])
    assert alone is not None
    (said,) = sentences(alone, "512/512")
    assert said.startswith("No verdict: ") and "a choice takes two" in said


@pytest.mark.parametrize(
    ("pairs", "limited", "word"),
    [(6, True, "the client was the limit"), (2, False, "suggest this and decide nothing")],
)
def test_what_is_not_shown_is_not_said(pairs: int, limited: bool, word: str) -> None:
    seen = found(SPEEDS, pairs, limited=limited)
    said = sentences(seen, "512/512")
    told = next(each for each in said if each.startswith("Agents: between"))
    assert word in told and "seems to pass" in told and not seen.changes[0].decided
    assert seen.limited == (seen.levels if limited else ())
    assert said[-1].startswith("At 8, 32 and 128 the client was the limit") == limited


def test_a_gap_within_the_margin_is_no_lead() -> None:
    speeds: Speeds = {**SPEEDS, "flat": {**SPEEDS["flat"], 32: (1790, 5900), 128: (3450, 8600)}}
    seen = found(speeds)
    assert seen.changes == (), "deep is among the leaders of every level"
    said = sentences(seen, "512/512")
    assert said[0].endswith("deep seems to lead at 8, deep or flat (within 2 %) at 32 and 128.")
    said = sentences(found({**speeds, "flat": {**speeds["flat"], 128: (3900, 8600)}}), "512/512")
    assert "between 8 and 128 the lead seems to pass from deep to flat (flat is 18.7 % behind at 8," in said[1]


def test_ratios_are_to_the_first_rung_at_the_same_level() -> None:
    seen = found(SPEEDS, 6)
    curves = {(curve.kind, curve.rung): curve for curve in seen.curves}
    assert len(curves) == 6 and seen.first == "base"
    for (kind, name), curve in curves.items():
        for point in curve.points:
            n = 0 if kind == AGENTS else 1
            expected = SPEEDS[name][point.level][n] / SPEEDS["base"][point.level][n]
            assert point.ratio.ratio == pytest.approx(expected, rel=0.01)
            assert (point.ratio.low is None) == (name == "base")


def test_by_latency_less_is_better() -> None:
    seen = by_load(ladder(SPEEDS, 6), "turn_p50_s")
    assert seen is not None
    leaders = [seen.leader(AGENTS, level) for level in seen.levels]
    assert [each.rung for each in leaders if each is not None] == ["deep@8", "deep@32", "flat@128"]
    assert seen.changes[0].ahead == pytest.approx(1800 / 1600 - 1, abs=0.01)
    assert "longer a turn at 8" in sentences(seen, "512/512")[-1]


def test_a_rung_or_traffic_that_is_missing_somewhere() -> None:
    part: Speeds = {**SPEEDS, "deep": {8: (800, 2000)}}
    seen = found(part)
    deep = next(each for each in seen.curves if (each.kind, each.rung) == (AGENTS, "deep"))
    assert [point.level for point in deep.points] == [8]
    assert seen.changes[0].behind is None and "these repeats do not decide it" in sentences(seen, "512/512")[1]
    without_first: Speeds = {"base": {8: (500, 1500)}, "deep": SPEEDS["deep"]}
    curve = next(each for each in found(without_first).curves if each.rung == "deep")
    assert [point.level for point in curve.points] == [8], "nothing to compare with at the other levels"
    alone = [
        Rung(r.name, tuple(Repeat(p.pair, p.agents, None) for p in r.repeats), level=r.level) for r in ladder(SPEEDS)
    ]
    seen_alone = by_load(alone)
    assert seen_alone is not None and not seen_alone.knows(SYNTHETIC)
    assert not any("512/512" in each for each in sentences(seen_alone, "512/512"))


def test_one_level_is_no_curve() -> None:
    assert by_load(ladder({name: {8: each[8]} for name, each in SPEEDS.items()})) is None
    assert by_load([Rung("a", ())]) is None
    assert by_load([]) is None


speed = st.floats(min_value=1.0, max_value=1e5)
tables = st.lists(st.lists(st.tuples(speed, speed), min_size=3, max_size=3), min_size=1, max_size=4)


@given(tables, st.integers(1, 3))
def test_a_change_is_where_no_rung_leads_on(table: list[list[tuple[float, float]]], pairs: int) -> None:
    seen = found({f"r{n}": dict(zip((4, 8, 16), row, strict=True)) for n, row in enumerate(table)}, pairs)
    for kind in (AGENTS, SYNTHETIC):
        changes = [each for each in seen.changes if each.kind == kind]
        leaders = {level: seen.leaders(kind, level) for level in seen.levels}
        for each in changes:
            assert each.below < each.above
            assert each.before in leaders[each.below] and each.after not in leaders[each.below]
            assert each.after in leaders[each.above] and each.before not in leaders[each.above]
        assert bool(changes) == (not set.intersection(*map(set, leaders.values())))
    said = " ".join(sentences(seen, "512/512"))
    assert "nan" not in said and "None" not in said
