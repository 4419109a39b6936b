"""Reading the engine's two YAML files: one may extend another, and what cannot work together is refused in words."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from simulator.core.yaml_text import MAX_CHARS, load_text, refuse_duplicates
from simulator.engine.embedded.filemodel import FileModel as FileModel
from simulator.engine.embedded.memory import page_tok
from simulator.engine.embedded.settings import DEFAULT_PARAMS as DEFAULT_PARAMS
from simulator.engine.embedded.settings import PARAMS_DIR as PARAMS_DIR
from simulator.engine.embedded.settings import EngineParams as EngineParams
from simulator.engine.embedded.settings import FrontEndCosts as FrontEndCosts
from simulator.engine.embedded.settings import Hardware as Hardware
from simulator.engine.embedded.settings import Reply as Reply
from simulator.engine.embedded.settings import Shape as Shape
from simulator.errors import UsageError

#: files laid over one another by `extends`
MOST_LAYERS = 16
#: tokens of an attention page where nothing else decides: vLLM's default
BLOCK_TOK = 16
#: values of a key that are told on one line
FEW = 8


def load_params(path: Path | None = None) -> EngineParams:
    """Reads engine settings and the hardware file that they name (relative to the settings' folder, else to the
    shipped ones). Raises UsageError that names the file and key."""
    path = path or DEFAULT_PARAMS
    raw = read_extended(path)
    named = raw.get("hardware")
    if not isinstance(named, str):
        raise UsageError(f"{path}: 'hardware' must name a hardware file, such as h200_30b_a3b.yaml")
    raw["hardware"] = load_hardware(beside(path, named))
    return finish(raw, path)


def find_settings(named: str, option: str) -> Path:
    """The settings file that a user means: a path, or the name of a shipped one, such as `top`. option: what the user
    wrote it after. Raises UsageError that lists the names."""
    path = Path(named)
    if path.suffix in (".yaml", ".yml") or path.exists():
        return path
    names = {p.stem for p in PARAMS_DIR.glob("*.yaml")}
    if named in names and "hardware" in read_extended(PARAMS_DIR / f"{named}.yaml"):
        return PARAMS_DIR / f"{named}.yaml"
    shipped = sorted(name for name in names if "hardware" in read_extended(PARAMS_DIR / f"{name}.yaml"))
    near = difflib.get_close_matches(named, shipped, n=1)
    meant = f"did you mean {near[0]}? " if near else ""
    raise UsageError(f"{option} {named}: no such engine; {meant}give a settings file, or one of {', '.join(shipped)}")


def load_hardware(path: Path) -> Hardware:
    return validate(Hardware, read_extended(path), path)


def finish(raw: dict[str, Any], path: Path) -> EngineParams:
    """Settings whose `hardware` is read already; derives what was left out and checks what must fit together."""
    derived = "block_size" not in raw
    params = validate(EngineParams, {"block_size": BLOCK_TOK, **raw}, path)
    shape, drafts = params.hardware.model, params.num_speculative_tokens
    if "M" in shape.layers:
        page = page_tok(shape, params.mamba_ssm_cache_dtype, params.mamba_cache_mode)
        if not derived and params.block_size < page:
            raise UsageError(
                f"{path}: block_size {params.block_size} is smaller than a recurrent state's page, {page} tokens of "
                "this model; leave block_size out"
            )
        if derived:
            params = params.model_copy(update={"block_size": page})
        if params.enable_prefix_caching and params.mamba_cache_mode == "none":
            raise UsageError(
                f"{path}: with mamba_cache_mode none no recurrent state is kept and nothing could ever hit; choose "
                "align or all, or set enable_prefix_caching: false"
            )
    if drafts and not shape.draft_layers:
        raise UsageError(f"{path}: the model has no draft_layers; set num_speculative_tokens: 0")
    _check_acceptance(params, path)
    if params.max_num_batched_tokens < params.max_num_seqs * (1 + drafts):
        raise UsageError(
            f"{path}: max_num_batched_tokens {params.max_num_batched_tokens} is less than one decode step of "
            f"max_num_seqs x (1 + drafts); raise it or lower max_num_seqs"
        )
    return params


def _check_acceptance(params: EngineParams, path: Path) -> None:
    rates, drafts = params.acceptance_rates, params.num_speculative_tokens
    if params.acceptance_length > drafts + 1:
        raise UsageError(
            f"{path}: acceptance_length {params.acceptance_length} is more than {drafts} drafts "
            "and the one certain token can give; lower it or raise num_speculative_tokens"
        )
    if not rates:
        return
    if params.acceptance_length != 1:
        raise UsageError(f"{path}: acceptance_length and acceptance_rates say the same thing; leave one of them out")
    if len(rates) != drafts:
        raise UsageError(f"{path}: acceptance_rates has {len(rates)} values for {drafts} drafts; give one for each")
    if any(later > earlier for earlier, later in itertools.pairwise(rates)):
        raise UsageError(
            f"{path}: acceptance_rates must not rise: the second draft is accepted only where the first was (each rate "
            "counts all rounds)"
        )


def beside(path: Path, named: str) -> Path:
    """The file `named` in `path`'s folder, else the shipped one."""
    near = path.parent / named
    return near if near.exists() else PARAMS_DIR / named


