"""What `sim cost` is asked for, checked: which GPUs at which price, which APIs, how much of the paid hours is used."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from simulator.core.cost import PUE, Owned, Tokens, against, own_cost
from simulator.core.gpus import gpu_count, gpu_kind
from simulator.core.price_file import ApiPrice, GpuPrice, PriceBook, parse_prices, price_of
from simulator.errors import UsageError
from simulator.view.cost import Traffic
from simulator.view.format import count, dollars

MOST_GPUS = 100_000
RATE_NAMES = ("output", "input", "cached")


@dataclass(frozen=True, slots=True)
class Question:
    """What the command line said. folder: of a run or a ladder; exactly one of it and rates is given. gpus None: what
    the run tells, else 1."""

    folder: Path | None
    rates: str | None
    gpu: str | None
    gpus: int | None
    price_hour: float | None
    owned: str | None
    pue: float | None
    apis: tuple[str, ...]
    utilisation: str
    prices: Path | None
    json: bool


@dataclass(frozen=True, slots=True)
class Paid:
    """usd_h: all GPUs for an hour; told: how that comes about; gpu: the kind that was priced, where it has a name."""

    usd_h: float
    told: str
    gpu: str | None


def utilisation_of(text: str) -> float:
    number = text.strip().removesuffix("%")
    try:
        share = float(number) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        share = math.nan
    if not 0 < share <= 1:
        raise UsageError(f"--utilisation {text}: give a share above 0 and up to 1, as 40% or 0.4")
    return share


def book_of(path: Path | None) -> PriceBook:
    shipped = resources.files("simulator.core") / "prices.yaml"
    book = parse_prices(shipped.read_text(encoding="utf-8"), "prices.yaml")
    if path is None:
        return book
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as why:
        told = why.strerror if isinstance(why, OSError) else "it is not UTF-8 text"
        raise UsageError(f"--prices {path}: cannot be read: {told}") from None
    return parse_prices(text, str(path)).over(book)


def apis_of(asked: Question, book: PriceBook) -> dict[str, ApiPrice]:
    """Those that were asked for, else all of the book."""
    return dict(price_of(book.apis, name, "--api") for name in asked.apis) or dict(book.apis)


def rates_of(text: str) -> Tokens:
    """ "output=11840,input=11840,cached=0": tokens a second, so a window of one second."""
    found: dict[str, float] = {}
    for part in text.split(","):
        name, _, value = (piece.strip() for piece in part.partition("="))
        found[name] = _number(value, f"--rates {part.strip()}")
        if name not in RATE_NAMES:
            raise UsageError(f"--rates {part.strip()}: write some of {', '.join(f'{n}=N' for n in RATE_NAMES)}")
    if not found.get("output"):
        raise UsageError(f"--rates {text}: output tokens a second are needed, like output=11840")
    if found.get("cached", 0.0) > found.get("input", 0.0):
        raise UsageError(f"--rates {text}: more cached than input tokens; input counts the cached ones, too")
    return Tokens(1.0, found["output"], found.get("input", 0.0), found.get("cached", 0.0))


def _number(text: str, where: str, *, positive: bool = False) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0 or (positive and not value):
        raise UsageError(f"{where}: `{text}` is no number {'above 0' if positive else 'from 0 on'}")
    return value


def paid_of(q: Question, book: PriceBook, engine: Mapping[str, Any]) -> Paid:
    n = q.gpus if q.gpus is not None else gpu_count(engine) or 1
    if not 1 <= n <= MOST_GPUS:
        raise UsageError(f"--gpus {n}: give how many GPUs the engine has, 1 or more")
    if q.price_hour is not None and q.owned is not None:
        raise UsageError("--price-hour and --owned exclude each other: the GPU is rented or bought")
    if q.pue is not None and (q.owned is None or not 1 <= q.pue <= 10):
        raise UsageError(f"--pue {q.pue:g}: goes with --owned, and is 1 or more (1.3 is usual)")
    name = gpu_kind(engine, book.gpus) if q.gpu is None else q.gpu
    if name is not None:
        name = next((known for known in book.gpus if known.lower() == name.lower()), name)
    each, told = _one(q, book, name)
    kind = name or ("GPU" if n == 1 else "GPUs")
    return Paid(each * n, f"{count(n)} {kind} at {dollars(each)} an hour{' each' if n > 1 else ''}: {told}", name)


def _one(q: Question, book: PriceBook, name: str | None) -> tuple[float, str]:
    """One GPU for an hour, and why so much."""
    if q.price_hour is not None:
        return _number(str(q.price_hour), "--price-hour", positive=True), "given with --price-hour"
    if q.owned is not None:
        owned = _owned(q.owned, PUE if q.pue is None else q.pue)
        return owned.usd_h, (
            f"owned, {dollars(owned.price_usd)} over {owned.years:g} years of all hours "
            f"({dollars(owned.amortised_usd_h)} an hour) and {owned.watts:g} W x PUE {owned.pue:g} at "
            f"{owned.kwh_usd:g} $/kWh, drawn in all hours ({dollars(owned.electricity_usd_h)}); no staff, space, "
            "network or interest"
        )
    if name is None:
        listed = ", ".join(book.gpus)
        raise UsageError(f"this does not say which GPU it ran on: give --gpu, one of {listed}; or --price-hour USD")
    known, price = price_of(book.gpus, name, "--gpu")
    if not price.typical_usd_h:
        raise UsageError(
            f"--gpu {known}: no price is known ({price.source}, {price.read}); give --price-hour USD or --owned"
        )
    return price.typical_usd_h, f"{price.source}, read {price.read}{_span(price)}"


def _span(price: GpuPrice) -> str:
    low, high = price.low_usd_h, price.high_usd_h
    return "" if low is None or high is None or low == high else f"; others ask {low:g} to {high:g} $"


def _owned(text: str, pue: float) -> Owned:
    parts = [part.strip() for part in text.split(",")]
    names = ("price in US dollars", "years", "watts", "US dollars a kWh")
    if len(parts) != len(names):
        raise UsageError(f"--owned {text}: give four numbers, price,years,watts,kwh, like 32000,4,1000,0.12")
    price, years, watts, kwh = (
        _number(part, f"--owned, {name}", positive=not name.startswith("US"))
        for part, name in zip(parts, names, strict=True)
    )
    return Owned(price, years, watts, kwh, pue)


def priced(
    kind: str, name: str, tokens: Tokens, usd_h: float, apis: Mapping[str, ApiPrice], utilisation: float
) -> Traffic:
    compared = [against(tokens, usd_h, api, price, utilisation) for api, price in apis.items()]
    return Traffic(kind, name, tokens, own_cost(tokens, usd_h), compared)


def read_days(apis: Mapping[str, ApiPrice]) -> dict[str, str]:
    return {name: price.read for name, price in apis.items()}


def price_notes(shown: list[Traffic], apis: Mapping[str, ApiPrice]) -> list[str]:
    notes = [
        "Saved: 1 - own / API. A GPU costs its hours, used or not, and an API its tokens, so each saving belongs to a "
        "utilisation, the share of the paid hours in which the engine works as in the window. Even at: where both cost "
        "the same; never: the API is cheaper even at 100 %."
    ]
    flat = [name for name, price in apis.items() if price.cached_usd_mtok is None]
    if flat and any(each.tokens.cached_tok for each in shown):
        notes.append(f"No price for cached input, so all input costs the same: {', '.join(flat)}.")
    days = sorted({price.read for price in apis.values()})
    if days:
        read = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
        notes.append(f"API prices as read in {read}; they age, and --prices FILE replaces them.")
    return notes
