"""What tokens cost: on a GPU that is rented or owned, and at an API's prices for the same tokens.

A GPU costs its hours, used or not; an API costs its tokens. So every saving belongs to a utilisation: the share of the
paid hours in which the engine works as fast as it did in the measured window.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simulator.core.price_file import ApiPrice
from simulator.core.stats import ratio

HOURS_A_YEAR = 8_766.0
MTOK = 1e6
#: power of a data centre over that of its computers
PUE = 1.3


@dataclass(frozen=True, slots=True)
class Tokens:
    """What was delivered in `window_s` seconds. input_tok holds cached_tok; cached_tok None: the server did not tell,
    so nothing of it is taken for cached. requests, sessions, solved: finished in the window; None where there is no
    such thing."""

    window_s: float
    output_tok: float
    input_tok: float
    cached_tok: float | None
    requests: int | None = None
    sessions: int | None = None
    solved: int | None = None

    @property
    def uncached_tok(self) -> float:
        return self.input_tok - (self.cached_tok or 0.0)

    @property
    def total_tok(self) -> float:
        return self.input_tok + self.output_tok


def delivered(part: Mapping[str, Any] | None, *, live: bool = False) -> Tokens | None:
    """Tokens of a traffic part of summary.json; None when nothing was delivered. live: its sessions' answers were the
    engine's own, so a check that passes is a solved task, however its session ended; in a replay nothing is solved."""
    if part is None or not part["output_tok"] or not part["requests"]["ok"]:
        return None
    asked, share, done = part["input_tok"] or 0.0, part["cached_share"]["all"], part["sessions"]
    checked = part.get("live")
    return Tokens(
        window_s=part["window"]["length_s"],
        output_tok=part["output_tok"],
        input_tok=asked,
        cached_tok=None if share is None else asked * share,
        requests=part["requests"]["ok"],
        sessions=done["completed"] if done else None,
        solved=checked["solved"] if checked and live else None,
    )


def added(parts: Sequence[Tokens]) -> Tokens:
    """Of several runs of one engine as if they were one, one after the other; at least one. What one of them does not
    tell, their sum does not."""

    def whole(name: str) -> Any:
        values = [getattr(each, name) for each in parts]
        return None if any(each is None for each in values) else sum(values)

    return Tokens(**{name: whole(name) for name in Tokens.__slots__})


@dataclass(frozen=True, slots=True)
class Owned:
    """A GPU that was bought, with its share of the server: its price is spread over all hours of `years`, and it draws
    `watts` in all of them, times `pue`, at kwh_usd a kilowatt-hour. Without staff, space, network and interest."""

    price_usd: float
    years: float
    watts: float
    kwh_usd: float
    pue: float = PUE

    @property
    def amortised_usd_h(self) -> float:
        return self.price_usd / (self.years * HOURS_A_YEAR)

    @property
    def electricity_usd_h(self) -> float:
        return self.watts / 1_000 * self.pue * self.kwh_usd

    @property
    def usd_h(self) -> float:
        return self.amortised_usd_h + self.electricity_usd_h


@dataclass(frozen=True, slots=True)
class Own:
    """What the tokens cost on own GPUs at 100 % utilisation. usd: for the window; None: nothing to divide by."""

    usd: float
    usd_per_mtok_output: float | None
    usd_per_mtok_blended: float | None
    usd_per_1000_requests: float | None
    usd_per_session: float | None
    usd_per_solved: float | None


def own_cost(tokens: Tokens, usd_h: float) -> Own:
    """usd_h: all GPUs of the engine for an hour."""
    usd = usd_h * tokens.window_s / 3_600

    def each(count: float | None, per: float = 1.0) -> float | None:
        return ratio(usd * per, count)

    return Own(
        usd=usd,
        usd_per_mtok_output=each(tokens.output_tok, MTOK),
        usd_per_mtok_blended=each(tokens.total_tok, MTOK),
        usd_per_1000_requests=each(tokens.requests, 1_000),
        usd_per_session=each(tokens.sessions),
        usd_per_solved=each(tokens.solved),
    )


@dataclass(frozen=True, slots=True)
class Bill:
    """What an API asks for the same tokens, US dollars. cached_as_input: it has no price for cached input (or the run
    does not know what was cached), so all input costs the same."""

    input_usd: float
    cached_usd: float
    output_usd: float
    cached_as_input: bool
    blended_usd_mtok: float | None

    @property
    def usd(self) -> float:
        return self.input_usd + self.cached_usd + self.output_usd

    def shares(self) -> dict[str, float | None]:
        parts = {"input": self.input_usd, "cached": self.cached_usd, "output": self.output_usd}
        return {name: ratio(part, self.usd) for name, part in parts.items()}


def bill(tokens: Tokens, price: ApiPrice) -> Bill:
    rate = price.input_usd_mtok if price.cached_usd_mtok is None else price.cached_usd_mtok
    parts = (
        tokens.uncached_tok * price.input_usd_mtok / MTOK,
        (tokens.cached_tok or 0.0) * rate / MTOK,
        tokens.output_tok * price.output_usd_mtok / MTOK,
    )
    as_input = price.cached_usd_mtok is None or tokens.cached_tok is None
    return Bill(*parts, as_input, ratio(sum(parts) * MTOK, tokens.total_tok))


def saving(own_usd: float, api_usd: float, utilisation: float = 1.0) -> float | None:
    """1 - own / API as a share of 1, where only `utilisation` of the paid hours is used; below 0, own costs more."""
    part = ratio(own_usd / utilisation, api_usd)
    return None if part is None else 1 - part


def break_even(own_usd: float, api_usd: float) -> float | None:
    """The utilisation at which both cost the same; above 1 the API is cheaper even when the GPU never rests."""
    return ratio(own_usd, api_usd)


@dataclass(frozen=True, slots=True)
class Against:
    """An API's bill beside own cost. saving: at 100 %; saving_at: at the utilisation that was asked for; the output_...
    ones look at output tokens alone, as if input were free, which is how such savings are mostly quoted."""

    api: str
    bill: Bill
    saving: float | None
    saving_at: float | None
    break_even: float | None
    output_saving: float | None
    output_saving_at: float | None
    output_break_even: float | None
    usd_per_solved: float | None = None


def against(tokens: Tokens, usd_h: float, name: str, price: ApiPrice, utilisation: float) -> Against:
    own, asked = own_cost(tokens, usd_h).usd, bill(tokens, price)
    return Against(
        api=name,
        bill=asked,
        saving=saving(own, asked.usd),
        saving_at=saving(own, asked.usd, utilisation),
        break_even=break_even(own, asked.usd),
        output_saving=saving(own, asked.output_usd),
        output_saving_at=saving(own, asked.output_usd, utilisation),
        output_break_even=break_even(own, asked.output_usd),
        usd_per_solved=ratio(asked.usd, tokens.solved),
    )
