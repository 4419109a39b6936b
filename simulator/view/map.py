"""The answer of `sim map`: who is faster where, drawn for terminals and for pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rich.text import Text

from simulator.core.grid import NONE, TIE, A, B, Cell, Shape, Tally, boundary, nearest
from simulator.core.grid_file import GridFile
from simulator.view.cells import clean
from simulator.view.format import DASH, count, digits, percent
from simulator.view.identity import EMULATED, RANDOM_WEIGHTS
from simulator.view.sheet import Document, Sheet

#: winner -> a terminal's colours
STYLES = {"A": "black on blue", "B": "black on yellow", TIE: "", NONE: "dim"}
WIDTH = 7
#: same within so much where nobody has measured the model's error
SAME = 0.01


def error_of(grid: GridFile) -> float:
    return SAME if grid.error is None else max(grid.error, SAME)


def document(grid: GridFile, wanted: int) -> Document:
    """wanted: cells that were asked for; fewer may be there yet."""
    error, cells = error_of(grid), grid.cells
    badge = f"{EMULATED}, VIRTUAL TIME" if grid.virtual else EMULATED
    marks = (f"{badge}: not a GPU",) * grid.emulated + (RANDOM_WEIGHTS,) * grid.random_weights
    told = sentences(grid)
    headline = 1 + (_marked(grid) is not None)
    sheets = [Sheet("", tuple(told[:headline]), notes=tuple(told[headline:]))]
    for n, title in enumerate(("Prompts that nobody sent before", "Conversations, mostly cached")):
        group = [cell for cell in cells if bool(cell.shape.cached) == bool(n)]
        if group:
            sheets.append(_sheet(grid, group, error, title, f"map-{n}"))
    sheets.append(_figures(grid))
    left = (f"{len(cells)} of {wanted} cells so far; the same command goes on.",) if len(cells) < wanted else ()
    return Document(f"map: A = {grid.a}, B = {grid.b}", marks, tuple(sheets), (*left, *_notes(grid, error)))


def _order(cell: Cell) -> tuple[bool, Shape, int]:
    return bool(cell.shape.cached), cell.shape, cell.at_once


def sentences(grid: GridFile) -> list[str]:
    cells, error = grid.cells, error_of(grid)
    tally = Tally.of(cells, error)
    if not tally.n:
        return ["no cell has been measured that both engines or one can serve"]
    within = "the model's error of " if grid.virtual and grid.error is not None else ""
    found = [
        f"{grid.a} wins {percent(tally.a / tally.n, 2)} of the grid ({tally.a} of {tally.n} cells), {grid.b} "
        f"{percent(tally.b / tally.n, 2)}; {percent(tally.ties / tally.n, 2)} are ties, within "
        f"{within}{percent(error, 2)}"
    ]
    if (mine := _marked(grid)) is not None:
        found.append(f"your traffic ({mine.shape.told()}, {mine.at_once} at once): {_who(grid, mine, error)}")
    return found + [told for shape in sorted({cell.shape for cell in cells}) if (told := _row(grid, shape, error))]


def _row(grid: GridFile, shape: Shape, error: float) -> str | None:
    """Who leads up to where, of a row in which that changes."""
    row = sorted((cell for cell in grid.cells if cell.shape == shape), key=lambda cell: cell.at_once)
    changes = boundary(row, error)
    if not changes:
        return None
    names = {A: grid.a, B: grid.b, TIE: "a tie"}
    leaders = [next(cell for cell in row if cell.ratio).winner(error), *(leader for _, leader in changes)]
    parts = [f"{names[who]} up to {math.floor(at):,} at once" for who, (at, _) in zip(leaders, changes, strict=False)]
    return f"{shape.told()}: {', '.join(parts)}, then {names[leaders[-1]]}"


def _marked(grid: GridFile) -> Cell | None:
    """The cell of the user's own traffic."""
    if grid.mark is None:
        return None
    row = [cell for cell in grid.cells if cell.shape == grid.mark.shape]
    if not row:
        return None
    column = nearest([cell.at_once for cell in row], grid.mark.at_once)
    return next(cell for cell in row if cell.at_once == column)


