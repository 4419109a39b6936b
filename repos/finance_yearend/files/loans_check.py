"""«Compares our balances with the lenders' letters|Lender confirmations against the schedules»; `--$opt_save` keeps the comparison as a table."""

import argparse
import csv
from decimal import Decimal
from pathlib import Path

from $calc.$mod_loans import $f_figures, $f_load
from $pkg.$m_tab import $f_rows

PAIRS = (("$o_balance", "confirmed_balance"), ("$o_accrued", "confirmed_accrued"))


def comparison():
    """(loan, lender, figure, ours, theirs, gap), «letters in the order of the file|one row a figure and letter»."""
    ours = {key: $f_figures(loan) for key, loan in $f_load().items()}
    letters = $f_rows("$folder/$file_letters")
    for $row in letters:
        for name, column in PAIRS:
            mine, theirs = ours[$row["$k_id"]][name], Decimal($row[column])
            yield $row["$k_id"], $row["lender"], name, mine, theirs, mine - theirs
    for key in sorted(set(ours) - {$row["$k_id"] for $row in letters}):
        yield key, "no letter", PAIRS[0][0], ours[key][PAIRS[0][0]], Decimal(0), ours[key][PAIRS[0][0]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--$opt_save", dest="target", type=Path)
    options = parser.parse_args()
    table = list(comparison())
    for key, lender, name, mine, theirs, gap in table:
        print(f"{key:<10} {lender[:24]:<24} {name:<20} ours {mine:>16,.2f}  lender {theirs:>16,.2f}  gap {gap:>12,.2f}")
    print(sum(1 for $row in table if $row[5]), "«differences|figures differ|open differences»")
    if options.target:
        options.target.parent.mkdir(exist_ok=True)
        with options.target.open("w", encoding="utf-8", newline="") as handle:
            csv.writer(handle, lineterminator="\n").writerows([("$k_id", "lender", "figure", "ours", "confirmed", "gap"), *table])


if __name__ == "__main__":
    main()
