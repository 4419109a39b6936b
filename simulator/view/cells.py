"""Text that is safe and of a known width: every string of the live view passes through here before a terminal sees it.

A run folder holds names and messages that came from servers, tasks and files. They are data: control and formatting
characters are replaced, and rich's markup is never parsed (the view builds segments, not markup). Widths are terminal
cells. Numbers get shorter forms rather than being cut.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style

#: one piece of text with its style's definition ("" for plain)
Part = tuple[str, str]
#: pieces that stand or fall together when a line is too short
Item = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The characters beyond ASCII that the view draws with. levels: empty to full, for bars that grow upwards."""

    levels: str
    bar: str
    rest: str
    rule: str
    dot: str
    dash: str
    more: str
    big: bool


UNICODE = Glyphs(levels=" ▁▂▃▄▅▆▇█", bar="━", rest="─", rule="─", dot="·", dash="—", more="…", big=True)
ASCII = Glyphs(levels=" .:-=+*#@", bar="#", rest="-", rule="-", dot="|", dash="-", more="~", big=False)


@functools.lru_cache(maxsize=4096)
def clean(text: str) -> str:
    """`text` on one line without anything a terminal could obey: control, format and private characters become "?",
    white space a space; marks that would stack on a neighbour are dropped, so that widths stay predictable."""
    out = []
    for char in unicodedata.normalize("NFC", text[:2000]):
        kind = unicodedata.category(char)
        if char in "\t\n\r" or kind[0] == "Z":
            out.append(" ")
        elif kind[0] == "C":
            out.append("?")
        elif kind[0] != "M":
            out.append(char)
    return "".join(out)


def clip(text: str, width: int, more: str = "…") -> str:
    """Cleaned text in exactly `width` cells: padded, or shortened with `more` at its end."""
    text = clean(text)
    if width <= 0:
        return ""
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(text, width - 1) + more


def count(value: float, width: int = 9) -> str:
    """An amount in at most `width` cells (6 or more): 3,412, else 45.3k, 1.05M, 3.21G."""
    full = f"{value:,.0f}"
    if len(full) <= width:
        return full
    for unit, size in (("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)):
        if abs(value) < 999.5 * size:
            scaled = value / size
            digits = 2 if abs(scaled) < 9.995 else 1 if abs(scaled) < 99.95 else 0
            return f"{scaled:.{digits}f}{unit}"
    return f"{value:.0e}"


def rate(value: float) -> str:
    """Tokens a second of one session, at most 6 cells: 38.2, 412, 1,204."""
    return f"{value:.1f}" if value < 99.95 else count(value, 6)


def seconds(value: float | None, dash: str = "—") -> str:
    """A latency in at most 7 cells: 41 ms, 0.41 s, 12.3 s, 2:05, 1.5 h."""
    if value is None:
        return dash
    if value < 0.0995:
        return f"{value * 1e3:.0f} ms"
    if value < 99.95:
        return f"{value:.2f} s" if value < 9.995 else f"{value:.1f} s"
    return clock(value) if value < 3600 else f"{min(value / 3600, 999.9):.1f} h"


def clock(value_s: float) -> str:
    """A span of time: 0:42, 1:48, 1:02:03."""
    minutes, sec = divmod(max(0, int(value_s)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{sec:02d}" if hours else f"{minutes}:{sec:02d}"


def percent(share: float | None, dash: str = "—") -> str:
    return dash if share is None else f"{100 * share:.0f} %"


def width_of(item: Iterable[Part]) -> int:
    return sum(cell_len(text) for text, _ in item)


def join(items: Iterable[Item], width: int, gap: int = 2) -> list[Part]:
    """As many whole items, in order, as fit in `width`; one that does not fit is left out, never cut."""
    line: list[Part] = []
    used = 0
    for item in items:
        need = width_of(item) + (gap if line else 0)
        if used + need > width:
            continue
        if line:
            line.append((" " * gap, ""))
        line.extend(item)
        used += need
    return line


def spread(left: list[Part], right: list[Part], width: int) -> list[Part]:
    """`left`, room, `right` in `width` cells; `right` goes when both do not fit."""
    room = width - width_of(left) - width_of(right)
    if room < 1:
        return left
    return [*left, (" " * room, ""), *right]


@functools.lru_cache(maxsize=512)
def style(definition: str) -> Style:
    return Style.parse(definition)


def segments(parts: Iterable[Part], width: int, *, ascii_only: bool = False) -> list[Segment]:
    """The line as rich segments of exactly `width` cells. ascii_only: for terminals without UTF-8, "?" for the rest."""
    line = [
        Segment(ascii_text(text) if ascii_only else text, style(definition) if definition else None)
        for text, definition in parts
        if text
    ]
    return Segment.adjust_line_length(line, width)


def ascii_text(text: str) -> str:
    return text.encode("ascii", "replace").decode()
