"""Names beside a picture's points: none covers another, nor a point."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from simulator.view.page.labels import DOT, PLACES, SPREAD, places


def boxes(named: dict[str, tuple[float, float]], found: dict[str, str]) -> dict[str, tuple[float, float, float, float]]:
    """In pixels of a narrow picture whose axes are pixels already: letters of six, lines of ten."""
    out = {}
    for name, place in found.items():
        (x, y), wide, mark = named[name], 6 * len(name), PLACES[place]
        x, y = x + float(str(mark.get("dx", 0))), SPREAD[1] - y + float(str(mark.get("dy", 0)))
        start = {"center": x - wide / 2, "left": x, "right": x - wide}[str(mark["align"])]
        out[name] = (start, y - 5, start + wide, y + 5)
    return out


def meet(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


CORNERS = [(0.0, 0.0), SPREAD]


def test_neighbours_make_room() -> None:
    named = {"top": (150.0, 80.0), "mtp1": (157.0, 83.0), "async": (40.0, 120.0), "flashinfer": (42.0, 128.0)}
    found = places(named, [*named.values(), *CORNERS])
    drawn = boxes(named, found)
    assert not any(meet(drawn[a], drawn[b]) for a, b in combinations(named, 2)), found
    dots = [(x - DOT, SPREAD[1] - y - DOT, x + DOT, SPREAD[1] - y + DOT) for x, y in named.values()]
    assert not any(meet(box, dot) for box in drawn.values() for dot in dots), found


def test_a_name_alone_stands_above() -> None:
    assert places({"top": (7.0, 7.0)}, [(7.0, 7.0)]) == {"top": "above"} and places({}, []) == {}


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.tuples(st.floats(0, 220), st.floats(0, 150)), min_size=1))
def test_every_name_has_a_place_and_a_free_one_covers_nothing(named: dict[str, tuple[float, float]]) -> None:
    found = places(named, [*named.values(), *CORNERS])
    assert found.keys() == named.keys() and set(found.values()) <= PLACES.keys()
    drawn = boxes(named, found)
    for a, b in combinations(named, 2):
        assert not meet(drawn[a], drawn[b]) or "above" in (found[a], found[b])
