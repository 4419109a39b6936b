"""Who and what a run was, out of its manifest; every fact may be missing."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from simulator.view.cells import clean

EMULATED = "EMULATED ENGINE"


def is_emulated(manifest: Mapping[str, Any]) -> bool:
    engine = manifest.get("engine")
    return isinstance(engine, Mapping) and engine.get("kind") == "emulated"


def is_virtual(manifest: Mapping[str, Any]) -> bool:
    """Whether it was played in virtual time: no client, no HTTP, no tools."""
    engine = manifest.get("engine")
    return isinstance(engine, Mapping) and engine.get("virtual") is True


def emulation(manifest: Mapping[str, Any]) -> str:
    """How an emulated run is marked."""
    return f"{EMULATED}, VIRTUAL TIME" if is_virtual(manifest) else EMULATED


def scenario_name(manifest: Mapping[str, Any]) -> str:
    scenario = manifest.get("scenario_name") or manifest.get("scenario")
    if isinstance(scenario, Mapping):
        scenario = scenario.get("name")
    return clean(str(scenario).partition("\n")[0]) if scenario else "run"


def title(manifest: Mapping[str, Any]) -> str:
    """Scenario, label and model."""
    engine = manifest.get("engine")
    model = engine.get("model") if isinstance(engine, Mapping) else None
    names = [scenario_name(manifest), *(clean(str(name)) for name in (manifest.get("label"), model) if name)]
    return " · ".join(names)


def synthetic_shape(manifest: Mapping[str, Any]) -> str:
    """ "512/512 x 256" as the scenario has it; "" when it does not say."""
    scenario = manifest.get("scenario")
    shape = scenario.get("synthetic") if isinstance(scenario, Mapping) else None
    if not isinstance(shape, Mapping) or not {"input_tok", "output_tok", "concurrency"} <= shape.keys():
        return ""
    return f"{shape['input_tok']}/{shape['output_tok']} x {shape['concurrency']}"


def command(manifest: Mapping[str, Any]) -> str:
    """The shell command that repeats the run; "" when it was not kept."""
    stated = manifest.get("command")
    if isinstance(stated, str):
        return clean(stated)
    return shlex.join(clean(str(part)) for part in stated) if isinstance(stated, list) else ""


def facts(value: Any, prefix: str = "") -> list[tuple[str, str]]:
    """A nested mapping as (dotted key, text) pairs, empty ones left out."""
    if not isinstance(value, Mapping):
        return [] if value in (None, "", []) else [(prefix, clean(str(value)))]
    return [fact for key, inner in value.items() for fact in facts(inner, f"{prefix}.{key}" if prefix else str(key))]
