"""Leases: drawn with the traits that are asked for, written down as contracts and payment journals."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

from simulator.tasks.words import cents, pattern

from .._kit_finance import arith
from .._kit_finance.arith import plain, scaled, shown
from .._kit_finance.case import Case, Figures, Unit
from .lease import Lease, months, payments, state
from .twists import TWISTS

_CLAUSES = (
    "The lessee «insures|keeps insured» the asset against fire and theft and «shows the policy on demand|sends a "
    "copy».",
    "Subletting «needs|is subject to» the lessor's consent in writing.",
    "Notices go to the «registered offices|addresses above»; a change «is told within two weeks|must be told».",
    "The lessor may inspect the asset «during office hours|after two days' notice».",
)
_OTHER = ("utilities", "deposit", "parking", "repair", "late fee")


class Leases(Case):
    noun, nouns, title = "lease", "leases", "Lease accounting"
    control = "the auditors' sample"
    tails = ("leases", "lease-book", "rights-of-use", "ifrs16")
    twists = TWISTS
    wanted = ("liability", "right", "interest", "depreciation", "current", "initial", "paid")
    controls = ("liability", "right", "interest")

    def words(self) -> dict[str, str]:
        found = self.w.pick(
            module="leases lease_book rights rou contracts", folder="contracts leases lease_files agreements",
            f_controls="auditors sample stated audit_sample", k_start="Commencement Start Begins",
            k_term="Term_months Months Term", k_more="Extension_months Option_months",
            k_pay="Monthly_rent Rent Payment",
            k_service="Service_per_cent Service_share", k_rate="Rate_per_cent Borrowing_rate Rate",
            k_due="Due Payable", k_free="Free_months Rent_free", k_index="Index_change Adjustment",
            k_costs="Initial_costs Direct_costs", k_option="Purchase_price Option_price",
            k_life="Useful_life Life_months",
            k_restore="Restoration Site_restoration", k_day="booked day_booked value_date", k_what="purpose what text",
            k_amount="amount paid_amount sum_paid", o_liability="liability lease_liability",
            o_right="right_of_use carrying_amount rou_asset", o_interest="interest interest_of_year finance_cost",
            o_depreciation="depreciation write_off", o_current="current due_within_year short_term",
            o_initial="initial first_value at_start", o_paid="paid rent_paid paid_of_year",
            f_terms="terms_of read_contract contract_terms", f_due="rents due_rents payments_due",
            f_present="present_value worth discounted", f_roll="roll run_through schedule",
            f_elapsed="months_gone elapsed age_in_months",
            terms="terms contract clauses", balance="balance owed liability_now", asset="asset_value right carrying",
        )  # fmt: skip
        found["folder"] = f"{self.w.names['data']}/{found['folder']}"
        return found

    def name(self, r: random.Random, k: int) -> str:
        return pattern(r, "LC-####@")

    def draw(self, r: random.Random, name: str, traits: frozenset[str]) -> Lease:
        elapsed, term = r.randint(14, 40), r.choice((48, 60, 72, 84, 96))
        first = arith.shift(date(self.w.day.year, self.w.day.month, 1), 1 - elapsed)
        option = cents(r, 200_000, 4_000_000) if "option" in traits else 0
        rent, service = cents(r, 60_000, 1_500_000), r.choice((8, 10, 12, 15)) if "service" in traits else 0
        index = (r.randint(8, elapsed - 2), r.choice((-15, 18, 23, 31, 42))) if "index" in traits else None
        free = r.randint(1, 5) if "free" in traits else 0
        return Lease(
            asset=r.choice(("forklifts", "office floor", "delivery vans", "printing line", "cold store", "crane",
            "warehouse")),
            start=first, term=term, more=r.choice((12, 24, 36)) if "extend" in traits else 0, pay=rent, service=service,
            rate=r.randint(16, 60) * 125, advance="advance" in traits, free=free, index=index,
            costs=r.choice((-1, 1)) * cents(r, 40_000, 900_000) if "costs" in traits else 0, option=option,
            life=term + 60 if option else 0, restore=cents(r, 300_000, 3_000_000) if "restore" in traits else 0,
            paid=self._journal(r, first, elapsed, rent, free),
        )  # fmt: skip

    def _journal(
        self, r: random.Random, first: date, elapsed: int, rent: int, free: int
    ) -> tuple[tuple[date, int, str], ...]:
        rows = []
        for k in range(elapsed):
            month = arith.shift(first, k)
            if k >= free:
                rows.append((month + timedelta(days=r.randint(0, 5)), rent, "rent"))
            for _ in range(self.rows(r, 2, 3)):
                rows.append((month + timedelta(days=r.randint(0, 27)), cents(r, 1_500, 90_000), r.choice(_OTHER)))
        return tuple(sorted(rows))

    def unit_files(self, name: str, facts: Lease) -> dict[str, str]:
        n, x, r = self.n, facts, self.w.part("contract", name)
        lines = [f"{n['k_day']},{n['k_what']},{n['k_amount']},account,reference"]
        for day, amount, what in x.paid:
            lines.append(f"{day},{what},{plain(amount)},{pattern(r, '6###')},{pattern(r, 'B#######')}")
        rows = [
            ("Asset", x.asset), ("Lessor", r.choice(self.w.others).name), (n["k_start"], x.start), (n["k_term"],
            x.term),
            (n["k_pay"], plain(x.pay)), (n["k_due"], "in advance" if x.advance else "in arrears"),
            (n["k_rate"], scaled(x.rate, 3)),
        ]  # fmt: skip
        more = [
            (n["k_more"], x.more), (n["k_service"], x.service), (n["k_free"], x.free),
            (n["k_index"], f"{x.index[0] + 1} {scaled(x.index[1], 1)}" if x.index else 0),
            (n["k_costs"], plain(x.costs) if x.costs else 0), (n["k_option"], plain(x.option) if x.option else 0),
            (n["k_life"], x.life), (n["k_restore"], plain(x.restore) if x.restore else 0),
        ]  # fmt: skip
        rows += [row for row in more if row[1]]
        table = "".join(f"| {key} | {value} |\n" for key, value in rows)
        clauses = "\n\n".join(self.w.fill(c) for c in r.sample(_CLAUSES, 3))
        contract = f"# {name}: {x.asset}\n\n| Term | Value |\n|---|---|\n{table}\n{clauses}\n"
        return {f"{n['folder']}/{name}.md": contract, f"{n['folder']}/{name}.csv": "\n".join(lines) + "\n"}

    def elapsed(self, x: Lease) -> int:
        return (self.w.day.year - x.start.year) * 12 + self.w.day.month - x.start.month + 1

    def figures(self, facts: Lease, on: frozenset[str]) -> Figures:
        x, day = facts, self.w.day
        s = state(x, self.elapsed(x), on, self.w.cents)
        since = arith.last_day(arith.shift(day, -12))
        return {
            "liability": s.liability, "right": s.right, "interest": s.interest, "depreciation": s.depreciation,
            "current": s.current, "initial": s.initial,
            "paid": sum(amount for when, amount, what in x.paid if what == "rent" and since < when <= day),
        }  # fmt: skip

    def given(self, unit: Unit) -> Mapping[str, Any]:
        x, on = unit.facts, self.features
        due = payments(x, on, self.w.cents)
        rent, gone = due[-1], self.elapsed(x)
        later = rent
        if x.index:
            later = self.w.cents(Fraction(rent * (1000 + x.index[1]), 1000))
        return {
            "rate": x.rate, "months": months(x, on), "free": x.free, "rent": rent, "later": later, "gone": gone,
            "early": x.advance, "option": x.option,
        }  # fmt: skip

    def rules(self) -> Sequence[tuple[str, str]]:
        n = self.n
        return (
            ("Liability", f"- `{n['o_initial']}`: present value of the rents at `{n['k_start']}`, a twelfth of the "
                          "yearly "
             "rate for each month, rounded once. Rents in arrears are due at the end of their month.\n- Each month: "
             f"interest on the balance, rounded, is added and the rent taken off. `{n['o_liability']}` is the balance "
             "at "
             f"{self.w.day}, a month end; `{n['o_interest']}` the interest of the twelve months to it; "
             f"`{n['o_current']}` the "
             "balance less the balance twelve months later, without further changes.\n"),
            ("Right of use", f"- It begins with the liability and is written off month by month: what is left over the "
             f"months that are left, rounded. `{n['o_right']}` is what is left at {self.w.day}, "
             f"`{n['o_depreciation']}` what "
             "was written off in the twelve months to it.\n"),
            ("Payments", f"- `{n['o_paid']}`: rows of the journal with `{n['k_what']}` rent, booked in the twelve "
                         "months to "
             f"{self.w.day}. «Other rows are no rent|Rows with another purpose do not count».\n"),
        )  # fmt: skip

    def ask(self) -> str:
        return (
            f"«Lease accounting at|The leases of {self.w.firm.short} at» {self.w.day}: {self.counted('contract')} in "
            f"`{self.n['folder']}/`, each as Markdown with its payment journal as CSV. «Per lease I need|For each one "
            "please» liability, right of use, interest and write-off of the last twelve months, the current part, the "
            "first "
            "value and the rent paid. «The old spreadsheet cannot be trusted|Last year's sheet had faults nobody "
            "found»."
        )

    def values(self, unit: Unit) -> dict[str, str]:
        x = unit.facts
        return {
            "months_n": str(months(x, self.features)), "term": str(x.term), "more": str(x.more),
            "costs": shown(x.costs),
            "free": "one month" if x.free == 1 else f"{x.free} months",
            "index_month": str(x.index[0] + 1) if x.index else "",
            "index_change": scaled(x.index[1], 1) if x.index else "", "option": shown(x.option), "life": str(x.life),
            "service": str(x.service), "restore": shown(x.restore),
        }  # fmt: skip

    def remarks(self, unit: Unit) -> list[str]:
        x, r = unit.facts, self.w.part("remarks", unit.name)
        rate = scaled(x.rate, 3)
        found = [
            f"{{unit}} is about {x.asset}: {shown(x.pay)} a month over {x.term} months, from {x.start} on.",
            f"At {rate} per cent a month costs {float(Fraction(x.rate, 12_000)):.5f} per cent.",
            f"Undiscounted, the contract's rents come to {shown(x.pay * x.term)}; «the first value must be well "
            "below|any "
            "value above that would be wrong».",
            f"{self.elapsed(x)} months have gone since {x.start}, {months(x, self.features) - self.elapsed(x)} are "
            "left.",
            f"One month's interest on {shown(x.pay * 12)} would be "
            f"{shown(self.w.cents(Fraction(x.pay * 12 * x.rate, 1_200_000)))}, «to have a yardstick|as a yardstick».",
            f"The journal has {len(x.paid)} rows, {sum(w == 'rent' for *_, w in x.paid)} of them rent.",
        ]
        for day, amount, what in r.sample(x.paid, min(60, len(x.paid))):
            counts = "«counts|is rent»" if what == "rent" else "«does not count|is no rent»"
            found.append(
                r.choice((
                    f"{shown(amount)} on {day} for {what}, which {counts}.",
                    f"Row of {day}: {what}, {shown(amount)}; it {counts}.",
                    f"In {day:%B %Y} {shown(amount)} went out for {what}. That {counts}.",
                ))
            )  # fmt: skip
        return found

    def probe(self, unit: Unit) -> str:
        x, n = unit.facts, self.n
        return f"""
rate = {x.rate} / 1_200_000
count, rent = {x.term}, {x.pay} / 100
{n["part"]} = rent * (1 - (1 + rate) ** -count) / rate
print("{unit.name}", "plain annuity of the contract:", round({n["part"]}, 2))
print("in advance it would be", round({n["part"]} * (1 + rate), 2), "and undiscounted", round(rent * count, 2))
"""
