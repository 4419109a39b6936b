"""«Bank accounts against their ledgers|Reconciliation of $firm|Ledger and bank, matched entry by entry», $today."""

import argparse
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from $pkg.$m_tab import $f_dump, $f_day, $f_rows

LEDGERS = Path("$folder")
STATEMENTS = Path("$bank_folder")
TODAY = $f_day("$today")
#if old
OLDEST = TODAY - timedelta(days=180)
#end


def $f_names():
    return sorted(path.stem for path in LEDGERS.glob("*.csv"))


def $f_load(name):
    first, *entries = $f_rows(LEDGERS / f"{name}.csv")
    return {
        "opening": Decimal(first["$k_amount"]),
        "entries": entries,
        "lines": $f_rows(STATEMENTS / f"{name}.csv"),
    }


def $f_key(ref):
    """«A reference as it is compared|What counts of a reference»."""
#if ref
    return "".join(sign for sign in ref.upper() if sign.isalnum()).lstrip("0")
#else
    return ref
#end


def $f_lines($case):
    """«Lines of the statement that count|The bank's side»."""
#if value
    return [$line for $line in $case["lines"] if $f_day($line["$k_value"]) <= TODAY]
#else
    return [$line for $line in $case["lines"] if $f_day($line["$k_booked"]) <= TODAY]
#end


#if storno
def without_reversed(lines):
    """«Drops pairs that cancel each other|Lines that the bank did not take back»."""
    kept = []
    for $line in lines:
        key, $amount = $f_key($line["$k_ref"]), Decimal($line["$k_amount"])
        for other in kept:
            if $f_key(other["$k_ref"]) == key and Decimal(other["$k_amount"]) == -$amount:
                kept.remove(other)
                break
        else:
            kept.append($line)
    return kept


#end
def $f_due($case):
    """«(what waits for a line, corrections so far)|Entries to be matched», each as [reference, day, amount]."""
    due, errors = [], Decimal(0)
#if dup
    seen = set()
#end
#if batch
    batches = {}
#end
    for $entry in $case["entries"]:
        when, $amount = $f_day($entry["$k_day"]), Decimal($entry["$k_amount"])
#if dup
        if ($entry["$k_ref"], $amount) in seen:
            errors -= $amount
            continue
        seen.add(($entry["$k_ref"], $amount))
#end
#if batch
        if $entry["$k_batch"]:
            if $entry["$k_batch"] in batches:
                whole = batches[$entry["$k_batch"]]
                whole[1], whole[2] = max(whole[1], when), whole[2] + $amount
            else:
                batches[$entry["$k_batch"]] = whole = [$f_key($entry["$k_batch"]), when, $amount]
                due.append(whole)
            continue
#end
        due.append([$f_key($entry["$k_ref"]), when, $amount])
    return due, errors


def $f_match($case):
    """«Pairs both sides|Settles entries with lines»: what is left of each side, and what has to be corrected."""
    lines = $f_lines($case)
#if storno
    lines = without_reversed(lines)
#end
    waiting = {}
    for $line in lines:
        waiting.setdefault($f_key($line["$k_ref"]), []).append(Decimal($line["$k_amount"]))
    due, errors = $f_due($case)
    outstanding, fees = [], Decimal(0)
    for key, when, $amount in due:
        found = waiting.get(key, [])
        if $amount in found:
            found.remove($amount)
#if swap
        elif found:
            gap = found.pop(0) - $amount
#if fee
            if key.startswith("CARD"):
                fees += gap
            else:
                errors += gap
#else
            errors += gap
#end
#end
#if old
        elif when < OLDEST:
            errors -= $amount
#end
        else:
            outstanding.append((key, when, $amount))
    unbooked = [(key, $amount) for key, found in waiting.items() for $amount in found]
    return {"outstanding": outstanding, "unbooked": unbooked, "fees": fees, "errors": errors}


def added(amounts):
    return sum(amounts, Decimal("0.00"))


def $f_figures($case):
    $outcome = $f_match($case)
    ledger = $case["opening"] + added(Decimal($entry["$k_amount"]) for $entry in $case["entries"])
    unbooked = added($amount for _, $amount in $outcome["unbooked"]) + $outcome["fees"]
    errors = $outcome["errors"] + Decimal("0.00")
    return {
        "$o_ledger": ledger,
        "$o_bank": $case["opening"] + added(Decimal($line["$k_amount"]) for $line in $f_lines($case)),
        "$o_outstanding": added($amount for *_, $amount in $outcome["outstanding"]),
        "$o_unbooked": unbooked,
        "$o_errors": errors,
        "$o_adjusted": ledger + unbooked + errors,
    }


def $f_detail($case):
    """«What is left on each side|Open entries and open lines», then sums."""
    $outcome = $f_match($case)
    for key, when, $amount in $outcome["outstanding"]:
        yield "not at the bank", key, when, f"{$amount:,}"
    for key, $amount in $outcome["unbooked"]:
        near = [$entry["$k_ref"] for $entry in $case["entries"] if Decimal($entry["$k_amount"]) == $amount]
        yield "not in the ledger", key, f"{$amount:,}", *(f"same amount: {ref}" for ref in near)
    for $entry in $case["entries"]:
        if $entry["$k_batch"]:
            yield "batch", $entry["$k_batch"], $entry["$k_ref"], $entry["$k_amount"]
    for $line in $case["lines"]:
        if $line["$k_value"] != $line["$k_booked"]:
            yield "value differs", $line["$k_booked"], $line["$k_value"], $line["$k_ref"], $line["$k_amount"]
    yield "fees", f"{$outcome['fees']:,}", "errors", f"{$outcome['errors']:,}"
