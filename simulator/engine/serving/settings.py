"""What the files of `serving/` hold: an engine's configuration, and a ladder of them. config.py and ladder_file.py read
them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from pydantic import Field, field_validator, model_validator

from simulator.engine.embedded.settings import FileModel

#: a flag's value: true and false are `--flag` and `--no-flag`, a mapping is JSON, a list is several words, null takes
#: away what the extended file says
Value = bool | int | float | str | list[int | float | str] | dict[str, Any] | None
#: ours to decide: the address is loopback and the port free, secrets stay out of command lines
OURS = {
    "host": "the server listens on loopback",
    "port": "give it with --port, or let a free one be found",
    "uds": "the server listens on a loopback port",
    "model": "say `model: {path: ...}` or `model: {shape: ...}`",
    "served-model-name": "say `model: {served: ...}`",
    "tokenizer": "say `model: {tokenizer: ...}`",
    "api-key": "a key does not belong in a file or a command line; set VLLM_API_KEY in the environment",
}

Text = Annotated[str, Field(min_length=1, max_length=4_000)]


class ModelFile(FileModel):
    """path: a folder or a hub's name; shape: a folder below serving/models that has a config.json only, served with
    random weights and a tokenizer that is made for it. tokenizer: where it is not the model's own. served: the name
    that requests ask for, by default the shape's or the folder's."""

    path: Text | None = None
    shape: Text | None = None
    tokenizer: Text | None = None
    served: Text | None = None

    @model_validator(mode="after")
    def _is_one(self) -> ModelFile:
        if self.path and self.shape:
            raise ValueError("give a path or a shape, not both")
        return self


class ConfigFile(FileModel):
    """One engine configuration. Everything may come from the file that `extends` names; `why` is each file's own.

    vllm: versions that it is meant for, such as ">=0.25,<0.34". command: how vLLM is called, without arguments.
    params: settings of the embedded engine, a shipped name or a file. ready_limit_s: how long a start may take.
    """

    extends: Text | None = None
    why: Text | None = None
    engine: Literal["vllm", "embedded"] | None = None
    vllm: Text | None = None
    command: Text | None = None
    model: ModelFile | None = None
    args: dict[str, Value] | None = None
    env: dict[str, str | int | float | None] | None = None
    params: Text | None = None
    ready_limit_s: Annotated[float, Field(gt=0, le=7_200)] | None = None

    @field_validator("vllm")
    @classmethod
    def _is_a_range(cls, text: str | None) -> str | None:
        try:
            SpecifierSet(text or "")
        except InvalidSpecifier:
            raise ValueError(f"`{text}` is no range of versions; write it like '>=0.25,<0.34'") from None
        return text

    @field_validator("args")
    @classmethod
    def _are_flags(cls, args: dict[str, Value] | None) -> dict[str, Value] | None:
        if args is None:
            return None
        found: dict[str, Value] = {}
        for given, value in args.items():
            name, meant = flag(given, value)
            if name in OURS:
                raise ValueError(f"`{given}` is not for `args`: {OURS[name]}")
            if name in found:
                raise ValueError(f"`{given}` says `{name}` a second time; keep one")
            found[name] = meant
        return found


class RungFile(ConfigFile):
    """A rung of a ladder: a file (`config`), or what it changes of a file or an earlier rung (`extends`)."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$", max_length=60)]
    config: Text | None = None

    @model_validator(mode="after")
    def _is_one_of_both(self) -> RungFile:
        own = self.model_fields_set - {"name", "config", "why"}
        if self.config and own:
            raise ValueError(f"`config` takes a file as it is; to change {', '.join(sorted(own))} say `extends`")
        return self


class LadderFile(FileModel):
    """scenario: the one that it is made for, where there is one."""

    scenario: Text | None = None
    why: Text | None = None
    rungs: Annotated[tuple[RungFile, ...], Field(min_length=1, max_length=200)]

    @model_validator(mode="after")
    def _has_distinct_names(self) -> LadderFile:
        names = [rung.name for rung in self.rungs]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"two rungs are called {twice}; a rung's name is its results' name")
        return self


def flag(given: str, value: Value) -> tuple[str, Value]:
    """(name, value) of a flag as vLLM spells it: dashes, and `no-x: true` as `x: false`. ValueError."""
    name = given.replace("_", "-")
    if given.startswith("-") or not name.replace("-", "").replace(".", "").isalnum():
        raise ValueError(f"`{given}` is no flag; write its name without dashes before it, such as max-num-seqs")
    if "." in name:
        outer, _, inner = name.partition(".")
        raise ValueError(f"`{given}`: write the parts of {outer} as a mapping, `{outer}: {{{inner}: ...}}`")
    if name.startswith("no-") and isinstance(value, bool):
        return name.removeprefix("no-"), not value
    return name, value
