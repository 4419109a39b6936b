"""JSON files of ours that state a schema version: the door that ladder.json and a map's grid come in by."""

from __future__ import annotations

from typing import Any

import orjson
from pydantic import ValidationError

from simulator.errors import UsageError


def versioned(text: bytes, name: str, schema: int, *, again: str, give: str) -> dict[str, Any]:
    """The object of a file of a version known here; else UsageError. again, give: what to do instead, in words."""
    try:
        raw = orjson.loads(text)
    except orjson.JSONDecodeError as why:
        raise UsageError(f"{name} is not JSON ({why}); {again}") from None
    if not isinstance(raw, dict) or not isinstance(raw.get("schema"), int):
        raise UsageError(f"{name} states no schema version (`schema`); {give}")
    if raw["schema"] > schema:
        raise UsageError(
            f"{name} has schema {raw['schema']} and this version reads up to {schema}; upgrade agent-sim to read it"
        )
    return raw


def first_fault(why: ValidationError) -> str:
    """Place and reason of the first thing that a model objects to."""
    first = why.errors()[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