def _who(grid: GridFile, cell: Cell, error: float) -> str:
    won = cell.winner(error)
    if won == NONE:
        return "neither can serve it"
    if cell.ratio is None:
        return f"{grid.a if won == A else grid.b} alone can serve it"
    ahead, by = (grid.a, cell.ratio) if cell.ratio > 1 else (grid.b, 1 / cell.ratio)
    told = f"{ahead} +{percent(by - 1, 2)}"
    return f"a tie ({told})" if won == TIE else told


def short(cell: Cell, error: float) -> str:
    """ "A+57", "B+8", "=A+2": the faster one and by how many percent; "-" where neither can serve it."""
    won = cell.winner(error)
    if cell.ratio is None:
        return DASH if won == NONE else f"{won} only"
    by = cell.ratio if cell.ratio > 1 else 1 / cell.ratio
    return f"{'=' if won == TIE else ''}{A if cell.ratio >= 1 else B}+{100 * (by - 1):.0f}"


def _sheet(grid: GridFile, cells: Sequence[Cell], error: float, title: str, name: str) -> Sheet:
    columns = sorted({cell.at_once for cell in grid.cells})
    rows = {shape: {c.at_once: c for c in cells if c.shape == shape} for shape in sorted({c.shape for c in cells})}
    mine = _marked(grid)
    width = max(len(shape.told()) for shape in rows) + 2
    lines = [Text(f"{'at once':<{width}}" + "".join(f"{each:>{WIDTH}}" for each in columns), style="dim")]
    for shape, row in rows.items():
        line = Text(f"{shape.told():<{width}}")
        for column in columns:
            cell = row.get(column)
            told = "" if cell is None else short(cell, error)
            told = f"[{told}]" if cell is not None and cell == mine else told
            line.append(f"{told:>{WIDTH}}", STYLES[cell.winner(error)] if cell is not None else "")
        lines.append(line)
    return Sheet(title, drawn=tuple(lines), chart=_chart(grid, cells, error, name))


def _label(shape: Shape) -> str:
    """For a picture that a phone shows."""
    return f"{shape.input_tok:,}/{shape.output_tok:,}{f' · {100 * shape.cached:.0f} %' if shape.cached else ''}"


def _chart(grid: GridFile, cells: Sequence[Cell], error: float, name: str) -> str:
    from simulator.view.page.charts import chart  # the bundle is for pages alone

    mine, values = _marked(grid), []
    for cell in cells:
        by = None if cell.ratio is None else 100 * (cell.ratio - 1 if cell.ratio > 1 else 1 - 1 / cell.ratio)
        values.append({
            "shape": _label(cell.shape), "at once": cell.at_once, "by": by, "told": short(cell, error),
            "who": _who(grid, cell, error), "A tok/s": cell.a, "B tok/s": cell.b, "mine": cell == mine,
            "tie": cell.winner(error) in (TIE, NONE),
        })  # fmt: skip
    order = [_label(shape) for shape in sorted({cell.shape for cell in cells})]
    most = max([30.0, *(abs(each["by"]) for each in values if isinstance(each["by"], float))])
    place = {
        "x": {"field": "at once", "type": "ordinal", "axis": {"labelAngle": 0, "title": "requests at once"}},
        "y": {"field": "shape", "type": "ordinal", "sort": order, "axis": {"title": None, "labelLimit": 240}},
    }
    colour: dict[str, Any] = {
        "condition": {"test": "datum.tie", "value": "--card"},
        "field": "by", "type": "quantitative", "legend": None,
        "scale": {"domain": [-most, 0, most], "range": ["--c2", "--paper", "--c1"], "interpolate": "rgb"},
    }  # fmt: skip
    tips = [{"field": each} for each in ("shape", "at once", "A tok/s", "B tok/s", "who")]
    for tip in tips[2:4]:
        tip |= {"format": ",.0f", "type": "quantitative"}
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "rect", "stroke": "--line", "fillOpacity": 0.6},
            "encoding": {**place, "color": colour, "tooltip": tips},
        },
        {
            "mark": {"type": "text", "fontSize": 11},
            "encoding": {**place, "text": {"field": "told"}, "color": {"value": "--ink"}},
        },
        {
            "transform": [{"filter": "datum.mine"}],
            "mark": {"type": "rect", "fill": None, "stroke": "--ink", "strokeWidth": 3},
            "encoding": place,
        },
    ]
    caption = (
        f"A (blue) is {clean(grid.a)}, B (orange) is {clean(grid.b)}: by how many percent it leads. Grey: ties."
        + (" The framed cell is your traffic." if mine in cells else "")
    )
    return chart({"data": {"values": values}, "layer": layers, "height": 34 * len(order)}, name, caption)


