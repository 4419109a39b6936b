"""The GPUs of this machine as nvidia-smi tells; an empty list where there is none."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

ASKED = ("index", "uuid", "name", "driver_version", "memory.total", "memory.used", "compute_cap")
LIMIT_S = 20.0
#: what another process may come to hold meanwhile
SLACK_MIB = 1_024


@dataclass(frozen=True, slots=True)
class Gpu:
    """capability: (9, 0) is Hopper."""

    index: int
    uuid: str
    name: str
    driver: str
    total_mib: int
    used_mib: int
    capability: tuple[int, int]


async def gpus(env: Mapping[str, str]) -> list[Gpu]:
    """Those that a process with this environment may use, in its order."""
    try:
        process = await asyncio.create_subprocess_exec(
            "nvidia-smi", f"--query-gpu={','.join(ASKED)}", "--format=csv,noheader,nounits",
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
    except OSError:
        return []
    try:
        said, _ = await asyncio.wait_for(process.communicate(), LIMIT_S)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        return []
    return visible(parse(said.decode(errors="replace")), env.get("CUDA_VISIBLE_DEVICES"))


def parse(text: str) -> list[Gpu]:
    """nvidia-smi's lines; one that does not say all is left out."""
    found = []
    for line in text.splitlines():
        parts = [part.strip() for part in line.split(",")]
        with contextlib.suppress(ValueError, IndexError):
            major, _, minor = parts[6].partition(".")
            total, used = (int(float(part)) for part in parts[4:6])
            found.append(Gpu(int(parts[0]), parts[1], parts[2], parts[3], total, used, (int(major), int(minor or 0))))
    return found


def visible(found: Sequence[Gpu], chosen: str | None) -> list[Gpu]:
    """By CUDA_VISIBLE_DEVICES: numbers or the beginnings of UUIDs; nothing after the first that is unknown."""
    if chosen is None:
        return list(found)
    out: list[Gpu] = []
    for part in (each.strip() for each in chosen.split(",")):
        match = next(
            (g for g in found if part == str(g.index) or (part[:1].isalpha() and g.uuid.startswith(part))), None
        )
        if match is None:
            break
        out.append(match)
    return out


async def freed(before: Sequence[Gpu], env: Mapping[str, str], limit_s: float) -> int:
    """Waits until the GPUs' memory is about as free as before. MiB that are still held more than then, 0 when freed."""
    deadline = time.monotonic() + limit_s
    while True:
        used = {gpu.index: gpu.used_mib for gpu in await gpus(env)}
        held = max((used.get(gpu.index, 0) - gpu.used_mib for gpu in before), default=0)
        if held <= SLACK_MIB:
            return 0
        if time.monotonic() > deadline:
            return held
        await asyncio.sleep(0.5)
