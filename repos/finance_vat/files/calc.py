"""«VAT returns of $firm|The quarter's returns, one registration after the other|What each registration pays» for the quarter to $today."""

import argparse
from decimal import Decimal
from pathlib import Path

from $pkg.$m_money import $f_round
from $pkg.$m_tab import $f_dump, $f_day, $f_rows

FOLDER = Path("$folder")
END = $f_day("$today")
RATES = {"S": $standard, "R": $reduced, "Z": 0, "E": 0}


def $f_names():
    return sorted(path.stem for path in FOLDER.glob("*.csv"))


def $f_memo(path):
    """«List items of the memo|What the memo lists»: first words -> rest, split."""
    $memo = {"bad debt": [], "correction": [], "limit": []}
    for line in path.read_text(encoding="utf-8").splitlines():
        for key in $memo:
            if line.startswith(f"- {key} "):
                $memo[key].append(line[len(key) + 3 :].split())
    return $memo


def $f_load(name):
    return {"documents": $f_rows(FOLDER / f"{name}.csv"), **$f_memo(FOLDER / f"{name}.md")}


def $f_counts($row):
    """«Whether a document belongs to this quarter|In this quarter or not»."""
#if point
    return $f_day($row["$k_supplied"]) <= END
#else
    return $f_day($row["$k_issued"]) <= END
#end


def $f_turnover($case):
    """«Net turnover by class, and the part that assets have in it|(turnover by class, assets among it)»."""
    $by_code, assets = dict.fromkeys(RATES, Decimal(0)), Decimal(0)
    for $row in filter($f_counts, $case["documents"]):
        kind, $amount = $row["$k_kind"], Decimal($row["$k_amount"])
        if kind in ("$w_purchase", "$w_abroad"):
            continue
#if till
        if kind == "$w_till":
            $amount = $amount * 100 / (100 + RATES[$row["$k_code"]])
#end
#if credit
        if kind == "$w_credit":
            $amount = -$amount
#end
        $by_code[$row["$k_code"]] += $amount
        if kind == "$w_asset":
            assets += $amount
    return $by_code, assets


def $f_share($case):
    """«Per cent of mixed input tax that may be deducted|The recoverable share in per cent»."""
    $by_code, assets = $f_turnover($case)
    taxable = $by_code["S"] + $by_code["R"] + $by_code["Z"]
#if asset
    taxable -= assets
#end
    found = 100 * taxable / (taxable + $by_code["E"])
#if up
    whole = int(found)
    return Decimal(whole if whole == found else whole + 1)
#else
    return found
#end


def purchases($case, kind, column, $part=None):
    """«Sum of a column over purchases of a kind|What purchases of a kind add up to», of one use when given."""
    return sum(
        Decimal($row[column])
        for $row in filter($f_counts, $case["documents"])
        if $row["$k_kind"] == kind and $part in (None, $row["$k_code"])
    )


def $f_figures($case):
    $by_code, _ = $f_turnover($case)
    out = sum($f_round($by_code[code] * RATES[code] / 100) for code in ("S", "R"))
#if lost
    for _, gross in $case["bad debt"]:
        out -= $f_round(Decimal(gross) * RATES["S"] / (100 + RATES["S"]))
#end
    acquired = Decimal("0.00")
#if abroad
    acquired = $f_round(purchases($case, "$w_abroad", "$k_amount") * RATES["S"] / 100)
#end
    share = $f_share($case)
    mixed = $f_round(purchases($case, "$w_purchase", "$k_tax", "M") * share / 100)
    deducted = purchases($case, "$w_purchase", "$k_tax", "T") + mixed + acquired
    correction = sum((Decimal($amount) for _, $amount in $case["correction"]), Decimal("0.00"))
#if limit
    if abs(correction) > Decimal($case["limit"][0][0]):
        correction = Decimal("0.00")
#end
    return {
        "$o_out": out,
        "$o_acquired": acquired,
        "$o_share": $f_round(share, 0),
        "$o_in": deducted,
        "$o_correction": correction,
        "$o_payable": out + acquired - deducted + correction,
    }


def $f_detail($case):
    """«Sums behind the return|Where the figures come from», then the documents that do not count."""
    $by_code, assets = $f_turnover($case)
    for code, $amount in $by_code.items():
        yield "turnover", code, f"{$amount:,.4f}", f"at {RATES[code]}"
    yield "assets", f"{assets:,}"
    yield "share", f"{$f_share($case):.6f}"
    for use in "TXM":
        yield "input tax", use, f"{purchases($case, '$w_purchase', '$k_tax', use):,}"
    yield "abroad", f"{purchases($case, '$w_abroad', '$k_amount'):,}"
    for key in ("bad debt", "correction", "limit"):
        for found in $case[key]:
            yield key, *found
    for $row in $case["documents"]:
        if $row["$k_kind"] not in ("$w_sale", "$w_purchase") or not $f_counts($row):
            yield $row["$k_kind"], $row["$k_number"], $row["$k_issued"], $row["$k_supplied"], $row["$k_amount"]
