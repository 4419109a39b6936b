"""Reading files in folders where anybody may have put anything: pipes, devices, files larger than the memory."""

from __future__ import annotations

import os
import stat
from pathlib import Path


class NotRegular(Exception):
    """A folder, pipe, socket or device, or a file over the limit or (where that was asked) binary. str() says which."""


def read_regular(path: Path, limit: int, binary_within: int = 0) -> bytes:
    """Content of a regular file of at most `limit` bytes; OSError or NotRegular. Never waits for the other end of a
    pipe. binary_within: a file without a UTF-16 mark that has a NUL byte in so many first bytes is not read on, and
    only those bytes come back."""
    # O_NONBLOCK: opening a pipe would wait for a writer; what was opened, not what was looked at, is then judged
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            raise NotRegular("This is a folder, not a file")
        if not stat.S_ISREG(found.st_mode):
            raise NotRegular("This is not a regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            head = file.read(binary_within)
            if b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
                return head
            if found.st_size > limit:
                size, most = found.st_size / 1e6, limit / 1e6
                raise NotRegular(f"The file is too large to read ({size:.1f} MB, the limit is {most:g} MB)")
            return head + file.read(limit - len(head))  # no more, for it may have grown since
    finally:
        os.close(descriptor)
