"""Reading files in folders where anybody may have put anything: pipes, devices, files larger than the memory."""

from __future__ import annotations

import os
import stat
from pathlib import Path


class NotRegular(Exception):
    """A folder, pipe, socket or device, or a file over the limit. str() says which."""


def read_regular(path: Path, limit: int) -> bytes:
    """Content of a regular file of at most `limit` bytes; OSError or NotRegular. Never waits for the other end of a
    pipe."""
    # O_NONBLOCK: opening a pipe would wait for a writer; what was opened, not what was looked at, is then judged
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            raise NotRegular("This is a folder, not a file")
        if not stat.S_ISREG(found.st_mode):
            raise NotRegular("This is not a regular file")
        size = found.st_size
        if size > limit:
            raise NotRegular(f"The file is too large to read ({size / 1e6:.1f} MB, the limit is {limit / 1e6:g} MB)")
        return _read(descriptor, size)
    finally:
        os.close(descriptor)


def _read(descriptor: int, size: int) -> bytes:
    """As much as there is of the next `size` bytes: a file may have shrunk since, and one call gives 2 GB at most."""
    data = os.read(descriptor, size)
    while 0 < len(data) < size and (more := os.read(descriptor, size - len(data))):
        data += more
    return data
