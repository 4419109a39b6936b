"""What of a request is a key: it is known only to be taken out of everything that is written."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

REMOVED = "[removed]"
#: a dummy key such as "none" or "EMPTY" is a word that texts hold for other reasons
SHORTEST = 8
_FIELDS = ("authorization", "proxy-authorization", "cookie", "x-auth-token")
_IN_NAME = ("api-key", "apikey", "api_key", "secret", "token", "password", "credential", "signature")
#: keys of a body that some gateways take
BODY_KEYS = frozenset(
    {"api_key", "apikey", "api-key", "authorization", "extra_headers", "headers", "password", "secret"}
)
#: words in a name that make its value count tokens and no key
_COUNTS = ("max_", "_tokens", "tokens")


def is_secret_name(name: str) -> bool:
    lower = name.lower()
    return lower in _FIELDS or (any(word in lower for word in _IN_NAME) and not any(word in lower for word in _COUNTS))


def of_request(fields: Mapping[str, str], query: str) -> tuple[str, ...]:
    """Values of a request's head that must not be written, longest first."""
    found: set[str] = set()
    for name, value in fields.items():
        if is_secret_name(name):
            found |= _parts(name, value)
    for name, value in parse_qsl(query):
        if is_secret_name(name) or name.lower() in ("key", "sig", "auth"):
            found.add(value)
    return tuple(sorted((value for value in found if len(value) >= SHORTEST), key=len, reverse=True))


def _parts(name: str, value: str) -> set[str]:
    """A field's value, its part behind the scheme, a cookie's values, and what a Basic one says."""
    found = {value}
    if name == "cookie":
        return found | {part.partition("=")[2].strip() for part in value.split(";")}
    scheme, _, rest = value.partition(" ")
    if rest:
        found.add(rest.strip())
        if scheme.lower() == "basic":
            try:
                told = base64.b64decode(rest.strip(), validate=True).decode("utf-8")
            except (binascii.Error, UnicodeDecodeError):
                return found
            found |= {told, told.partition(":")[2]}
    return found


def scrub(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets, as they are and as JSON inside the text would have them."""
    for secret in secrets:
        for form in {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}:
            text = text.replace(form, REMOVED)
    return text


def scrubbed(value: Any, secrets: Sequence[str]) -> Any:
    """A JSON value without the secrets, keys and numbers included; itself where it holds none."""
    match value:
        case str():
            return scrub(value, secrets)
        case dict():
            return {scrub(str(key), secrets): scrubbed(each, secrets) for key, each in value.items()}
        case list():
            return [scrubbed(each, secrets) for each in value]
        case bool() | None:
            return value
        case _:
            return REMOVED if any(secret in str(value) for secret in secrets) else value


def without_keys(body: Any) -> tuple[Any, list[str]]:
    """A request's body without fields that carry keys, and the names of those that were taken out."""
    if not isinstance(body, dict):
        return body, []
    gone = [name for name in body if name.lower() in BODY_KEYS]
    return ({name: value for name, value in body.items() if name not in gone} if gone else body), gone
