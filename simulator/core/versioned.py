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
    stated = raw.get("schema") if isinstance(raw, dict) else None
    if not isinstance(stated, int) or isinstance(stated, bool) or stated < 1:
        raise UsageError(f"{name} states no schema version (`schema`); {give}")
    if stated > schema:
        raise UsageError(
            f"{name} has schema {stated} and this version reads up to {schema}; upgrade agent-sim to read it"
        )
    found: dict[str, Any] = raw
    return found


#: pydantic's kinds of "not such a thing", in a file's words
_SHAPES = {"model_type": "not an object", "dict_type": "not an object", "list_type": "not a list"}


def first_fault(why: ValidationError) -> str:
    """Place and reason of the first thing that a model objects to."""
    first = why.errors()[0]
    wanted = _SHAPES.get(first["type"])
    told = first["msg"].removeprefix("Value error, ") if wanted is None else f"it is `{first['input']!s:.80}`, {wanted}"
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {told}" if where else told
