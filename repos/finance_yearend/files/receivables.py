"""«Open items by age and the loss allowance|Ageing of receivables and expected losses|Receivables of $group: ageing, allowance» at $year_end."""

import argparse
from collections import defaultdict
from datetime import date
from decimal import Decimal

from $pkg.$m_round import $f_round
from $pkg.$m_tab import $f_dump, $f_rows

FOLDER = "$folder"
YEAR_END = date.fromisoformat("$year_end")
TAX = Decimal("$tax")
#: «last day of the bucket, its name, its loss rate|upper limit in days, bucket, rate»
BUCKETS = (
$buckets
)


def $f_masters():
    customers = {$row["$k_customer"]: $row for $row in $f_rows(f"{FOLDER}/$file_customers")}
    rates = {$row["currency"]: Decimal($row["$k_rate"]) for $row in $f_rows(f"{FOLDER}/$file_rates")}
    return customers, rates


def $f_bucket(item):
    """«Bucket and rate of an open item|Where an item belongs by its days overdue»."""
    overdue = (YEAR_END - date.fromisoformat(item["$k_due"])).days
    for limit, name, rate in BUCKETS:
        if limit is None or overdue $compare limit:
            return name, rate
    raise ValueError(item["$k_invoice"])


def $f_loss(gross, customer, rate):
    """«Allowance of one item|Expected loss on an item» in $currency: «without tax, less what is insured|net of tax and insurance»."""
    if gross <= 0:
        return Decimal(0)
    insured = Decimal(customer["$k_cover"] or 0) / 100
    if customer["$k_specific"]:
        rate = Decimal(customer["$k_specific"])
    return $f_round($base * (1 - insured) * rate / 100)


def $f_items():
    """«One row an open item|Every open item, valued»: (customer, invoice, bucket, gross, allowance)."""
    customers, rates = $f_masters()
    for item in $f_rows(f"{FOLDER}/$file_items"):
        name, rate = $f_bucket(item)
        gross = $f_round(Decimal(item["$k_open"]) * rates[item["currency"]])
        customer = customers[item["$k_customer"]]
        yield item["$k_customer"], item["$k_invoice"], name, gross, $f_loss(gross, customer, rate)


def $f_age():
    totals = {name: {"$o_gross": Decimal(0), "$o_loss": Decimal(0)} for _, name, _ in BUCKETS}
    people = defaultdict(lambda: [Decimal(0), Decimal(0)])
    for customer, _, name, gross, loss in $f_items():
        totals[name]["$o_gross"] += gross
        totals[name]["$o_loss"] += loss
        people[customer][0] += gross
        people[customer][1] += loss
    whole = {key: sum(entry[key] for entry in totals.values()) for key in ("$o_gross", "$o_loss")}
    return {"$o_buckets": totals, "$o_total": whole}, people


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--$opt_customer", dest="customer", help="items of one customer, or ALL")
    parser.add_argument("--$opt_people", dest="people", action="store_true", help="totals by customer")
    parser.add_argument("--$opt_write", dest="target")
    options = parser.parse_args()
    if options.customer:
        for customer, invoice, name, gross, loss in $f_items():
            if options.customer in (customer, "ALL"):
                print(f"{customer:<9}{invoice:<14}{name:<14}{gross:>16,.2f}{loss:>14,.2f}")
        return
    $results, people = $f_age()
    if options.people:
        for customer, (gross, loss) in sorted(people.items()):
            print(f"{customer:<9}{gross:>18,.2f}{loss:>16,.2f}")
        return
    for name, entry in $results["$o_buckets"].items():
        print(f"{name:<14}", *(f"{value:>18,.2f}" for value in entry.values()))
    print(f"{'all':<14}", *(f"{value:>18,.2f}" for value in $results["$o_total"].values()))
    if options.target:
        $f_dump(options.target, $results)


if __name__ == "__main__":
    main()
