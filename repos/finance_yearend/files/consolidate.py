"""«Consolidation of $group|Group figures from the trial balances|From trial balances to group lines» at $year_end, in $currency."""

import argparse
from collections import defaultdict
from decimal import Decimal

from $pkg.$m_round import $f_round
from $pkg.$m_tab import $f_dump, $f_rows

FOLDER = "$folder"
$c_historic = ($historic)
$c_result = ($pl_lines)
$c_internal = ($internal)


def $f_masters():
    """«Entities, rates and account mapping|What all entities share»."""
    entities = {$row["$k_entity"]: $row for $row in $f_rows(f"{FOLDER}/$file_entities")}
    rates = {$row["currency"]: $row for $row in $f_rows(f"{FOLDER}/$file_rates")}
    lines = {$row["$k_account"]: $row["$k_line"] for $row in $f_rows(f"{FOLDER}/$file_map")}
    return entities, rates, lines


def $f_rate(entity, line, rates):
    """«Which of the three rates applies|Rate of an account's line»: historical, average or closing."""
    if line in $c_historic:
        return Decimal(entity["$k_hist"])
    column = "$k_average" if line in $c_result else "$k_closing"
    return Decimal(rates[entity["currency"]][column])


def $f_translate(entity, rates, lines):
    """«Rows of one entity in $currency|Translated rows»: (account, line, partner, local, $amount), debits positive."""
    found = []
    for $row in $f_rows(f"{FOLDER}/{entity['$k_file']}"):
        line = lines[$row["$k_account"]]
        local = Decimal($row["$k_debit"] or 0) - Decimal($row["$k_credit"] or 0)
        $amount = $f_round(local * $f_rate(entity, line, rates))
        found.append(($row["$k_account"], line, $row["$k_partner"], local, $amount))
    return found


def $f_matrix():
    """«The result and, line by line, what each entity brings|Result, and its parts by line and entity»."""
    entities, rates, lines = $f_masters()
    totals, reserve, parts = defaultdict(Decimal), {}, defaultdict(dict)
    for code, entity in entities.items():
        rows = $f_translate(entity, rates, lines)
        reserve[code] = -sum($row[4] for $row in rows)
        for account, line, partner, _, $amount in rows:
            if account in $c_internal:
                line = "$w_diff_pl" if line in $c_result else "$w_diff_bs"
            elif line == "$w_shares" or line == "$w_capital" and entity["$k_parent"]:
                line = "$w_goodwill"
            totals[line] += $amount
            parts[line][code] = parts[line].get(code, 0) + $amount
    totals["$w_reserve"], parts["$w_reserve"] = sum(reserve.values()), reserve
    result = sum(totals[line] for line in (*$c_result, "$w_diff_pl"))
    return {"$o_lines": dict(totals), "$o_reserve": reserve, "$o_result": -result}, parts


def $f_group():
    return $f_matrix()[0]


def $f_pairs():
    """«Internal balances by account and pair|What the entities say about each other»."""
    entities, rates, lines = $f_masters()
    for code, entity in entities.items():
        for account, line, partner, local, $amount in $f_translate(entity, rates, lines):
            if partner:
                yield code, partner, account, line, local, $amount


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--$opt_entity", dest="code", help="translated trial balance of one entity")
    parser.add_argument("--$opt_pairs", dest="pairs", action="store_true", help="internal balances")
    parser.add_argument("--$opt_write", dest="target", help="write the result")
    options = parser.parse_args()
    if options.code:
        entities, rates, lines = $f_masters()
        for account, line, partner, local, $amount in $f_translate(entities[options.code], rates, lines):
            print(f"{account:<8}{line:<26}{partner:<6}{local:>18,.2f}{$amount:>18,.2f}")
        return
    if options.pairs:
        for code, partner, account, line, local, $amount in $f_pairs():
            print(f"{code:<6}{partner:<6}{account:<8}{line:<26}{local:>18,.2f}{$amount:>18,.2f}")
        return
    $results, parts = $f_matrix()
    codes = list($results["$o_reserve"])
    print(" " * 26, *(f"{code:>16}" for code in codes), f"{'$currency':>18}")
    for line, $amount in sorted($results["$o_lines"].items()):
        print(f"{line:<26}", *(f"{parts[line].get(code, 0):>16,.2f}" for code in codes), f"{$amount:>18,.2f}")
    print("sum", sum($results["$o_lines"].values()), "«result|profit|net»", f"{$results['$o_result']:,}")
    if options.target:
        $f_dump(options.target, $results)


if __name__ == "__main__":
    main()
