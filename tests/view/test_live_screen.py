"""Frames of the live view: for any size and any state, lines that fit; at the usual sizes, what stands where."""

from __future__ import annotations

import io
import re
from typing import Any

import orjson
import pytest
from growing_run import TASKS, manifest, pulse, request, slot
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from simulator.core.record import SlotState
from simulator.view.cells import ASCII, UNICODE, clean, clip, clock, count, rate, seconds, width_of
from simulator.view.screen import Frame, compose, frame
from simulator.view.sparkline import bar, big, grid, sparkline
from simulator.view.state import RANK, LiveState

PHASES = ("setup", "queue", "decode", "tool", "think", "backoff", "done", "idle")


def state_of(slots: list[SlotState], *, t_s: float = 60.0, **extra: Any) -> LiveState:
    state = LiveState(manifest=manifest())
    values = {"vllm:num_requests_running": 20.0, "vllm:num_requests_waiting": 3.0, "vllm:kv_cache_usage_perc": 0.41}
    state.on_engine({"t_s": t_s - 0.5, "values": values, "error": ""})
    for i in range(40):
        beat = pulse(t_s - 20 + 0.5 * (i + 1), slots, output_tok=1700 * i + 300 * (i % 3), requests_done=i)
        beat.in_flight = extra.get("in_flight", beat.in_flight)
        state.on_pulse(orjson.loads(orjson.dumps(beat)))
    for name, value in extra.items():
        state.pulse = {**state.pulse, name: value}
    return state


def mixed(n: int) -> list[SlotState]:
    return [slot(i, PHASES[i % len(PHASES)], tok_s=float(10 + i * 7 % 50)) for i in range(n)]


def printed(state: LiveState, width: int, height: int, **options: Any) -> list[str]:
    """What a terminal of this size gets, styles left out."""
    out = io.StringIO()
    console = Console(file=out, width=width, height=height, force_terminal=True, color_system=None)
    console.print(Frame(frame(state, width=width, height=height, now_s=60.0, **options)), end="")
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", out.getvalue()).split("\n")


def table_slots(lines: list[str]) -> list[int]:
    return [int(m[1]) for m in (re.match(r" +(\d+) .*\d+/34 ", text) for text in lines) if m]


@pytest.mark.parametrize("sessions", [1, 32, 256])
@pytest.mark.parametrize(("width", "height"), [(80, 24), (200, 60), (60, 15)])
def test_every_line_has_the_width_of_the_screen(width: int, height: int, sessions: int) -> None:
    lines = printed(state_of(mixed(sessions)), width, height)
    assert [cell_len(text) for text in lines] == [width] * height


@pytest.mark.parametrize(
    ("width", "height", "sessions", "rows"),
    [(80, 24, 1, 1), (80, 24, 32, 13), (60, 15, 32, 7), (200, 60, 32, 32), (80, 24, 13, 13)],
)
def test_as_many_rows_as_fit(width: int, height: int, sessions: int, rows: int) -> None:
    lines = printed(state_of(mixed(sessions)), width, height)
    assert len(table_slots(lines)) == rows
    more = re.match(r" \+(\d+) more", lines[-1])
    assert (int(more[1]) if more else 0) == sessions - rows


def test_wide_screens_show_sessions_side_by_side() -> None:
    text = "\n".join(printed(state_of(mixed(256)), 200, 60))
    shown = len(re.findall(r" \d+/34 ", text))
    hidden = int(re.search(r"\+(\d+) more", text)[1])  # type: ignore[index]
    assert shown + hidden == 256
    assert shown > 60


def test_busiest_first_when_rows_do_not_fit_and_slot_order_when_they_do() -> None:
    slots = mixed(32)
    assert table_slots(printed(state_of(slots), 200, 60)) == list(range(32))
    phases = {s.slot: s.phase for s in slots}
    speed = {s.slot: s.tok_s for s in slots}
    shown = table_slots(printed(state_of(slots), 80, 24))
    keys = [(RANK[phases[n]], -speed[n], n) for n in shown]
    assert keys == sorted(keys)
    left_out = set(range(32)) - set(shown)
    assert min(RANK[phases[n]] for n in left_out) >= RANK[phases[shown[-1]]]


def test_the_hidden_are_counted_by_phase() -> None:
    slots = [slot(i, "decode") for i in range(13)] + [slot(20 + i, "think") for i in range(8)]
    slots += [slot(40 + i, "tool") for i in range(4)]
    assert " +12 more (8 think, 4 tool)" in printed(state_of(slots), 80, 24)[-1]


@pytest.mark.parametrize(("width", "height", "told"), [(80, 24, False), (120, 40, True), (200, 60, True)])
def test_a_history_has_its_legend_where_it_is_shown(width: int, height: int, told: bool) -> None:
    lines = printed(state_of(mixed(32)), width, height)
    assert any("last 1:" in text for text in lines if "context" in text) == told
    assert ("history: ▇ decode" in lines[-1]) == told


