"""The upper part of the live screen, line by line: which run, which stage, how fast, and how all parties are doing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.core.certify import LIMITS
from simulator.core.limit import CLIENT, ENGINE, FRONT_END, NONE, UNKNOWN
from simulator.view.cells import (
    Glyphs,
    Item,
    Part,
    clean,
    clip,
    clock,
    count,
    join,
    percent,
    seconds,
    spread,
    width_of,
)
from simulator.view.gauges import Gauges
from simulator.view.identity import RANDOM, is_emulated, is_random, is_virtual, scenario_name
from simulator.view.left import at_most
from simulator.view.sparkline import bar, big, grid, sparkline
from simulator.view.state import LiveState
from simulator.view.verdict import WHO

LAG_LIMIT_S = LIMITS["loop_lag_p99_s"]
CPU_LIMIT = LIMITS["cpu_share_mean"]
EMULATED = ("EMULATED", "bold white on red")
RANDOM_BADGE = (RANDOM, "bold white on red")
_LIMIT_STYLE = {CLIENT: "bold red", FRONT_END: "bold yellow", ENGINE: "bold green", UNKNOWN: "dim"}
_STAGE_STYLE = {"window": "bold green", "synthetic": "bold magenta", "done": "bold green"}
_BIG_CELLS = 17  # 9,999: up to there the chart stays where it is while digits come and go
_NOTE_CELLS = 22


def engine_field(manifest: Mapping[str, Any], name: str) -> Any:
    """A fact about the engine: said of itself, of its settings, or of the one model that it serves. None: not said."""
    engine = manifest.get("engine")
    if not isinstance(engine, Mapping):
        return None
    places: list[Any] = [engine, engine.get("identity"), engine.get("settings")]
    places += [m for m in engine.get("models") or () if isinstance(m, Mapping) and m.get("id") == engine.get("model")]
    return next((place[name] for place in places if isinstance(place, Mapping) and place.get(name) is not None), None)


def title(state: LiveState, now_s: float, width: int, glyphs: Glyphs) -> list[Part]:
    badge: list[Part] = [(" ", "")]
    if is_emulated(state.manifest):
        mark = f"{EMULATED[0]}, VIRTUAL" if is_virtual(state.manifest) else EMULATED[0]
        badge = [(f" {mark} ", EMULATED[1]), (" ", "")]
    elif is_random(state.manifest):
        badge = [(f" {RANDOM_BADGE[0]} ", RANDOM_BADGE[1]), (" ", "")]
    names = [(scenario_name(state.manifest), "bold")]
    for name in (state.manifest.get("label"), engine_field(state.manifest, "model")):
        if name:
            names += [(f" {glyphs.dot} ", "dim"), (clean(str(name)), "")]
    right: list[Part] = [("elapsed ", "dim"), (clock(now_s), "bold"), (" ", "")]
    room = width - width_of(badge) - width_of(right) - 1
    fitted: list[Part] = []
    for text, how in names:
        left = room - width_of(fitted)
        if width_of([(text, how)]) <= left:
            fitted.append((text, how))
        else:
            fitted.append((clip(text, left, glyphs.more), how))
            break
    return spread(badge + fitted, right, width)


def stage(state: LiveState, now_s: float, width: int, glyphs: Glyphs, notice: str) -> list[Part]:
    """Stage, progress and time left; a notice (the run is silent, finished...) takes the place of progress."""
    name: Item = ((f" {clip(state.stage, 9, glyphs.more)} ", _STAGE_STYLE.get(state.stage, "bold yellow")),)
    if notice:
        return [*name, (clip(notice, max(0, width - width_of(name)), glyphs.more), "bold yellow")]
    ends_s, since_s, expected = state.pulse.get("ends_s"), state.stage_start_s, _expected_requests(state)
    share = None
    if ends_s is not None:
        right = f" {at_most(state)}{clock(ends_s - now_s)} left "
        if since_s is not None and ends_s > since_s:
            share = (now_s - since_s) / (ends_s - since_s)
    elif expected:
        done = state.stage_requests
        right, share = f" {count(done)} of {count(expected)} requests ", done / expected
    else:
        right = "" if since_s is None else f"for {clock(now_s - since_s)} "
    room = width - width_of(name) - len(right)
    if share is None or room < 4:
        return spread(list(name), [(right, "bold")], width)
    filled, rest = bar(share, room, glyphs)
    return [*name, (filled, "green"), (rest, "dim"), (right, "bold")]


def _expected_requests(state: LiveState) -> int | None:
    """Synthetic traffic ends after so many requests, not at a time."""
    scenario = state.manifest.get("scenario")
    block = scenario.get("synthetic") if isinstance(scenario, Mapping) and state.stage == "synthetic" else None
    expected = block.get("requests") if isinstance(block, Mapping) else None
    return expected if isinstance(expected, int) and state.stage_since_s is not None else None


def throughput(state: LiveState, width: int, lines: int, glyphs: Glyphs) -> list[list[Part]]:
    """Output tok/s, large when there are three lines or more, beside how it went; one line otherwise."""
    rate = state.output_rate()
    amount = "-" if rate is None else f"{rate:,.0f}"
    if lines < 3 or not glyphs.big or len(amount) > len("999,999"):
        amount = amount if rate is None else count(rate, 7)
        left: list[Part] = [(f" {amount:>7}", "bold green"), (" tok/s ", "bold")]
        columns = max(1, width - width_of(left) - 12)
        line = sparkline(state.history(columns, grid(columns)), 1, glyphs)[0]
        return [spread([*left, (line, "green")], [(f"last {clock(columns * grid(columns))} ", "dim")], width)]
    rows = [row.rjust(_BIG_CELLS) for row in big(amount)]
    columns = max(1, width - len(rows[0]) - _NOTE_CELLS - 5)
    values = state.history(columns, grid(columns))
    peak = max((v for v in values if v is not None), default=0.0)
    mean = state.stage_rate() if state.stage in ("window", "synthetic") else None
    notes = [
        ("output tok/s", "bold"),
        ("" if mean is None else f"stage mean {count(mean, 7)}", ""),
        (f"peak {count(peak, 6)} (last {clock(columns * grid(columns))})", "dim"),
    ]
    blank = (lines - 3) // 2
    rows = [" " * len(rows[0])] * blank + rows + [" " * len(rows[0])] * (lines - 3 - blank)
    notes = [("", "")] * blank + notes + [("", "")] * (lines - 3 - blank)
    return [
        [(f" {row}  ", "bold green"), (clip(note, _NOTE_CELLS), how), (" ", ""), (line, "green")]
        for row, (note, how), line in zip(rows, notes, sparkline(values, lines, glyphs), strict=True)
    ]


def requests(state: LiveState, width: int, glyphs: Glyphs) -> list[Part]:
    pulse, late = state.pulse, state.latencies()
    failed = pulse.get("requests_failed", 0)
    items: list[Item] = [
        _label("requests"),
        _pair("done", count(pulse.get("requests_done", 0))),
        _pair("failed", count(failed), "bold red" if failed else ""),
        _pair("TTFT p50", seconds(late.ttft_p50_s, glyphs.dash)),
        _pair("p95", seconds(late.ttft_p95_s, glyphs.dash)),
        _pair("E2EL p50", seconds(late.e2el_p50_s, glyphs.dash)),
        _pair("open", count(pulse.get("in_flight", 0))),
        (("last minute", "dim"),),
    ]
    return join(items, width)


def sessions(state: LiveState, width: int) -> list[Part]:
    slots = state.slots
    busy = sum(s.phase not in ("idle", "done") for s in slots)
    items: list[Item] = [
        _label("sessions"),
        _pair("busy", f"{busy}/{len(slots)}"),
        _pair("done", count(state.pulse.get("sessions_done", 0))),
    ]
    live = state.manifest.get("mode") == "live"
    if state.verified[True]:
        items.append(_pair("solved" if live else "verified", count(state.verified[True]), "green"))
    if state.verified[False]:
        words = ("not solved", "yellow") if live else ("check failed", "bold red")
        items.append(_pair(words[0], count(state.verified[False]), words[1]))
    decoding = sorted(s.tok_s for s in slots if s.phase == "decode")
    if decoding:
        items.append(_pair("tok/s/user p50", f"{decoding[len(decoding) // 2]:.1f}"))
    items.append(_pair("tools running", count(state.pulse.get("tools_running", 0))))
    return join(items, width)


def engine(gauges: Gauges, width: int, glyphs: Glyphs) -> list[Part]:
    if gauges.running is None and gauges.kv_share is None:
        why = f"no /metrics: {gauges.error}" if gauges.error else "no /metrics yet"
        label = _label("engine")
        return [*label, ("  ", ""), (clip(why, max(0, width - width_of(label) - 2), glyphs.more), "yellow")]
    late_s = gauges.late_s or 0.0
    known: list[tuple[str, str | None, str]] = [
        ("running", _maybe(gauges.running), ""),
        ("waiting", _maybe(gauges.waiting), "yellow" if gauges.waiting else ""),
        ("KV", percent(gauges.kv_share, ""), "yellow" if (gauges.kv_share or 0) > 0.9 else ""),
        ("hits", percent(gauges.hits, glyphs.dash), ""),
        ("accept", None if gauges.acceptance is None else f"{gauges.acceptance:.2f}", ""),
        ("backlog", _maybe(gauges.backlog), "yellow" if (gauges.backlog or 0) > 4 else ""),
        ("late", f"{1e3 * late_s:.0f} ms" if late_s > LAG_LIMIT_S else None, "bold yellow"),
        ("preempted", _maybe(gauges.preemptions) if gauges.preemptions else None, "yellow"),
    ]
    return join([_label("engine"), *(_pair(name, value, how) for name, value, how in known if value)], width)


def client(state: LiveState, gauges: Gauges, width: int) -> list[Part]:
    """The load generator's health, yellow past its limits and red far past them; and where the limit is now."""
    health = state.health()
    if health is None:
        return join([_label("client"), (("not measured yet", "dim"),)], width)
    lag_s, cpu = health
    lag_style = "" if lag_s <= LAG_LIMIT_S else "bold yellow" if lag_s <= 2.5 * LAG_LIMIT_S else "bold red"
    cpu_style = "" if cpu <= CPU_LIMIT else "bold yellow" if cpu <= 0.97 else "bold red"
    items = [
        _label("client"),
        _pair("loop lag", f"{lag_s * 1e3:.0f} ms", lag_style or "green"),
        _pair("CPU", percent(cpu), cpu_style or "green"),
    ]
    found = state.limit(gauges)
    if found is not None:
        where = found["where"]
        items.append(_pair("limit", WHO[where], _LIMIT_STYLE.get(where, "")))
        if where == CLIENT:
            items.append((("figures are the client's, not the engine's", "bold red"),))
        elif where not in (NONE, UNKNOWN):
            items.append(((found["reasons"][0], "dim"),))
    return join(items, width)


def _label(name: str) -> Item:
    return ((f" {name:<8}", "cyan"),)


def _pair(name: str, value: str, how: str = "") -> Item:
    return ((f"{name} ", "dim"), (value, how or "bold"))


def _maybe(value: int | None) -> str | None:
    return None if value is None else count(value)
