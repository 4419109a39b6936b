"""A row of columns that shows how a rate went, and digits three lines high. Pure functions from numbers to strings."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.view.cells import Glyphs

#: 3 x 5 pixels a digit, row by row; the comma is one pixel wide
_FONT = {
    "0": "111101101101111",
    "1": "110010010010111",
    "2": "111001111100111",
    "3": "111001111001111",
    "4": "101101111001001",
    "5": "111100111001111",
    "6": "111100111101111",
    "7": "111001001001001",
    "8": "111101111101111",
    "9": "111101111001111",
    ",": "00011",
    "-": "000000111000000",
}
_COLUMN_S = (1.0, 2.0, 3.0, 4.0, 6.0)
#: (upper pixel, lower pixel) of a cell
_HALVES = {("0", "0"): " ", ("1", "0"): "▀", ("0", "1"): "▄", ("1", "1"): "█"}


def big(text: str) -> list[str]:
    """`text` (digits, commas, a minus) in three lines of equal width, two pixels a line."""
    rows = ["", "", ""]
    for char in text:
        pixels = _FONT[char]
        wide = len(pixels) // 5
        lines = [pixels[i : i + wide] for i in range(0, len(pixels), wide)] + ["0" * wide]
        for row in range(3):
            cells = zip(lines[2 * row], lines[2 * row + 1], strict=True)
            rows[row] += "".join(_HALVES[pair] for pair in cells) + " "
    return [row[:-1] for row in rows]


def sparkline(values: Sequence[float | None], height: int, glyphs: Glyphs) -> list[str]:
    """One column a value, `height` lines, top line first. The scale starts at 0 (a dip must not look like a collapse)
    and ends at the largest value; None (nothing known) leaves the column empty, a known 0 draws the lowest level."""
    top = max((v for v in values if v is not None), default=0.0)
    steps = len(glyphs.levels) - 1
    heights = [0 if v is None else 1 if top <= 0 else max(1, round(v / top * steps * height)) for v in values]
    return [
        "".join(glyphs.levels[min(steps, max(0, h - below * steps))] for h in heights)
        for below in reversed(range(height))
    ]


def grid(columns: int) -> float:
    """Seconds a column, such that `columns` of them show the last minute or more. Whole numbers, so that columns keep
    their contents as time goes."""
    return next((b for b in _COLUMN_S if b * columns >= 60), _COLUMN_S[-1])


def bar(share: float, width: int, glyphs: Glyphs) -> tuple[str, str]:
    """(filled, rest) of a horizontal bar, together `width` cells; any share above 0 fills at least one."""
    share = min(1.0, max(0.0, share))
    filled = min(width, max(round(share * width), 1 if share > 0 else 0))
    return glyphs.bar * filled, glyphs.rest * (width - filled)
