"""Multi-currency ledgers: drawn with the traits that are asked for, written down as open items, rates and contracts."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from typing import Any

from simulator.tasks.words import cents, pattern

from .._kit_finance.arith import plain, scaled, shown
from .._kit_finance.case import Case, Figures, Unit
from .ledger import MONETARY, Item, Market, Quote, figures, rate
from .twists import TWISTS

_PLAIN, _ODD = ("EUR", "USD", "GBP", "CHF", "SEK", "NOK", "PLN"), ("AUD", "CAD", "NZD", "CZK")
_SIZE = {"EUR": 1.1, "USD": 1.0, "GBP": 1.25, "CHF": 1.12, "SEK": 0.095, "NOK": 0.094, "PLN": 0.25, "AUD": 0.66,
"CAD": 0.73,
         "NZD": 0.61, "CZK": 0.044, "JPY": 0.0067, "HUF": 0.0028, "THB": 0.028, "DKK": 0.15}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ledger:
    place: str
    items: tuple[Item, ...]


class Ledgers(Case):
    noun, nouns, title = "ledger", "ledgers", "Currency revaluation"
    control = "group treasury"
    tails = ("fx", "revaluation", "currency-close", "treasury")
    twists = TWISTS
    wanted = ("book", "closing", "gain", "loss", "net", "realised")
    controls = ("closing", "net", "realised")

    def words(self) -> dict[str, str]:
        found = self.w.pick(
            module="revaluation fx revalue currencies month_end", folder="ledgers open_items books subledgers",
            f_controls="treasury group_treasury stated group_figures", f_rates="rates quotes market fixings",
            f_forwards="forwards contracts hedges", k_day="booked_on day posting_date", k_number="document item number",
            k_kind="class kind account_class", k_currency="currency ccy curr",
            k_foreign="foreign amount_fc in_currency",
            k_booked="booked amount_lc local", k_settled="paid_on settled_on cleared",
            k_received="received paid_amount cleared_at",
            k_contract="contract hedge forward", k_quoted="quoted quotation way", k_units="units per lot",
            k_rate="rate quote fixing",
            w_reval="reval revaluation month_end_adj", o_book="book booked carrying",
            o_closing="closing revalued at_closing",
            o_gain="gain gains", o_loss="loss losses", o_net="net difference net_effect",
            o_realised="realised realised_difference paid_difference",
            f_rate="rate_of price_of local_rate", f_open="open_items_of still_open to_revalue",
            f_value="valued value_now revalued_item",
            c_classes="MONETARY REVALUED CLASSES", quote="quote fixing offer",
        )  # fmt: skip
        base = self.w.names["data"]
        found["folder"] = f"{base}/{found['folder']}"
        self.rates_path, self.forwards_path = f"{base}/{found['f_rates']}.csv", f"{base}/{found['f_forwards']}.csv"
        local = self.w.currency
        self.cross = "USD" if local != "USD" else "EUR"
        return found | {"rates_path": self.rates_path, "forwards_path": self.forwards_path, "cross": self.cross}

    def prepare(self, r: random.Random) -> None:
        local, day = self.w.currency, self.w.day
        self.plain = [c for c in _PLAIN if c != local and c != self.cross][:4]
        self.stale, self.inverse = [c for c in _ODD if c != local][:2]
        self.hundred, self.crossed = r.choice(("JPY", "HUF")), "THB"
        quotes: list[Quote] = []
        for currency in (*self.plain, self.cross, self.stale, self.inverse, self.hundred, self.crossed):
            per = _SIZE[currency] / _SIZE[local]
            days = [day - timedelta(days=k) for k in (9, 6, 3, 1, 0)]
            if currency == self.stale:
                days = [*days[:-2], day + timedelta(days=2)]
            for when in days:
                price, quoted, units = per * r.uniform(0.93, 1.07), "local", 1
                if currency == self.hundred:
                    price, units = price * 100, 100
                if currency == self.inverse:
                    price, quoted = 1 / price, "foreign"
                if currency == self.crossed:
                    price, quoted = _SIZE[currency] / _SIZE[self.cross] * r.uniform(0.95, 1.05), "cross"
                quotes.append(Quote(when, currency, quoted, units, round(price * 1_000_000)))
        names = [pattern(r, "FW-####") for _ in range(12)]
        forwards = {
            name: round(_SIZE[self.plain[k % 4]] / _SIZE[local] * r.uniform(0.9, 1.1) * 1e6)
            for k, name in enumerate(names)
        }
        self.contracts = {currency: names[k::4] for k, currency in enumerate(self.plain)}
        self.market = Market(tuple(quotes), forwards, self.cross)

    def shared_files(self) -> dict[str, str]:
        n, m = self.n, self.market
        rows = [f"{q.day},{q.currency},{q.quoted},{q.units},{scaled(q.value, 6)}" for q in m.quotes]
        of = {name: currency for currency, names in self.contracts.items() for name in names}
        hedges = [f"{name},{of[name]},{scaled(value, 6)}" for name, value in m.forwards.items()]
        head = f"day,{n['k_currency']},{n['k_quoted']},{n['k_units']},{n['k_rate']}"
        return {
            self.rates_path: "\n".join([head, *sorted(rows)]) + "\n",
            self.forwards_path: "\n".join([f"{n['k_contract']},{n['k_currency']},{n['k_rate']}", *hedges]) + "\n",
        }

    def name(self, r: random.Random, k: int) -> str:
        return pattern(r, "@@##-L#")

    def draw(self, r: random.Random, name: str, traits: frozenset[str]) -> Ledger:
        money = [*self.plain, *self.plain, self.cross]
        odd = {"units": self.hundred, "inverse": self.inverse, "cross": self.crossed, "last": self.stale}
        money += [currency for key, currency in odd.items() if key in traits for _ in range(3)]
        kinds = [*MONETARY, "receivable", "payable"] + (
            ["prepayment", "stock", "equity"] if "monetary" in traits else []
        )
        items = []
        for _ in range(self.rows(r, 62, 90)):
            items += self._item(r, r.choice(money), r.choice(kinds), traits)
        return Ledger(
            r.choice(self.w.others).address.city, tuple(sorted(items, key=lambda i: (i.day, i.number, i.kind)))
        )

    def _item(self, r: random.Random, currency: str, kind: str, traits: frozenset[str]) -> list[Item]:
        day = self.w.day - timedelta(days=r.randint(3, 150))
        per = rate(self.market, currency, self.w.day, self.features)
        size = cents(r, 20_000, 8_000_000)
        foreign = round(size / float(per)) * (-1 if kind in ("payable", "loan", "equity") else 1)
        booked = self.w.cents(foreign * per * Fraction(r.randint(930, 1070), 1000))
        settled = None
        if "settled" in traits and kind in ("receivable", "payable") and r.random() < 0.3:
            settled = (
                self.w.day - timedelta(days=r.randint(0, 2)),
                self.w.cents(Fraction(booked * r.randint(960, 1040), 1000)),
            )
        contract = ""
        if "forward" in traits and currency in self.contracts and kind in MONETARY and r.random() < 0.4:
            contract = r.choice(self.contracts[currency])
        number = pattern(r, "V######")
        found = [Item(day, number, kind, currency, foreign, booked, settled, contract)]
        if "reval" in traits and kind in MONETARY and r.random() < 0.25:
            step = self.w.cents(Fraction(booked * r.randint(-30, 30), 1000)) or 1
            found.append(Item(self.w.day - timedelta(days=31), number, "reval", currency, 0, step, None, ""))
        return found

    def unit_files(self, name: str, facts: Ledger) -> dict[str, str]:
        n = self.n
        columns = ("day", "number", "kind", "currency", "foreign", "booked", "settled", "received", "contract")
        lines = [",".join(n[f"k_{c}"] for c in columns)]
        for i in facts.items:
            paid = (i.settled[0], plain(i.settled[1])) if i.settled else ("", "")
            kind = n["w_reval"] if i.kind == "reval" else i.kind
            cells = (i.day, i.number, kind, i.currency, plain(i.foreign), plain(i.booked), *paid, i.contract)
            lines.append(",".join(map(str, cells)))
        return {f"{n['folder']}/{name}.csv": "\n".join(lines) + "\n"}

    def figures(self, facts: Ledger, on: frozenset[str]) -> Figures:
        return figures(facts.items, self.market, self.w.day, on, self.w.cents)

    def given(self, unit: Unit) -> Mapping[str, Any]:
        totals: dict[str, int] = {}
        fixed = Fraction(0)
        count = 0
        for i in unit.facts.items:
            if i.kind not in MONETARY or i.settled:
                continue
            count += 1
            if i.contract:
                fixed += i.foreign * Fraction(self.market.forwards[i.contract], 1_000_000)
            else:
                totals[i.currency] = totals.get(i.currency, 0) + i.foreign
        rates = {c: rate(self.market, c, self.w.day, self.features) for c in totals}
        return {
            "totals": {c: [v, rates[c].numerator, rates[c].denominator] for c, v in totals.items()}, "count": count,
            "fixed": [fixed.numerator, fixed.denominator],
        }  # fmt: skip

    def rules(self) -> Sequence[tuple[str, str]]:
        n = self.n
        return (
            ("Rates", f"- `{self.rates_path}` has quotes; with `{n['k_quoted']}` local a quote is {self.w.currency} "
                      "for the "
             f"currency's units. `{self.forwards_path}` has contracts, {self.w.currency} for one unit. Rates are used "
             "unrounded.\n"),
            ("Revaluation", f"- Each open item is worth `{n['k_foreign']}` times the rate, rounded; the sum is "
             f"`{n['o_closing']}`, what the same items were booked at `{n['o_book']}`. An item's difference is a gain "
             "or a "
             f"loss by its own sign: `{n['o_gain']}` adds the gains, `{n['o_loss']}` the losses without sign, "
             f"`{n['o_net']}` "
             "is one less the other. «Liabilities carry a minus|What we owe has a minus».\n"),
        )  # fmt: skip

    def ask(self) -> str:
        return (
            f"«Month end:|Closing» {self.w.day}. {self.counted('ledger')} in `{self.n['folder']}/` with items in "
            "foreign "
            f"currencies, which «have to be revalued|need their revaluation» into {self.w.currency}: booked, revalued, "
            "gains, "
            "losses, net and what was realised on paid items. «Treasury and we disagree in some ledgers|Treasury's "
            "figures "
            "and ours were apart last month»."
        )

    def values(self, unit: Unit) -> dict[str, str]:
        items, day = unit.facts.items, self.w.day
        fixed = [i for i in items if i.kind not in (*MONETARY, "reval")]
        hedged = [i.contract for i in items if i.contract]
        late = [q.day for q in self.market.quotes if q.currency == self.stale and q.day > day]
        return {
            "fixed": str(len(fixed)), "fixed_sum": shown(sum(i.booked for i in fixed)), "hundred": self.hundred,
            "inverse": self.inverse, "crossed": self.crossed, "stale": self.stale, "later": str(late[0]),
            "revals": str(sum(i.kind == "reval" for i in items)),
            "paid": str(sum(i.settled is not None for i in items)),
            "hedged": str(len(hedged)), "contract": hedged[0] if hedged else "",
        }  # fmt: skip

    def remarks(self, unit: Unit) -> list[str]:
        items, r = unit.facts.items, self.w.part("remarks", unit.name)
        money = sorted({i.currency for i in items})
        found = [
            f"{len(items)} rows of {{unit}} in {unit.facts.place}, in {', '.join(money)}.",
            f"As booked its rows add up to {shown(sum(i.booked for i in items))} {self.w.currency}.",
            f"The largest row of {{unit}} is {shown(max(abs(i.booked) for i in items))} as booked.",
        ]
        for c in money:
            own = [i for i in items if i.currency == c]
            found.append(f"{c}: {len(own)} rows, {shown(sum(i.foreign for i in own))} in the currency.")
        for i in r.sample(items, min(64, len(items))):
            if not i.foreign:
                continue
            per = f"{i.booked / i.foreign:.5f}"
            found.append(r.choice((
                f"{i.number} of {i.day}: {shown(i.foreign)} {i.currency} booked at {shown(i.booked)}, a rate of {per}.",
                f"{i.kind.capitalize()} {i.number} «was booked|stands» at {per} for one {i.currency}.",
                f"{shown(i.foreign)} {i.currency} of {i.day:%B} «are|make» {shown(i.booked)} in the books "
                f"({i.number}).",
            )))  # fmt: skip
        return found

    def probe(self, unit: Unit) -> str:
        n = self.n
        return f"""
import csv
from collections import defaultdict
from fractions import Fraction

by = defaultdict(lambda: [0, Fraction(0), Fraction(0)])
for {n["row"]} in csv.DictReader(open("{n["folder"]}/{unit.name}.csv")):
    {n["part"]} = by[{n["row"]}["{n["k_currency"]}"], {n["row"]}["{n["k_kind"]}"]]
    {n["part"]}[0] += 1
    {n["part"]}[1] += Fraction({n["row"]}["{n["k_foreign"]}"])
    {n["part"]}[2] += Fraction({n["row"]}["{n["k_booked"]}"])
for key, (count, foreign, booked) in sorted(by.items()):
    print(*key, count, float(foreign), float(booked))
"""
