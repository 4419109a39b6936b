"""«Paid-in and distributed against the managers' statement|Statement of the fund managers compared with our flows»."""

import argparse
from decimal import Decimal

from $calc.$mod_returns import FOLDER, OUTFLOWS, $f_all, $f_flows
from $pkg.$m_tab import $f_rows

PAIRS = (("$o_paid", "$s_paid"), ("$o_back", "$s_back"))


def by_kind(name):
    """«Signed total of each kind of flow|What each kind adds up to», to see where a gap comes from."""
    totals = {}
    for _, value, kind in $f_flows(FOLDER / f"{name}.csv"):
        count, total = totals.get(kind, (0, Decimal(0)))
        totals[kind] = (count + 1, total + value)
    return totals


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--$opt_brief", dest="brief", action="store_true", help="totals only")
    options = parser.parse_args()
    ours, gaps = $f_all(), 0
    for $row in $f_rows("$statement"):
        name = $row["position"]
        for key, column in PAIRS:
            mine, theirs = ours[name][key], Decimal($row[column])
            gaps += mine != theirs
            print(f"{name:<30}{key:<16}{mine:>18,.2f}{theirs:>18,.2f}{mine - theirs:>16,.2f}")
        if not options.brief:
            for kind, (count, total) in sorted(by_kind(name).items()):
                print(f"    {kind:<24}{'out' if kind in OUTFLOWS else 'in':<6}{count:>4}{total:>20,.2f}")
    print("«agreed|all agree|no gaps»" if not gaps else f"{gaps} «gaps|lines do not agree|open»")


if __name__ == "__main__":
    main()
