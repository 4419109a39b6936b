"""How often and how fast each client sends again after an error, as measured against a loopback server.

classic: its HTTP library sends up to three times (0.45 s, 0.95 s apart); the provider repeats that on 429 after 1 and
2 s; the application repeats the whole after 2, 4 and 8 s. sdk: its library sends six times; nothing above it repeats.
Not measured, so taken from the nearest measured row: `refused` as 5xx, classic `malformed`, `bad_request` and a stream
cut before its first output as the application's own retries.

The wait before a timeout is noticed (300 s without headers in both clients) is the transport's, not part of a delay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from simulator.cline.profiles import profile
from simulator.core.record import ERRORS
from simulator.errors import UsageError

Change = Literal["", "truncate", "compact"]


@dataclass(frozen=True, slots=True)
class Retry:
    """delay_s: pause before the next send. change: what the client does to the history first.

    "truncate": classic drops message pairs; "compact": sdk replaces older messages by a note. Both are also decided at
    plan time for every request that would not fit the planned window; at run time overlay.py does them.
    """

    delay_s: float
    change: Change = ""


_LIBRARY = (Retry(0.45), Retry(0.95))
_APP = (Retry(2.0), Retry(4.0), Retry(8.0))


def _layered(inner: tuple[Retry, ...], outer: tuple[Retry, ...]) -> tuple[Retry, ...]:
    """inner, then for each pause of outer: that pause and inner again."""
    out = inner
    for pause in outer:
        out += (pause, *inner)
    return out


_TRUNCATE = (Retry(0.0, "truncate"),)
_CLASSIC: dict[str, tuple[Retry, ...]] = {
    "refused": _layered(_LIBRARY, _APP),
    "timeout": _layered((Retry(4.7), Retry(4.7)), _APP),  # resent 304.7 s after the first send
    "cut": _APP,  # before any output; after it, recovery.py has what came counted as a reply
    "malformed": _APP,
    "empty": _APP,
    "context_overflow": _layered(_TRUNCATE, _APP),
    "bad_request": _APP,
    "auth": (),
    "rate_limited": _layered(_layered(_LIBRARY, (Retry(1.0), Retry(2.0))), _APP),
    "server_error": _layered(_LIBRARY, _APP),
    "cancelled": (),
}
_SDK_LIBRARY = (Retry(2.5), Retry(4.0), Retry(8.0), Retry(16.0), Retry(32.0))
_SDK: dict[str, tuple[Retry, ...]] = {
    "refused": _SDK_LIBRARY,
    "timeout": (),
    "cut": (),
    "malformed": (),
    "empty": (Retry(0.25), Retry(0.25)),
    "context_overflow": (Retry(0.0, "compact"),),
    "bad_request": (),
    "auth": (),
    "rate_limited": _SDK_LIBRARY,
    "server_error": _SDK_LIBRARY,
    "cancelled": (),
}


def next_try(profile_name: str, error: str, tries: int) -> Retry | None:
    """What the client does after its `tries`-th send (1, 2, ...) of a request failed with `error` (core.record.ERRORS).
    None: it gives up."""
    if error not in ERRORS:
        raise UsageError(f"error kind {error!r} is unknown; use one of: {', '.join(ERRORS)}")
    if tries < 1:
        raise UsageError(f"tries counts sends already made, so it starts at 1, not {tries}")
    table = {"classic": _CLASSIC, "sdk": _SDK}[profile(profile_name).client]
    steps = table[error]
    return steps[tries - 1] if tries <= len(steps) else None
