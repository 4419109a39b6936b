"""A run's records as Arrow batches: types kept, None as null, and columns that say which run a row is of.

A batch is a few hundred rows, made from the lines as they are read, so that memory does not grow with the run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from simulator.core.record import Request, Session, ToolRun
from simulator.core.table import Text
from simulator.store.reader import Run
from simulator.store.writer import CHUNKS, ENGINE, RECORDS, SESSIONS, TOOLS

Field = dataclasses.Field[Any]
#: what can be exported -> the file that it comes from
SOURCES = {"requests": RECORDS, "tools": TOOLS, "sessions": SESSIONS, "engine": ENGINE, "chunks": CHUNKS}
_RECORDS: Mapping[str, type] = {"requests": Request, "tools": ToolRun, "sessions": Session}
#: of every row: which run it is of
IDENTITY = pa.schema(
    [
        ("run", pa.string()),
        ("label", pa.string()),
        ("scenario", pa.string()),
        ("seed", pa.int64()),
        ("engine_kind", pa.string()),
        ("random_weights", pa.bool_()),
        ("model", pa.string()),
        ("rung", pa.string()),
        ("pair", pa.int64()),
        ("concurrency", pa.int64()),
    ]
)
#: of requests: sent inside the measured window of their traffic, so that percentiles cover them
IN_WINDOW = pa.field("in_window", pa.bool_())
_OWN: Mapping[str, pa.Schema] = {
    "engine": pa.schema(
        [("t_s", pa.float64()), ("metric", pa.string()), ("value", pa.float64()), ("error", pa.string())]
    ),
    "chunks": pa.schema(
        [
            ("kind", pa.string()),
            ("session", pa.string()),
            ("request", pa.int64()),
            ("chunk", pa.int64()),
            ("t_s", pa.float64()),
            ("gap_s", pa.float64()),
            ("tok", pa.int64()),
        ]
    ),
}
#: a value of another kind, a field that is missing, a number past 64 bits
_MISFITS = (pa.ArrowException, TypeError, KeyError, OverflowError)
_TYPES = {"int": pa.int64(), "float": pa.float64(), "bool": pa.bool_(), "str": pa.string()}


@dataclass(frozen=True, slots=True)
class Identity:
    """The values of IDENTITY, of one run. rung, pair, concurrency: its place in a ladder, None of a run of its own;
    concurrency also None where the ladder has one level of load."""

    run: str
    label: str
    scenario: str
    seed: int | None
    engine_kind: str
    random_weights: bool | None
    model: str
    rung: str | None = None
    pair: int | None = None
    concurrency: int | None = None

    @classmethod
    def of(cls, name: str, manifest: Mapping[str, Any]) -> Identity:
        """engine_kind: "EMULATED", "real" or "unknown". random_weights None: the manifest does not say."""
        engine = manifest.get("engine")
        said: Mapping[str, Any] = engine if isinstance(engine, Mapping) else {}
        place = manifest.get("ladder")
        ladder: Mapping[str, Any] = place if isinstance(place, Mapping) else {}
        seed, random = manifest.get("seed"), said.get("random_weights")
        kind = said.get("kind")
        return cls(
            run=name,
            label=_text(manifest.get("label")),
            scenario=_text(manifest.get("scenario_name")),
            seed=_whole(seed),
            engine_kind={"emulated": "EMULATED", "real": "real"}.get(_text(kind), "unknown"),
            random_weights=random if isinstance(random, bool) else None,
            model=_text(said.get("model")),
            rung=_text(ladder.get("rung")) or None,
            pair=_whole(ladder.get("pair")),
            concurrency=_whole(ladder.get("concurrency")),
        )


def _whole(found: Any) -> int | None:
    return found if isinstance(found, int) and not isinstance(found, bool) and abs(found) < 2**63 else None


def _text(found: Any) -> str:
    return found if isinstance(found, str) else ""


def schema(what: str) -> pa.Schema:
    """Columns of an export, with the run's first."""
    own = _OWN[what] if what in _OWN else pa.schema([(f.name, _kind(f)) for f in _fields(_RECORDS[what])])
    return pa.schema([*IDENTITY, *own, *([IN_WINDOW] if what == "requests" else ())])


