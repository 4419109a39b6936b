"""Times as other programs write them, as Unix seconds; None for what is none."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any


def millis(value: Any) -> float | None:
    """Milliseconds since 1970."""
    seconds = number(value)
    return None if seconds is None else seconds / 1000.0


def iso(value: Any) -> float | None:
    """ISO 8601; without a zone it is taken as UTC."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (OverflowError, ValueError, OSError):
        return None


def number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def lasted(value: Any) -> float | None:
    """A duration in seconds, rounded; None when it is none, or no duration at all."""
    found = number(value)
    return round(found, 6) if found is not None and 0 <= found <= 1e9 else None


def count(value: Any) -> int | None:
    """A number of tokens."""
    found = number(value)
    return int(found) if found is not None and 0 <= found <= 1_000_000_000 else None


def added(*values: Any) -> int | None:
    """Their sum, of those that are counts; None when none is."""
    found = [c for c in map(count, values) if c is not None]
    return sum(found) if found else None
