"""What the emulated model says: words drawn by seed and prompt, decided whole on arrival, exact in tokens.

Every word is one token with its leading space, so a text of n of them tokenises to n tokens again.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

import numpy as np
import orjson
import xxhash

from simulator import tokenizer
from simulator.engine.embedded.brain.speech import Speech
from simulator.engine.embedded.config import Reply as ReplyParams
from simulator.engine.embedded.prompts import IM_END

PUNCTUATION_SHARE = 0.08


@dataclass(frozen=True, slots=True)
class Reply:
    """ids: int32 bytes, a token a piece. pieces: the text that each token adds, as the inside of a JSON string.
    finish: "stop", "length" or "tool_calls"; stop_reason: the stop string that was met. speech: what the tokens are to
    the client where they are more than text; `pieces` are empty then."""

    ids: bytes
    pieces: list[bytes]
    finish: str
    stop_reason: str | None = None
    speech: Speech | None = None

    @property
    def n_tok(self) -> int:
        return len(self.pieces)


@dataclass(frozen=True, slots=True)
class Limits:
    """max_tok: at most; min_tok: no end before; forced: no end of its own (`ignore_eos`); keep_stop: the stop string
    stays in the text."""

    max_tok: int
    min_tok: int = 0
    forced: bool = False
    stop: tuple[str, ...] = ()
    keep_stop: bool = False


class Replies:
    def __init__(self, params: ReplyParams, *, seed: int) -> None:
        self.params = params
        self.seed = seed
        encoding = tokenizer.load()
        words = resources.files("simulator.engine.embedded").joinpath("words.txt").read_text().split()
        encoded = [encoding.encode_ordinary(" " + word) for word in words]
        ids = sorted({each[0] for each in encoded if len(each) == 1})
        marks = [encoding.encode_single_token(b"."), encoding.encode_single_token(b",")]
        self._ids = np.asarray(ids + marks, np.int32)
        self._pieces = [encoding.decode_single_token_bytes(i) for i in ids + marks]
        self._n_words = len(ids)

    def draw(self, fingerprint: bytes, limits: Limits, *, request_seed: int = 0) -> Reply:
        """The same prompt, seed and limits give the same reply."""
        salt = b"%d %d " % (self.seed, request_seed)
        rng = np.random.Generator(np.random.PCG64(xxhash.xxh3_64_intdigest(salt + fingerprint)))
        drawn = int(self.params.median_tok * np.exp(self.params.sigma * rng.standard_normal()))
        own_end = max(limits.min_tok, 1, min(drawn, self.params.max_tok))
        ends = not limits.forced and own_end <= limits.max_tok
        n = own_end if ends else limits.max_tok
        choice = rng.integers(0, self._n_words, n)
        mark = rng.random(n) < PUNCTUATION_SHARE
        mark[0] = False
        mark[1:] &= ~mark[:-1]  # two marks side by side would be one token
        choice[mark] = rng.integers(self._n_words, len(self._ids), int(mark.sum()))
        ids = self._ids[choice]
        pieces = [self._pieces[i] for i in choice.tolist()]
        if ends:  # the end-of-turn token counts as output, as it does in vLLM, and has no text
            ids[-1] = IM_END
            pieces[-1] = b""
        reply = Reply(ids.tobytes(), pieces, "stop" if ends else "length")
        return cut_at_stop(reply, limits) if limits.stop else reply

    def exact(self, text: str, limits: Limits) -> Reply:
        """`text` token by token and an end, as structured output with a single choice forces it."""
        encoding = tokenizer.load()
        ids = [*encoding.encode_ordinary(text), IM_END]
        decoder = codecs.getincrementaldecoder("utf-8")()
        pieces = [orjson.dumps(decoder.decode(encoding.decode_single_token_bytes(i)))[1:-1] for i in ids[:-1]]
        pieces.append(b"")
        finish = "stop" if len(ids) <= limits.max_tok else "length"
        ids = ids[: limits.max_tok]
        return Reply(np.asarray(ids, np.int32).tobytes(), pieces[: limits.max_tok], finish)


def cut_at_stop(reply: Reply, limits: Limits) -> Reply:
    """Ends a reply of ASCII pieces at the first stop string that is complete after min_tok tokens."""
    ends = np.cumsum([len(piece) for piece in reply.pieces])
    text = b"".join(reply.pieces).decode()
    checked_from = int(ends[limits.min_tok - 1]) if limits.min_tok else 0
    best: tuple[int, int, str] | None = None  # end, start, stop
    for stop in limits.stop:
        start = text.find(stop, max(0, checked_from - len(stop) + 1))
        if start >= 0 and (best is None or start + len(stop) < best[0]):
            best = (start + len(stop), start, stop)
    if best is None:
        return reply
    end, start, stop = best
    n = int(np.searchsorted(ends, end)) + 1
    keep = end if limits.keep_stop else start
    pieces = [piece[: max(0, keep - int(ends[i]) + len(piece))] for i, piece in enumerate(reply.pieces[:n])]
    return Reply(reply.ids[: n * 4], pieces, "stop", stop)


def join_text(pieces: Sequence[bytes]) -> str:
    text: str = orjson.loads(b'"' + b"".join(pieces) + b'"')
    return text