def batches(run: Run, what: str, who: Identity) -> Iterator[pa.RecordBatch]:
    """All rows of a run, in the order of its file. What cannot be read enters run.damage."""
    match what:
        case "engine":
            found = _engine(run)
        case "chunks":
            found = _chunks(run)
        case _:
            found = _records(run, SOURCES[what], _RECORDS[what])
    names = schema(what)
    for columns in found:
        n = len(columns[0])
        if n:
            yield pa.RecordBatch.from_arrays([*_repeated(who, n), *columns], schema=names)


def _repeated(who: Identity, n: int) -> list[pa.Array]:
    return [pa.repeat(pa.scalar(getattr(who, field.name), field.type), n) for field in IDENTITY]


def _fields(record: type) -> list[Field]:
    """Without what IDENTITY has already."""
    return [field for field in dataclasses.fields(record) if field.name not in IDENTITY.names]


def _kind(field: Field) -> pa.DataType:
    return _TYPES[str(field.type).partition(" ")[0]]


def _records(run: Run, name: str, record: type) -> Iterator[list[pa.Array]]:
    fields = _fields(record)
    pick = itemgetter(*(field.name for field in fields))
    windows = run.windows if record is Request else None
    for rows in run.rows(name):
        try:
            columns = _columns(list(map(pick, rows)), fields)
        except _MISFITS:
            good = [found for row in rows if (found := _checked(row, fields)) is not None]
            run.damage[name] = run.damage.get(name, 0) + len(rows) - len(good)
            columns = _columns(good, fields)
        yield columns if windows is None else [*columns, _inside(columns, fields, windows)]


def _columns(picked: Sequence[tuple[Any, ...]], fields: Sequence[Field]) -> list[pa.Array]:
    turned: Iterable[Sequence[Any]] = zip(*picked, strict=True) if picked else [()] * len(fields)
    return [pa.array(values, _kind(field)) for values, field in zip(turned, fields, strict=True)]


def _checked(row: Mapping[str, Any], fields: Sequence[Field]) -> tuple[Any, ...] | None:
    """A row's values, those that its version did not write by their defaults; None when it is no such record."""
    values = tuple(row.get(field.name, field.default) for field in fields)
    try:
        _columns([values], fields)
    except _MISFITS:
        return None
    return values


def _inside(
    columns: Sequence[pa.Array], fields: Sequence[Field], windows: Mapping[str, tuple[float, float]]
) -> pa.Array:
    """Without a stated window the whole run is one, but for the warm-up."""
    by_name = {field.name: column for field, column in zip(fields, columns, strict=True)}
    sent_s = compute.coalesce(by_name["t_sent_s"], by_name["t_call_s"]).to_numpy(zero_copy_only=False)
    kinds = by_name["kind"].to_numpy(zero_copy_only=False)
    inside = by_name["purpose"].to_numpy(zero_copy_only=False) != "warmup"
    for kind, (start_s, end_s) in windows.items():
        inside &= (kinds != kind) | ((sent_s >= start_s) & (sent_s < end_s))
    return pa.array(inside, pa.bool_())


def _engine(run: Run) -> Iterator[list[pa.Array]]:
    """A row a metric of a scrape; of a scrape that failed one row without a metric."""
    rows: list[tuple[float, str | None, float | None, str]] = []
    for sample in run.engine:
        if sample.error or not sample.values:
            rows.append((sample.t_s, None, None, sample.error))
        rows += [(sample.t_s, name, value, "") for name, value in sample.values.items()]
    yield [pa.array([row[n] for row in rows], field.type) for n, field in enumerate(_OWN["engine"])]


def _chunks(run: Run) -> Iterator[list[pa.Array]]:
    requests = run.requests
    every = np.ones(requests.n, dtype=np.bool_)
    texts: Mapping[str, Callable[[Any], pa.Array]] = {
        name: _picker(requests.text(name)) for name in ("kind", "session")
    }
    number = requests["request"].astype(np.int64)
    for slab in run.chunks.slabs(requests, every):
        starts = np.flatnonzero(slab.first)
        place = np.arange(len(slab.row)) - np.repeat(starts, np.diff(np.append(starts, len(slab.row))))
        yield [
            texts["kind"](slab.row),
            texts["session"](slab.row),
            pa.array(number[slab.row]),
            pa.array(place),
            pa.array(requests["t_sent_s"][slab.row] + slab.at_us * 1e-6),
            pa.array(slab.gap_us * 1e-6),
            pa.array(slab.tok),
        ]


def _picker(text: Text) -> Callable[[Any], pa.Array]:
    """Rows -> their texts."""
    names = pa.array(text.names, pa.string())
    return lambda rows: names.take(pa.array(text.codes[rows]))
