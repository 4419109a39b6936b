"""Who leads where on a grid of shapes and requests at once."""

from __future__ import annotations

import math

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.grid import TIE, A, B, Cell, Shape, Tally, boundary, nearest, shapes
from simulator.core.grid_file import GridFile, parse
from simulator.errors import UsageError
from simulator.view.map import as_json, document, sentences, short
from simulator.view.sheet import markdown

SHAPE = Shape(512, 0.0, 4096)


def row(*pairs: tuple[float | None, float | None]) -> list[Cell]:
    """At 1, 4, 16, ... at once."""
    return [Cell(SHAPE, 4**n, a, b) for n, (a, b) in enumerate(pairs)]


@pytest.mark.parametrize(
    ("a", "b", "won", "told"),
    [
        (157.0, 100.0, A, "A+57"),
        (100.0, 108.0, B, "B+8"),
        (102.0, 100.0, TIE, "=A+2"),
        (100.0, 102.0, TIE, "=B+2"),
        (100.0, None, A, "A only"),
        (None, 100.0, B, "B only"),
        (None, None, "none", "–"),
    ],
)
def test_a_cells_winner(a: float | None, b: float | None, won: str, told: str) -> None:
    cell = Cell(SHAPE, 4, a, b)
    assert (cell.winner(0.05), short(cell, 0.05)) == (won, told)


@pytest.mark.parametrize(
    ("cells", "changes"),
    [
        (row((120, 100), (110, 100)), []),
        (row((120, 100), (100, 100)), [TIE]),
        (row((100, 100), (100, 120)), [B]),
        (row((120, 100), (100, 120)), [TIE, B]),
        (row((100, 120), (120, 100)), [TIE, A]),
        (row((120, 100), (None, 100), (100, 120)), [TIE, B]),
        (row((None, None)), []),
    ],
)
def test_where_the_lead_changes(cells: list[Cell], changes: list[str]) -> None:
    found = boundary(cells, 0.05)
    assert [who for _, who in found] == changes
    assert all(cells[0].at_once < at < cells[-1].at_once for at, _ in found)
    assert [at for at, _ in found] == sorted(at for at, _ in found)


def test_the_boundary_lies_between_by_the_logarithms() -> None:
    step = math.log1p(0.05)
    cells = [Cell(SHAPE, 1, math.exp(2 * step), 1.0), Cell(SHAPE, 16, math.exp(-2 * step), 1.0)]
    assert [at for at, _ in boundary(cells, 0.05)] == pytest.approx([2.0, 8.0])


speeds = st.floats(1, 1e5) | st.none()


@given(st.lists(st.tuples(speeds, speeds), min_size=1, max_size=6), st.floats(0.001, 0.3))
def test_every_cell_is_counted_once_and_a_row_ends_with_its_last_leader(
    pairs: list[tuple[float | None, float | None]], error: float
) -> None:
    cells = row(*pairs)
    tally = Tally.of(cells, error)
    assert tally.n + tally.none == len(cells)
    both = [cell for cell in cells if cell.ratio]
    if changes := boundary(cells, error):
        assert changes[-1][1] == both[-1].winner(error)
        assert both[0].winner(error) != changes[0][1]


def test_shapes_and_columns() -> None:
    assert [s.told() for s in shapes([512, 512, 4096], [64], [0.9, 0])] == [
        "512/64", "4,096/64", "512/64, 90 % cached", "4,096/64, 90 % cached",
    ]  # fmt: skip
    assert nearest([1, 4, 16, 64], 21.8) == 16 and nearest([1, 22], 21.8) == 22


def grid(error: float | None = 0.05) -> GridFile:
    made = GridFile(a="top", b="baseline", emulated=True, virtual=True, asked="x", error=error)
    for cell in row((150, 100), (100, 100), (None, 100)):
        made.add(cell)
    return made


def test_a_map_survives_its_file_and_says_what_it_is() -> None:
    made = grid()
    again = parse(orjson.dumps(made.as_json()), "map.json")
    assert again == made and as_json(made)["wins"] == {"a": 1, "b": 1, "ties": 1, "neither": 0}
    text = markdown(document(made, 4))
    assert "EMULATED" in text and "3 of 4 cells so far" in text and "A+50" in text
    assert sentences(made)[0].startswith("top wins 33 % of the grid (1 of 3 cells), baseline 33 %")
    assert "A+50: A makes 50 % more" in text and "=A+0: a tie" in text and "B only: the other cannot" in text
    assert "yours" not in text and "neither can" not in text, "marks that are not on the map are not explained"
    assert "top up to 3 at once, then a tie" in sentences(made)[1], "between 1 and 4, and no part of a request"
    assert "error is not known" in markdown(document(grid(None), 3))
    assert "no cell has been measured" in sentences(GridFile(a="a", b="b", emulated=False, asked=""))[0]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"", "is not JSON"),
        (b"{}", "no schema version"),
        (b'{"schema": 7}', "schema 7"),
        (b'{"schema": 1, "a": "x", "b": "y", "emulated": true, "asked": "", "cels": []}', "cels"),
    ],
)
def test_a_broken_map_is_one_sentence(text: bytes, told: str) -> None:
    with pytest.raises(UsageError, match=r"map\.json") as caught:
        parse(text, "map.json")
    assert told in str(caught.value) and "\n" not in str(caught.value)
