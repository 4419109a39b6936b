"""map.json: a grid as far as it has been measured; read again to go on with it, or to draw it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from simulator.core.grid import Cell, Shape
from simulator.core.versioned import first_fault, versioned
from simulator.errors import UsageError

SCHEMA = 1


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class _Cell(_Strict):
    input_tok: int
    output_tok: int
    cached: float
    at_once: int
    a: float | None
    b: float | None


class Mark(_Strict):
    """A run's own traffic. at_once: requests that it had open, mean; why: how its shape was taken."""

    run: str
    input_tok: int
    output_tok: int
    cached: float
    at_once: float
    why: str = ""

    @property
    def shape(self) -> Shape:
        return Shape(self.output_tok, self.cached, self.input_tok)


class GridFile(_Strict):
    """a, b: names of the engines; asked: what was asked for, as text, so that another question is told apart.
    virtual: in virtual time, of emulated engines. error:
    share within which two figures are the same; None when nobody has measured it."""

    schema_: int = SCHEMA
    a: str
    b: str
    emulated: bool
    virtual: bool = False
    random_weights: bool = False
    asked: str
    error: float | None = None
    mark: Mark | None = None
    measured: list[_Cell] = []

    @property
    def cells(self) -> list[Cell]:
        return [Cell(Shape(c.output_tok, c.cached, c.input_tok), c.at_once, c.a, c.b) for c in self.measured]

    def add(self, cell: Cell) -> None:
        shape = cell.shape
        self.measured.append(
            _Cell(
                input_tok=shape.input_tok,
                output_tok=shape.output_tok,
                cached=shape.cached,
                at_once=cell.at_once,
                a=cell.a,
                b=cell.b,
            )
        )

    def as_json(self) -> dict[str, Any]:
        raw = self.model_dump()
        marks = {"engine": "EMULATED"} if self.emulated else {}
        return {"schema": raw.pop("schema_"), **marks, **raw}


def parse(text: bytes, name: str) -> GridFile:
    """UsageError that names the file and the place when it is no grid of a version known here."""
    again, give = "restore it, or draw the map again in a new folder", "give the folder that `sim map` wrote"
    raw = versioned(text, name, SCHEMA, again=again, give=give)
    raw["schema_"] = raw.pop("schema")
    raw.pop("engine", None)
    try:
        return GridFile.model_validate(raw)
    except ValidationError as why:
        raise UsageError(f"{name}: {first_fault(why)}; restore it, or draw the map in a new folder") from None
