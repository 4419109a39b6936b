"""Fields of a request's body that hold keys: gateways take them at its top, and inside of what they hand on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simulator.record import secrets

#: what agents say and what their tools look like, where such names are somebody's text
_TEXTS = "messages functions prompt input response_format structured_outputs guided_json tool_choice"
TEXTS = frozenset(_TEXTS.split())
#: of a tool, what says how it is called; a server's address and key may stand beside it
IN_TOOL = frozenset(("function", "parameters", "input_schema", "inputSchema", "description"))
#: a name without its marks that is one of these, or has one of the others in it or at its end
_ALONE = "key auth headers extraheaders defaultheaders cookie cookies sig bearer jwt pass passwd pwd"
_EXACT = frozenset(_ALONE.split())
_IN_NAME = ("apikey", "accesskey", "privatekey", "secret", "password", "passphrase", "credential", "authorization")
_AT_END = ("token", "authkey", "subscriptionkey", "virtualkey", "masterkey", "signature")
#: words of a tokenizer's
_NO_KEYS = frozenset(f"{each}token" for each in ("eos", "bos", "pad", "unk", "stop", "mask", "sep", "cls"))
DEEPEST = 64


def is_key(name: str) -> bool:
    flat = "".join(char for char in name.lower() if char.isalnum())
    if flat in _NO_KEYS:
        return False
    return flat in _EXACT or any(word in flat for word in _IN_NAME) or flat.endswith(_AT_END)


def without(body: Any) -> tuple[Any, list[str], set[str]]:
    """A request's body without the fields that hold keys, the places of those that were taken out, and the values
    that were in them. Numbers, true and null under such names stay."""
    gone: list[str] = []
    found: set[str] = set()
    made = _cleaned(body, "", gone, found, 0)
    return (made if gone else body), gone, secrets.worth(found)


def _cleaned(value: Any, place: str, gone: list[str], found: set[str], depth: int) -> Any:
    if depth > DEEPEST and isinstance(value, dict | list):
        gone.append(place)  # no request that anybody reads is so deep outside of its texts
        return None
    if isinstance(value, list):
        return [_cleaned(each, place, gone, found, depth + 1) for each in value]
    if not isinstance(value, dict):
        return value
    made: dict[str, Any] = {}
    for name, each in value.items():
        at = f"{place}.{name}" if place else name
        if (not place and name in TEXTS) or (place == "tools" and name in IN_TOOL):
            made[name] = each
        elif is_key(name) and isinstance(each, str | dict | list):
            gone.append(at)
            found.update(_strings(each, name))
        else:
            made[name] = _cleaned(each, at, gone, found, depth + 1)
    return made


def _strings(value: Any, name: str) -> Iterator[str]:
    """Texts below a field; of headers, those that are not harmless."""
    if isinstance(value, str):
        yield from secrets.parts(name.lower(), value)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each, name)
    elif isinstance(value, dict):
        for inner, each in value.items():
            if not secrets.is_harmless(inner.lower()):
                yield from _strings(each, inner)
