"""Where requests go on to, and what of their heads is changed on the way: the Host and the path before /v1."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from simulator.errors import UsageError

_HOST_LINE = re.compile(rb"(?<=\n)[Hh][Oo][Ss][Tt][ \t]*:[^\n]*?(?=\r?\n)")


@dataclass(frozen=True, slots=True)
class Upstream:
    """authority: for the Host field. prefix: path before the one that a client asks for, without a slash at its end."""

    host: str
    port: int
    tls: bool
    authority: str
    prefix: str

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.authority}{self.prefix}"

    def rewrite(self, head: bytes) -> bytes:
        """A request's head as the upstream must see it. Every other byte of it stays."""
        method, space, rest = head.partition(b" ")
        if self.prefix and rest.startswith(b"/"):
            head = method + space + self.prefix.encode("latin-1") + rest
        return _HOST_LINE.sub(b"Host: " + self.authority.encode("latin-1"), head, count=1)


def read_upstream(url: str) -> Upstream:
    """A trailing /v1 is the client's to send and is left out. Raises UsageError."""
    text = url if "://" in url else f"http://{url}"
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError as error:
        raise UsageError(f"--upstream: no URL ({error}); give one like http://127.0.0.1:8000") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError("--upstream: no http or https URL; give one like http://127.0.0.1:8000")
    if parts.username is not None or parts.query or parts.fragment:
        raise UsageError("--upstream: a URL without user, query and fragment; keys come from the clients themselves")
    tls = parts.scheme == "https"
    prefix = parts.path.rstrip("/").removesuffix("/v1")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    authority = host if port is None else f"{host}:{port}"
    return Upstream(parts.hostname, port or (443 if tls else 80), tls, authority, prefix)
