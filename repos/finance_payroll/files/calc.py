"""«Payroll of $firm|The pay run, department by department|What each department costs and pays out» for the month to $today."""

import argparse
from decimal import Decimal
from pathlib import Path

from $pkg.$m_cal import $f_last
from $pkg.$m_money import $f_round
from $pkg.$m_tab import $f_dump, $f_day, $f_rows

FOLDER = Path("$folder")
END = $f_last($f_day("$today"))
HUNDRED = Decimal(100)


def $f_names():
    return sorted(path.stem for path in FOLDER.glob("*.csv"))


def $f_scheme_of(path="$scheme_path"):
    """«Brackets and shares|The scheme as a dict», brackets as (from, per cent)."""
    $scheme = {"brackets": []}
    for $row in $f_rows(path):
        if $row["what"] == "bracket":
            $scheme["brackets"].append((Decimal($row["from"]), Decimal($row["per_cent"])))
        else:
            $scheme[$row["what"]] = Decimal($row["from"] or $row["per_cent"])
    return $scheme


def $f_load(name):
    return {"people": $f_rows(FOLDER / f"{name}.csv"), "scheme": $f_scheme_of()}


def $f_tax($scheme, $amount):
    """«Each slice at the rate of its bracket|Tax of a yearly amount», unrounded."""
    $total = Decimal(0)
    ends = [$start for $start, _ in $scheme["brackets"][1:]] + [None]
    for ($start, per_cent), $end in zip($scheme["brackets"], ends):
        if $amount > $start:
            $part = $amount - $start if $end is None else min($amount, $end) - $start
            $total += $part * per_cent / HUNDRED
    return $total


def $f_pay($person, $scheme):
    """«The slip of one person|Everything about one person», all amounts rounded."""
    salary = Decimal($person["$k_salary"])
#if days
    if $person["$k_joined"] or $person["$k_left"]:
        first = $f_day($person["$k_joined"]).day if $person["$k_joined"] else 1
        last = $f_day($person["$k_left"]).day if $person["$k_left"] else END.day
        salary = $f_round(salary * (last - first + 1) / END.day)
#end
    worked = Decimal($person["$k_hours"]) * Decimal($person["$k_hourly"])
    extra, premium = $f_round(worked), $f_round(worked / 4)
    bonus = Decimal($person["$k_bonus"])
    gross = salary + extra + premium + bonus
#if back
    gross += int($person["$k_raises"]) * Decimal($person["$k_raised"])
#end
#if ceiling
    insured = min(gross, $scheme["ceiling"])
#else
    insured = gross
#end
    social = $f_round(insured * $scheme["contributions"] / HUNDRED)
    base = gross - social
#if premium
    base -= premium
#end
#if bonus
    base -= bonus
#end
    base = max(base, Decimal(0))
#if step
    if $person["$k_table"] == "B":
        base -= base % $scheme["step"]
#end
    tax = $f_round($f_tax($scheme, 12 * base) / 12)
#if bonus
    if bonus:
        tax += $f_round($f_tax($scheme, 12 * base + bonus) - $f_tax($scheme, 12 * base))
#end
    net = gross - social - tax
#if advance
    net -= Decimal($person["$k_advance"])
#end
#if coin
    if $person["$k_desk"] == "yes":
        net = $f_round(net / $scheme["coin"], 0) * $scheme["coin"]
#end
    return {
        "gross": gross,
        "social": social,
        "employer": $f_round(insured * $scheme["employer"] / HUNDRED),
        "base": base,
        "tax": tax,
        "net": net,
    }


def $f_sum(slips, key):
    return sum((slip[key] for slip in slips), Decimal("0.00"))


def $f_figures($case):
    slips = [$f_pay($person, $case["scheme"]) for $person in $case["people"]]
    return {
        "$o_gross": $f_sum(slips, "gross"),
        "$o_social": $f_sum(slips, "social"),
        "$o_tax": $f_sum(slips, "tax"),
        "$o_net": $f_sum(slips, "net"),
        "$o_employer": $f_sum(slips, "employer"),
        "$o_heads": Decimal(len(slips)),
    }


def $f_detail($case):
    """«One line a person|The slips», number first."""
    for $person in $case["people"]:
        slip = $f_pay($person, $case["scheme"])
        marks = [key for key in ("$k_joined", "$k_left") if $person[key]]
        yield $person["$k_number"], *(f"{key} {value:,.2f}" for key, value in slip.items()), *marks
