"""Trade receivables: open items by age, loss allowance by bucket, in whole cents; credit control's list."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction

from ..._kit_finance import arith
from .world import CENT, Truth, World, csv_text


@dataclass(frozen=True, slots=True)
class Customer:
    """cover: insured per cent; specific: own loss rate in per cent, None when the bucket's holds."""

    number: str
    name: str
    cover: int
    specific: int | None


@dataclass(frozen=True, slots=True)
class Item:
    """open: cents in `currency`, negative for a credit note."""

    invoice: str
    customer: Customer
    issued: date
    due: date
    currency: str
    open: int


#: (last day overdue, None: no limit; name; loss rate in 1/100 per cent)
Bucket = tuple[int | None, str, int]


def _buckets(r: random.Random) -> list[Bucket]:
    edges = r.choice(((0, 30, 60, 90, 180), (0, 30, 90, 180), (0, 15, 45, 90, 180, 360), (0, 30, 60, 120, 360)))
    names = ["not_due", *(f"to_{x}" for x in edges[1:]), f"over_{edges[-1]}"]
    rates, rate = [], r.randint(20, 60)
    for _ in names:
        rates.append(rate)
        rate = rate * r.randint(19, 29) // 10 + r.randint(1, 60)
    rates = [min(x, 9_500) for x in rates]
    return list(zip([*edges, None], names, rates, strict=True))


def allowance(gross: int, c: Customer, rate: int, tax: int, w: World, *, net: bool = True) -> int:
    """Cents. net=False makes a draft's mistake: tax left in the base."""
    if gross <= 0:
        return 0
    share = Fraction(c.specific * 100 if c.specific is not None else rate, 10_000)
    base = Fraction(gross * 100, 100 + tax) if net else Fraction(gross)
    return w.cents(base * Fraction(100 - c.cover, 100) * share)


def bucket_of(item: Item, buckets: list[Bucket], w: World, *, edge: bool = True) -> Bucket:
    """edge=False makes a draft's mistake: the last day of a bucket falls into the next one."""
    overdue = item_age(item, w) + (0 if edge else 1)
    return next(b for b in buckets if b[0] is None or overdue <= b[0])


def item_age(item: Item, w: World) -> int:
    return w.year_end.toordinal() - item.due.toordinal()


def names(r: random.Random, w: World) -> dict[str, str]:
    def pick(words: str) -> str:
        return r.choice(words.split())

    return w.names | {
        "folder": f"{w.names['data']}/{pick('receivables debtors_ledger open_items customers sales_ledger')}",
        "tax": str(r.choice((19, 20, 21, 25, 8))),
        "mod_receivables": pick("receivables ageing allowance expected_losses debtors"),
        "mod_check": pick("credit_control allowance_check compare_ageing debtor_check"),
        "file_items": pick("items.csv open_items.csv unpaid.csv"),
        "file_customers": pick("customers.csv debtors.csv accounts.csv"),
        "file_rates": pick("rates.csv currency.csv translation.csv"),
        "file_control": pick("credit_control.csv control.csv agreed_ageing.csv"),
        "file_out": "out/" + pick("receivables.json ageing.json allowance.json"),
        "k_customer": pick("customer debtor account"),
        "k_invoice": pick("invoice document number"),
        "k_due": pick("due due_date payable_by"),
        "k_open": pick("open_amount open unpaid balance"),
        "k_rate": pick("closing_rate rate per_unit"),
        "k_cover": pick("insured_pct cover_pct insured"),
        "k_specific": pick("specific_rate own_rate_pct individual_rate"),
        "k_bucket": pick("bucket age band"),
        "o_gross": pick("gross receivable gross_amount"),
        "o_loss": pick("allowance expected_loss loss_allowance"),
        "o_buckets": pick("buckets by_age bands"),
        "o_total": pick("total all sum"),
        "opt_customer": pick("customer debtor items"),
        "opt_people": pick("by-customer customers people"),
        "opt_write": pick("out write target"),
        "f_masters": pick("masters customers_and_rates reference"),
        "f_bucket": pick("bucket_of band_of age_band"),
        "f_loss": pick("allowance_on expected_loss_of loss_on"),
        "f_items": pick("valued_items items_in_books each_item"),
        "f_age": pick("ageing age_list by_bucket aged"),
    }


