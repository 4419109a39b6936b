"""A reply token by token: which of them are reasoning, text, or a call's arguments to the client, and which only mark.

As a server with a tool parser streams it: a call's id and name come once the model has written the name, its arguments
in the pieces in which they are generated; the marks around calls and reasoning reach nobody.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson
import tiktoken
import xxhash

from simulator.core.solution import Said
from simulator.core.template import OPENING

Kind = Literal["mark", "reasoning", "content", "call", "arguments"]


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of what the model writes. call: its number, for kinds "call" (its opening) and "arguments"."""

    kind: Kind
    text: str
    call: int = 0


@dataclass(frozen=True, slots=True)
class Speech:
    """tokens: a token the (segment, text) pairs that it adds; marks add none. ids: of the calls."""

    said: Said
    segments: tuple[Segment, ...]
    tokens: tuple[tuple[tuple[int, str], ...], ...]
    ids: tuple[str, ...]

    def deltas(self, start: int, end: int) -> list[bytes]:
        """What a client is told of tokens [start, end), each an object of JSON; of one stretch in one."""
        runs: list[tuple[int, str]] = []
        for token in self.tokens[start:end]:
            for segment, text in token:
                if runs and runs[-1][0] == segment:
                    runs[-1] = segment, runs[-1][1] + text
                else:
                    runs.append((segment, text))
        return [orjson.dumps(d) for d in (self._delta(self.segments[n], text) for n, text in runs) if d is not None]

    def message(self, n_tok: int) -> dict[str, Any]:
        """The first n_tok tokens as one message."""
        texts: dict[tuple[Kind, int], str] = {}
        for token in self.tokens[:n_tok]:
            for number, text in token:
                segment = self.segments[number]
                texts[segment.kind, segment.call] = texts.get((segment.kind, segment.call), "") + text
        message: dict[str, Any] = {"role": "assistant", "content": texts.get(("content", 0)) or None}
        if ("reasoning", 0) in texts:
            message["reasoning_content"] = texts["reasoning", 0]
        named = [n for kind, n in texts if kind == "call"]
        message["tool_calls"] = [self._function(n, texts.get(("arguments", n), "")) for n in named]
        return message

    def _delta(self, segment: Segment, text: str) -> dict[str, Any] | None:
        match segment.kind:
            case "reasoning":
                return {"reasoning_content": text}
            case "content":
                return {"content": text}
            case "call":
                return {"tool_calls": [{"index": segment.call, **self._function(segment.call, "")}]}
            case "arguments":
                return {"tool_calls": [{"index": segment.call, "function": {"arguments": text}}]}
            case _:
                return None

    def _function(self, call: int, arguments: str) -> dict[str, Any]:
        function = {"name": self.said.calls[call][0], "arguments": arguments}
        return {"id": self.ids[call], "type": "function", "function": function}


def spoken(said: Said, encoding: tiktoken.Encoding, salt: bytes) -> tuple[Speech, list[int]]:
    """The speech, its end mark included, and the ids of its tokens without that. salt: what the calls' ids are drawn
    from."""
    segments = _segments(said)
    text = "".join(segment.text for segment in segments)
    opening = encoding.encode_ordinary(OPENING)
    ids = encoding.encode_ordinary(OPENING + text)
    # in a later prompt the reply stands behind the opening, and where the two share a token it is counted there
    ids = ids[len(opening) :] if ids[: len(opening)] == opening else encoding.encode_ordinary(text)
    pieces = [encoding.decode_single_token_bytes(i) for i in ids]
    keys = [xxhash.xxh3_128_hexdigest(salt + b"/%d" % n) for n in range(len(said.calls))]
    tokens = (*_spread(segments, pieces), ())
    return Speech(said, tuple(segments), tokens, tuple(f"chatcmpl-tool-{key}" for key in keys)), ids


def _segments(said: Said) -> list[Segment]:
    """As core/template.py writes a message."""
    out: list[Segment] = []
    if said.reasoning:
        out += [Segment("mark", "<think>\n"), Segment("reasoning", said.reasoning), Segment("mark", "\n</think>\n")]
    if said.content:
        out.append(Segment("content", said.content))
    for n, (name, arguments) in enumerate(said.calls):
        out.append(Segment("mark", "\n<tool_call>\n"))
        out.append(Segment("call", f'{{"name": {json.dumps(name)}, "arguments": ', n))
        out.append(Segment("arguments", _shown(arguments), n))
        out.append(Segment("mark", "}\n</tool_call>"))
    if said.after:
        out.append(Segment("content", said.after))
    return out


def _shown(arguments: str) -> str:
    try:
        return json.dumps(orjson.loads(arguments), ensure_ascii=False)
    except orjson.JSONDecodeError:
        return arguments


def _spread(segments: Sequence[Segment], pieces: Sequence[bytes]) -> list[tuple[tuple[int, str], ...]]:
    """Each token's bytes to the segments that they lie in. A character comes with its last byte."""
    ends, at = [], 0
    for segment in segments:
        at += len(segment.text.encode(errors="replace"))
        ends.append(at)
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    number, at = 0, 0
    out: list[tuple[tuple[int, str], ...]] = []
    for piece in pieces:
        parts: list[tuple[int, str]] = []
        while piece:
            room = ends[number] - at
            text = decoder.decode(piece[:room])
            at += min(room, len(piece))
            piece = piece[room:]
            # a call is told once its name is there, a mark never
            kind = segments[number].kind
            if at == ends[number] if kind == "call" else text and kind != "mark":
                parts.append((number, text))
            number += at == ends[number] and number < len(segments) - 1
        out.append(tuple(parts))
    return out