def test_emulation_is_loud_on_every_screen_and_a_real_engine_is_not_called_so() -> None:
    state = state_of(mixed(8))
    for width, height in ((200, 60), (80, 24), (60, 15), (40, 6)):
        first = frame(state, width=width, height=height, now_s=60.0)[0]
        assert first[0].text.strip() == "EMULATED"
        assert first[0].style is not None
        assert first[0].style.bgcolor is not None
    state.manifest = manifest(engine={"kind": "real", "model": "m"})
    assert "EMULATED" not in "".join(printed(state, 80, 24))
    state.manifest = manifest(engine={"kind": "real", "model": "m", "random_weights": True})
    for width, height in ((200, 60), (80, 24), (40, 6)):
        first = frame(state, width=width, height=height, now_s=60.0)[0]
        assert first[0].text.strip() == "RANDOM WEIGHTS" and first[0].style is not None


def test_what_the_header_says() -> None:
    state = state_of(mixed(32), ends_s=168.0, requests_done=212, requests_failed=3, in_flight=27)
    text = "\n".join(printed(state, 80, 24))
    for fact in ("32_agents · baseline", "window", "1:48 left", "elapsed 1:00", "done 212", "failed 3", "busy 24/32"):
        assert fact in text
    for fact in ("running 20", "waiting 3", "KV 41 %", "backlog 4", "loop lag 2 ms", "CPU 30 %", "of 131k"):
        assert fact in text


@pytest.mark.parametrize(
    ("lag_s", "cpu", "warned"), [(0.01, 0.5, ""), (0.03, 0.5, "yellow"), (0.01, 0.93, "yellow"), (0.2, 0.5, "red")]
)
def test_an_unwell_client_turns_colour(lag_s: float, cpu: float, warned: str) -> None:
    state = LiveState(manifest=manifest())
    for t_s in (5.0, 6.0):
        state.on_pulse(orjson.loads(orjson.dumps(pulse(t_s, mixed(3), loop_lag_s=lag_s, cpu_share=cpu))))
    lines = frame(state, width=80, height=24, now_s=6.0)
    health = next(line for line in lines if "loop lag" in "".join(s.text for s in line))
    colours = {s.style.color.name for s in health if s.style is not None and s.style.color is not None}
    assert (warned in colours) if warned else not colours & {"yellow", "red"}
    assert ("the client" in [s.text for s in health]) == bool(warned), "the limit is said to be the client"


def test_synthetic_traffic_shows_its_progress_by_requests() -> None:
    state = LiveState(manifest=manifest(scenario={"name": "512_512", "synthetic": {"requests": 768}}))
    for t_s, done in ((1.0, 32), (2.0, 132), (3.0, 232)):
        stage = "warmup" if t_s == 1 else "synthetic"
        beat = pulse(t_s, [], stage=stage, ends_s=None, kind="synthetic", requests_done=done)
        state.on_pulse(orjson.loads(orjson.dumps(beat)))
    text = "\n".join(printed(state, 80, 24))
    assert "100 of 768 requests" in text
    assert "no agent sessions in this stage" in text


def test_texts_of_a_run_cannot_speak_to_the_terminal() -> None:
    evil = "[bold red]x[/] \x1b]0;owned\x07\x9b2J\u202e\nsecond"
    state = state_of([slot(0, "decode", task=evil, session=evil)])
    state.manifest = manifest(label=evil)
    failure = request(session=evil, outcome="failed", error="server_error", detail=evil, t_end_s=59.0)
    state.on_record(orjson.loads(orjson.dumps(failure)))
    text = "\n".join(printed(state, 200, 40))
    assert "[bold red]x[/]" in text, "markup is shown, not obeyed"
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)


def test_without_utf8_everything_is_ascii() -> None:
    state = state_of([slot(0, "decode", task="naïve-日本")])
    for width, height in ((200, 60), (80, 24)):
        lines = printed(state, width, height, glyphs=ASCII)
        assert "".join(lines).isascii()
        assert {len(text) for text in lines} == {width}


slots_of_any_kind = st.builds(
    SlotState,
    slot=st.integers(0, 5000),
    session=st.text(max_size=12),
    task=st.text(max_size=60),
    turn=st.integers(0, 9999),
    turns=st.integers(0, 9999),
    phase=st.sampled_from(PHASES) | st.text(max_size=20),
    context_tok=st.integers(0, 10**10),
    ttft_s=st.none() | st.floats(0, 1e5),
    tok_s=st.floats(0, 1e9),
)


