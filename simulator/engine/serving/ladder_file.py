"""A ladder: engine configurations in the order in which they are tried, each with what it changes and why."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.engine.embedded.config import read_yaml, validate
from simulator.engine.serving.config import PAGE, EngineConfig, find_file, laid_over, over, read_layers, resolved
from simulator.engine.serving.settings import LadderFile, RungFile
from simulator.errors import UsageError


@dataclass(frozen=True, slots=True)
class Ladder:
    """scenario: what it is made for, "" for any."""

    source: Path
    scenario: str
    why: str
    rungs: tuple[EngineConfig, ...]

    def rung(self, name: str) -> EngineConfig:
        """UsageError with the nearest name."""
        names = [each.name for each in self.rungs]
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(names)}"
            raise UsageError(f"{self.source} has no rung {name}; {hint}")
        return self.rungs[names.index(name)]


def load_ladder(path: Path | str, environ: Mapping[str, str] | None = None, only: str | None = None) -> Ladder:
    """only: the ladder of this rung alone, if it has one of that name. Raises UsageError that names the file, the rung
    and the cure."""
    path = find_file(str(path))
    raw = read_yaml(path)
    if "rungs" not in raw:
        raise UsageError(f"{path} has no `rungs`, so it is no ladder; {PAGE} shows one")
    file = validate(LadderFile, raw, path, PAGE)
    layers: dict[str, dict[str, Any]] = {}
    rungs: list[EngineConfig] = []
    for rung in file.rungs:
        layers[rung.name] = _layer(rung, path, layers)
        if only in (None, rung.name) or all(each.name != only for each in file.rungs):
            rungs.append(resolved(rung.name, path, layers[rung.name], environ))
    return Ladder(path, file.scenario or "", file.why or "", tuple(rungs))


def _layer(rung: RungFile, path: Path, earlier: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    if rung.config is None and (below := earlier.get(rung.extends or "")) is not None:
        return over(below, rung.model_dump(exclude_unset=True, exclude={"extends", "name", "config"}))
    if rung.config is None:
        return laid_over(rung, path)
    near = path.parent / rung.config
    raw = read_layers(near if near.is_file() else find_file(rung.config))
    return raw if rung.why is None else {**raw, "why": rung.why}
