"""Engines that are slower than the shipped ones in one way: what is measured is then theirs, not the machine's."""

from __future__ import annotations

from pathlib import Path

import yaml

from simulator.engine.embedded.config import DEFAULT_PARAMS, PARAMS_DIR, read_extended


def engine_settings(
    folder: Path,
    of: Path = DEFAULT_PARAMS,
    *,
    slower: float = 1.0,
    front_end: dict[str, float] | None = None,
    **changes: object,
) -> Path:
    """The settings `of` but for `changes`, in a file of `folder`. slower: the GPU's speed is divided by it. front_end:
    keys of the hardware's front end."""
    settings = read_extended(of) | changes
    hardware = yaml.safe_load((PARAMS_DIR / settings["hardware"]).read_text())
    hardware["front_end"] |= front_end or {}
    for key in ("bandwidth_bytes_per_s", "flops_per_s"):
        hardware["gpu"][key] = float(hardware["gpu"][key]) / slower
    (folder / "hardware.yaml").write_text(yaml.safe_dump(hardware))
    (folder / "engine.yaml").write_text(yaml.safe_dump(settings | {"hardware": "hardware.yaml"}))
    return folder / "engine.yaml"