@settings(max_examples=50, deadline=None)
@given(
    slots=st.lists(slots_of_any_kind, max_size=12, unique_by=lambda s: s.slot),
    width=st.integers(40, 230),
    height=st.integers(1, 70),
    tok=st.integers(0, 10**12),
    ends_s=st.none() | st.floats(0, 1e6),
    stage=st.sampled_from(["setup", "window", "synthetic", "done"]) | st.text(max_size=20),
    label=st.text(max_size=100),
    error=st.text(max_size=50),
    plain=st.booleans(),
    notice=st.just("") | st.text(max_size=200),
)
def test_nothing_is_ever_longer_than_the_screen(
    slots: list[SlotState],
    width: int,
    height: int,
    tok: int,
    ends_s: float | None,
    stage: str,
    label: str,
    error: str,
    plain: bool,
    notice: str,
) -> None:
    """Before anything is cut to size: so no number can be cut in its middle."""
    state = LiveState(manifest=manifest(label=label))
    if error:
        state.on_engine({"t_s": 1.0, "values": {}, "error": error})
    for t_s, seen in ((0.5, 0), (1.0, tok)):
        beat = pulse(t_s, slots, output_tok=seen, ends_s=ends_s, stage=stage, requests_done=tok)
        state.on_pulse(orjson.loads(orjson.dumps(beat)))
    glyphs = ASCII if plain else UNICODE
    lines = compose(state, width=width, height=height, now_s=1.0, glyphs=glyphs, notice=notice)
    assert len(lines) == height
    assert all(width_of(parts) <= width for parts in lines), [p for p in lines if width_of(p) > width]
    assert [sum(s.cell_length for s in one) for one in frame(state, width=width, height=height, now_s=1.0)] == [
        width
    ] * height


@settings(max_examples=30, deadline=None)
@given(width=st.integers(1, 39), height=st.integers(1, 10))
def test_absurd_sizes_are_survived(width: int, height: int) -> None:
    lines = frame(state_of(mixed(5)), width=width, height=height, now_s=60.0)
    assert [sum(s.cell_length for s in one) for one in lines] == [width] * height


@settings(deadline=None)
@given(st.text(max_size=80), st.integers(1, 40))
def test_clip_is_exact(text: str, width: int) -> None:
    assert cell_len(clip(text, width)) == width
    assert clean(clean(text)) == clean(text)


@pytest.mark.parametrize(
    ("value", "width", "text"),
    [
        (0, 6, "0"),
        (3412, 7, "3,412"),
        (131072, 7, "131,072"),
        (131072, 6, "131k"),
        (1_048_576, 7, "1.05M"),
        (999_950, 6, "1.00M"),
        (99_950, 6, "99,950"),
        (45_300_000, 7, "45.3M"),
    ],
)
def test_count(value: float, width: int, text: str) -> None:
    assert count(value, width) == text


@settings(deadline=None)
@given(st.floats(0, 1e14), st.integers(6, 12))
def test_numbers_keep_their_place(value: float, width: int) -> None:
    assert len(count(value, width)) <= width
    assert len(rate(value)) <= 6


def test_times() -> None:
    assert [seconds(s) for s in (None, 0.041, 0.0996, 0.414, 9.996, 12.34, 125.0)] == [
        "—",
        "41 ms",
        "0.10 s",
        "0.41 s",
        "10.0 s",
        "12.3 s",
        "2:05",
    ]
    assert [clock(s) for s in (-3, 0, 42.9, 108, 3723)] == ["0:00", "0:00", "0:42", "1:48", "1:02:03"]


def test_sparkline_starts_at_zero_and_tells_unknown_from_nothing() -> None:
    assert sparkline([None, 0.0, 4.0, 8.0], 1, UNICODE) == [" ▁▄█"]
    assert sparkline([None, 0.0, 4.0, 8.0], 2, UNICODE) == ["   █", " ▁██"]
    assert sparkline([0.0, 0.0], 1, UNICODE) == ["▁▁"]
    assert sparkline([], 3, UNICODE) == ["", "", ""]


@given(st.floats(-1, 3), st.integers(0, 60))
def test_bar_is_as_wide_as_asked(share: float, width: int) -> None:
    filled, rest = bar(share, width, UNICODE)
    assert len(filled + rest) == width
    assert bool(filled) == (share > 0 and width > 0)


def test_big_digits_are_three_even_lines() -> None:
    for number in ("0", "9,999", "1,234,567", "-"):
        lines = big(number)
        assert len(lines) == 3
        assert len({len(text) for text in lines}) == 1
    assert len({tuple(big(digit)) for digit in "0123456789"}) == 10


@given(st.integers(1, 300))
def test_the_grid_shows_a_minute_wherever_it_can(columns: int) -> None:
    assert grid(columns) * columns >= 60 or columns < 10


def test_tasks_of_the_fixture_are_shown() -> None:
    assert TASKS[0] in "\n".join(printed(state_of(mixed(3)), 80, 24))
