"""Reading what an agent wrote. Check programs begin with this text, for they import nothing of ours."""

import errno
import os
import stat

LIMIT_BYTES = 50_000_000


def plain_file(path: str, *, own: bool = True) -> bytes:
    """Content of a file below the current folder that is itself what it is named: no symbolic link, on no way there
    either, no pipe, device or folder, and with `own` under no second name, where somebody else could write.
    OSError, whose strerror is a clause; never waits for the other end of a pipe."""
    name = os.path.normpath(path)
    if os.path.realpath(name) != f"{os.path.realpath('.')}/{name}":
        raise OSError(errno.ELOOP, "a link stands in its place", path)
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "no regular file", path)
        if own and found.st_nlink > 1:
            raise OSError(errno.EMLINK, "it has a second name, as a hard link", path)
        if found.st_size > LIMIT_BYTES:
            raise OSError(errno.EFBIG, "larger than 50 MB", path)
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(LIMIT_BYTES)
    finally:
        os.close(descriptor)
