"""Local times as clients write them into prompts."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from simulator.errors import UsageError


def zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise UsageError(f"time zone {name!r} is unknown; use an IANA name such as Europe/Berlin or UTC") from None


def day(unix_s: float, tz_name: str) -> str:
    """e.g. `11/29/2026`."""
    t = datetime.fromtimestamp(unix_s, zone(tz_name))
    return f"{t.month}/{t.day}/{t.year}"


def moment(unix_s: float, tz_name: str) -> str:
    """e.g. `11/29/2026, 11:27:10 AM (Europe/Berlin, UTC+1:00)`."""
    t = datetime.fromtimestamp(unix_s, zone(tz_name))
    offset = t.utcoffset()
    minutes = int(offset.total_seconds()) // 60 if offset else 0
    shift = f"UTC{'-' if minutes < 0 else '+'}{abs(minutes) // 60}:{abs(minutes) % 60:02d}"
    return f"{day(unix_s, tz_name)}, {t.hour % 12 or 12}:{t:%M:%S %p} ({tz_name}, {shift})"
