"""Opening files in folders where anybody may have put anything: a pipe waits for a writer, a device never ends."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import IO

from simulator.errors import UsageError


def open_regular(path: Path) -> IO[bytes]:
    """The file, to be read. OSError as for any file; UsageError when it is a folder, pipe, socket or device, and that
    without waiting for its other end."""
    kinds = stat.S_IFMT(path.stat().st_mode)
    if kinds == stat.S_IFREG:
        # what was looked at may have been exchanged since, so what was opened is judged
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return os.fdopen(descriptor, "rb")
        os.close(descriptor)
    raise UsageError(f"{path} is no regular file; restore it or remove it")


def read_regular(path: Path) -> bytes:
    """Its whole content; errors as above."""
    with open_regular(path) as file:
        return file.read()
