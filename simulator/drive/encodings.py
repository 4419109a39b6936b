"""File bytes to text and back, and names that are no text. Pure."""

from __future__ import annotations

import codecs
import re

UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
#: how much of a file without a mark is looked at
PROBED_BYTES = 8_000
_SURROGATE = re.compile("[\ud800-\udfff]")


def decode(data: bytes) -> tuple[str, str]:
    """(text, encoding). By a mark (UTF-8, UTF-16, UTF-32), by NUL bytes on every other place (UTF-16), then UTF-8 if it
    is valid, else cp1252, else Latin-1, which any bytes are."""
    if data.startswith(codecs.BOM_UTF8):
        return data.decode("utf-8-sig", errors="replace"), "utf-8-sig"
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return data.decode("utf-32", errors="replace"), "utf-32"
    if data.startswith(UTF16_MARKS):
        return data.decode("utf-16", errors="replace"), "utf-16"
    for encoding in (*_unmarked_utf16(data), "utf-8", "cp1252"):
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1"), "latin-1"


def is_binary(data: bytes) -> bool:
    """NUL bytes among the first 8,000 that no encoding of text explains."""
    if b"\0" not in data[:PROBED_BYTES] or data.startswith((codecs.BOM_UTF32_BE, *UTF16_MARKS)):
        return False
    return not _unmarked_utf16(data)


def _unmarked_utf16(data: bytes) -> tuple[str, ...]:
    """UTF-16 of mostly Western text has its NUL bytes in one of the two places, and nearly all of them."""
    head = data[: PROBED_BYTES // 2 * 2]
    if len(data) % 2 or len(head) < 4 or b"\0" not in head:
        return ()
    even, odd = head[::2].count(0), head[1::2].count(0)
    pairs = len(head) // 2
    if odd > 0.7 * pairs and not even:
        return ("utf-16-le",)
    return ("utf-16-be",) if even > 0.7 * pairs and not odd else ()


def clean(text: str) -> str:
    """Without lone surrogates, which neither JSON nor a tokenizer takes."""
    return _SURROGATE.sub("\ufffd", text)


def shown(name: str) -> str:
    """A file's name as a model is told it: bytes that are no UTF-8 become U+FFFD."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return clean(name)
    return name
