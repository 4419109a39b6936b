"""An engine's configuration as it is started: a file of `serving/`, or a rung of a ladder, with what it extends."""

from __future__ import annotations

import difflib
import hashlib
import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from simulator.engine.embedded.config import (
    MOST_LAYERS,
    find_settings,
    load_params,
    merged,
    read_yaml,
    validate,
)
from simulator.engine.serving.arguments import filled, words
from simulator.engine.serving.bounds import AUTO, whole
from simulator.engine.serving.settings import ConfigFile, LadderFile, Value
from simulator.errors import UsageError

#: beside the package in a clone
SHIPPED = Path(__file__).resolve().parents[3] / "serving"
MODELS = SHIPPED / "models"
PAGE = "docs/serving.md"
READY_LIMIT_S = 900.0


@dataclass(frozen=True, slots=True)
class Model:
    """path: a folder or a hub's name; shape: a folder with a config.json only, of which a model of random weights is
    made. One of both is None, of the embedded engine both. served: the name that requests ask for."""

    path: str | None
    shape: Path | None
    tokenizer: str | None
    served: str


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """args: flags by name. argv: the command line but for the model, the address and the names, which a start adds.
    env: what is set beyond the inherited environment. params: settings of the embedded engine. digest: of all that
    decides how the engine works, ports and paths aside."""

    name: str
    source: Path
    engine: str
    command: tuple[str, ...]
    args: Mapping[str, Value]
    env: Mapping[str, str]
    model: Model
    why: str
    vllm: str
    params: Path | None
    ready_limit_s: float
    digest: str = field(default="")

    @property
    def argv(self) -> tuple[str, ...]:
        return (*self.command, *words(self.args))

    @property
    def random_weights(self) -> bool:
        return self.args.get("load-format") == "dummy"

    @property
    def embedded(self) -> bool:
        return self.engine == "embedded"

    @property
    def max_model_len(self) -> int | None:
        """The window in tokens, where it is stated."""
        if self.params is not None:
            return load_params(self.params).max_model_len
        stated = self.args.get("max-model-len")
        return None if stated in AUTO else whole(stated)


def load_config(named: str | Path, environ: Mapping[str, str] | None = None) -> EngineConfig:
    """A configuration by path, by its name below serving/ (`top`), or a ladder's rung (`serving/ladder.yaml:top`).
    environ: for `${NAME}`, by default this process's. Raises UsageError that names file, key and cure."""
    text = str(named)
    file, _, rung = text.rpartition(":")
    if file and not Path(text).exists():
        from simulator.engine.serving.ladder_file import load_ladder  # which reads its rungs with this module

        return load_ladder(find_file(file), environ, only=rung).rung(rung)
    path = find_file(text)
    if "rungs" in (raw := read_yaml(path)):
        first = validate(LadderFile, raw, path, PAGE).rungs[0].name
        raise UsageError(f"{path} is a ladder; name one of its rungs, such as {path}:{first}")
    return resolved(path.stem, path, read_layers(path), environ)


def find_file(named: str) -> Path:
    """A path, or a name below serving/ here or in the clone. UsageError with the nearest name."""
    path = Path(named)
    if path.is_file():
        return path
    places = (Path("serving"), SHIPPED)
    stem = path.stem if path.suffix in (".yaml", ".yml") else named
    found = {file.stem: file for place in reversed(places) for file in sorted(place.glob("*.yaml"))}
    if len(path.parts) == 1 and stem in found:
        return found[stem]
    near = difflib.get_close_matches(Path(stem).name, found, n=1)
    known = f"did you mean {near[0]}?" if near else f"serving/ has {', '.join(sorted(found)) or 'none'}"
    raise UsageError(f"{named}: no such engine configuration; {known}")


def read_layers(path: Path, seen: tuple[Path, ...] = ()) -> dict[str, Any]:
    """The keys of a file laid over those of the files that it extends. Each file is checked by itself, so that a
    mistake is told where it stands."""
    file = validate(ConfigFile, read_yaml(path), path, PAGE)
    return laid_over(file, path, seen)


def laid_over(file: ConfigFile, path: Path, seen: tuple[Path, ...] = ()) -> dict[str, Any]:
    """A checked file over what it extends."""
    own = file.model_dump(exclude_unset=True, exclude={"extends", "name", "config"})
    if file.extends is None:
        return own
    base = path.parent / file.extends
    if not base.is_file():
        base = find_file(file.extends)
    if base.resolve() in (each.resolve() for each in (*seen, path)):
        raise UsageError(f"{path}: extends {file.extends}, which extends this file again; end the circle")
    if len(seen) + 2 > MOST_LAYERS:
        raise UsageError(f"{path}: extends {file.extends} as more than the {MOST_LAYERS}th file; extend fewer")
    return over(read_layers(base, (*seen, path)), own)


