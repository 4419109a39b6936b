"""Everything that can go wrong for a user, as one small tree.

    SimError                 base: a sentence that names the place and the cure; `exit_code` is what `sim` returns
    ├── UsageError      (2)  bad arguments, scenario, folder or file
    │   └── NoCache          the cache folder cannot be used
    ├── EngineError     (3)  the endpoint or engine cannot be reached, started or believed
    ├── ClientLost      (3)  a process of the client died or hung in mid-run
    ├── CheckFailed     (1)  a regression, or a recorded solution that did not verify
    ├── Incomparable    (4)  two runs that must not be compared
    └── Interrupted   (130)  Ctrl-C before anything was measured

A failed request is no exception: it is a record with an `error` kind (core/record.py).
"""

from __future__ import annotations


class SimError(Exception):
    """Base of all errors shown to a user; str(error) is the whole message."""

    exit_code = 1


class UsageError(SimError):
    exit_code = 2


class NoCache(UsageError):
    """folder: below the cache. why: what the system said of it."""

    def __init__(self, folder: object, why: OSError) -> None:
        super().__init__(
            f"the cache folder {folder} cannot be used: {why.strerror}; make it one that you can write, or set "
            "XDG_CACHE_HOME to a folder that is"
        )


class EngineError(SimError):
    exit_code = 3


class ClientLost(SimError):
    exit_code = 3


class CheckFailed(SimError):
    exit_code = 1


class Incomparable(SimError):
    exit_code = 4


class Interrupted(SimError):
    exit_code = 130
