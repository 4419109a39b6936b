"""Bonds at the reporting date: drawn with the traits that are asked for, written down as trades and term sheets."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

from simulator.tasks.words import pattern

from .._kit_finance import arith
from .._kit_finance.case import Case, Figures, Unit
from .bond import Bond, accrued, flows, held, period, rate, rate_of_return
from .twists import TWISTS

_BASES = ("ACT/365", "ACT/360", "30E/360")
_CLAUSES = (
    "The issuer may «buy back|repurchase» notes in the market at any price and «hold or cancel|cancel or resell» them.",
    "Notices are published in «a newspaper of general circulation|electronic form» and «count as given|take effect» on "
    "the day of publication.",
    "The notes are «listed|admitted to trading» on a regulated market; the fee of the paying agent is borne by the "
    "issuer.",
    "Claims for principal «lapse|become void» after ten years, claims for interest after «five|four» years.",
    "A meeting of holders can be called by «five|ten» per cent of the nominal; «it decides by three quarters|a quorum "
    "of "
    "a third is needed».",
)


class Bonds(Case):
    noun, nouns, title = "bond", "bonds", "Bond portfolio"
    control = "the custodian's statement"
    tails = ("bonds", "fixed-income", "portfolio-valuation", "custody")
    twists = TWISTS
    wanted = ("nominal", "accrued", "value", "cost", "gain", "yield")
    controls = ("nominal", "accrued", "yield")
    decimals: Mapping[str, int] = {"yield": 6}
    slack: Mapping[str, float] = {"yield": 1.5}

    def words(self) -> dict[str, str]:
        found = self.w.pick(
            module="bonds valuation fixed_income positions portfolio holdings",
            folder="bonds positions holdings notes_held securities", f_controls="custodian statement custody stated",
            k_trade="trade_date traded deal_date dealt_on", k_settle="settlement settles_on value_date settled",
            k_side="side buy_sell direction", k_nominal="nominal face notional", k_price="clean_price price quote",
            w_buy="buy B purchase", w_sell="sell S sale", k_rate="Coupon Rate Interest_rate",
            k_freq="Coupons_a_year Frequency Payments_a_year", k_issue="Issue_date Issued Dated",
            k_maturity="Maturity Final_redemption Matures", k_basis="Day_count Basis Convention",
            k_quote="Quote Closing_price Last_price", k_ex="Ex_dividend_days Ex_days", k_sink="Repaid "
                                                                                              "Partial_redemption",
            k_step="Second_rate Stepped_coupon", o_nominal="nominal face_held outstanding",
            o_accrued="accrued accrued_interest interest_accrued", o_value="value dirty_value market_value",
            o_cost="cost book_cost acquisition_cost", o_gain="gain unrealised difference_to_cost",
            o_yield="yield yield_to_maturity ytm", f_terms="terms_of read_terms sheet", f_period="running_period "
                                                                                                 "coupon_period "
                                                                                                 "period_at",
            f_share="share_of_year year_share day_share", f_rate="rate_in_force current_rate coupon_rate",
            f_accrued="accrued_per_100 interest_per_100 accrual", f_held="held position_at holdings_at",
            f_flows="flows_left payments_left future_flows", f_solve="solve_yield find_yield yield_of",
            terms="terms sheet paper conditions", p_dates="dates coupon_dates due_dates",
        )  # fmt: skip
        found["folder"] = f"{self.w.names['data']}/{found['folder']}"
        return found

    def name(self, r: random.Random, k: int) -> str:
        return pattern(r, "@@####@##")

    def draw(self, r: random.Random, name: str, traits: frozenset[str]) -> Bond:
        day = self.w.day
        freq = r.choice((1, 2, 2, 4))
        maturity = arith.shift(date(day.year, day.month, r.randint(2, 26)), r.randint(14, 130))
        if "eom" in traits:
            maturity = arith.last_day(arith.shift(date(day.year + r.randint(2, 9), r.choice((2, 4, 6, 9, 11)), 5), 0))
        if "exdiv" in traits:
            maturity = arith.shift(day + timedelta(days=r.randint(2, 7)), 12 // freq * r.randint(3, 20))
        if "simple" in traits:
            maturity = day + timedelta(days=r.randint(40, 85))
        months = 12 // freq
        issue = arith.shift(maturity, -months * r.randint(24, 50))
        if "short" in traits:
            issue = day - timedelta(days=r.randint(15, 60))
        basis = "ACT/ACT" if "icma" in traits else r.choice(_BASES)
        coupon = r.randint(4, 60) * 125
        step, sinks = None, ()
        if "step" in traits:
            step = (arith.shift(day, -r.randint(13, 20)), coupon + r.randint(2, 9) * 125)
        if "sink" in traits:
            sinks = tuple((day - timedelta(days=r.randint(30, 700)), r.choice((5, 10, 15, 20))) for _ in range(2))
        return Bond(r.choice(self.w.others).name, coupon, freq, issue, maturity, basis, r.randint(90_000, 109_000),
                    r.choice((7, 8, 10)) if "exdiv" in traits else 0, step, tuple(sorted(sinks)),
                    self._trades(r, issue, traits))  # fmt: skip

    def _trades(self, r: random.Random, issue: date, traits: frozenset[str]) -> tuple[tuple[date, date, int, int], ...]:
        day = self.w.day
        first = max(issue, day - timedelta(days=900))
        rows, nominal = [], 0
        days = sorted(
            first + timedelta(days=r.randint(0, max(1, (day - first).days - 6))) for _ in range(self.rows(r, 75, 115))
        )
        for traded in days:
            units = r.randint(5, 400) * 1_000
            if nominal > units and r.random() < 0.35:
                units = -units
            nominal += units
            rows.append((traded, traded + timedelta(days=r.choice((2, 2, 3, 1))), units, r.randint(88_000, 111_000)))
        if "settle" in traits:
            units = r.choice((r.randint(20, 300) * 1_000, -min(nominal // 2_000, 300) * 1_000 or 50_000))
            rows.append(
                (day - timedelta(days=1), day + timedelta(days=r.randint(1, 3)), units, r.randint(88_000, 111_000))
            )
        return tuple(rows)

    def unit_files(self, name: str, facts: Bond) -> dict[str, str]:
        n, b, r = self.n, facts, self.w.part("sheet", name)
        lines = [f"{n['k_trade']},{n['k_settle']},broker,{n['k_side']},{n['k_nominal']},{n['k_price']},ticket"]
        for traded, settled, units, price in b.trades:
            side = n["w_buy"] if units > 0 else n["w_sell"]
            broker = r.choice(self.w.others[:9]).short
            lines.append(
                f"{traded},{settled},{broker},{side},{abs(units)},{arith.scaled(price, 3)},{pattern(r, 'T######')}"
            )
        return {
            f"{n['folder']}/{name}.csv": "\n".join(lines) + "\n",
            f"{n['folder']}/{name}.md": self._sheet(name, b, r),
        }

    def _sheet(self, name: str, b: Bond, r: random.Random) -> str:
        n = self.n
        rows = [
            ("Issuer", b.issuer), (n["k_rate"], arith.scaled(b.rate, 3)), (n["k_freq"], b.freq), (n["k_issue"],
            b.issue),
            (n["k_maturity"], b.maturity), (n["k_basis"], b.basis), (n["k_quote"], arith.scaled(b.price, 3)),
            (n["k_ex"], b.ex_days),
        ]  # fmt: skip
        if b.step:
            rows.append((n["k_step"], f"{b.step[0]} {arith.scaled(b.step[1], 3)}"))
        rows += [(n["k_sink"], f"{day} {share}") for day, share in b.sinks]
        if r.random() < 0.5:
            rows = [*rows[:1], ("Paying agent", r.choice(self.w.others).name), *rows[1:]]
        table = "".join(f"| {key} | {value} |\n" for key, value in rows)
        clauses = "\n\n".join(self.w.fill(c) for c in r.sample(_CLAUSES, 3))
        return f"# {name}: terms\n\n| Field | Value |\n|---|---|\n{table}\n{clauses}\n"

    def figures(self, facts: Bond, on: frozenset[str]) -> Figures:
        b, day, cents = facts, self.w.day, self.w.cents
        nominal, cost = held(b, day, on, cents)
        left = 100 - sum(share for when, share in b.sinks if when <= day) if "sink" in on else 100
        outstanding = Fraction(nominal * left, 100)
        cost = cents(Fraction(cost * left, 100)) if left != 100 else cost
        interest = cents(outstanding * accrued(b, day, on))
        clean = cents(outstanding * Fraction(b.price, 1000))
        return {
            "nominal": cents(outstanding * 100), "accrued": interest, "value": clean + interest, "cost": cost,
            "gain": clean - cost, "yield": arith.nearest(Fraction(rate_of_return(b, day, on)) * 10**6, self.w.mode),
        }  # fmt: skip

    def given(self, unit: Unit) -> Mapping[str, Any]:
        b, day, on = unit.facts, self.w.day, self.features
        left, paid = flows(b, day, on)
        regular = rate(b, period(b, day, on), on) / b.freq
        return {
            "price": arith.scaled(b.price, 3), "freq": b.freq, "count": len(paid), "left": [left.numerator,
            left.denominator],
            "regular": str(float(regular)), "first": str(float(paid[0] - (100 if len(paid) == 1 else 0))),
            "accrued": str(float(accrued(b, day, on))),
        }  # fmt: skip

    def rules(self) -> Sequence[tuple[str, str]]:
        n = self.n
        return (
            ("Position", f"- `{n['o_nominal']}`: bought less sold at {self.w.day}. `{n['o_cost']}`: a purchase costs "
                         "nominal "
             "times clean price over 100, «rounded at each trade|each trade rounded»; a sale takes out the average "
             "cost, "
             "cost before times nominal sold over nominal before, rounded.\n"),
            ("Interest", f"- `{n['o_accrued']}`: rate times the share of the year since the last coupon date, on the "
                         "nominal "
             "held, rounded once. Coupon dates go back from the maturity in steps of 12 over the coupons a year, "
             "always "
             "counted from the maturity, «a day that a month lacks becomes its last|31 becomes 30 where a month is "
             "short». The last coupon date is the latest one not after the reporting date.\n- ACT/365 and ACT/360 "
             "count "
             "calendar days; 30E/360 counts 30 days a month and caps both days at 30.\n"),
            ("Value and yield", f"- `{n['o_value']}`: nominal times the sheet's {n['k_quote']} over 100, rounded, plus "
             f"`{n['o_accrued']}`. `{n['o_gain']}`: the same without interest, less `{n['o_cost']}`.\n- "
             f"`{n['o_yield']}`: the "
             "rate, compounded at each coupon, at which the payments left are worth price plus accrued interest (per "
             "100, "
             "unrounded). The next payment is discounted for the share of its period that is left, in calendar days, "
             "each "
             "later one for a period more. As a fraction, six decimals.\n"),
        )  # fmt: skip

    def ask(self) -> str:
        return (
            f"«We need|Please work out» the bond portfolio of {self.w.firm.name} at {self.w.day}: «for each "
            "position|per "
            "bond» nominal, accrued interest, value, cost, gain and yield. Each bond has its trades as CSV and its "
            "term "
            f"sheet as Markdown in `{self.n['folder']}/`. «The custodian and we have been apart for months|Last "
            "quarter we "
            "differed from the custodian in several lines»."
        )

    def values(self, unit: Unit) -> dict[str, str]:
        b, day = unit.facts, self.w.day
        p = period(b, day, self.features)
        wrong = period(b, day, self.features - {"eom", "short"})
        return {
            "to_next": str((p.next - day).days), "ex": str(b.ex_days), "issue": str(b.issue), "before": str(p.before),
            "before_wrong": str(wrong.before), "period_days": str((p.next - p.before).days), "freq": str(b.freq),
            "last_trade": str(b.trades[-1][0]), "last_settle": str(b.trades[-1][1]), "maturity": str(b.maturity),
            "months": str(12 // b.freq), "sinks": " and ".join(f"{d} {s}" for d, s in b.sinks),
            "sunk": str(sum(s for _, s in b.sinks)), "step_rate": arith.scaled(b.step[1], 3) if b.step else "",
            "step_day": str(b.step[0]) if b.step else "", "first_rate": arith.scaled(b.rate, 3),
        }  # fmt: skip

    def remarks(self, unit: Unit) -> list[str]:
        b, r = unit.facts, self.w.part("remarks", unit.name)
        buys = [t for t in b.trades if t[2] > 0]
        sells = [t for t in b.trades if t[2] < 0]
        big = max(b.trades, key=lambda t: abs(t[2]))
        price, above = arith.scaled(b.price, 3), b.price > 100_000
        found = [
            f"{b.issuer} «pays|owes» {arith.scaled(b.rate, 3)} per cent on {{unit}}, {b.freq} times a year, until "
            f"{b.maturity}.",
            f"{len(b.trades)} trades, {len(sells)} of them sales; the largest is {abs(big[2]):,} at "
            f"{arith.scaled(big[3], 3)} on {big[0]}.",
            f"Bought in all {sum(t[2] for t in buys):,}, sold {-sum(t[2] for t in sells):,}, «the difference is what "
            "should be held|so much for the position».",
            f"The quote {price} is {'above' if above else 'below'} par, so the yield of {{unit}} «must lie|has to be» "
            f"{'below' if above else 'above'} its coupon, roughly.",
            f"{b.basis} for {{unit}}, first trade on {b.trades[0][0]} settled {b.trades[0][1]}, issued {b.issue}.",
        ]
        for traded, settled, units, at in r.sample(b.trades, min(64, len(b.trades))):
            worth = arith.shown(self.w.cents(Fraction(abs(units) * at, 1000)))
            verb = "bought" if units > 0 else "sold"
            found.append(
                r.choice((
                    f"On {traded} {abs(units):,} were {verb} at {arith.scaled(at, 3)}, {worth} before interest.",
                    f"{abs(units):,} {verb}, «settling|settled» {settled}: {worth} clean.",
                    f"The trade of {traded} alone moves {worth}, {(settled - traded).days} days until it settles.",
                    f"{worth} for {abs(units):,} at {arith.scaled(at, 3)} in {traded:%B %Y}, «a fair price then|which "
                    "fits "
                    f"the quotes of that time».",
                ))
            )  # fmt: skip
        return found

    def probe(self, unit: Unit) -> str:
        n, name = self.n, unit.name
        return f"""
import csv
from fractions import Fraction

nominal = 0
for {n["row"]} in csv.DictReader(open("{n["folder"]}/{name}.csv")):
    sign = 1 if {n["row"]}["{n["k_side"]}"] == "{n["w_buy"]}" else -1
    if {n["row"]}["{n["k_settle"]}"] <= "{self.w.day}":
        nominal += sign * Fraction({n["row"]}["{n["k_nominal"]}"])
clean = nominal * Fraction("{arith.scaled(unit.facts.price, 3)}") / 100
print("{name}", nominal, float(clean), "per million:", float(clean / nominal * 10**6))
"""
