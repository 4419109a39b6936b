"""What of a request's head is a secret: all that is not known to be harmless. It is known only to be taken out again.

Gateways invent names for keys faster than a list of them could grow, so the list here is of the other kind: fields and
parameters whose values tell nothing. Every other value is taken out of everything that is written.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from urllib.parse import unquote, unquote_plus

#: a dummy key such as "none" or "EMPTY" is a word that texts hold for other reasons
SHORTEST = 8
_HARMLESS = """
accept accept-charset accept-encoding accept-language cache-control connection content-encoding content-language
content-length content-type date dnt expect host http-referer if-modified-since if-none-match keep-alive origin pragma
priority range referer sec-fetch-dest sec-fetch-mode sec-fetch-site sec-fetch-user sec-gpc te traceparent tracestate
trailer transfer-encoding upgrade upgrade-insecure-requests user-agent via x-app x-b3-parentspanid x-b3-sampled
x-b3-spanid x-b3-traceid x-correlation-id x-forwarded-for x-forwarded-host x-forwarded-port x-forwarded-proto
x-request-id x-request-start x-requested-with x-title idempotency-key openai-beta anthropic-beta anthropic-version
x-client-name x-client-type x-client-version x-core-version x-is-multiroot x-platform x-platform-version x-task-id
x-max-tokens sec-ch-ua sec-ch-ua-mobile sec-ch-ua-platform
"""
HARMLESS = frozenset(_HARMLESS.split())
_HARMLESS_STARTS = ("x-stainless-",)
HARMLESS_PARAMETERS = frozenset(
    ("alt", "api-version", "beta", "format", "limit", "model", "stream", "timeout", "version")
)
#: in a name, they make words of letters alone secrets too where they are parts of its value
_TELLING = ("auth", "key", "secret", "token", "pass", "cred", "cookie", "sign", "cert", "licen")
#: a secret that is one of them, or a part, is a word of the protocol: without it no line could be read
_PROTOCOL = """
messages assistant developer function tool_calls tool_call_id arguments parameters properties description
additionalProperties response_format stream_options include_usage temperature frequency_penalty presence_penalty
repetition_penalty max_tokens max_completion_tokens parallel_tool_calls tool_choice reasoning reasoning_content
reasoning_effort choices finish_reason chat.completion text_completion prompt_tokens completion_tokens total_tokens
prompt_tokens_details cached_tokens logprobs top_logprobs image_url required cache_control ephemeral
"""
_WORDS = tuple(_PROTOCOL.split())
#: segments of a path after which a model or an account's public name comes
_NAMERS = ("deployments", "engines", "models")
_PLAIN_SEGMENT = re.compile(r"[a-z]+([-_.][a-z]+)*|v\d{1,2}(alpha|beta)?\d?")
_APART = re.compile(r"[\s,;]+")


def is_harmless(name: str, more: Collection[str] = ()) -> bool:
    """Of a header, in lower case. more: names that are harmless besides (those of sessions)."""
    return name in HARMLESS or name in more or name.startswith(_HARMLESS_STARTS)


def worth(values: Iterable[str]) -> set[str]:
    """Those that can be keys: of eight characters and more, and no word of the protocol."""
    return {each for each in values if len(each) >= SHORTEST and not any(each in word for word in _WORDS)}


def of_head(pairs: Iterable[tuple[str, str]], target: str, harmless: Collection[str] = ()) -> tuple[str, ...]:
    """Values of a request's head that must not be written, longest first. pairs: all its fields, names in lower case;
    target: as in its first line."""
    found: set[str] = set()
    for name, value in pairs:
        if not is_harmless(name, harmless):
            found.update(parts(name, value))
    found.update(_of_target(target))
    return tuple(sorted(worth(found), key=len, reverse=True))


def parts(name: str, value: str) -> Iterator[str]:
    """A field's value, what stands apart in it (behind a scheme, between commas, behind a =), what a Basic one says."""
    yield value
    if not value.isascii():  # heads are read as Latin-1, bodies as UTF-8
        with suppress(UnicodeError):
            yield value.encode("latin-1").decode("utf-8")
    telling = any(word in name for word in _TELLING)
    scheme, _, rest = value.partition(" ")
    if rest:
        yield rest.strip()
    for part in _APART.split(value):
        for each in (part, part.partition("=")[2]):
            plain = each.strip("\"'")
            if telling or not plain.isalpha():
                yield plain
    if scheme.lower() == "basic":
        try:
            told = base64.b64decode(rest.strip(), validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            return
        yield told
        yield told.partition(":")[2]


def _of_target(target: str) -> Iterator[str]:
    """Values of its query and what is behind a #, a user and a password before the host, and odd parts of the path."""
    target, _, query = target.partition("?")
    for parameter in re.split("[&;#]", query):
        name, mark, value = parameter.partition("=")
        if not mark:
            yield from _spelt(name)
        elif unquote(name).lower() not in HARMLESS_PARAMETERS:
            yield from _spelt(value)
    _, mark, rest = target.partition("://")
    path = rest if mark else target
    if mark:
        host, _, path = rest.partition("/")
        user, at, _ = host.rpartition("@")
        if at:
            yield from _spelt(user)
            for each in user.split(":", 1):
                yield from _spelt(each)
    before = ""
    for segment in path.split("/"):
        if before not in _NAMERS and not _PLAIN_SEGMENT.fullmatch(segment):
            yield from _spelt(segment)
        before = segment


def _spelt(value: str) -> tuple[str, str, str]:
    return value, unquote(value), unquote_plus(value)


#: of requests' paths, those that are told; what stands before them may be a key
_KNOWN_PATHS = """
/chat/completions /completions /embeddings /models /responses /messages /messages/count_tokens /rerank /score /pooling
/tokenize /detokenize /health /ping /metrics /version /load /server_info /audio/transcriptions /images/generations
/moderations /files /batches /api/tags /api/chat /api/generate /props /slots
"""
KNOWN_PATHS = tuple(sorted(_KNOWN_PATHS.split(), key=len, reverse=True))


def api_path(target: str) -> str:
    """The end of a path that is the API's, with /v1 where that is before it; "" when nothing of it is known."""
    path = re.split("[?#]", target, maxsplit=1)[0]
    known = next((each for each in KNOWN_PATHS if path.endswith(each)), "")
    return f"/v1{known}" if known and path.endswith(f"/v1{known}") else known