def read_extended(path: Path, seen: tuple[Path, ...] = ()) -> dict[str, Any]:
    """The mapping of a file, laid over that of the file which its `extends` names, if any; mappings inside are merged,
    anything else replaces. A key set to null is taken away."""
    raw = read_yaml(path)
    named = raw.pop("extends", None)
    if named is None:
        return raw
    if not isinstance(named, str):
        raise UsageError(f"{path}: 'extends' must name a file, such as baseline.yaml")
    base = beside(path, named)
    if base.resolve() in (each.resolve() for each in (*seen, path)):
        raise UsageError(f"{path}: extends {named}, which extends this file again; end the circle")
    if len(seen) + 2 > MOST_LAYERS:
        raise UsageError(f"{path}: extends {named} as more than the {MOST_LAYERS}th file in a row; extend fewer")
    return merged(read_extended(base, (*seen, path)), raw)


def merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    out = dict(base)
    for key, value in over.items():
        if value is None:
            out.pop(key, None)
        elif isinstance(value, dict) and isinstance(out.get(key), dict):
            out[key] = merged(out[key], value)
        else:
            out[key] = value
    return out


def read_yaml(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            found = file.read(4 * MAX_CHARS + 1)  # a character has four bytes at most, so that more are too many
        text = found.decode(errors="strict" if len(found) <= 4 * MAX_CHARS else "replace")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: is no UTF-8 text; give a YAML file") from None
    except ValueError:
        raise UsageError(f"{str(path)!r}: is no name of a file") from None
    root, raw = load_text(text, str(path), "settings or schedule")
    if not isinstance(raw, dict):
        raise UsageError(f"{path}: must be a mapping of keys to values")
    refuse_duplicates(root, str(path))
    return raw


Model = TypeVar("Model", bound=FileModel)


def validate(model: type[Model], raw: dict[str, Any], path: Path, page: str = "docs/embedded_engine.md") -> Model:
    """UsageError that names file, line and key. page: where the file is described."""
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        # a misspelt key is also a missing one: tell the misspelling
        fault = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
        raise UsageError(f"{path}{_line(path, fault['loc'])}: {_told(model, fault, page)}") from None


def _line(path: Path, loc: Sequence[int | str]) -> str:
    """`:12` where the file has that key itself (it may come from one that it extends)."""
    try:
        node = yaml.compose(path.read_text(), Loader=yaml.SafeLoader)
    except (OSError, ValueError, yaml.YAMLError):
        return ""
    line = None
    for part in loc:
        if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            node = node.value[part]
            line = node.start_mark.line
        else:
            pairs = node.value if isinstance(node, yaml.MappingNode) else []
            found = next(((key, value) for key, value in pairs if key.value == part), None)
            if found is None:
                return ""
            line, node = found[0].start_mark.line, found[1]
    return "" if line is None else f":{line + 1}"


#: pydantic's kinds of "not such a thing", in a file's words
_SHAPES = {
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "too_short": "a list with something in it",
}


def _told(model: type[BaseModel], fault: ErrorDetails, page: str) -> str:
    where = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "missing":
        return f"key '{where}' is missing"
    if fault["type"] == "literal_error":
        return f"'{where}' is `{fault['input']!s:.80}`; {_nearest(str(fault['input']), fault['ctx']['expected'], page)}"
    if (wanted := _SHAPES.get(fault["type"])) is not None:
        return f"'{where}' is `{fault['input']!s:.80}`; it must be {wanted}, see {page}"
    if fault["type"] != "extra_forbidden":
        return f"'{where}': {fault['msg'][0].lower()}{fault['msg'][1:]}"
    fields: Any = model
    for part in fault["loc"][:-1]:
        if isinstance(part, str):
            fields = _block(fields.model_fields[part].annotation) if fields else None
    near = difflib.get_close_matches(str(fault["loc"][-1]), fields.model_fields if fields else [], n=1)
    return f"unknown key '{where}'" + (f", did you mean '{near[0]}'?" if near else "")


def _block(annotation: Any) -> type[BaseModel] | None:
    """The model that a field's type is, or has in it, as `Block | None` and `tuple[Block, ...]` have."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_block, get_args(annotation))), None)


def _nearest(given: str, expected: str, page: str) -> str:
    """expected: pydantic's list of all values; a long one is left to the page."""
    known = re.findall(r"'([^']+)'", expected) or [expected]
    near = difflib.get_close_matches(given, known, n=1)
    if near:
        return f"did you mean `{near[0]}`?"
    return f"give {expected}" if len(known) <= FEW else f"{page} lists the {len(known)} that there are"
