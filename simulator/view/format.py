"""How numbers look, in one place: three significant digits, a unit, and a dash for what is unknown."""

from __future__ import annotations

import math

from simulator.view.cells import clean

DASH = "–"


def digits(value: float | None, figures: int = 3) -> str:
    """Three significant digits (or `figures`) and no exponent; from a thousand on, all whole digits: 0.0412, 41.2,
    11,840."""
    if value is None or not math.isfinite(value):
        return DASH
    rounded = float(f"{value:.{figures - 1}e}")
    if abs(rounded) < 1e-9:
        return "0"
    if abs(rounded) >= 10**figures:
        return f"{value:,.0f}"
    return f"{rounded:,.{max(0, figures - 1 - math.floor(math.log10(abs(rounded))))}f}"


def count(value: float | None) -> str:
    return DASH if value is None or not math.isfinite(value) else f"{value:,.0f}"


def duration(value_s: float | None, figures: int = 3) -> str:
    """41.2 µs, 41.2 ms, 4.12 s, 2:05 min, 1:02:05 h; with more figures than three, seconds instead of minutes."""
    if value_s is None or not math.isfinite(value_s):
        return DASH
    size = abs(float(f"{value_s:.{figures - 1}e}"))
    if size < 1e-9:
        return "0 s"
    if size < 1e-3:
        return f"{digits(value_s * 1e6, figures)} µs"
    if size < 1:
        return f"{digits(value_s * 1e3, figures)} ms"
    if size < 100 or figures > 3:
        return f"{digits(value_s, figures)} s"
    minutes, seconds = divmod(round(value_s), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d} h" if hours else f"{minutes}:{seconds:02d} min"


def percent(share: float | None, figures: int = 3) -> str:
    """A share of 1 as per cent: 91.2 %."""
    if share is None or not math.isfinite(share):
        return DASH
    return f"{digits(100 * share, figures)} %"


def dollars(value_usd: float | None) -> str:
    """0.170 $, 12,400 $."""
    return DASH if value_usd is None or not math.isfinite(value_usd) else f"{digits(value_usd)} $"


def measure(value: float | None, unit: str, figures: int = 3) -> str:
    """A value in a metric's unit (core/metric.py)."""
    if value is None or not math.isfinite(value):
        return DASH
    match unit:
        case "s":
            return duration(value, figures)
        case "share":
            return percent(value, figures)
        case "":
            return digits(value, figures)
        case "x":
            return f"{digits(value, figures)}x"
        case _:
            return f"{digits(value, figures)} {unit}"


def against(value: float | None, limit: float, unit: str) -> str:
    """A value beside its limit, with as many more digits as it takes to see on which side it is."""
    for figures in range(3, 8):
        told = measure(value, unit, figures)
        if value == limit or told != measure(limit, unit, figures):
            break
    return told


def bar(share: float | None, width: int = 20) -> str:
    """A bar of block characters for a share of 1; anything above 0 shows."""
    if share is None or not math.isfinite(share) or share <= 0:
        return ""
    eighths = max(1, round(min(share, 1.0) * width * 8))
    return "█" * (eighths // 8) + "▏▎▍▌▋▊▉"[eighths % 8 - 1] * bool(eighths % 8)


def cell(text: object) -> str:
    """Text from a run as a cell of a Markdown table: one line, nothing in it is markup."""
    safe = clean(str(text))
    for mark in "\\`*[]<>|":
        safe = safe.replace(mark, f"\\{mark}")
    return safe
