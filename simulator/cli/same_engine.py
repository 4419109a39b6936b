"""Whether two runs met one engine: what the identities in their manifests tell apart, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

#: of an engine of our own, which is started anew for every run
OWN = (
    "kind", "model", "params_sha256", "resolved_sha256", "hardware", "settings", "virtual", "replicas", "config",
    "config_sha256", "version", "gpu", "driver",
)  # fmt: skip
#: of one behind an address: what it tells of itself. Its start tells a restart, after which settings may be others
TOLD = ("kind", "model", "base_url", "models", "version", "cache_config", "process_start_time_s")
STARTED = "process_start_time_s"
#: differences that are named; one would do
NAMED = 3


def differences(then: Mapping[str, Any], now: Mapping[str, Any], *, own: bool) -> list[str]:
    """A clause for each thing that differs, `settings.max_num_seqs 256 then, 128 now`; both identities as JSON has
    them. Empty: one engine, as far as it tells."""
    found: list[str] = []
    for key in OWN if own else TOLD:
        found += _differences(key, then.get(key), now.get(key))
    # a digest says less than the settings that it is of
    telling = [each for each in found if "_sha256 " not in each]
    return telling or found


def named(found: list[str]) -> str:
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return "; ".join(found[:NAMED]) + more


def provable(engine: Mapping[str, Any], *, own: bool) -> bool:
    """Whether equal identities mean the same engine: not when it does not tell when it started."""
    return own or engine.get(STARTED) is not None


def _differences(key: str, then: Any, now: Any) -> Iterator[str]:
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        for part in dict.fromkeys((*then, *now)):
            yield from _differences(f"{key}.{part}", then.get(part), now.get(part))
    elif then != now:
        yield f"{'started' if key == STARTED else key} {_said(key, then)} then, {_said(key, now)} now"


def _said(key: str, value: Any) -> str:
    if value is None or value in ({}, []):
        return "not told"
    if key == STARTED and isinstance(value, int | float):
        try:
            return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-4] + " UTC"
        except (OverflowError, ValueError, OSError):
            pass
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
