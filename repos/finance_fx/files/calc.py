"""«Revaluation of foreign currency|Open items at closing rates|Month-end revaluation», $firm, $today."""

import argparse
from decimal import Decimal
from pathlib import Path

from $pkg.$m_money import $f_round
from $pkg.$m_tab import $f_dump, $f_day, $f_rows

FOLDER = Path("$folder")
TODAY = $f_day("$today")
$c_classes = ("cash", "receivable", "payable", "loan")


def $f_names():
    return sorted(path.stem for path in FOLDER.glob("*.csv"))


def $f_load(name):
    return {
        "items": $f_rows(FOLDER / f"{name}.csv"),
        "quotes": $f_rows("$rates_path"),
        "forwards": {$row["$k_contract"]: Decimal($row["$k_rate"]) for $row in $f_rows("$forwards_path")},
    }


def $f_rate($case, currency):
    """«$currency for one unit of a currency|What one unit is worth in $currency», unrounded."""
    found = [$quote for $quote in $case["quotes"] if $quote["$k_currency"] == currency]
#if last
    found = [$quote for $quote in found if $f_day($quote["day"]) <= TODAY]
#end
    $quote = max(found, key=lambda $row: $row["day"])
    value = Decimal($quote["$k_rate"])
#if units
    value /= int($quote["$k_units"])
#end
#if inverse
    if $quote["$k_quoted"] == "foreign":
        return 1 / value
#end
#if cross
    if $quote["$k_quoted"] == "cross":
        return value * $f_rate($case, "$cross")
#end
    return value


def booked_at($case, item):
    """«What an item stands in the books at|The booked amount of an item»."""
    $amount = Decimal(item["$k_booked"])
#if reval
    return $amount
#else
    for $row in $case["items"]:
        if $row["$k_kind"] == "$w_reval" and $row["$k_number"] == item["$k_number"]:
            $amount += Decimal($row["$k_booked"])
    return $amount
#end


#if settled
def is_paid(item):
    return item["$k_settled"] != "" and $f_day(item["$k_settled"]) <= TODAY


#end
def $f_open($case):
    """«Items that are revalued|What is revalued at the reporting date»."""
    for item in $case["items"]:
        if item["$k_kind"] == "$w_reval":
            continue
#if settled
        if is_paid(item):
            continue
#end
#if monetary
        if item["$k_kind"] not in $c_classes:
            continue
#end
        yield item


def $f_value($case, item):
#if forward
    if item["$k_contract"]:
        return $f_round(Decimal(item["$k_foreign"]) * $case["forwards"][item["$k_contract"]])
#end
    return $f_round(Decimal(item["$k_foreign"]) * $f_rate($case, item["$k_currency"]))


def $f_figures($case):
    book = closing = gain = loss = realised = Decimal("0.00")
    for item in $f_open($case):
        before, now = booked_at($case, item), $f_value($case, item)
        book += before
        closing += now
        gain += max(now - before, Decimal(0))
        loss += max(before - now, Decimal(0))
#if settled
    for item in $case["items"]:
        if item["$k_kind"] != "$w_reval" and is_paid(item):
            realised += Decimal(item["$k_received"]) - booked_at($case, item)
#end
    return {
        "$o_book": book,
        "$o_closing": closing,
        "$o_gain": gain,
        "$o_loss": loss,
        "$o_net": gain - loss,
        "$o_realised": realised,
    }


def $f_detail($case):
    """«The largest differences first|Item by item, large differences on top», then the rates in use."""
    rows = [(item, booked_at($case, item), $f_value($case, item)) for item in $f_open($case)]
    for item, before, now in sorted(rows, key=lambda $row: (-abs($row[2] - $row[1]), $row[0]["$k_number"])):
        yield item["$k_number"], item["$k_kind"], item["$k_currency"], item["$k_foreign"], f"{before:,}", f"{now:,}", f"{now - before:,}"
    for currency in sorted({item["$k_currency"] for item, *_ in rows}):
        yield "rate", currency, f"{$f_rate($case, currency):.8f}"
    for item in $case["items"]:
        if item["$k_kind"] == "$w_reval" or item["$k_settled"]:
            yield "aside", item["$k_number"], item["$k_kind"], item["$k_booked"], item["$k_settled"], item["$k_received"]
