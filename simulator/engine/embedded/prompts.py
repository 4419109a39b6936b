"""From a request's messages to token counts and block hashes, without tokenising a long history again each turn.

Two memories, both bounded: token ids by message, and the state of the hash chain by message prefix. A turn that adds
600 tokens to a history of 100,000 hashes its raw messages once (xxh3), tokenises the new ones and hashes their blocks:
1.9 ms with the parsing of its 600 kB of JSON, 40 ms from nothing (`python tests/engine/embedded/bench_prompts.py`).

The template is core/template.py's, by which plans are counted as well.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import tiktoken
import xxhash

from simulator import tokenizer
from simulator.core.template import OPENING, render, render_tools
from simulator.engine.embedded.request import ID_BYTES, block_hash

IM_START, IM_END = 10, 11  # ids of the model family's turn markers
Ids = npt.NDArray[np.int32]
MAX_NODES = 100_000
MAX_TAIL_BYTES = 192_000_000  # of all nodes: a hybrid's blocks are large, so are the partial ones
MAX_CACHED_TOK = 64_000_000  # 256 MB of ids


@dataclass(frozen=True, slots=True)
class Prompt:
    """hashes: chained, of the full blocks; tail: int32 bytes of the rest, less than a block."""

    n_tok: int
    hashes: list[bytes]
    tail: bytes

    def fingerprint(self) -> bytes:
        return (self.hashes[-1] if self.hashes else b"") + self.tail


@dataclass(frozen=True, slots=True)
class _Node:
    """The chain after a message: what it added to the parent's."""

    parent: _Node | None
    n_tok: int
    added: tuple[bytes, ...]
    last: bytes
    tail: bytes

    def hashes(self) -> list[bytes]:
        parts = []
        node: _Node | None = self
        while node is not None:
            parts.append(node.added)
            node = node.parent
        return [each for part in reversed(parts) for each in part]


_ROOT = _Node(None, 0, (), b"", b"")


@dataclass(slots=True)
class Opened:
    """A request's messages, resolved as far as memory goes: `node` stands for messages[:known]; have: token ids of
    later messages that are known one by one; todo: (key, text) of the others."""

    chain_keys: list[bytes]
    message_keys: list[bytes]
    known: int
    node: _Node
    have: dict[bytes, Ids] = field(default_factory=dict)
    todo: list[tuple[bytes, str]] = field(default_factory=list)

    @property
    def todo_chars(self) -> int:
        return sum(len(text) for _key, text in self.todo)


def hashed(data: bytes, block_size: int, parent: bytes = b"") -> tuple[list[bytes], bytes]:
    """Chained hashes of the full blocks of token ids (int32 bytes) that follow `parent`, and what is left over."""
    size, hashes = block_size * ID_BYTES, []
    full = len(data) // size * size
    for start in range(0, full, size):
        parent = block_hash(parent, data[start : start + size])
        hashes.append(parent)
    return hashes, data[full:]


class Prompts:
    """Tokenises and hashes prompts. Used from one thread, except `tokenise`, which touches no shared state."""

    def __init__(self, block_size: int) -> None:
        self.block_size = block_size
        self._most_nodes = min(MAX_NODES, MAX_TAIL_BYTES * 2 // (block_size * ID_BYTES))  # half a block on average
        self._encoding: tiktoken.Encoding = tokenizer.load()
        self._nodes: OrderedDict[bytes, _Node] = OrderedDict()
        self._ids: OrderedDict[bytes, Ids] = OrderedDict()
        self._cached_tok = 0
        self._opening = self._marked(OPENING, end=False)

    def open(self, messages: Sequence[dict[str, Any]], tools: Sequence[Any] | None = None) -> Opened:
        """Finds the longest known prefix. `tools` counts as a first message."""
        parts: list[Any] = [{"role": "system", "tools": tools}, *messages] if tools else list(messages)
        message_keys = [xxhash.xxh3_128_digest(orjson.dumps(part)) for part in parts]
        chain_keys, key = [], b""
        for message_key in message_keys:
            key = xxhash.xxh3_128_digest(key + message_key)
            chain_keys.append(key)
        opened = Opened(chain_keys, message_keys, 0, _ROOT)
        for n in range(len(parts), 0, -1):
            node = self._nodes.get(chain_keys[n - 1])
            if node is not None:
                self._nodes.move_to_end(chain_keys[n - 1])
                opened.known, opened.node = n, node
                break
        for message_key, part in zip(message_keys[opened.known :], parts[opened.known :], strict=True):
            ids = self._ids.get(message_key)
            if ids is None:
                opened.todo.append((message_key, _shown(part)))
            else:
                self._ids.move_to_end(message_key)
                opened.have[message_key] = ids
        return opened

    def tokenise(self, todo: Sequence[tuple[bytes, str]]) -> list[tuple[bytes, Ids]]:
        return [(key, self._marked(text)) for key, text in todo]

    def finish(self, opened: Opened, tokenised: Sequence[tuple[bytes, Ids]], *, generation: bool = True) -> Prompt:
        """The prompt with the assistant's opening at its end; remembers what was new."""
        fresh = dict(tokenised)
        node = opened.node
        for n in range(opened.known, len(opened.chain_keys)):
            key = opened.message_keys[n]
            node = self._extend(node, fresh[key] if key in fresh else opened.have[key])
            self._nodes[opened.chain_keys[n]] = node
        for key, ids in fresh.items():
            self._remember(key, ids)
        while len(self._nodes) > self._most_nodes:
            self._nodes.popitem(last=False)
        end = self._extend(node, self._opening) if generation else node
        return Prompt(end.n_tok, end.hashes(), end.tail)

    def chat(self, messages: Sequence[dict[str, Any]], tools: Sequence[Any] | None = None) -> Prompt:
        opened = self.open(messages, tools)
        return self.finish(opened, self.tokenise(opened.todo))

    def text(self, text: str) -> Prompt:
        return self.ids(self._encoding.encode_ordinary(text))

    def ids(self, ids: Sequence[int]) -> Prompt:
        node = self._extend(_ROOT, np.asarray(ids, np.int32))
        return Prompt(node.n_tok, list(node.added), node.tail)

    def chat_ids(self, messages: Sequence[dict[str, Any]], tools: Sequence[Any] | None = None) -> list[int]:
        """The template's token ids, computed afresh."""
        parts: list[Any] = [{"role": "system", "tools": tools}, *messages] if tools else list(messages)
        return [int(i) for ids in [*(self._marked(_shown(part)) for part in parts), self._opening] for i in ids]

    def _marked(self, text: str, *, end: bool = True) -> Ids:
        ids = [IM_START, *self._encoding.encode_ordinary(text)]
        if end:
            ids += [IM_END, *self._encoding.encode_ordinary("\n")]
        return np.asarray(ids, np.int32)

    def _extend(self, node: _Node, ids: Ids) -> _Node:
        added, tail = hashed(node.tail + ids.tobytes(), self.block_size, node.last)
        last = added[-1] if added else node.last
        return _Node(node if node is not _ROOT else None, node.n_tok + len(ids), tuple(added), last, tail)

    def _remember(self, key: bytes, ids: Ids) -> None:
        if key not in self._ids:
            self._ids[key] = ids
            self._cached_tok += len(ids)
        while self._cached_tok > MAX_CACHED_TOK and len(self._ids) > 1:
            _key, old = self._ids.popitem(last=False)
            self._cached_tok -= len(old)


def _shown(message: dict[str, Any]) -> str:
    return render_tools(message["tools"]) if "tools" in message else render(message)
