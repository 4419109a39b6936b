"""A scenario's text, and `--set` overrides, made into a checked Scenario; no file access.

A mistake is one sentence that names file, line, key and the nearest right spelling; overrides are checked the same way,
before anything starts.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from simulator.core.scenario import (
    Arrival,
    Endpoint,
    Live,
    Output,
    Recording,
    Scenario,
    Slo,
    Synthetic,
    SyntheticArrival,
    Think,
    Warmup,
)
from simulator.core.yaml_text import load_text, refuse_duplicates
from simulator.errors import UsageError


def parse(text: str, source: str, overrides: Sequence[str] = ()) -> Scenario:
    """text: YAML; source: its name for messages; overrides: "a.b.c=value", the value in YAML. Raises UsageError."""
    root, data = load_text(text, source)
    if not isinstance(data, dict):
        raise UsageError(f"{source}: a scenario is a mapping of keys to values; see scenarios/32_agents.yaml")
    refuse_duplicates(root, source)
    for override in overrides:
        _override(data, override)
    try:
        return Scenario.model_validate(data)
    except ValidationError as error:
        raise UsageError(_explain(error, source, root, data, overrides)) from None


def _override(data: dict[str, Any], override: str) -> None:
    key, sep, value = override.partition("=")
    if not sep or not key.strip():
        raise UsageError(f"--set {override}: write it as key=value, for example --set synthetic.requests=512")
    *path, last = key.strip().split(".")
    node: Any = data
    for part in path:
        node = node.setdefault(part, {}) if isinstance(node, dict) else None
        if node is None:
            node = {}
        if not isinstance(node, dict):
            raise UsageError(f"--set {override}: `{part}` is a single value here and has no keys below it")
    try:
        node[last] = yaml.safe_load(value)
    except (yaml.YAMLError, ValueError, KeyError, RecursionError):
        raise UsageError(f"--set {override}: `{value}` is not a valid YAML value") from None


def _line(root: yaml.Node | None, path: Sequence[str | int]) -> int | None:
    """1-based line of the deepest part of `path` that the file has."""
    line, node = None, root
    for part in path:
        if not isinstance(node, yaml.MappingNode):
            break
        found = [(k, v) for k, v in node.value if k.value == str(part)]
        if not found:
            break
        line, node = found[0][0].start_mark.line + 1, found[0][1]
    return line


def _model_at(path: Sequence[str | int]) -> type[BaseModel]:
    """The block that a key path leads into, for suggestions."""
    model: type[BaseModel] = Scenario
    below: Mapping[str, type[BaseModel]] = {
        "arrival": Arrival, "output": Output, "warmup": Warmup, "slo": Slo, "endpoint": Endpoint,
        "live": Live, "synthetic": Synthetic, "think": Think, "trace": Recording,
    }  # fmt: skip
    for part in path:
        found = below.get(str(part), model)
        model = SyntheticArrival if found is Arrival and model is Synthetic else found
    return model


def _explain(
    error: ValidationError, source: str, root: yaml.Node | None, data: dict[str, Any], overrides: Sequence[str]
) -> str:
    """All faults, a line each, the union branches that do not apply left out."""
    lines: list[str] = []
    for fault in error.errors(include_url=False):
        path = [part for part in fault["loc"] if _in_data(part, data) or part == fault["loc"][-1]]
        path = [p for p in path if p != "[key]"]
        key = ".".join(str(part) for part in path)
        line = _line(root, path)
        given = any(o.partition("=")[0].strip() == key for o in overrides)
        where = f"--set {key}" if given else f"{source}:{line}" if line else source
        lines.append(f"{where}: {_fault(dict(fault), key, path)}")
    return "\n".join(dict.fromkeys(lines))


def _in_data(part: str | int, data: Any) -> bool:
    if isinstance(data, dict):
        return part in data or any(_in_data(part, value) for value in data.values())
    return False


def _fault(fault: dict[str, Any], key: str, path: Sequence[str | int]) -> str:
    kind, message = fault["type"], fault["msg"]
    if kind == "extra_forbidden":
        known = list(_model_at(path[:-1]).model_fields)
        near = difflib.get_close_matches(str(path[-1]), known, n=1, cutoff=0.5)
        hint = f"did you mean `{near[0]}`?" if near else f"known keys here: {', '.join(known)}"
        return f"unknown key `{key}`; {hint}"
    if kind == "missing":
        return f"key `{key}` is missing"
    if kind == "value_error":
        return f"`{key}`: {fault['ctx']['error']}" if key else str(fault["ctx"]["error"])
    if kind == "literal_error":
        given = str(fault["input"])
        options = [o.strip("' ") for o in str(fault["ctx"]["expected"]).replace(" or ", ",").split(",")]
        near = difflib.get_close_matches(given, options, n=1, cutoff=0.4)
        hint = f"; did you mean `{near[0]}`?" if near else ""
        return f"`{key}` is `{given}`; it must be one of {', '.join(options)}{hint}"
    return f"`{key}` is `{fault['input']!s:.80}`; {message[0].lower()}{message[1:]}"
