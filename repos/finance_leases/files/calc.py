"""«Leases of $firm|Liabilities and rights of use|The lease book» at $today."""

import argparse
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from $pkg.$m_cal import $f_last, $f_shift
from $pkg.$m_money import $f_round
from $pkg.$m_tab import $f_dump, $f_day, $f_rows

FOLDER = Path("$folder")
TODAY = $f_day("$today")


def $f_names():
    return sorted(path.stem for path in FOLDER.glob("*.md"))


def $f_load(name):
    """«The contract's table and its journal|Terms and payments of one contract»."""
    $terms = {"journal": $f_rows(FOLDER / f"{name}.csv")}
    for line in (FOLDER / f"{name}.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 2:
            $terms[cells[0]] = cells[1]
    return $terms


def rate_of($case):
    return Decimal($case["$k_rate"]) / 1200


def $f_elapsed($case):
    """«Whole months since the start|Months that have gone»."""
    $start = $f_day($case["$k_start"])
    return (TODAY.year - $start.year) * 12 + TODAY.month - $start.month + 1


#if advance
def early($case):
    return $case["$k_due"] == "in advance"


#end
def $f_due($case):
    """«The rent of every month|One rent a month, as agreed at the start»."""
    count, rent = int($case["$k_term"]), Decimal($case["$k_pay"])
#if extend
    count += int($case.get("$k_more", 0))
#end
#if service
    rent = $f_round(rent * (100 - int($case.get("$k_service", 0))) / 100)
#end
#if free
    free = int($case.get("$k_free", 0))
    return [Decimal(0)] * free + [rent] * (count - free)
#else
    return [rent] * count
#end


def $f_present($case, $rows):
    """«Discounted to the day before the first month|Value of the rents», unrounded."""
    factor = 1 + rate_of($case)
#if option
    found = Decimal($case.get("$k_option", 0))
#else
    found = Decimal(0)
#end
    for rent in reversed($rows):
#if advance
        if early($case):
            found = found / factor + rent
            continue
#end
        found = (found + rent) / factor
    return found


def $f_roll($case):
    """«Month by month: (interest, write-off, balance, right of use)|The schedule, a row a month», with the first value."""
    $rows = $f_due($case)
    count = life = len($rows)
    $balance = first = $f_round($f_present($case, $rows))
    $asset = first
#if costs
    $asset += Decimal($case.get("$k_costs", 0))
#end
#if restore
    $asset += $f_round(Decimal($case.get("$k_restore", 0)) / (1 + rate_of($case)) ** count)
#end
#if option
    life = int($case.get("$k_life", count))
#end
#if index
    change_from, change = None, Decimal(0)
    if "$k_index" in $case:
        month, change = $case["$k_index"].split()
        change_from, change = int(month) - 1, Decimal(change)
#end
    found = []
    for number in range(count):
#if index
        if number == change_from:
            $rows[number:] = [$f_round(rent * (100 + change) / 100) for rent in $rows[number:]]
            again = $f_round($f_present($case, $rows[number:]))
            $asset, $balance = $asset + again - $balance, again
#end
#if advance
        if early($case):
            $balance -= $rows[number]
#end
        interest = $f_round($balance * rate_of($case))
        $balance += interest
#if advance
        if not early($case):
            $balance -= $rows[number]
#else
        $balance -= $rows[number]
#end
        written = $f_round($asset / (life - number))
        $asset -= written
        found.append((interest, written, $balance, $asset))
    return first, found


def $f_figures($case):
    first, found = $f_roll($case)
    gone = $f_elapsed($case)
    year = found[max(0, gone - 12) : gone]
    later = found[gone + 11][2] if gone + 11 < len(found) else Decimal(0)
    since = $f_last($f_shift(TODAY, -12))
    paid = [
        Decimal($row["$k_amount"])
        for $row in $case["journal"]
        if $row["$k_what"] == "rent" and since < $f_day($row["$k_day"]) <= TODAY
    ]
    return {
        "$o_liability": found[gone - 1][2],
        "$o_right": found[gone - 1][3],
        "$o_interest": sum($part[0] for $part in year),
        "$o_depreciation": sum($part[1] for $part in year),
        "$o_current": found[gone - 1][2] - later,
        "$o_initial": first,
        "$o_paid": sum(paid, Decimal("0.00")),
    }


def $f_detail($case):
    """«The schedule around today|Months, newest last», then the terms."""
    first, found = $f_roll($case)
    yield "first value", f"{first:,}", "months", len(found), "gone", $f_elapsed($case)
    for number, ($part, written, $balance, $asset) in enumerate(found[: $f_elapsed($case)], 1):
        $end = $f_shift($f_day($case["$k_start"]), number) - timedelta(days=1)
        yield number, $end, f"interest {$part:,}", f"written off {written:,}", f"balance {$balance:,}", f"right {$asset:,}"
    for key, value in $case.items():
        if key != "journal":
            yield key, value
