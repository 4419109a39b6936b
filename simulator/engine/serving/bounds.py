"""Values that no engine takes, of the flags that our own estimates read. vLLM's parser knows types; what lies out of a
type's range it finds minutes later, or never. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from simulator.engine.serving.settings import Value

#: whole numbers from 1 on, and what one looks like
COUNTS = {
    "max-model-len": "131072",
    "max-num-seqs": "256",
    "max-num-batched-tokens": "8192",
    "tensor-parallel-size": "1",
    "pipeline-parallel-size": "1",
    "data-parallel-size": "1",
}
SHARE = "gpu-memory-utilization"
#: as many tokens as fit, for max-model-len
AUTO = (-1, "-1", "auto")
#: vLLM's suffixes: a small letter is of 1,000 and may follow a fraction, a capital one is of 1,024
_SUFFIXED = re.compile(r"(\d+(?:\.\d+)?)([kmgt])|(\d+)([KMGT])")


def whole(value: Any) -> int | None:
    """The whole number that a flag's value is for vLLM, `32k` and `32K` included; None when it is none."""
    if isinstance(value, int):
        return None if isinstance(value, bool) else value
    if not isinstance(value, str):
        return None
    if found := _SUFFIXED.fullmatch(value.strip()):
        if found[1]:
            return int(float(found[1]) * 1_000 ** ("kmgt".index(found[2]) + 1))
        return int(found[3]) * 1_024 ** ("KMGT".index(found[4]) + 1)
    try:
        return int(value)
    except ValueError:
        return None


def drafts(args: Mapping[str, Value]) -> int:
    """How many tokens are drafted a step; 0 where that is not stated, or is no number."""
    stated = args.get("speculative-config")
    return max(0, whole(stated.get("num_speculative_tokens")) or 0) if isinstance(stated, dict) else 0


def out_of_bounds(args: Mapping[str, Value]) -> list[str]:
    """A sentence for each value that cannot be."""
    return [*_counts(args), *_share(args), *_drafted(args)]


def _counts(args: Mapping[str, Value]) -> Iterator[str]:
    for name, example in COUNTS.items():
        value = args.get(name)
        if value is None or (name == "max-model-len" and value in AUTO):
            continue
        if (n := whole(value)) is None or n < 1:
            yield f"{name} is `{value!s:.60}`; it is a whole number from 1 on, such as {example}"


def _share(args: Mapping[str, Value]) -> Iterator[str]:
    value = args.get(SHARE)
    if value is None:
        return
    try:
        share = None if isinstance(value, bool | list | dict) else float(value)
    except ValueError:
        share = None
    if share is None or not 0 < share <= 1:
        yield f"{SHARE} is `{value!s:.60}`; it is a share of the GPU's memory above 0, at most 1, such as 0.92"


def _drafted(args: Mapping[str, Value]) -> Iterator[str]:
    stated = args.get("speculative-config")
    value = stated.get("num_speculative_tokens") if isinstance(stated, dict) else None
    if value is not None and ((n := whole(value)) is None or n < 1):
        yield f"num_speculative_tokens is `{value!s:.60}`; it is a whole number from 1 on; without drafts leave it out"
