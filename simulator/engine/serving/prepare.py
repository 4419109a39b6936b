"""What is looked at before an engine is started: the model's folder, the installation, what is impossible, memory."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from simulator.engine.serving.bounds import out_of_bounds
from simulator.engine.serving.config import EngineConfig
from simulator.engine.serving.flags import Installation, installation, unknown, unparsed
from simulator.engine.serving.gpu import Gpu
from simulator.engine.serving.identity import used
from simulator.engine.serving.impossible import Case, doubts, outside, refusals, version_of
from simulator.engine.serving.memory import Estimate, estimate
from simulator.engine.serving.shapes import made
from simulator.errors import UsageError

TOKENIZERS = (
    "tokenizer.json",
    "tokenizer.model",
    "tekken.json",
    "vocab.json",
    "tiktoken.model",
    "tokenizer_config.json",
)


@dataclass(frozen=True, slots=True)
class Prepared:
    """model: what vLLM is told to serve. refused: a sentence for each reason not to start; doubts: what may mislead.
    memory: None where no GPU or no shape is known."""

    model: str
    there: Installation
    refused: tuple[str, ...]
    doubts: tuple[str, ...]
    memory: Estimate | None


async def prepare(
    config: EngineConfig, env: Mapping[str, str], found: Sequence[Gpu], memory_mib: Sequence[int] | None = None,
    *, parse: bool = False,
) -> Prepared:  # fmt: skip
    """For vLLM. env: all of a start's environment; found: the GPUs that it may use; memory_mib: of GPUs to estimate for
    in their place. parse: have vLLM's own parser read the flags, which a start does by itself and takes seconds. Raises
    UsageError when the model is not there."""
    cache = cache_folder()
    model = config.model.path or str(made(config.model.shape, cache) if config.model.shape else "")
    shape = _shape(config, model)
    there = await installation(config, env, cache)
    version = version_of(there.version)
    mine = used(config, found)
    case = Case(
        config.args, env, version, there.cpu, shape, mine[0].capability if mine else None,
        len(found) if found else None,
    )  # fmt: skip
    wrong = outside(version, config.vllm)
    values = [*out_of_bounds(config.args), *unknown(config.args, there)]
    if parse and not values and (told := await unparsed(config, env, model, there, cache)):
        values = [told]
    refused = [*([wrong] if wrong else []), *values, *refusals(case)]
    sizes = [gpu.total_mib for gpu in mine] if memory_mib is None else memory_mib
    estimable = bool(shape and sizes) and not values and (memory_mib is not None or not there.cpu)
    memory = estimate(shape, config.args, sizes) if estimable else None
    doubted = doubts(case)
    if memory is not None:
        refused += [memory.lacks()] if memory.lacks() else []
        doubted += [memory.short()] if memory.short() else []
    return Prepared(model, there, tuple(refused), tuple(doubted), memory)


def cache_folder() -> Path:
    """$XDG_CACHE_HOME/agent-sim, by default below ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agent-sim"


def _shape(config: EngineConfig, model: str) -> Mapping[str, Any]:
    """The model's config.json; empty for a name on a hub. UsageError when a folder is not there, or lacks what serving
    needs."""
    folder = Path(model)
    if not folder.exists():
        if model.startswith((".", "/", "~")):
            raise UsageError(f"{config.source}: model.path {model} is not there; correct the path")
        return {}
    try:
        shape = orjson.loads((folder / "config.json").read_bytes())
    except FileNotFoundError:
        raise UsageError(
            f"{config.source}: {model} has no config.json, so it is no model; correct model.path"
        ) from None
    except (OSError, orjson.JSONDecodeError) as error:
        raise UsageError(f"{config.source}: {folder / 'config.json'} cannot be read as JSON ({error!s:.80})") from None
    if config.model.tokenizer is None and not any((folder / name).exists() for name in TOKENIZERS):
        raise UsageError(
            f"{config.source}: {model} has no tokenizer; put tokenizer.json there, or say `model.tokenizer`"
        )
    return shape if isinstance(shape, dict) else {}