class Receivables:
    def __init__(self, w: World) -> None:
        r = w.part("receivables")
        self.w, self.n, self.buckets = w, names(r, w), _buckets(r)
        self.tax = int(self.n["tax"])
        currencies = [
            w.currency,
            *r.sample([c for c in ("EUR", "USD", "GBP", "NOK", "PLN", "JPY") if c != w.currency], 2),
        ]
        self.rates = {c: Fraction(r.randint(60_000, 1_500_000), 1_000_000) for c in currencies}
        self.rates[w.currency] = Fraction(1)
        number = r.randint(10_000, 60_000)
        self.customers = []
        for k in range(r.randint(12, 18)):
            number += r.randint(1, 90)
            cover = r.choice((50, 80, 90)) if k % 5 == 1 else r.choice((0, 0, 0, 50, 80, 90))
            specific = r.choice((35, 50, 75, 100)) if k % 6 == 2 else None
            self.customers.append(Customer(str(number), w.others[28 - k].short, cover, specific))
        self.items = self._draw(r, currencies)
        self.right = self.age()
        self.label = r.choice(
            ("Receivables aged, allowance computed", "Expected losses on receivables", "Ageing and allowance")
        )

    def _draw(self, r: random.Random, currencies: list[str]) -> list[Item]:
        items, number = [], r.randint(20_000, 700_000)
        limits = [b[0] for b in self.buckets if b[0] is not None]
        for k in range(r.randint(120, 170)):
            number += r.randint(1, 60)
            age = (
                r.choice(limits)
                if k % 12 == 5
                else r.choice((r.randint(-60, 0), r.randint(-60, 20), r.randint(1, 120), r.randint(60, 500)))
            )
            due = self.w.year_end - timedelta(days=age)
            size = r.randint(20_000, 9_000_000) * (-1 if k % 17 == 9 else 1)
            items.append(
                Item(
                    f"{'CN' if size < 0 else 'RE'}{number}",
                    r.choice(self.customers),
                    due - timedelta(days=r.choice((14, 30, 30, 45, 60))),
                    due,
                    r.choice((currencies[0], *currencies)),
                    size,
                )
            )
        return items

    def age(self, *, net: bool = True, edge: bool = True) -> dict[str, tuple[int, int]]:
        """bucket -> (gross, allowance), cents."""
        found = {name: (0, 0) for _, name, _ in self.buckets}
        for x in self.items:
            _, name, rate = bucket_of(x, self.buckets, self.w, edge=edge)
            gross = self.w.cents(x.open * self.rates[x.currency])
            loss = allowance(gross, x.customer, rate, self.tax, self.w, net=net)
            found[name] = (found[name][0] + gross, found[name][1] + loss)
        return found

    def total(self) -> tuple[int, int]:
        return sum(x for x, _ in self.right.values()), sum(y for _, y in self.right.values())

    def files(self) -> dict[str, str]:
        n, r, base = self.n, self.w.part("receivable files"), self.n["folder"] + "/"
        items = [
            {
                n["k_invoice"]: x.invoice,
                n["k_customer"]: x.customer.number,
                "issued": x.issued.isoformat(),
                n["k_due"]: x.due.isoformat(),
                "currency": x.currency,
                n["k_open"]: arith.plain(x.open),
            }
            for x in self.items
        ]
        people = [
            {
                n["k_customer"]: c.number,
                "name": c.name,
                n["k_cover"]: str(c.cover),
                n["k_specific"]: "" if c.specific is None else str(c.specific),
            }
            for c in self.customers
        ]
        rates = [{"currency": c, n["k_rate"]: f"{float(x):.6f}"} for c, x in self.rates.items()]
        control = [
            {n["k_bucket"]: k, "control_gross": arith.plain(g), "control_allowance": arith.plain(a)}
            for k, (g, a) in self.right.items()
        ]
        return {
            base + n["file_items"]: csv_text(r, list(items[0]), items),
            base + n["file_customers"]: csv_text(r, list(people[0]), people),
            base + n["file_rates"]: csv_text(r, list(rates[0]), rates),
            base + n["file_control"]: csv_text(r, list(control[0]), control),
        }

    def title(self) -> str:
        return "Receivables"

    def policy(self) -> str:
        n = self.n
        rows = "".join(
            f"| `{name}` | "
            f"{'more' if limit is None else ('not overdue' if not limit else f'up to and including {limit}')} | "
            f"{rate / 100:.2f} % |\n"
            for limit, name, rate in self.buckets
        )
        return (
            f"- «Age is counted in days from|Days overdue run from» `{n['k_due']}` to the reporting date; «an item "
            "due on that day is not overdue|due on the day itself means not overdue».\n\n| «bucket|band» | days "
            f"overdue | loss rate |\n|---|---|---:|\n{rows}\n- `{n['k_open']}` is translated at `{n['k_rate']}` and "
            f"rounded per item: that is `{n['o_gross']}`.\n- `{n['o_loss']}`, per item: «gross without {self.tax} % "
            f"sales tax|the amount net of {self.tax} % sales tax (gross / {1 + self.tax / 100:.2f})», less the "
            f"insured share (`{n['k_cover']}`), times the rate; `{n['k_specific']}` «of a customer replaces the "
            "bucket's rate|goes before the bucket's rate». Rounded once, at the end.\n- Credit notes stay in their "
            "own bucket and «carry no allowance|never reduce an allowance».\n"
        )

    def ask(self) -> str:
        n = self.n
        return (
            f"«Receivables|Trade debtors»: {len(self.items)} open items in `{n['folder']}/`. {n['file_out']} with "
            f"`{n['o_buckets']}` (by bucket name {n['o_gross']} and {n['o_loss']}) and `{n['o_total']}` (both for "
            f"everything). «Credit control has its own result in {n['file_control']}; it is agreed with the "
            f"auditors.|{n['file_control']} is what credit control and auditors agreed on.»"
        )

    def truth(self) -> Truth:
        n = self.n
        keys = (n["o_gross"], n["o_loss"])
        found = [
            ([n["o_buckets"], name, k], arith.plain(v), CENT)
            for name, row in self.right.items()
            for k, v in zip(keys, row, strict=True)
        ]
        found += [([n["o_total"], k], arith.plain(v), CENT) for k, v in zip(keys, self.total(), strict=True)]
        return {n["file_out"]: found}

    def headlines(self) -> list[tuple[str, str]]:
        gross, loss = self.total()
        return [("Trade receivables, gross", arith.shown(gross)), ("Loss allowance on receivables", arith.shown(loss))]
