"""Who and what a run was, out of its manifest; every fact may be missing."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from simulator.core.wording import left_out
from simulator.view.cells import clean

EMULATED = "EMULATED ENGINE"
RANDOM = "RANDOM WEIGHTS"
SAID_OF_RANDOM = "kernels, memory and scheduling are real, what the model says is not"
RANDOM_WEIGHTS = f"{RANDOM}: {SAID_OF_RANDOM}"


def is_emulated(manifest: Mapping[str, Any]) -> bool:
    engine = manifest.get("engine")
    return isinstance(engine, Mapping) and engine.get("kind") == "emulated"


def is_virtual(manifest: Mapping[str, Any]) -> bool:
    """Whether it was played in virtual time: no client, no HTTP, no tools."""
    engine = manifest.get("engine")
    return isinstance(engine, Mapping) and engine.get("virtual") is True


def tools_carried_out(manifest: Mapping[str, Any]) -> bool:
    """Whether tools ran: not in virtual time, and not where a trace is played. Where they did not, no result is there
    that could differ from the recording or pass a check."""
    scenario = manifest.get("scenario")
    traced = isinstance(scenario, Mapping) and scenario.get("trace") is not None
    return not is_virtual(manifest) and not traced


def emulation(manifest: Mapping[str, Any]) -> str:
    """How an emulated run is marked."""
    if is_virtual(manifest):
        return f"{EMULATED}, VIRTUAL TIME"
    engine = manifest.get("engine")
    told = engine if isinstance(engine, Mapping) else {}
    faulty = ", FAULTS ON PURPOSE" if told.get("faults") else ""
    return EMULATED + faulty + (", SOLUTIONS FROM AN ORACLE" if told.get("oracle") is not None else "")


def is_random(manifest: Mapping[str, Any]) -> bool:
    """Whether the model's weights were random."""
    engine = manifest.get("engine")
    return isinstance(engine, Mapping) and engine.get("random_weights") is True


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
    """ "512/512 x 256" as the scenario has it, "512/512 at 20/s" in an open loop; "" when it does not say."""
    scenario = manifest.get("scenario")
    shape = scenario.get("synthetic") if isinstance(scenario, Mapping) else None
    if not isinstance(shape, Mapping) or not {"input_tok", "output_tok", "concurrency"} <= shape.keys():
        return ""
    size, arrival = f"{shape['input_tok']}/{shape['output_tok']}", shape.get("arrival")
    if isinstance(arrival, Mapping) and arrival.get("kind", "closed") != "closed":
        rate = arrival.get("requests_per_s")
        return f"{size} by {arrival['kind']}" if rate is None else f"{size} at {rate:g}/s"
    return f"{size} x {shape['concurrency']}"


def lacked(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """A sentence for each template that the run's machine could not play."""
    lacks = manifest.get("templates_left_out")
    if not isinstance(lacks, Mapping):
        return ()
    return tuple(clean(line) for line in left_out({str(name): str(why) for name, why in lacks.items()}))


def command(manifest: Mapping[str, Any]) -> str:
    """The shell command that repeats the run; "" when it was not kept."""
    stated = manifest.get("command")
    if isinstance(stated, str):
        return clean(stated)
    return shlex.join(clean(str(part)) for part in stated) if isinstance(stated, list) else ""


def facts(value: Any, prefix: str = "") -> list[tuple[str, str]]:
    """A nested mapping as (dotted key, text) pairs, what is not set left out. Of several mappings in a list each has
    its number in the key, from 1."""
    if isinstance(value, Mapping):
        inner = [(str(key), each) for key, each in value.items()]
    elif isinstance(value, list | tuple) and any(isinstance(each, Mapping | list | tuple) for each in value):
        inner = [(str(n) if len(value) > 1 else "", each) for n, each in enumerate(value, 1)]
    else:
        text = plain(value)
        return [(prefix, clean(text))] if text else []
    return [fact for key, each in inner for fact in facts(each, ".".join(part for part in (prefix, key) if part))]


def plain(value: Any) -> str:
    """A value as people write it: yes and no, lists with commas, "" for what is not set. Engines label their metrics
    with Python's own words for these, as texts."""
    if isinstance(value, list | tuple):
        return ", ".join(text for each in value if (text := plain(each)))
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return {"True": "yes", "False": "no", "None": "", "[]": "", "()": "", "{}": ""}.get(str(value), str(value))
