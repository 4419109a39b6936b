"""«Bonds of $firm at $today|Position, interest, value and yield of every bond|The bond portfolio, one figure after the other»."""

import argparse
from decimal import Decimal
from pathlib import Path

from $pkg.$m_cal import $f_last, $f_shift
from $pkg.$m_money import $f_round
from $pkg.$m_tab import $f_dump, $f_day, $f_rows

FOLDER = Path("$folder")
TODAY = $f_day("$today")
HUNDRED = Decimal(100)


def $f_names():
    return sorted(path.stem for path in FOLDER.glob("*.csv"))


def $f_terms(path):
    """«Field -> values of the table|The table of a term sheet», «a field may stand more than once|every value of a field»."""
    $terms = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 2:
            $terms.setdefault(cells[0], []).append(cells[1])
    return $terms


def $f_load(name):
    $terms = $f_terms(FOLDER / f"{name}.md")
    $case = {field: values[0] for field, values in $terms.items()}
    $case["trades"] = $f_rows(FOLDER / f"{name}.csv")
#if sink
    $case["repaid"] = [values.split() for values in $terms.get("$k_sink", [])]
#end
    return $case


def $f_period($case):
    """«The coupon period that runs today|Where the reporting date lies between coupons»: (regular start, start, dates left)."""
    maturity = $f_day($case["$k_maturity"])
    months = 12 // int($case["$k_freq"])
    $p_dates = [maturity]
    while $p_dates[-1] > TODAY:
        found = $f_shift(maturity, -len($p_dates) * months)
#if eom
        if maturity == $f_last(maturity):
            found = $f_last(found)
#end
        $p_dates.append(found)
    before = $p_dates.pop()
#if short
    $start = max(before, $f_day($case["$k_issue"]))
#else
    $start = before
#end
    return before, $start, $p_dates[::-1]


def $f_share($case, $start, $end):
    """«Share of a year between two dates|Part of the yearly interest», unrounded."""
    $day = ($end - $start).days
    $part = $case["$k_basis"]
    if $part == "30E/360":
        months = ($end.year - $start.year) * 12 + $end.month - $start.month
        return Decimal(30 * months + min($end.day, 30) - min($start.day, 30)) / 360
#if icma
    if $part == "ACT/ACT":
        before, _, left = $f_period($case)
        return Decimal($day) / ((left[0] - before).days * int($case["$k_freq"]))
#end
    return Decimal($day) / (360 if $part == "ACT/360" else 365)


def $f_rate($case):
#if step
    if "$k_step" in $case:
        since, second = $case["$k_step"].split()
        if $f_day(since) <= $f_period($case)[0]:
            return Decimal(second)
#end
    return Decimal($case["$k_rate"])


#if exdiv
def without_coupon($case):
    """«Whether the next coupon goes to the holder before us|In the ex-dividend days»."""
    return ($f_period($case)[2][0] - TODAY).days <= int($case["$k_ex"])


#end
def $f_accrued($case):
    """«Interest since the last coupon|Accrued interest» per 100 of nominal, unrounded."""
    _, $start, left = $f_period($case)
#if exdiv
    if without_coupon($case):
        return -$f_rate($case) * $f_share($case, TODAY, left[0])
#end
    return $f_rate($case) * $f_share($case, $start, TODAY)


def $f_held($case):
    """«Nominal and average cost|What is held and what it cost» at the reporting date."""
    nominal = cost = Decimal(0)
    for $row in $case["trades"]:
#if settle
        if $f_day($row["$k_settle"]) > TODAY:
#else
        if $f_day($row["$k_trade"]) > TODAY:
#end
            continue
        $amount = Decimal($row["$k_nominal"])
        if $row["$k_side"] == "$w_buy":
            cost += $f_round($amount * Decimal($row["$k_price"]) / HUNDRED)
            nominal += $amount
        else:
            cost -= $f_round(cost * $amount / nominal)
            nominal -= $amount
#if sink
    left = HUNDRED - sum(Decimal(share) for when, share in $case["repaid"] if $f_day(when) <= TODAY)
    if left != HUNDRED:
        nominal, cost = nominal * left / HUNDRED, $f_round(cost * left / HUNDRED)
#end
    return nominal, cost


def $f_flows($case):
    """«(share of the running period left, payments from the next date on)|What is still paid», per 100."""
    before, $start, left = $f_period($case)
    paid = [$f_rate($case) / int($case["$k_freq"])] * len(left)
#if short
    if $start > before:
        paid[0] = $f_rate($case) * $f_share($case, $start, left[0])
#end
#if exdiv
    if without_coupon($case):
        paid[0] = Decimal(0)
#end
    paid[-1] += HUNDRED
    return Decimal((left[0] - TODAY).days) / (left[0] - before).days, paid


def $f_solve($case):
    """«Bisection on the discounted payments|The yield, found by halving an interval»."""
    dirty = Decimal($case["$k_quote"]) + $f_accrued($case)
    share, paid = $f_flows($case)
    times = int($case["$k_freq"])
#if simple
    if len(paid) == 1:
        return (paid[0] / dirty - 1) * times / share
#end
    low, high = Decimal("-0.9"), Decimal(5)
    for _ in range(64):
        middle = (low + high) / 2
        factor = 1 / (1 + middle / times)
        worth, weight = Decimal(0), factor**share
        for payment in paid:
            worth += payment * weight
            weight *= factor
        low, high = (middle, high) if worth > dirty else (low, middle)
    return (low + high) / 2


def $f_figures($case):
    nominal, cost = $f_held($case)
    interest = $f_round(nominal * $f_accrued($case) / HUNDRED)
    clean = $f_round(nominal * Decimal($case["$k_quote"]) / HUNDRED)
    return {
        "$o_nominal": $f_round(nominal),
        "$o_accrued": interest,
        "$o_value": clean + interest,
        "$o_cost": cost,
        "$o_gain": clean - cost,
        "$o_yield": $f_round($f_solve($case), 6),
    }


def $f_detail($case):
    """«What a figure was made of|The trail behind the figures», line by line."""
    before, $start, left = $f_period($case)
    yield "period", before, $start, left[0], len(left)
    yield "rate", $f_rate($case), $case["$k_basis"], $f_round($f_accrued($case), 8)
    for $row in $case["trades"]:
        yield $row["$k_trade"], $row["$k_settle"], $row["$k_side"], $row["$k_nominal"], $row["$k_price"]
    share, paid = $f_flows($case)
    yield "left", $f_round(share, 6), *(f"{payment:.4f}" for payment in paid[:2])
