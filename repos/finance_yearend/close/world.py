"""The facts that every chapter of one year-end shares, and the words that its code and files use."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from simulator.tasks.words import Company, Person, companies, person, plain, stream

from ..._kit_finance import arith
from ..._kit_finance.journal import one_of

#: result file -> (path in it, as keys) -> (expected value, tolerance), values and tolerances as decimal strings
Truth = dict[str, list[tuple[list[str], str, str]]]

CENT = "0.004"


@dataclass(frozen=True, slots=True)
class World:
    """mode: arith.UP or arith.EVEN, the policy's rounding of money. fault: which helper is wrong at the start, "days"
    or "round". names: placeholder -> word for the templates of files/. prev_end: last day of the year before."""

    seed: int
    size: str
    group: Company
    others: tuple[Company, ...]
    controller: Person
    staff: tuple[Person, ...]
    year_end: date
    prev_end: date
    currency: str
    mode: str
    fault: str
    names: dict[str, str]

    def part(self, label: str) -> random.Random:
        return stream(self.seed, "finance_yearend", self.size, label)

    def cents(self, x: object) -> int:
        return arith.nearest(x, self.mode)  # type: ignore[arg-type]


class Chapter(Protocol):
    """One piece of the close: its data, its rules, its request and the right figures. The recorded way to them is a
    function `play(chapter, journal)` in the module `<name>_path` beside it."""

    label: str

    def files(self) -> dict[str, str]: ...

    def policy(self) -> str:
        """Body of its policy section, Markdown without the heading."""

    def title(self) -> str: ...

    def ask(self) -> str: ...

    def truth(self) -> Truth: ...

    def headlines(self) -> list[tuple[str, str]]:
        """Rows of the report: (what, figure)."""


def _names(r: random.Random) -> dict[str, str]:
    pick = one_of(r)
    return {
        "pkg": pick(
            "ledgerkit closekit figures bookkit yeartools glhelpers finlib numbers_kit accounts_lib treasurykit"
        ),
        "calc": pick("calc workings computations jobs steps routines workfiles schedules_py"),
        "data": pick("data inputs source extracts ledgers feeds"),
        "docs": pick("docs notes manual policy"),
        "m_round": pick("rounding money cents precision amounts"),
        "m_days": pick("daycount yearfrac day_basis conventions calendar_rules"),
        "m_tab": pick("tables files csvio readers records exchange"),
        "f_round": pick("round_money to_cents money as_cents rounded two_places"),
        "f_ratio": pick("round_ratio ratio to_places quotient_places as_ratio"),
        "f_frac": pick("for_days accrue pro_rata part_of_year by_days accrual days_share"),
        "f_rows": pick("read_rows load_rows rows table read_table"),
        "f_dump": pick("write_result save_json dump_result store write_json"),
        "amount": pick("amount value figure x money_value"),
        "start": pick("start begin first_day from_day d1"),
        "end": pick("end until last_day to_day d2"),
        "basis": pick("basis convention rule day_rule method"),
        "results": pick("results figures answer totals outcome"),
        "opening": pick("opening before carried balance_in open_balance"),
        "closing": pick("closing after balance_out remaining end_balance"),
        "interest": pick("interest coupon charge cost_of_period int_amount"),
        "principal": pick("principal repaid redemption capital_part amortised"),
        "row": pick("row item rec record posting"),
    }


def build(seed: int, size: str) -> World:
    r = stream(seed, "finance_yearend", size, "world")
    group, *others = companies(r, 30)
    year = r.randint(2019, 2025)
    end = r.choice([date(year, 12, 31), date(year, 12, 31), date(year, 6, 30), date(year, 3, 31), date(year, 9, 30)])
    mode = r.choice([arith.UP, arith.EVEN])
    names = _names(r)
    previous = arith.shift(date(end.year, end.month, 28), -12)
    previous = date(previous.year, end.month, end.day)
    currency = r.choice(("EUR", "GBP", "CHF", "DKK", "USD", "SEK"))
    fault = r.choice(("days", "round"))
    right, wrong = ("ROUND_HALF_UP", "ROUND_HALF_EVEN") if mode == arith.UP else ("ROUND_HALF_EVEN", "ROUND_HALF_UP")
    names |= {
        "group": group.short,
        "year_end": end.isoformat(),
        "prev_end": previous.isoformat(),
        "currency": currency,
        "right_mode": right,
        "mode_used": wrong if fault == "round" else right,
        "end_day": names["end"] + ".day" if fault == "days" else f"min({names['end']}.day, 30)",
        "mode_words": mode,
        "tie_a": f"{r.randint(10, 999)}.{r.choice('13579')}",
        "tie_b": f"{r.randint(1000, 9999)}.{r.randint(0, 9)}{r.choice('02468')}",
    }
    staff = tuple(person(r) for _ in range(3))
    return World(seed, size, group, tuple(others), person(r), staff, end, previous, currency, mode, fault, names)


def folder_name(w: World) -> str:
    r = w.part("folder")
    tail = r.choice(("close", "yearend", "year-end", "annual-figures", "group-close", "reporting"))
    return f"{plain(w.group.short)}-{tail}-{w.year_end.year}"


def csv_text(r: random.Random, columns: list[str], rows: list[dict[str, str]], shuffle: bool = True) -> str:
    """A CSV whose column order is the seed's, the first column stays first."""
    order = columns[1:]
    if shuffle:
        r.shuffle(order)
    order = [columns[0], *order]
    lines = [",".join(order), *(",".join(row[c] for c in order) for row in rows)]
    return "\n".join(lines) + "\n"