def over(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """What a file says over what it extends: by key, also inside a flag's JSON; null takes a key away. A path takes the
    place of a shape and the other way round, and `why` is each file's own."""
    base = {key: value for key, value in base.items() if key != "why"}
    model = own.get("model") or {}
    if base.get("model") and (model.get("path") or model.get("shape")):
        base["model"] = {key: value for key, value in base["model"].items() if key not in ("path", "shape", "served")}
    return merged(base, own)


def resolved(name: str, path: Path, raw: dict[str, Any], environ: Mapping[str, str] | None = None) -> EngineConfig:
    """raw: the keys of all layers. Raises UsageError when something is missing."""
    known = {**(os.environ if environ is None else environ), "cores": str(cores())}
    raw = filled(_without_null(raw), known, str(path))
    engine = raw.get("engine", "vllm")
    if engine == "embedded":
        config = _embedded(name, path, raw)
    else:
        if raw.get("params"):
            raise UsageError(f"{path}: `params` are settings of the embedded engine; say `engine: embedded`, or args")
        config = _vllm(name, path, raw)
    return config


def cores() -> int:
    """That this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _embedded(name: str, path: Path, raw: dict[str, Any]) -> EngineConfig:
    given = [key for key in ("args", "model", "command", "vllm") if raw.get(key)]
    if given:
        raise UsageError(f"{path}: `{given[0]}` is vLLM's; the embedded engine's settings are a file: `params: top`")
    near = path.parent / raw.get("params", "top")
    params = near if near.is_file() else find_settings(raw.get("params", "top"), f"{path}: params")
    settings = load_params(params)
    env = {key: str(value) for key, value in raw.get("env", {}).items()}
    told = {"engine": "embedded", "params": settings.model_dump(mode="json"), "env": env}
    command = (sys.executable, "-m", "simulator.engine.embedded", "--params", str(params))
    return EngineConfig(
        name, path, "embedded", command, {}, env, Model(None, None, None, settings.model), raw.get("why", ""), "",
        params, float(raw.get("ready_limit_s", READY_LIMIT_S)), _digest(told),
    )  # fmt: skip


def _vllm(name: str, path: Path, raw: dict[str, Any]) -> EngineConfig:
    try:
        command = tuple(shlex.split(raw.get("command", "vllm serve")))
    except ValueError as error:
        raise UsageError(f"{path}: `command` is no shell command ({error}); write it like `vllm serve`") from None
    args, env = raw.get("args", {}), {key: str(value) for key, value in raw.get("env", {}).items()}
    model = _model(path, raw.get("model") or {})
    if model.shape is not None and args.get("load-format") != "dummy":
        raise UsageError(f"{path}: a shape has no weights; say `args: {{load-format: dummy}}`, or give `model.path`")
    shape = hashlib.sha256((model.shape / "config.json").read_bytes()).hexdigest() if model.shape else model.path
    told = {"engine": "vllm", "args": args, "env": env, "model": shape, "served": model.served}
    return EngineConfig(
        name, path, "vllm", command, args, env, model, raw.get("why", ""), raw.get("vllm", ""), None,
        float(raw.get("ready_limit_s", READY_LIMIT_S)), _digest(told),
    )  # fmt: skip


def _model(path: Path, raw: Mapping[str, Any]) -> Model:
    if raw.get("path"):
        return Model(raw["path"], None, raw.get("tokenizer"), raw.get("served") or Path(raw["path"]).name)
    if not raw.get("shape"):
        raise UsageError(f"{path}: say which model: `model: {{path: ...}}`, or `model: {{shape: ...}}` for its shape")
    named = str(raw["shape"])
    places = [path.parent / "models" / named, path.parent / named, Path("serving/models") / named, MODELS / named]
    found = next((place for place in places if (place / "config.json").is_file()), None)
    if found is None:
        shipped = sorted(each.parent.name for each in MODELS.glob("*/config.json"))
        near = difflib.get_close_matches(named, shipped, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(shipped)}"
        raise UsageError(f"{path}: model.shape {named} has no config.json; {hint}")
    return Model(None, found, raw.get("tokenizer"), raw.get("served") or found.name)


def _without_null(value: Any) -> Any:
    """Nulls that had nothing to take away."""
    if isinstance(value, dict):
        return {key: _without_null(each) for key, each in value.items() if each is not None}
    return value


def _digest(told: Mapping[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(told, option=orjson.OPT_SORT_KEYS)).hexdigest()
