"""Writing a run's records as CSV or Parquet. A file is there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv, parquet

from simulator.errors import UsageError
from simulator.store.arrow import schema

FORMATS = ("csv", "parquet")
#: rows that are written at once: a row group of Parquet
ROWS = 100_000
Put = Callable[[pa.RecordBatch], None]


@contextmanager
def writing(path: Path, form: str, what: str, marks: dict[str, str]) -> Iterator[Put]:
    """Takes batches with the columns of `what`. marks: key -> text in a Parquet file's own metadata. The file appears
    when all were taken. Raises UsageError where something is already."""
    if path.exists():
        raise UsageError(f"{path} is already there and is never overwritten; give another -o, or remove it")
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    columns = schema(what).with_metadata(marks)
    waiting: list[pa.RecordBatch] = []
    held = 0

    def flush(writer: Any) -> None:
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting).combine_chunks().replace_schema_metadata(marks))
            waiting.clear()

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _writer(beside, form, columns) as writer:

            def put(batch: pa.RecordBatch) -> None:
                nonlocal held
                waiting.append(batch)
                held += batch.num_rows
                if held >= ROWS:
                    flush(writer)
                    held = 0

            yield put
            flush(writer)
        os.replace(beside, path)
    except OSError as why:
        raise UsageError(f"cannot write {path}: {why.strerror or why}; free some space or give another -o") from None
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def _writer(path: Path, form: str, columns: pa.Schema) -> Any:
    if form == "parquet":
        return parquet.ParquetWriter(path, columns, compression="zstd")
    return csv.CSVWriter(path, columns)
