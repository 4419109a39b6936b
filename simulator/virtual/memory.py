"""Whether the GPU holds what agents keep: the blocks of their histories and states against those of the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.engine.embedded.config import EngineParams
from simulator.engine.embedded.cost import CostModel
from simulator.virtual.script import Script

GIB = 2**30


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes for KV and recurrent states. have_bytes: what the GPU has beside weights and activations; needed_bytes: all
    agents' histories at their mean length, as they must be held for each turn to find the last one; one_bytes: one
    request of max_model_len, without which the engine does not start."""

    have_bytes: float
    needed_bytes: float
    one_bytes: float

    @property
    def starts(self) -> bool:
        return self.one_bytes <= self.have_bytes

    @property
    def fits(self) -> bool:
        return self.starts and self.needed_bytes <= self.have_bytes

    def told(self) -> str:
        have, needed = f"{self.have_bytes / GIB:.1f}", f"{self.needed_bytes / GIB:.1f}"
        if not self.starts:
            return f"does not start: one request of max_model_len needs {self.one_bytes / GIB:.1f} GiB of {have} GiB"
        return f"fits: {needed} of {have} GiB" if self.fits else f"does not fit: {needed} of {have} GiB"


def memory(params: EngineParams, scripts: Sequence[Script], agents: int) -> Memory:
    """Of one engine with so many agents at once, who play these scripts."""
    layout = CostModel(params).layout
    mean_tok = int(sum(each.mean_tok for each in scripts) / len(scripts))
    return Memory(
        have_bytes=layout.n_blocks * layout.block_bytes,
        needed_bytes=agents * layout.most_blocks(mean_tok) * layout.block_bytes,
        one_bytes=layout.most_blocks(params.max_model_len + params.num_speculative_tokens) * layout.block_bytes,
    )
