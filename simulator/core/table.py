"""Records as columns, so that a million of them fold in NumPy instead of in Python objects.

Every number is float64 and None is NaN (integers are exact to 2**53, far past any offset or count here). Every text is
a code into a tuple of names, since the texts of records repeat. Lists and mappings inside a record have no column.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

#: texts that may never repeat: only so many different ones are kept, and the rest read as the last of them
FREE_TEXT = frozenset({"detail", "difference", "other_model"})
FREE_TEXT_KEPT = 256


@dataclass(frozen=True, slots=True)
class Text:
    """codes: int32 (n,), indices into `names`."""

    codes: NDArray[np.int32]
    names: tuple[str, ...]

    def among(self, *wanted: str) -> Mask:
        """True where the text is one of `wanted`; shape (n,)."""
        sought = frozenset(wanted)  # a group's sessions may be thousands
        hit = np.array([name in sought for name in self.names] or [False], dtype=np.bool_)
        return hit[self.codes] if len(self.codes) else np.zeros(0, dtype=np.bool_)

    def at(self, row: int) -> str:
        return self.names[int(self.codes[row])]


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of one record type, all of length `n`."""

    n: int
    numbers: Mapping[str, Floats]
    texts: Mapping[str, Text]

    def __getitem__(self, column: str) -> Floats:
        return self.numbers[column]

    def text(self, column: str) -> Text:
        return self.texts[column]

    def where(self, mask: Mask) -> Table:
        """The rows where `mask` (n,) is true, in order; itself when all are, since tables are never changed."""
        if mask.all():
            return self
        return Table(
            int(np.count_nonzero(mask)),
            {name: column[mask] for name, column in self.numbers.items()},
            {name: Text(text.codes[mask], text.names) for name, text in self.texts.items()},
        )

    def replace(self, **numbers: Floats) -> Table:
        """A copy with some number columns exchanged."""
        return Table(self.n, {**self.numbers, **numbers}, self.texts)


class _Names(dict[str, int]):
    """Text -> code, growing as new texts are met."""

    def __init__(self, limit: int | None) -> None:
        super().__init__()
        self.limit = limit

    def __missing__(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"expected a text, got {text!r}")
        if self.limit is not None and len(self) >= self.limit:
            return self.limit - 1
        self[text] = len(self)
        return self[text]


class Builder:
    """Collects JSON objects, a batch at a time, into the Table of a record dataclass."""

    def __init__(self, record: type) -> None:
        self._defaults: dict[str, Any] = {}
        self._numbers: dict[str, list[Floats]] = {}
        self._texts: dict[str, list[NDArray[np.int32]]] = {}
        self._names: dict[str, _Names] = {}
        for field in dataclasses.fields(record):
            kind = str(field.type)
            if kind.startswith(("list", "dict")):
                continue
            if kind.startswith("str"):
                self._texts[field.name] = []
                self._names[field.name] = _Names(FREE_TEXT_KEPT if field.name in FREE_TEXT else None)
                self._defaults[field.name] = ""
            else:
                self._numbers[field.name] = []
                self._defaults[field.name] = None
        self.columns = tuple(self._defaults)
        self._pick = itemgetter(*self.columns)

    def add(self, rows: Sequence[Mapping[str, Any]]) -> int:
        """Appends a batch; returns how many rows were not records of this type and were left out."""
        if not rows:
            return 0
        try:
            self._append(list(map(self._pick, rows)))
        except KeyError:
            return self._add_filled(rows)
        except (TypeError, ValueError):
            return self._add_slowly(rows)
        return 0

    def _add_filled(self, rows: Sequence[Mapping[str, Any]]) -> int:
        """Of an older version, whose rows lack newer fields."""
        try:
            self._append([self._pick({**self._defaults, **row}) for row in rows])
        except (TypeError, ValueError):
            return self._add_slowly(rows)
        return 0

    def _add_slowly(self, rows: Sequence[Mapping[str, Any]]) -> int:
        """Row by row: a damaged row must not cost its neighbours."""
        bad = 0
        for row in rows:
            try:
                self._append([tuple(row.get(name, default) for name, default in self._defaults.items())])
            except (AttributeError, TypeError, ValueError):
                bad += 1
        return bad

    def _append(self, picked: list[tuple[Any, ...]]) -> None:
        numbers: dict[str, Floats] = {}
        texts: dict[str, NDArray[np.int32]] = {}
        for name, values in zip(self.columns, zip(*picked, strict=True), strict=True):
            if name in self._numbers:
                numbers[name] = np.array(values, dtype=np.float64)
                if numbers[name].ndim != 1:
                    raise ValueError(f"{name} holds lists")
                if name.endswith("_tok") and (numbers[name] < 0).any():
                    raise ValueError(f"{name} is below zero")
            else:
                codes = map(self._names[name].__getitem__, values)
                texts[name] = np.fromiter(codes, dtype=np.int32, count=len(values))
        for name, column in numbers.items():
            self._numbers[name].append(column)
        for name, coded in texts.items():
            self._texts[name].append(coded)

    def build(self) -> Table:
        """The table so far. The builder's parts are given up, so that a million rows are not held twice."""
        numbers: dict[str, Floats] = {}
        for name, parts in self._numbers.items():
            numbers[name] = np.concatenate(parts) if parts else np.zeros(0)
            parts.clear()
        texts: dict[str, Text] = {}
        for name, coded in self._texts.items():
            codes = np.concatenate(coded) if coded else np.zeros(0, dtype=np.int32)
            texts[name] = Text(codes, tuple(self._names[name]))
            coded.clear()
        length = len(next(iter(numbers.values()))) if numbers else 0
        return Table(length, numbers, texts)


def table_of(record: type, rows: Sequence[Any]) -> Table:
    """Table of dataclass instances already in memory."""
    builder = Builder(record)
    builder.add([{name: getattr(row, name) for name in builder.columns} for row in rows])
    return builder.build()
