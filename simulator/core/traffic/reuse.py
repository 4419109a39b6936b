"""How much of the prompts an engine could take from its prefix cache, at best and with a limited one.

A prompt's blocks are hits up to the first that the cache lacks. Only prompts are counted as cached, not replies, which
an engine keeps as well: what a reply's text saves the next prompt is not in these figures.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from simulator.core.traffic.call import Sent

#: block look-ups that a limited cache is simulated with; more of them are taken in groups
MOST_LOOKUPS = 6_000_000


@dataclass(frozen=True, slots=True)
class Reuse:
    """share: of all prompt tokens that were hits. kv_tok: size of the cache, None: unlimited. group: blocks that were
    looked up as one."""

    kv_tok: int | None
    share: float | None
    group: int = 1


def unlimited(calls: Sequence[Sent], block_tok: int) -> tuple[Reuse, int]:
    """And the tokens of all distinct blocks. What a branch has kept was seen before; of the rest, the leading blocks
    that any prompt had."""
    seen: set[int] = set()
    hits = total = 0
    for call in calls:
        leading = 0
        for block in call.fresh:
            if block not in seen:
                break
            leading += 1
        seen.update(call.fresh)
        hits += min(call.prompt_tok, (call.keep + leading) * block_tok)
        total += call.prompt_tok
    return Reuse(None, hits / total if total else None), len(seen) * block_tok


def limited(calls: Sequence[Sent], block_tok: int, kv_tok: int) -> Reuse:
    """A cache of kv_tok tokens that forgets what was used longest ago, of one prompt its end first."""
    lookups = sum(call.keep + len(call.fresh) for call in calls)
    group = max(1, -(-lookups // MOST_LOOKUPS))
    room = max(1, kv_tok // (block_tok * group))
    cache: OrderedDict[int, None] = OrderedDict()
    hits = total = 0
    for call, blocks in prompts(calls):
        named = blocks[group - 1 :: group]
        leading = 0
        for block in named:
            if block not in cache:
                break
            leading += 1
        for block in reversed(named):
            cache[block] = None
            cache.move_to_end(block)
        while len(cache) > room:
            cache.popitem(last=False)
        hits += min(call.prompt_tok, leading * group * block_tok)
        total += call.prompt_tok
    return Reuse(kv_tok, hits / total if total else None, group)


def prompts(calls: Sequence[Sent]) -> Iterator[tuple[Sent, list[int]]]:
    """Each call with all blocks of its prompt."""
    held: dict[tuple[str, int], list[int]] = {}
    for call in calls:
        key = call.session, call.branch
        blocks = held.get(key, [])
        del blocks[call.keep :]
        blocks.extend(call.fresh)
        held[key] = blocks
        yield call, blocks


def working_set(calls: Sequence[Sent], block_tok: int, span_s: float) -> tuple[float, int] | None:
    """Mean and largest number of tokens that distinct blocks of the prompts in a span have. None without times."""
    if not calls or any(call.at_s is None for call in calls):
        return None
    spans: dict[int, set[int]] = {}
    for call, blocks in prompts(calls):
        assert call.at_s is not None
        spans.setdefault(int(call.at_s // span_s), set()).update(blocks)
    sizes = [len(blocks) * block_tok for blocks in spans.values()]
    return sum(sizes) / len(sizes), max(sizes)
