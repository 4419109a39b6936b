"""A vLLM plugin around two faults of vLLM 0.32 on CPUs; what goes over the wire is the same with and without it.

1. Prefix caching of a Mamba-2 model. The layer says that it can hand out the state at a block's boundary from inside a
   prefill; the CPU's scan returns the state at the end alone, so the layer stops with an index error. Said to have no
   such checkpoints, the scheduler ends its chunks at the boundaries instead, as it does for other state-space layers.
2. `seed` with a prefill in several chunks. The token sampled after an unfinished chunk is thrown away and the request's
   generator is set back by its offset, which CPU generators do not have. It is not shown the generators there; the
   draw that was thrown away then stays used up.
"""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from typing import Any


def register() -> None:
    from vllm.platforms import current_platform

    if current_platform.is_cpu():
        _no_states_within_a_prefill()
        _no_setting_back()


def _no_states_within_a_prefill() -> None:
    from vllm.model_executor.layers.mamba.mamba_mixer2 import MambaMixer2
    from vllm.v1.kv_cache_interface import MambaSpec

    told = MambaMixer2.get_kv_cache_spec
    if hasattr(told, "__wrapped__"):  # vLLM calls plugins in each of its processes, and in some more than once
        return

    @wraps(told)
    def get_kv_cache_spec(self: Any, vllm_config: Any) -> Any:
        spec = told(self, vllm_config)
        if not isinstance(spec, MambaSpec):
            return spec
        return replace(spec, num_prefill_checkpoint_blocks=0, prefill_checkpoint_alignment=None)

    MambaMixer2.get_kv_cache_spec = get_kv_cache_spec


def _no_setting_back() -> None:
    from vllm.v1.worker.gpu_model_runner import GPUModelRunner

    booked = GPUModelRunner._bookkeeping_sync
    if hasattr(booked, "__wrapped__"):
        return

    @wraps(booked)
    def _bookkeeping_sync(self: Any, *args: Any, **kwargs: Any) -> Any:
        batch = self.input_batch
        generators, batch.generators = batch.generators, {}
        try:
            return booked(self, *args, **kwargs)
        finally:
            batch.generators = generators

    GPUModelRunner._bookkeeping_sync = _bookkeeping_sync
