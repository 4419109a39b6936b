"""What-if: the cells, which engine wins, what fits, and the table as people and programs get it."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from plays import plan, scenario, scripts
from rich.console import Console

from simulator.cli.scripts import library_only
from simulator.cli.whatif import Question, _limits, main
from simulator.engine.embedded.config import PARAMS_DIR, EngineParams, load_params
from simulator.errors import UsageError
from simulator.view.whatif import HEADS, SHORT_HEADS, Answer, markdown, table
from simulator.virtual.calibration import Checked, Errors, checked
from simulator.virtual.memory import memory
from simulator.virtual.whatif import Cell, cell, verdict

CHOSEN = scenario(2, slo={"ttft_s": 5.0, "tpot_s": 0.05})


def engine(name: str, **changes: object) -> EngineParams:
    return load_params(PARAMS_DIR / f"{name}.yaml").model_copy(update=changes)


@pytest.fixture(scope="module")
def cells() -> list[list[Cell]]:
    plans = [plan(f"s{n:04d}", turns=8, output_tok=120, tool_s=0.2) for n in range(4)]
    found = []
    for agents in (2, 24):
        found.append([
            cell(CHOSEN, name, engine(name), scripts(plans, engine(name)), agents, 20.0) for name in ("baseline", "top")
        ])  # fmt: skip
    return found


def test_the_ladder_s_top_wins_and_more_agents_get_more_out_of_it(cells: list[list[Cell]]) -> None:
    for row in cells:
        slow, fast = row
        assert (fast.output_tok_s or 0) > (slow.output_tok_s or 1e9)
        assert fast.memory.fits and fast.goodput is not None and 0 <= (fast.cached_share or 0) < 1
    assert (cells[1][1].output_tok_s or 0) > 3 * (cells[0][1].output_tok_s or 1e9)


def test_many_short_sessions_are_played_from_a_library_instead_of_being_planned_all() -> None:
    long = scenario(8, window_s=300.0, refill=True)
    assert library_only(long) is long, "a few long sessions a slot"
    short = library_only(long.model_copy(update={"max_turns": 3}))
    assert (short.sessions, short.refill, short.window_s) == (64, False, None)
    many = scenario(512, window_s=300.0, refill=True)
    assert library_only(many) is many, "of which one a slot is planned anyway"


def test_a_common_library_gives_few_agents_many_different_sessions() -> None:
    plans = [plan(f"s{n:04d}", turns=2 + n, output_tok=120, tool_s=0.2) for n in range(16)]
    played = scripts(plans, engine("top"))
    few, common = (cell(CHOSEN, "top", engine("top"), played, 1, 60.0, common=common) for common in (False, True))
    assert few.ttft_p95_s != common.ttft_p95_s and common.output_tok_s


@pytest.mark.parametrize(
    ("ratios", "every", "told"),
    [
        (0.01, 0.03, "b +4.0 %"),
        (0.01, 0.5, "leans to b +4.0 %"),
        (0.05, 0.5, "too close to call (4.0 %)"),
        (0.05, 0.01, "too close to call (4.0 %)"),
        (None, 0.05, "too close to call (4.0 %)"),
        (None, None, "uncalibrated: b +4.0 %"),
    ],
)
def test_a_gap_is_held_against_the_calibration_s_errors(ratios: float | None, every: float | None, told: str) -> None:
    room = memory(engine("top"), scripts([plan("s0000")])[0], 8)
    pair = [Cell("a", 8, room, output_tok_s=100.0), Cell("b", 8, room, output_tok_s=104.0)]
    assert verdict(pair, Errors(ratios, every), by_goodput=False).told() == told


def test_who_wins_without_a_rival_or_by_goodput() -> None:
    room = memory(engine("top"), scripts([plan("s0000")])[0], 8)
    errors, idle = Errors(0.01, 0.02), Cell("c", 8, room)
    alone = verdict([Cell("a", 8, room, output_tok_s=100.0), idle], errors, by_goodput=False)
    assert (alone.best, alone.gap, alone.told()) == ("a", None, "a")
    assert verdict([idle], errors, by_goodput=False).told() == "none runs"
    good = [Cell("a", 8, room, 100.0, goodput_requests_s=2.0), Cell("b", 8, room, 104.0, goodput_requests_s=1.0)]
    assert verdict(good, errors, by_goodput=True).best == "a"
    bad = [Cell(name, 8, room, 100.0, goodput_requests_s=0.0) for name in "ab"]
    assert verdict(bad, errors, by_goodput=True).told() == "none meets the objectives"


def test_memory_says_what_does_not_fit_with_its_figures() -> None:
    played = scripts([plan("s0000", words=3000)])[0]
    few, many = (memory(engine("top"), played, n) for n in (1, 100_000))
    assert few.fits and few.told().startswith("fits: ") and few.have_bytes == many.have_bytes
    assert many.starts and not many.fits and many.told().startswith("does not fit: ")
    assert many.needed_bytes > 50_000 * few.needed_bytes
    small = memory(engine("top", num_gpu_blocks=10), played, 1)
    assert not small.starts and "does not start" in small.told()
    idle = cell(CHOSEN, "small", engine("top", num_gpu_blocks=10), [played], 1, 5.0)
    assert idle.output_tok_s is None and verdict([idle], Errors(0.1, 0.1), by_goodput=False).told() == "none runs"


def test_the_model_is_held_against_what_was_measured_of_each_engine_s_hardware() -> None:
    top, known, unknown = engine("top"), engine("baseline"), engine("dense")
    found = checked([top, known])
    assert {each.hardware for each in found} == {top.hardware.name} and any(each.fitted for each in found)
    errors = Errors.of(found, [top, known])
    fitted = max(abs(each.error) for each in found if each.fitted)
    assert errors.ratios is not None and errors.all is not None and fitted < errors.ratios < errors.all
    assert Errors.of(found, [top, unknown]) == Errors(None, None)
    assert sum(each.fitted for each in found if each.agents) == 5
    assert sum(not each.fitted for each in found if each.agents) == 6


def test_a_lean_rests_on_ratios_between_engines_of_which_one_was_held_out() -> None:
    def figure(modelled: float, fitted: bool, shape: str = "a", agents: bool = True) -> Checked:
        return Checked("h200_30b_a3b", "t", 100.0, modelled, fitted, agents, shape)

    def ratios(*checks: Checked) -> float | None:
        return Errors.of(checks, [engine("top")]).ratios

    assert ratios(figure(101.0, True), figure(99.0, True)) is None, "both were fitted to"
    assert ratios(figure(110.0, True), figure(100.0, False, "b")) is None, "other traffic"
    assert ratios(figure(110.0, True), figure(100.0, False)) == pytest.approx(0.10)
    assert ratios(figure(100.0, False), figure(110.0, False)) == pytest.approx(0.10), "whichever stands above"
    both_high = figure(150.0, True), figure(150.0, False)
    assert ratios(*both_high) == pytest.approx(0.0), "an error that both share turns no comparison round"
    other = figure(100.0, True, "b", False), figure(200.0, False, "b", False)
    assert ratios(*other) == pytest.approx(1.0) and ratios(*both_high, *other) == pytest.approx(0.0)


def test_table_markdown_and_json_have_one_shape(cells: list[list[Cell]]) -> None:
    checks = [
        Checked("h200", "rung 5", 100.0, 98.0, True),
        Checked("h200", "four", 100.0, 93.0, False, agents=True),
        Checked("h200", "others", 100.0, 50.0, False),
    ]
    errors = Errors(0.02, 0.02)
    answer = Answer(
        "played",
        1,
        0.5,
        {"ttft_s": 5.0},
        cells,
        [verdict(row, errors, by_goodput=True) for row in cells],
        checks,
        errors,
    )
    text = markdown(answer)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert rows[0] == "| " + " | ".join(HEADS) + " |" and len(rows) == 2 + 4
    assert {line.count("|") for line in rows} == {len(HEADS) + 1}
    assert [line.split("|")[1].strip() for line in rows[2:]] == ["2", "", "24", ""]
    assert "EMULATED" in text.splitlines()[0] and "four: 93 for 100 tok/s (-7.0 %, not fitted)" in text
    assert "not fitted to: at most 7.00 % off. 2 figures of other traffic: at most 50.0 % off." in text
    without = replace(answer, checks=checks[:1])
    assert "rung 5: 98 for 100 tok/s (-2.0 %, fitted)." in markdown(without) and "other traffic" not in markdown(
        without
    )
    console = Console(file=io.StringIO(), width=80)
    console.print(table(answer))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "EMULATED" in shown.splitlines()[0] and all(head in shown for head in SHORT_HEADS)
    told = answer.as_json()
    assert told["engine"] == "EMULATED" and len(told["cells"]) == 4 and len(told["verdicts"]) == 2
    assert told["calibration"][0]["error"] == pytest.approx(-0.02)


def test_objectives_in_either_language_are_the_same_limits() -> None:
    assert _limits("ttft_p95<2s, tpot_p95<50ms") == _limits("ttft_s=2,tpot_s=0.05") == {"ttft_s": 2.0, "tpot_s": 0.05}


SMALL = "name: small\nsessions: 2\nrefill: false\nmax_turns: 2\n"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"agents": "8,many"}, "--agents 8,many: give whole numbers"),
        ({"agents": "0"}, "from 1 to"),
        ({"engines": ("tip",)}, "--engines tip: no such engine; did you mean top.*baseline.*top"),
        ({"engines": ("other",)}, "--engines other: no such engine; give a settings file, or one of.*baseline.*top"),
        ({"slo": "itl_p95<5ms"}, "itl_p95 is no limit for a single request.*ttft_p95<"),
        ({"slo": "ttft_p95<fast"}, "`ttft_p95<fast` is no objective"),
        ({"engines": ("missing.yaml",)}, "missing.yaml: cannot be read"),
        ({"engines": ("top", "top")}, "same name"),
        ({"slo": "ttft=5"}, "--slo 'ttft=5': write objectives as name=seconds"),
        ({"slo": "ttft_s=fast"}, "write objectives"),
        ({"minutes": 0.0}, "--minutes 0"),
        ({"overrides": ("context_window_tok=200000",)}, "context_window_tok=131072"),
    ],
)
def test_a_mistake_is_one_sentence_before_anything_is_planned(
    changes: dict[str, object], said: str, tmp_path: Path
) -> None:
    question = {"scenario": Path("small.yaml"), "engines": ("top",), "agents": "2", "slo": None, "minutes": 1.0,
                "out": tmp_path / "out", "overrides": ()} | changes  # fmt: skip
    with pytest.raises(UsageError, match=said):
        main(Question(**question), SMALL)  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


def test_an_engine_s_name_is_no_markup() -> None:
    room = memory(engine("top"), scripts([plan("s0000")])[0], 8)
    name = "a|b *[x](y)* <img> `c` \x1b[31m[red]d"
    row, errors = [Cell(name, 8, room, output_tok_s=1.0)], Errors(None, None)
    told = verdict(row, errors, by_goodput=False)
    check = Checked("gpu|1", "t*", 1.0, 1.0, fitted=False, agents=True)
    answer = Answer("s", 1, 1.0, {}, [row], [told], [check], errors)
    text = markdown(answer)
    assert r"a\|b \*\[x\](y)\* \<img\> \`c\`" in text and r"gpu\|1, t\*" in text and "\x1b" not in text
    console = Console(file=io.StringIO(), width=200)
    console.print(table(answer))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "[red]d" in shown and "\x1b" not in shown
