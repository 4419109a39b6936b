"""«Fixed assets of $group|Depreciation of the asset register|Asset register: cost, depreciation, disposals» at $year_end."""

import argparse
from collections import defaultdict
from datetime import date, timedelta
from decimal import Decimal

from $pkg.$m_round import $f_round
from $pkg.$m_tab import $f_dump, $f_rows

REGISTER = "$folder/$file_register"
YEAR_END = date.fromisoformat("$year_end")
PREVIOUS = date.fromisoformat("$prev_end")
LOW_VALUE = Decimal("$threshold")


def $f_months(since, until):
    """«Months of use up to the end of `until`|Full months of use at `until`», «a month of $first_rule|first month: $first_rule»."""
    return max(0, (until.year - since.year) * 12 + until.month - since.month + $first_month)


def $f_last(asset, day):
    """«The last day that counts for depreciation|Depreciation stops here»: `day`, or before the month of a disposal."""
$line_stop    return day


def $f_written(asset, day):
    """«Accumulated depreciation at the end of `day`|What has been written off by `day`»."""
    cost, residual = Decimal(asset["$k_cost"]), Decimal(asset["$k_residual"])
    since = date.fromisoformat(asset["$k_since"])
    if since > day:
        return Decimal(0)
$line_low    months, life = $f_months(since, $f_last(asset, day)), int(asset["$k_life"])
    return $f_round((cost - residual) * min(months, life) / life)


def $f_gone(asset, day):
    return bool(asset["$k_out"]) and date.fromisoformat(asset["$k_out"]) <= day


def $f_move(asset):
    """«Movement of one asset in the year|One asset's year»: cost, opening, charge, released, result of disposal."""
    cost = Decimal(asset["$k_cost"])
    if $f_gone(asset, PREVIOUS) or date.fromisoformat(asset["$k_since"]) > YEAR_END:
        return None
    before, now = $f_written(asset, PREVIOUS), $f_written(asset, YEAR_END)
    out = $f_gone(asset, YEAR_END)
    return {
        "cost": Decimal(0) if out else cost,
        "before": before,
        "charge": now - before,
        "released": now if out else Decimal(0),
        "result": Decimal(asset["$k_proceeds"] or 0) - (cost - now) if out else Decimal(0),
    }


def $f_classes():
    totals = defaultdict(lambda: defaultdict(Decimal))
    for asset in $f_rows(REGISTER):
        for name, value in ($f_move(asset) or {}).items():
            totals[asset["$k_class"]][name] += value
    found = {}
    for name, $row in sorted(totals.items()):
        written = $row["before"] + $row["charge"] - $row["released"]
        found[name] = {
            "$o_cost": $row["cost"],
            "$o_opening": $row["before"],
            "$o_charge": $row["charge"],
            "$o_written": written,
            "$o_book": $row["cost"] - written,
            "$o_result": $row["result"],
        }
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--$opt_class", dest="name", help="list the assets of one class")
    parser.add_argument("--$opt_write", dest="target")
    options = parser.parse_args()
    if options.name:
        for asset in $f_rows(REGISTER):
            moved = $f_move(asset) if asset["$k_class"] == options.name else None
            if moved:
                print(asset["$k_id"], asset["$k_since"], asset["$k_out"] or "in use".rjust(10), *(f"{value:>14,.2f}" for value in moved.values()))
        return
    $results = $f_classes()
    for name, entry in $results.items():
        print(name)
        for label, value in entry.items():
            print(f"    {label:<26}{value:>18,.2f}")
    if options.target:
        $f_dump(options.target, $results)


if __name__ == "__main__":
    main()
