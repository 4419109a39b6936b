"""HTTP/1.1 chunked transfer coding (RFC 9112, 7.1), taken off after a reply has closed: no reading waits for it.

A well-formed stream is what the transport's own parser has let pass; what is not is handed on as it is.
"""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=4096)
def _head(length: int) -> bytes:
    """The size line of a read of that length if it is one whole chunk; b"" when it cannot be one."""
    for digits in range(1, 9):
        size = length - digits - 4
        if size > 0 and len(b"%x" % size) == digits:
            return b"%x\r\n" % size
    return b""


def peel(reads: list[bytes], begin: int) -> int:
    """Takes the framing off, in place, from the reads `begin` and following, as long as each is whole chunks from its
    first byte to its last and none of them the last one of its body; the index of the first read that is not.

    Stricter than any parser: size lines with leading zeros or extensions are left alone."""
    at = begin
    try:
        for at in range(begin, len(reads)):
            read = reads[at]
            head = _head(len(read))
            if head and read.startswith(head) and read.endswith(b"\r\n"):
                reads[at] = read[len(head) : -2]
            else:
                reads[at] = _bodies(read)
    except ValueError:
        return at
    return len(reads)


def _bodies(read: bytes) -> bytes:
    """Of one read that is several whole chunks; ValueError when it is something else."""
    found, at = [], 0
    while at < len(read):
        mark = read.index(b"\r\n", at)
        line = read[at:mark]
        size = int(line, 16)
        end = mark + 2 + size
        if size <= 0 or b"%x" % size != line.lower() or read[end : end + 2] != b"\r\n":
            raise ValueError
        found.append(read[mark + 2 : end])
        at = end + 2
    return b"".join(found)


class Unframer:
    """`feed` the bytes of each socket read, get the body's bytes among them. ended: the last chunk has come."""

    __slots__ = ("_broken", "_crlf", "_left", "_rest", "ended")

    def __init__(self) -> None:
        self._rest = b""  # a size line that is not whole yet
        self._left = 0  # body bytes of the open chunk that are still to come
        self._crlf = False  # the line end behind a chunk is still to come
        self._broken = self.ended = False

    def feed(self, data: bytes) -> bytes:
        if not (self._rest or self._left or self._crlf or self._broken or self.ended):
            # what nearly every read is: one whole chunk
            mark = data.find(b"\r\n", 0, 10)
            if mark > 0:
                try:
                    size = int(data[:mark], 16)
                except ValueError:
                    size = 0
                if size > 0 and len(data) == mark + size + 4:
                    return data[mark + 2 : -2]
        return self._slowly(data)

    def _slowly(self, data: bytes) -> bytes:
        if self._broken:
            return data
        if self._rest:
            data, self._rest = self._rest + data, b""
        body: list[bytes] = []
        at, end = 0, len(data)
        while at < end and not self.ended:
            if self._left:
                piece = data[at : at + self._left]
                body.append(piece)
                at += len(piece)
                self._left -= len(piece)
                self._crlf = not self._left
            elif self._crlf:
                if end - at < 2:
                    break
                at, self._crlf = at + 2, False
            else:
                mark = data.find(b"\r\n", at)
                if mark < 0:
                    break
                try:
                    self._left = int(data[at:mark].partition(b";")[0], 16)
                except ValueError:
                    self._broken = True
                    return b"".join(body) + data[at:]
                at, self.ended = mark + 2, not self._left
        if not self.ended:
            self._rest = data[at:]
        return b"".join(body)
