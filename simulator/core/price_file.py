"""Price files: what a GPU costs an hour and what an API asks for a million tokens; text in, checked prices out.

A mistake is one sentence that names file, key and the nearest right spelling.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from simulator.core.yaml_text import load_text, refuse_duplicates
from simulator.errors import UsageError

Usd = Annotated[float, Field(ge=0, lt=1e9, strict=True, allow_inf_nan=False)]
#: YAML makes a date of 2026-10-05 and a text of 2026-10
Day = Annotated[str, BeforeValidator(str), Field(pattern=r"^\d{4}-\d{2}(-\d{2})?$")]
Said = Annotated[str, Field(min_length=1, max_length=200)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class GpuPrice(_Strict):
    """One GPU for an hour, US dollars: what most ask, and the cheapest and dearest that were read. read: when; source:
    what kind of price it is."""

    typical_usd_h: Usd | None
    low_usd_h: Usd | None = None
    high_usd_h: Usd | None = None
    read: Day
    source: Said

    @model_validator(mode="after")
    def _ordered(self) -> GpuPrice:
        stated = [usd for usd in (self.low_usd_h, self.typical_usd_h, self.high_usd_h) if usd is not None]
        if stated != sorted(stated):
            raise ValueError("low, typical and high must not fall")
        return self


class ApiPrice(_Strict):
    """A million tokens, US dollars. cached_usd_mtok None: the API has no price of its own for cached input."""

    input_usd_mtok: Usd
    cached_usd_mtok: Usd | None = None
    output_usd_mtok: Usd
    read: Day
    source: Said


class PriceBook(_Strict):
    """gpus, apis: by name."""

    gpus: dict[str, GpuPrice] = Field(default_factory=dict)
    apis: dict[str, ApiPrice] = Field(default_factory=dict)

    def over(self, other: PriceBook) -> PriceBook:
        """Both; of two prices with the same name, this book's."""
        return PriceBook(gpus={**other.gpus, **self.gpus}, apis={**other.apis, **self.apis})


T = TypeVar("T")
_MODELS: Mapping[str, type[BaseModel]] = {"gpus": GpuPrice, "apis": ApiPrice}


def parse_prices(text: str, source: str) -> PriceBook:
    """source: the file's name for messages. Raises UsageError."""
    root, data = load_text(text, source, "price file")
    if not isinstance(data, dict):
        raise UsageError(f"{source}: a price file is a mapping with `gpus` and `apis`; docs/cost.md shows one")
    refuse_duplicates(root, source)
    try:
        return PriceBook.model_validate(data)
    except ValidationError as error:
        told = [_fault(dict(each)) for each in error.errors(include_url=False)]
        raise UsageError("\n".join(f"{source}: {each}" for each in dict.fromkeys(told))) from None


def _fault(fault: Mapping[str, Any]) -> str:
    path = [str(part) for part in fault["loc"]]
    key = ".".join(path)
    match fault["type"]:
        case "extra_forbidden":
            model = PriceBook if len(path) == 1 else _MODELS[path[0]]
            near = difflib.get_close_matches(path[-1], model.model_fields, n=1, cutoff=0.5)
            known = f"did you mean `{near[0]}`?" if near else f"known keys here: {', '.join(model.model_fields)}"
            return f"unknown key `{key}`; {known}"
        case "missing":
            return f"key `{key}` is missing"
        case "string_pattern_mismatch":
            return f"`{key}` is `{fault['input']!s:.40}`; write when the price was read, like 2026-10 or 2026-10-05"
        case "value_error":
            return f"`{key}`: {fault['ctx']['error']}"
        case _:
            return f"`{key}` is `{fault['input']!s:.40}`; {str(fault['msg'])[:1].lower()}{str(fault['msg'])[1:]}"


def price_of(prices: Mapping[str, T], name: str, option: str) -> tuple[str, T]:
    """The price of that name, whatever its capitals, or the only one that begins so; UsageError that lists what there
    is. option: what the user wrote the name after."""
    spelled = {known.lower(): known for known in prices}
    begun = [low for low in spelled if name and low.startswith(name.lower())]
    if name.lower() in spelled or len(begun) == 1:
        found = spelled[name.lower() if name.lower() in spelled else begun[0]]
        return found, prices[found]
    near = difflib.get_close_matches(name.lower(), spelled, n=1)
    hint = f"did you mean {spelled[near[0]]}? " if near else ""
    listed = ", ".join(prices) or "nothing"
    raise UsageError(f"{option} {name}: no price is known; {hint}the price file has {listed}")
