"""Replies of the reference server as bytes that are ready to be sent: one entry a chunk, made once for each kind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import orjson


@dataclass(frozen=True, slots=True)
class Kind:
    """What decides a reply's bytes. tok: tokens of the reply; chunk_tok: tokens a chunk; thought_tok: of them, at the
    beginning, reasoning. usage: "" | "last" | "every"."""

    chat: bool
    tok: int
    chunk_tok: int
    thought_tok: int
    usage: str
    prompt_tok: int
    model: str


@dataclass(frozen=True, slots=True)
class Frames:
    """opening: HTTP head and, for chat, the role chunk; it goes out with the first token. chunks: one HTTP chunk each;
    the last holds the end of the body too. counts: tokens in each."""

    opening: bytes
    chunks: tuple[bytes, ...]
    counts: tuple[int, ...]


HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)


def letters(first: int, count: int) -> str:
    """Tokens `first` and following: one letter each, as the reference tokenizer (vocabulary.py) has it."""
    return "".join(chr(97 + n % 26) for n in range(first, first + count))


def usage(kind: Kind, used: int) -> dict[str, object]:
    counts = {"prompt_tokens": kind.prompt_tok, "total_tokens": kind.prompt_tok + used, "completion_tokens": used}
    # as vLLM does, details with the last count only
    details = {"completion_tokens_details": {"reasoning_tokens": kind.thought_tok}}
    return counts | details if used == kind.tok else counts


def envelope(kind: Kind, *, chunk: bool) -> dict[str, object]:
    name = ("chat.completion.chunk" if chunk else "chat.completion") if kind.chat else "text_completion"
    return {"id": "cmpl-reference", "object": name, "created": 1, "model": kind.model}


def _chunk(event: object) -> bytes:
    body = b"data: " + (event if isinstance(event, bytes) else orjson.dumps(event)) + b"\n\n"
    return b"%x\r\n%b\r\n" % (len(body), body)


def _said(kind: Kind, before: int, count: int, finish: str | None) -> dict[str, object]:
    text = letters(before, count)
    if not kind.chat:
        return {"index": 0, "text": text, "logprobs": None, "finish_reason": finish}
    name = "reasoning" if before < kind.thought_tok else "content"
    return {"index": 0, "delta": {name: text}, "logprobs": None, "finish_reason": finish}


@lru_cache(maxsize=64)
def frames(kind: Kind) -> Frames:
    counts: list[int] = []
    while (done := sum(counts)) < kind.tok:
        # reasoning and answer never share a chunk
        edge = kind.thought_tok if kind.chat and done < kind.thought_tok else kind.tok
        counts.append(min(kind.chunk_tok, edge - done, kind.tok - done))
    head = envelope(kind, chunk=True)
    chunks, used = [], 0
    for n, count in enumerate(counts):
        finish = "length" if n == len(counts) - 1 else None
        event = {**head, "choices": [_said(kind, used, count, finish)]}
        used += count
        if kind.usage == "every":
            event["usage"] = usage(kind, used)
        chunks.append(_chunk(event))
    end = _chunk({**head, "choices": [], "usage": usage(kind, used)}) if kind.usage else b""
    chunks[-1] += end + _chunk(b"[DONE]") + b"0\r\n\r\n"
    role = {"index": 0, "delta": {"role": "assistant", "content": ""}, "logprobs": None, "finish_reason": None}
    opening = HEAD + (_chunk({**head, "choices": [role]}) if kind.chat else b"")
    return Frames(opening, tuple(chunks), tuple(counts))


def whole(kind: Kind) -> bytes:
    """The answer to a request that does not stream."""
    text, thought = letters(kind.thought_tok, kind.tok - kind.thought_tok), letters(0, kind.thought_tok)
    said: dict[str, object] = {"index": 0, "logprobs": None, "finish_reason": "length"}
    message = {"role": "assistant", "content": text, "reasoning": thought or None}
    said |= {"message": message} if kind.chat else {"text": letters(0, kind.tok)}
    return orjson.dumps({**envelope(kind, chunk=False), "choices": [said], "usage": usage(kind, kind.tok)})