def _figures(grid: GridFile) -> Sheet:
    columns = sorted({cell.at_once for cell in grid.cells})
    known = {(cell.shape, cell.at_once): f"{digits(cell.a)} / {digits(cell.b)}" for cell in grid.cells}
    shapes = dict.fromkeys(cell.shape for cell in sorted(grid.cells, key=_order))
    rows = tuple((shape.told(), *(known.get((shape, n), "") for n in columns)) for shape in shapes)
    heads = ("prompt/reply", *(f"{n} at once" for n in columns))
    return Sheet("Output tok/s, A / B", heads=heads, rows=rows, detail=True)


def _notes(grid: GridFile, error: float) -> list[str]:
    found = [f"prompt/reply in tokens{_legend(grid, error)}."]
    if any(cell.shape.cached for cell in grid.cells):
        found.append(
            "Cached: conversations whose prompts grow from half to one and a half of that length, in as many turns as "
            "give that share to a perfect cache; what each engine finds of it is its own doing."
        )
    if grid.mark is not None and grid.mark.why:
        found.append(f"Your traffic is {clean(grid.mark.run)}: {grid.mark.why}")
    if grid.virtual:
        found.append(
            "Nobody has measured this hardware: ties are within 1 %, and the model's error is not known."
            if grid.error is None
            else f"Ties: the model's largest error on ratios of two engines, one not fitted to, is {percent(error, 2)}."
        )
    else:
        found.append("One measurement a cell and engine: a lead of a few percent is a suggestion.")
    return found


def _legend(grid: GridFile, error: float) -> str:
    """The marks that stand on this map, by the first cell of each."""
    lead, tie, only, neither, mine = (
        next((short(cell, error) for cell in grid.cells if is_one(cell)), None)
        for is_one in (
            lambda cell: cell.ratio and cell.winner(error) != TIE,
            lambda cell: cell.winner(error) == TIE,
            lambda cell: not cell.ratio and cell.winner(error) != NONE,
            lambda cell: cell.winner(error) == NONE,
            lambda cell: cell == _marked(grid),
        )
    )
    told = [f"{lead}: {lead[0]} makes {lead[2:]} % more output tokens a second"] if lead else []
    told += [f"{tie}: a tie, within the error"] if tie else []
    told += [f"{only}: the other cannot serve it"] if only else []
    told += [f"{neither}: neither can serve it"] if neither else []
    told += [f"[{mine}]: yours"] if mine else []
    return "".join(f"{'; ' if n else '. '}{each}" for n, each in enumerate(told))


def as_json(grid: GridFile) -> dict[str, Any]:
    error = error_of(grid)
    tally = Tally.of(grid.cells, error)
    return {
        **grid.as_json(),
        "ties_within": error,
        "wins": {"a": tally.a, "b": tally.b, "ties": tally.ties, "neither": tally.none},
        "sentences": sentences(grid),
        "boundary": [
            {"shape": shape.told(), "at_once": at, "above": {A: grid.a, B: grid.b, TIE: "tie"}[leader]}
            for shape in sorted({cell.shape for cell in grid.cells})
            for at, leader in boundary([cell for cell in grid.cells if cell.shape == shape], error)
        ],
    }


def progress(cell: Cell, nth: int, of: int) -> str:
    speeds = f"{digits(cell.a)} and {digits(cell.b)} tok/s"
    return f"{nth} of {of} cells: {cell.shape.told()}, {count(cell.at_once)} at once: {speeds}"
