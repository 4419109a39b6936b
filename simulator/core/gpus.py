"""Which GPUs an engine of a run has, out of the manifest's `engine`: what it does not say is None."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: flags of `vllm serve` that multiply its GPUs
_PARALLEL = (
    ("--tensor-parallel-size", "-tp"),
    ("--pipeline-parallel-size", "-pp"),
    ("--data-parallel-size", "-dp"),
)


def gpu_kind(engine: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """Which of `names` the engine runs on: by the driver's name of the GPU; of an emulated engine, by its hardware."""
    settings = engine.get("settings")
    hardware = settings.get("hardware") if isinstance(settings, Mapping) else None
    model = hardware.get("name") if isinstance(hardware, Mapping) else None
    told = [engine.get("gpu"), engine.get("hardware"), model]
    words = {word.lower() for each in told if each for word in re.findall(r"[A-Za-z]+\d+", str(each))}
    return next((name for name in names if name.lower() in words), None)


def gpu_count(engine: Mapping[str, Any]) -> int | None:
    """GPUs that it uses at once: tensor x pipeline x data parallel by its arguments, or an emulation's replicas."""
    replicas, argv = engine.get("replicas"), engine.get("argv")
    if isinstance(replicas, int) and replicas > 0:
        return replicas
    if not isinstance(argv, Sequence) or isinstance(argv, str):
        return None
    count = 1
    for flags in _PARALLEL:
        count *= _value([str(part) for part in argv], flags)
    return count


def _value(argv: Sequence[str], flags: Sequence[str]) -> int:
    """The last one given, as the engine's parser takes it; 1 when there is none."""
    found = 1
    for at, part in enumerate(argv):
        name, equals, value = part.partition("=")
        if name in flags:
            text = value if equals else argv[at + 1] if at + 1 < len(argv) else ""
            found = int(text) if text.isdigit() and int(text) > 0 else found
    return found
