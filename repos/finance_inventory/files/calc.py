"""«Inventory of $firm|Stock at cost and at value|Every article's stock» at $today."""

import argparse
from decimal import Decimal
from pathlib import Path

from $pkg.$m_money import $f_round
from $pkg.$m_tab import $f_dump, $f_day, $f_rows

FOLDER = Path("$folder")
TODAY = $f_day("$today")


def $f_names():
    return sorted(path.stem for path in FOLDER.glob("*.csv"))


def $f_load(name):
    """«Sheet and movements of an article|An article with its list»."""
    $sheet = {"moves": $f_rows(FOLDER / f"{name}.csv"), "landed": {}}
    for line in (FOLDER / f"{name}.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 2:
            if cells[0] == "$k_landed":
                number, $amount = cells[1].split()
                $sheet["landed"][number] = Decimal($amount)
            else:
                $sheet[cells[0]] = cells[1]
    return $sheet


def $f_moves($case):
    """«Movements that count, oldest first|What counts, in order»."""
#if arrived
    moment = "$k_arrived"
#else
    moment = "$k_day"
#end
    found = []
    for $row in $case["moves"]:
#if theirs
        if $row["$k_owner"] != "own":
            continue
#end
#if count
#else
        if $row["$k_kind"] == "$w_count":
            continue
#end
        if $f_day($row[moment]) <= TODAY:
            found.append($row)
    return sorted(found, key=lambda $row: ($row[moment], $row["$k_number"]))


def $f_received($case, $row):
    """«(pieces, value) of a receipt|What a receipt brings»."""
    pieces = int($row["$k_quantity"])
    value = pieces * Decimal($row["$k_price"])
#if rebate
    if int($case["$k_rebate"]):
        value = $f_round(value * (100 - int($case["$k_rebate"])) / 100)
#end
#if landed
    value += $case["landed"].get($row["$k_number"], Decimal(0))
#end
#if pack
    pieces *= int($row["$k_pack"])
#end
    return pieces, value


def $f_out($case, $layers, pieces):
    """«The cost of pieces that leave|Takes pieces out and gives their cost»; layers are [pieces, value], oldest first."""
    if $case["$k_method"] == "average" and $layers:
        $layers[:] = [[sum(have for have, _ in $layers), sum(worth for _, worth in $layers)]]
    cost = Decimal(0)
    while pieces and $layers:
        have, worth = $layers[0]
        $part = min(pieces, have)
        leaving = worth if $part == have else $f_round(worth * $part / have)
        $layers[0] = [have - $part, worth - leaving]
        cost += leaving
        pieces -= $part
        if not $layers[0][0]:
            del $layers[0]
    return cost


def $f_run($case):
    """«Plays the movements through|All movements in turn»: layers at the end and sums on the way."""
    $layers, $state = [], {"bought": Decimal("0.00"), "issued": Decimal("0.00"), "shrink": Decimal("0.00")}
#if back
    prices = {}
#end
    for $row in $f_moves($case):
        kind, pieces = $row["$k_kind"], int($row["$k_quantity"])
        if kind == "$w_receipt":
            pieces, value = $f_received($case, $row)
            $layers.append([pieces, value])
            $state["bought"] += value
#if back
            prices[$row["$k_number"]] = (value, pieces)
#end
        elif kind == "$w_issue":
            $state["issued"] += $f_out($case, $layers, pieces)
        elif kind == "$w_back":
            have, worth = sum(a for a, _ in $layers), sum(b for _, b in $layers)
#if back
            value, bought = prices[$row["$k_refers"]]
            cost = $f_round(value * pieces / bought)
#else
            cost = $f_round(worth * pieces / have)
#end
            $layers[:] = [[have - pieces, worth - cost]]
            $state["bought"] -= cost
#if count
        elif kind == "$w_count":
            missing = sum(have for have, _ in $layers) - pieces
            $state["shrink"] += $f_out($case, $layers, missing)
#end
    return $layers, $state


def $f_figures($case):
    $layers, $state = $f_run($case)
    pieces = sum(have for have, _ in $layers)
    cost = sum((worth for _, worth in $layers), Decimal("0.00"))
    net = Decimal($case["$k_sells"])
#if costs
    net = net * (100 - int($case["$k_costs"])) / 100
#end
    value = min(cost, $f_round(net * pieces))
    return {
        "$o_quantity": Decimal(pieces),
        "$o_cost": cost,
        "$o_issued": $state["issued"],
        "$o_shrink": $state["shrink"],
        "$o_writedown": cost - value,
        "$o_value": value,
        "$o_bought": $state["bought"],
    }


def $f_detail($case):
    """«What is left and how it came|Layers, then the movements that count»."""
    $layers, $state = $f_run($case)
    for have, worth in $layers:
        yield "left", have, f"{worth:,}", f"{worth / have:.4f}" if have else "-"
    for key, $amount in $state.items():
        yield key, f"{$amount:,}"
    yield "sheet", *(f"{key}={value}" for key, value in $case.items() if key not in ("moves", "landed"))
    for number, $amount in $case["landed"].items():
        yield "landed", number, $amount
    for $row in $f_moves($case):
        yield $row["$k_arrived"], $row["$k_number"], $row["$k_kind"], $row["$k_quantity"], $row["$k_price"] or "-"
