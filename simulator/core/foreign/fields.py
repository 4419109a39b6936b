"""Values out of another tool's JSON: of the right kind, or None."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from simulator.errors import UsageError


def number(found: Any, scale: float = 1.0) -> float | None:
    """A finite number times scale; None for what is none."""
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        return None
    return found * scale


def whole(found: Any) -> int | None:
    value = number(found)
    return None if value is None or value != int(value) else int(value)


def mapping(found: Any) -> Mapping[str, Any]:
    return found if isinstance(found, Mapping) else {}


def needed(found: Any, name: str, source: str) -> float:
    """UsageError that names the field when it is not there."""
    value = number(found)
    if value is None:
        raise UsageError(f"{source} has no number `{name}`, which its tool writes; give the file as it was written")
    return value
