"""Fund positions: dated flows, their money-weighted returns by bisection, and the managers' statement."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction

from simulator.tasks.words import plain

from ..._kit_finance import arith
from .world import CENT, Truth, World, csv_text


@dataclass(frozen=True, slots=True)
class Position:
    """flows: (day, kind "call" | "fee" | "back" | "nav", cents, reference), in file order, later postings too."""

    slug: str
    name: str
    flows: tuple[tuple[date, str, int, str], ...]


def _position(r: random.Random, w: World, k: int) -> Position:
    strategy = r.choice(
        ("Growth", "Infrastructure", "Buyout", "Credit", "Real Assets", "Ventures", "Timber", "Housing")
    )
    roman = r.choice(("I", "II", "III", "IV", "V", "VI"))
    company = w.others[k % 29]
    name = f"{company.short.split()[0]} {strategy} {roman}"
    start = w.year_end - timedelta(days=r.randint(1300, 2900))
    length = (w.year_end - start).days
    size = r.randint(30, 400) * 1_000_000
    flows: list[tuple[date, str, int, str]] = []
    calls = r.randint(30, 48)
    for i in range(calls):
        day = start + timedelta(days=int(length * 0.6 * i / calls) + r.randint(0, 20))
        flows.append(
            (day, "call", size // calls + r.randint(-size // 90, size // 90), f"CC{i + 1:02d}-{r.randint(1000, 9999)}")
        )
    for i in range(calls // 2):
        day = start + timedelta(days=int(length * 0.95 * i / (calls // 2)) + r.randint(3, 25))
        flows.append((day, "fee", size // 220 + r.randint(0, size // 900), f"MF{i + 1:02d}-{r.randint(1000, 9999)}"))
    returned, parts = Fraction(r.randint(40, 130), 100), calls - r.randint(1, 5)
    for i in range(parts):
        day = start + timedelta(days=int(length * (0.35 + 0.63 * i / parts)) + r.randint(-9, 4))
        flows.append(
            (
                day,
                "back",
                int(size * returned / parts) + r.randint(-size // 60, size // 60),
                f"DN{i + 1:02d}-{r.randint(1000, 9999)}",
            )
        )
    flows.append((w.year_end, "nav", int(size * Fraction(r.randint(15, 95), 100)) + r.randint(0, 99), "NAV"))
    if k % 2 == 0:
        for i in range(r.randint(1, 2)):
            flows.append(
                (
                    w.year_end + timedelta(days=r.randint(3, 40)),
                    "back",
                    size // r.randint(20, 60),
                    f"DX{i + 1:02d}-{r.randint(1000, 9999)}",
                )
            )
    flows.sort()
    return Position(plain(name).replace("-", "_"), name, tuple(flows))


def rate(flows: list[tuple[date, int]]) -> float:
    """The annual rate (fraction) of signed flows, ACT/365, by bisection on the present value."""
    first = flows[0][0].toordinal()
    points = [((day.toordinal() - first) / 365, cents) for day, cents in flows]
    low, high = -0.95, 4.0
    for _ in range(60):
        middle = (low + high) / 2
        if sum(cents * (1 + middle) ** -years for years, cents in points) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@dataclass(frozen=True, slots=True)
class Measure:
    """paid, back, npv: cents; irr: fraction a year; dpi, tvpi: decimal strings."""

    paid: int
    back: int
    irr: float
    npv: int
    dpi: str
    tvpi: str


def measure(p: Position, w: World, hurdle: Fraction, *, fees: bool = True, cut: bool = True) -> Measure:
    """fees, cut: False makes the draft's mistakes
    (fees left out of the outflows, flows after the year end taken in)."""
    flows = [x for x in p.flows if x[0] <= w.year_end or not cut]
    out = ("call", "fee") if fees else ("call",)
    paid = sum(x[2] for x in flows if x[1] in out)
    nav = sum(x[2] for x in flows if x[1] == "nav")
    back = sum(x[2] for x in flows if x[1] not in out) - nav
    signed = [(x[0], -x[2] if x[1] in out else x[2]) for x in flows]
    first, base = signed[0][0].toordinal(), float(1 + hurdle)
    npv = sum(cents * base ** (-(day.toordinal() - first) / 365) for day, cents in signed)

    def quotient(a: int) -> str:
        scaled = arith.nearest(Fraction(a * 10_000, paid), w.mode)
        return f"{scaled // 10_000}.{scaled % 10_000:04d}"

    return Measure(paid, back, rate(signed), round(npv), quotient(back), quotient(back + nav))


def names(r: random.Random, w: World) -> dict[str, str]:
    def pick(words: str) -> str:
        return r.choice(words.split())

    area = f"{w.names['data']}/{pick('funds holdings private_equity fund_positions commitments')}"
    return w.names | {
        "folder": area + "/" + pick("flows cashflows movements postings"),
        "statement": area + "/" + pick("statement.csv manager_statement.csv managers.csv statement_totals.csv"),
        "hurdle": f"0.{r.randint(50, 95):03d}",
        "mod_returns": pick("returns irr fund_returns performance multiples"),
        "mod_check": pick("statement_check managers agree_funds fund_check"),
        "file_out": "out/" + pick("returns.json funds.json performance.json irr.json"),
        "glob": "*.csv",
        "k_day": pick("value_date day booked_on flow_date"),
        "k_kind": pick("kind type flow category"),
        "k_amount": pick("amount sum value paid"),
        "w_call": pick("call drawdown capital_call contribution"),
        "w_fee": pick("fee management_fee mgmt_fee charge"),
        "w_back": pick("distribution proceeds repayment payout"),
        "w_nav": pick("nav residual net_asset_value"),
        "o_paid": pick("paid_in contributed invested"),
        "o_back": pick("distributed returned received"),
        "o_irr": pick("xirr irr annual_return"),
        "o_npv": pick("npv present_value value_at_hurdle"),
        "o_dpi": pick("dpi realised_multiple"),
        "o_tvpi": pick("tvpi total_multiple"),
        "s_paid": pick("total_paid called_and_fees paid_by_investor"),
        "s_back": pick("total_distributed paid_to_investor payouts"),
        "f_flows": pick("flows_of read_flows signed_flows cash_flows"),
        "f_irr": pick("solve_rate xirr internal_rate money_weighted"),
        "f_npv": pick("present_value npv_at discounted worth_at_hurdle"),
        "f_measure": pick("measures key_figures evaluate report_of"),
        "f_all": pick("all_positions everything positions measure_all"),
        "opt_flows": pick("flows show list position"),
        "opt_brief": pick("brief short totals"),
        "opt_write": pick("out write target save"),
    }


class Returns:
    def __init__(self, w: World) -> None:
        r = w.part("returns")
        self.w, self.n = w, names(r, w)
        count = 4 if w.size != "long" else r.randint(5, 7)
        first = r.randint(0, 20)
        found = {p.slug: p for p in (_position(r, w, first + k) for k in range(count + 2))}
        self.positions = [found[slug] for slug in sorted(found)][:count]
        self.hurdle = Fraction(self.n["hurdle"])
        self.right = {p.slug: measure(p, w, self.hurdle) for p in self.positions}
        self._columns = [
            self.n["k_day"],
            self.n["k_kind"],
            self.n["k_amount"],
            r.choice(("reference", "notice", "memo", "document")),
        ]
        r.shuffle(self._columns)
        self.label = r.choice(
            ("Fund returns and multiples", "Money-weighted returns of the holdings", "XIRR of all positions")
        )

    def files(self) -> dict[str, str]:
        n, found = self.n, {}
        memo = next(c for c in self._columns if c not in (n["k_day"], n["k_kind"], n["k_amount"]))
        for p in self.positions:
            rows = [
                {n["k_day"]: day.isoformat(), n["k_kind"]: n["w_" + kind], n["k_amount"]: arith.plain(cents), memo: ref}
                for day, kind, cents, ref in p.flows
            ]
            found[f"{n['folder']}/{p.slug}.csv"] = csv_text(self.w.part("x"), self._columns, rows, shuffle=False)
        rows = [
            {
                "position": p.slug,
                "name": p.name,
                n["s_paid"]: arith.plain(self.right[p.slug].paid),
                n["s_back"]: arith.plain(self.right[p.slug].back),
            }
            for p in self.positions
        ]
        found[n["statement"]] = csv_text(self.w.part("statement"), list(rows[0]), rows)
        return found

    def title(self) -> str:
        return "Fund positions"

    def policy(self) -> str:
        n = self.n
        return (
            "- «Amounts are unsigned; the sign follows from|Files carry positive amounts, the direction is in» "
            f"`{n['k_kind']}`: `{n['w_call']}` and `{n['w_fee']}` are paid by us, `{n['w_back']}` and `{n['w_nav']}` "
            "are «ours|received or held». «Fees are drawn on top of capital and count as paid-in.|A fee is paid-in "
            f"money like a capital call.»\n- `{n['w_nav']}` is the value at the reporting date, taken as a last "
            "inflow. «Postings dated after the reporting date are left out|Later postings belong to next year and "
            f"are ignored».\n- `{n['o_irr']}`: annual rate, ACT/365 from the first flow, as a fraction, «right "
            f"to|exact within» 0.000001. `{n['o_npv']}`: value at the first flow's date with {n['hurdle']} a year, "
            f"same day basis, in cents.\n- `{n['o_dpi']}` = distributed / paid-in; `{n['o_tvpi']}` adds the "
            f"`{n['w_nav']}`; «four decimals|both to four decimals».\n"
        )

    def ask(self) -> str:
        n = self.n
        return (
            f"«Funds|Fund holdings|Private assets»: one CSV of flows for each of the {len(self.positions)} positions "
            f"in `{n['folder']}/`, totals as the managers see them in `{n['statement']}`. «Write|I want|Please "
            f"produce» {n['file_out']}: by file name (without .csv) {n['o_paid']}, {n['o_back']}, {n['o_irr']}, "
            f"{n['o_npv']}, {n['o_dpi']}, {n['o_tvpi']}."
        )

    def truth(self) -> Truth:
        n, found = self.n, []
        for slug, f in self.right.items():
            found += [([slug, n["o_" + k]], arith.plain(getattr(f, k)), CENT) for k in ("paid", "back", "npv")]
            found += [([slug, n["o_" + k]], getattr(f, k), "0.00001") for k in ("dpi", "tvpi")]
            found.append(([slug, n["o_irr"]], f"{f.irr:.10f}", "0.000001"))
        return {n["file_out"]: found}

    def headlines(self) -> list[tuple[str, str]]:
        return [
            (
                f"{p.name}: return, total multiple",
                f"{100 * self.right[p.slug].irr:.2f} %, {self.right[p.slug].tvpi}",
            )
            for p in self.positions
        ]
