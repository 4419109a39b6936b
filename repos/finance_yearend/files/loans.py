"""«Loan book of $group|Schedules of all borrowings|Borrowings: schedules, accruals, maturities» at $year_end."""

import argparse
from datetime import date, timedelta
from decimal import Decimal

from $pkg.$m_days import $f_frac
from $pkg.$m_round import $f_round
from $pkg.$m_tab import $f_dump, $f_rows

FOLDER = "$folder"
YEAR_END = date.fromisoformat("$year_end")
PREVIOUS = date.fromisoformat("$prev_end")


def $f_shift(anchor, months):
    index = anchor.year * 12 + anchor.month - 1 + months
    year, month = index // 12, index % 12 + 1
    last = (date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)).day
    return date(year, month, min(anchor.day, last))


def $f_load():
    """«Terms, rate steps and special repayments|The loan terms with rates and extra payments attached»."""
    loans = {$row["$k_id"]: dict($row, steps=[], extra={}) for $row in $f_rows(f"{FOLDER}/$file_terms")}
    for $row in $f_rows(f"{FOLDER}/$file_rates"):
        loans[$row["$k_id"]]["steps"].append((date.fromisoformat($row["valid_from"]), Decimal($row["rate_pct"]) / 100))
    for $row in $f_rows(f"{FOLDER}/$file_extra"):
        loans[$row["$k_id"]]["extra"][date.fromisoformat($row["value_date"])] = Decimal($row["$k_amount"])
    return loans


def $f_rate(loan, day):
    """«The rate in force on a day|Rate valid on `day`»: the last step that is not later."""
    return max(step for step in loan["steps"] if step[0] <= day)[1]


def $f_instalment(loan):
    terms, months = int(loan["$k_terms"]), int(loan["$k_months"])
    amount = Decimal(loan["$k_principal"])
    if loan["$k_style"] != "annuity":
        return $f_round(amount / terms) if loan["$k_style"] == "linear" else Decimal(0)
    rate = loan["steps"][0][1] * months / 12
    return $f_round(amount * rate / (1 - (1 + rate) ** -terms))


def $f_schedule(loan):
    """«One row a due date|Rows of the schedule»: (due, $opening, $interest, $principal, extra, $closing)."""
    terms, months = int(loan["$k_terms"]), int(loan["$k_months"])
    first = date.fromisoformat(loan["$k_first"])
    fixed, $opening = $f_instalment(loan), Decimal(loan["$k_principal"])
    since, rows = date.fromisoformat(loan["$k_start"]), []
    for number in range(terms):
        due = $f_shift(first, number * months)
        $interest = $line_interest
        $principal = fixed - $interest if loan["$k_style"] == "annuity" else fixed
        if number == terms - 1 or $principal > $opening:
            $principal = $opening
        extra = $line_extra
        $closing = $opening - $principal - extra
        rows.append((due, $opening, $interest, $principal, extra, $closing))
        if $closing == 0:
            break
        $opening, since = $closing, due
    return rows


def $f_at(loan, rows, day):
    """«Balance and accrued interest|What is owed and what has accrued» at the end of `day`."""
    start = date.fromisoformat(loan["$k_start"])
    if day < start:
        return Decimal(0), Decimal(0)
    past = [$row for $row in rows if $row[0] <= day]
    balance, since = (past[-1][5], past[-1][0]) if past else (Decimal(loan["$k_principal"]), start)
    return balance, $f_round($f_frac(balance * $f_rate(loan, since), since, day, loan["$k_basis"]))


def $f_figures(loan):
    rows = $f_schedule(loan)
    balance, accrued = $f_at(loan, rows, YEAR_END)
    paid = sum(($row[2] for $row in rows if PREVIOUS < $row[0] <= YEAR_END), Decimal(0))
    horizon = $f_shift(YEAR_END, 12)
    current = sum(($row[3] + $row[4] for $row in rows if YEAR_END < $row[0] <= horizon), Decimal(0))
    return {
        "$o_balance": $f_round(balance),
        "$o_accrued": accrued,
        "$o_expense": $f_round(paid + accrued - $f_at(loan, rows, PREVIOUS)[1]),
        "$o_current": $f_round(current),
        "$o_total": $f_round(sum($row[2] for $row in rows)),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--$opt_loan", dest="loan", help="print the schedule of one loan")
    parser.add_argument("--$opt_write", dest="target", help="write the figures as JSON")
    options = parser.parse_args()
    loans = $f_load()
    if options.loan:
        for due, *values in $f_schedule(loans[options.loan]):
            print(due, *(f"{value:>15,.2f}" for value in values))
        return
    $results = {key: $f_figures(loan) for key, loan in sorted(loans.items())}
    for key, entry in $results.items():
        print(f"{key:<10}", *(f"{name}={value:,}" for name, value in entry.items()))
    if options.target:
        $f_dump(options.target, $results)


if __name__ == "__main__":
    main()
