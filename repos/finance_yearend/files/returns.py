"""«Returns of the holdings|Money-weighted returns|IRR and multiples of the fund positions» of $group at $year_end."""

import argparse
from datetime import date
from decimal import Decimal
from pathlib import Path

from $pkg.$m_round import $f_ratio, $f_round
from $pkg.$m_tab import $f_dump, $f_rows

FOLDER = Path("$folder")
YEAR_END = date.fromisoformat("$year_end")
HURDLE = Decimal("$hurdle")
OUTFLOWS = $outflows


def $f_flows(path):
    """«Dated, signed flows|(date, signed amount, kind)», oldest first; «what we pay is negative|payments by us are negative»."""
    found = []
    for $row in $f_rows(path):
        day = date.fromisoformat($row["$k_day"])
$line_cut        $amount = Decimal($row["$k_amount"])
        found.append((day, -$amount if $row["$k_kind"] in OUTFLOWS else $amount, $row["$k_kind"]))
    return sorted(found)


def $f_irr(flows, low=-0.95, high=4.0):
    """«Annual rate at which the flows are worth nothing|Rate that sets the present value to zero», ACT/365 from the first flow."""
    first = flows[0][0]
    points = [((day - first).days / 365, float(value)) for day, value, _ in flows]

    def worth(rate):
        return sum(value / (1 + rate) ** years for years, value in points)

    def slope(rate):
        return sum(-years * value / (1 + rate) ** (years + 1) for years, value in points)

    rate = 0.1
    for _ in range(200):
        value = worth(rate)
        low, high = (rate, high) if value > 0 else (low, rate)
        guess = rate - value / slope(rate)
        if not low < guess < high:
            guess = (low + high) / 2  # «a Newton step that leaves the bracket is replaced|Newton left the bracket: halve it instead»
        rate, step = guess, guess - rate
        if abs(step) < 1e-12:
            break
    return Decimal(repr(rate)).quantize(Decimal("1e-8"))


def $f_npv(flows, hurdle=HURDLE):
    first = flows[0][0]
    total = sum(value / (1 + hurdle) ** (Decimal((day - first).days) / 365) for day, value, _ in flows)
    return $f_round(total)


def $f_measure(flows):
    paid = -sum((value for _, value, kind in flows if kind in OUTFLOWS), Decimal(0))
    nav = sum((value for _, value, kind in flows if kind == "$w_nav"), Decimal(0))
    back = sum((value for _, value, kind in flows if kind not in OUTFLOWS), Decimal(0)) - nav
    return {
        "$o_paid": paid,
        "$o_back": back,
        "$o_irr": $f_irr(flows),
        "$o_npv": $f_npv(flows),
        "$o_dpi": $f_ratio(back / paid),
        "$o_tvpi": $f_ratio((back + nav) / paid),
    }


def $f_all():
    return {path.stem: $f_measure($f_flows(path)) for path in sorted(FOLDER.glob("$glob"))}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--$opt_flows", dest="name", help="list the signed flows of one position")
    parser.add_argument("--$opt_write", dest="target", help="file for the figures")
    options = parser.parse_args()
    if options.name:
        running = Decimal(0)
        for day, value, kind in $f_flows(FOLDER / f"{options.name}.csv"):
            running += value
            print(f"{day}  {kind:<16}{value:>16,.2f}{running:>18,.2f}")
        return
    $results = $f_all()
    for name, entry in $results.items():
        print(name)
        for label, value in entry.items():
            print(f"    {label:<22}{value:>20,}")
    if options.target:
        $f_dump(options.target, $results)


if __name__ == "__main__":
    main()
