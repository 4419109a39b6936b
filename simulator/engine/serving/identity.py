"""Who an engine is: what it was started with, and what it tells of itself, so that another one is never measured in its
name."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import aiohttp
import psutil

from simulator.engine.scrape import identify
from simulator.engine.serving.arguments import telling
from simulator.engine.serving.config import EngineConfig, cores
from simulator.engine.serving.gpu import Gpu
from simulator.engine.serving.process import Process

STARTED = "process_start_time_s"
#: what any server tells of itself, and what is known of a process of ours: at the end as at the start
TOLD = {STARTED, "version", "models", "cache_config"}
KEPT = ("pid", "pid_created_unix_s", *sorted(TOLD))


def describe(
    config: EngineConfig, command: Sequence[str], stated: Mapping[str, str], full: Mapping[str, str],
    found: Sequence[Gpu],
) -> dict[str, Any]:  # fmt: skip
    """The part of an identity that is known before it answers. stated: the environment that was set for it; full: all
    of it; found: the GPUs that it may use."""
    mine = used(config, found)
    names = [gpu.name for gpu in mine]
    same = len(set(names)) == 1
    return {
        "config": config.name,
        "config_file": str(config.source),
        "config_sha256": config.digest,
        "why": config.why,
        "argv": list(command),
        "env": telling(full, stated),
        "random_weights": config.random_weights,
        "gpu": None if not mine else f"{len(names)} x {names[0]}" if same and len(names) > 1 else ", ".join(names),
        "gpu_memory_mib": [gpu.total_mib for gpu in mine],
        "driver": mine[0].driver if mine else None,
        "cores": cores(),
    }


async def who(session: aiohttp.ClientSession, url: str, process: Process) -> dict[str, Any]:
    """What it tells of itself, its process's number and start included. EngineError when nothing answers."""
    told = await identify(session, url)
    created = None
    with contextlib.suppress(psutil.Error):
        created = psutil.Process(process.pid).create_time()
    kind = "emulated" if told["emulated"] else "real"
    return {**told, "kind": kind, "pid": process.pid, "pid_created_unix_s": created}


def differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """A clause for each thing that was told and is not told so now. A start that is not told, then or now, proves
    nothing."""
    found = []
    for key in KEPT:
        if key not in then or key not in now:
            continue
        before, after = then.get(key), now.get(key)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            parts = [part for part in before if before.get(part) != after.get(part)]
            found += [f"{key}.{part} {before.get(part)} then, {after.get(part)} now" for part in parts]
        elif before != after and (key != STARTED or None not in (before, after)):
            found.append(f"{key} {before} then, {after} now")
    return found


def unserved(asked: str, told: Mapping[str, Any]) -> str:
    """Why what it serves is not what its configuration says, a sentence; "" where it is."""
    names = [model["id"] for model in told["models"]]
    if asked in names:
        return ""
    return f"it serves {', '.join(names) or 'no model'} and not `{asked}`, as its configuration says; see `command`"


def used(config: EngineConfig, found: Sequence[Gpu]) -> list[Gpu]:
    """Of the GPUs that it may use, those that it takes."""
    sizes = (config.args.get(f"{each}-parallel-size", 1) for each in ("tensor", "pipeline", "data"))
    product = 1
    for size in sizes:
        product *= size if isinstance(size, int) else 1
    return list(found[:product])
