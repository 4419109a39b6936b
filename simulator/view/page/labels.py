"""Where the names of a picture's points stand so that none covers another or a point, also on a phone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

#: pixels: what the points of a narrow screen's picture spread over, a letter, a line, a point with its margin
SPREAD = (220.0, 150.0)
LETTER, LINE, DOT = 6.2, 10.0, 6.0
#: place -> how a text mark stands there, the best first
PLACES: dict[str, dict[str, object]] = {
    "above": {"dy": -11, "align": "center"},
    "below": {"dy": 13, "align": "center"},
    "right": {"dx": 8, "align": "left"},
    "left": {"dx": -8, "align": "right"},
}
Box = tuple[float, float, float, float]


def places(named: Mapping[str, tuple[float, float]], points: Sequence[tuple[float, float]]) -> dict[str, str]:
    """Name -> one of PLACES; named: the point that a name stands at, in the units of the axes. Where no place is free
    the name is above its point."""
    if not points:
        return {}
    (left, width), (low, height) = (_span([p[n] for p in points]) for n in (0, 1))

    def pixel(point: tuple[float, float]) -> tuple[float, float]:
        return (point[0] - left) / width * SPREAD[0], (low + height - point[1]) / height * SPREAD[1]

    taken = [(x - DOT, y - DOT, x + DOT, y + DOT) for x, y in map(pixel, points)]
    found: dict[str, str] = {}
    for name, point in sorted(named.items(), key=lambda each: (each[1][1], each[0]), reverse=True):
        boxes = {place: _box(place, *pixel(point), LETTER * len(name)) for place in PLACES}
        free = (place for place, box in boxes.items() if _inside(box) and not any(_meet(box, each) for each in taken))
        found[name] = next(free, "above")
        taken.append(boxes[found[name]])
    return found


def _span(values: Sequence[float]) -> tuple[float, float]:
    return min(values), (max(values) - min(values)) or 1.0


def _box(place: str, x: float, y: float, wide: float) -> Box:
    half = LINE / 2
    match place:
        case "above":
            return x - wide / 2, y - 11 - half, x + wide / 2, y - 11 + half
        case "below":
            return x - wide / 2, y + 13 - half, x + wide / 2, y + 13 + half
        case "right":
            return x + 8, y - half, x + 8 + wide, y + half
        case _:
            return x - 8 - wide, y - half, x - 8, y + half


def _inside(box: Box) -> bool:
    """A picture has some room beside its outermost points."""
    return box[0] >= -40 and box[2] <= SPREAD[0] + 40


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
