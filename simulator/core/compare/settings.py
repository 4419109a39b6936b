"""What differs between two engines' configurations: flags, environment, settings, and what the engine itself tells."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: flags that name a place or a draw and are no configuration
_PLACES = frozenset({"--port", "--host", "--served-model-name", "--uvicorn-log-level", "--seed"})
#: variables that say on which of several alike GPUs; a ladder on several lanes swaps them
_WHERE = frozenset({"CUDA_VISIBLE_DEVICES"})
#: what a scrape tells anew in each life of a server
_OF_A_LIFE = frozenset({"engine", "num_gpu_blocks_override"})
_SHORT = {"-tp": "--tensor-parallel-size", "-pp": "--pipeline-parallel-size", "-dp": "--data-parallel-size"}
ON = "on"


@dataclass(frozen=True, slots=True)
class Difference:
    """place: "flag", "environment", "setting" (of the embedded engine), "engine" (what it is) or "seen" (what it told
    of its cache when it was asked). left, right: None where that side does not have it."""

    place: str
    name: str
    left: str | None
    right: str | None


def differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Difference]:
    """a, b: `engine` of two manifests. In the order of the places, then as side A names them."""
    found: list[Difference] = []
    for place, left, right in (
        ("engine", _identity(a), _identity(b)),
        ("flag", flags(a.get("argv")), flags(b.get("argv"))),
        ("environment", _env(a), _env(b)),
        ("setting", _flat(a.get("settings")), _flat(b.get("settings"))),
        ("seen", _flat(a.get("cache_config")), _flat(b.get("cache_config"))),
    ):
        found += [
            Difference(place, name, left.get(name), right.get(name))
            for name in dict.fromkeys((*left, *right))
            if left.get(name) != right.get(name) and not (place == "seen" and name in _OF_A_LIFE)
        ]
    return found


def _identity(engine: Mapping[str, Any]) -> dict[str, str]:
    keys = ("config", "params", "version", "driver", "hardware", "replicas", "faults", "oracle")
    return _flat({key: engine[key] for key in keys if engine.get(key) is not None})


def _env(engine: Mapping[str, Any]) -> dict[str, str]:
    return {name: value for name, value in _flat(engine.get("env")).items() if name not in _WHERE}


def flags(argv: Any) -> dict[str, str]:
    """Of a command line: {"--max-num-seqs": "256"}; a flag without a value is "on", and "--no-x" is "--x": "off", as
    vLLM's parser takes them. JSON values are taken apart: {"--speculative-config.method": "mtp"}. What is no flag
    (the command, the model) is left out, as are port and names."""
    found: dict[str, str] = {}
    parts = [str(part) for part in argv] if isinstance(argv, Sequence) and not isinstance(argv, str) else []
    for name, value in _flags(parts):
        if name in _PLACES:
            continue
        if value is None and name.startswith("--no-"):
            found[f"--{name[5:]}"] = "off"
        else:
            found |= _value(name, value)
    return found


def _flags(parts: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    name: str | None = None
    value: list[str] = []
    for part in parts:
        if re.match(r"--?[A-Za-z]", part):
            if name is not None:
                yield name, " ".join(value) if value else None
            name, equals, after = part.partition("=")
            head, dot, key = name.partition(".")  # --speculative-config.method has its key in the name
            name = _SHORT.get(name, head.replace("_", "-") + dot + key)
            value = [after] if equals else []
        elif name is not None:
            value.append(part)
    if name is not None:
        yield name, " ".join(value) if value else None


def _value(name: str, value: str | None) -> dict[str, str]:
    if value is None:
        return {name: ON}
    if value.lstrip().startswith("{"):
        try:
            return _flat(json.loads(value), name)
        except ValueError:
            pass
    return {name: value}


def _flat(value: Any, prefix: str = "") -> dict[str, str]:
    """A nested mapping by dotted names; what is not set (None, or the engine's word for it) is left out."""
    if isinstance(value, Mapping):
        found: dict[str, str] = {}
        for key, each in value.items():
            found |= _flat(each, f"{prefix}.{key}" if prefix else str(key))
        return found
    text = {True: ON, False: "off"}[value] if isinstance(value, bool) else str(value)
    text = {"True": ON, "False": "off"}.get(text, text)
    return {} if value is None or text == "None" or not prefix else {prefix: text}
