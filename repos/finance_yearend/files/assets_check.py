"""«General ledger against the asset register|Ledger balances of the asset accounts, compared with the register»."""

from decimal import Decimal

from $calc.$mod_assets import $f_classes
from $pkg.$m_tab import $f_rows

COLUMNS = (("$o_cost", "ledger_cost"), ("$o_opening", "ledger_opening"), ("$o_written", "ledger_depreciation"))


def main():
    ours, open_items = $f_classes(), []
    for $row in $f_rows("$folder/$file_ledger"):
        name = $row["$k_class"]
        for key, column in COLUMNS:
            mine, booked = ours[name][key], Decimal($row[column])
            print(f"{name:<24}{key:<26}{mine:>18,.2f}{booked:>18,.2f}{mine - booked:>15,.2f}")
            if mine != booked:
                open_items.append(f"{name} {key}")
    print(f"{len(open_items)} «open|not agreed|differences»:", "; ".join(open_items[:6]) or "none")


if __name__ == "__main__":
    main()
