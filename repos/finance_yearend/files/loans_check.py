"""«Compares our balances with the lenders' letters|Lender confirmations against the schedules»."""

from decimal import Decimal

from $calc.$mod_loans import $f_figures, $f_load
from $pkg.$m_tab import $f_rows

if __name__ == "__main__":
    ours, off = {key: $f_figures(loan) for key, loan in $f_load().items()}, 0
    for $row in $f_rows("$folder/$file_letters"):
        mine = ours[$row["$k_id"]]
        for name, column in (("$o_balance", "confirmed_balance"), ("$o_accrued", "confirmed_accrued")):
            gap = mine[name] - Decimal($row[column])
            off += gap != 0
            print(f"{$row['$k_id']:<10} {name:<22} ours {mine[name]:>16,.2f}  lender {Decimal($row[column]):>16,.2f}  gap {gap:>12,.2f}")
    print(f"{off} «differences|figures differ|open differences»")
