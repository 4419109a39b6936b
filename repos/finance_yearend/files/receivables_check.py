"""«Credit control's own list against ours|Allowance list of credit control, compared item by bucket»."""

from decimal import Decimal

from $calc.$mod_receivables import $f_age
from $pkg.$m_tab import $f_rows


def main():
    ours, _ = $f_age()
    worst, count = ("", Decimal(0)), 0
    for $row in $f_rows("$folder/$file_control"):
        entry = ours["$o_buckets"][$row["$k_bucket"]]
        for key, column in (("$o_gross", "control_gross"), ("$o_loss", "control_allowance")):
            gap = entry[key] - Decimal($row[column])
            count += bool(gap)
            worst = max(worst, ($row["$k_bucket"], gap), key=lambda pair: abs(pair[1]))
            print(f"{$row['$k_bucket']:<14}{key:<20}{entry[key]:>18,.2f}{Decimal($row[column]):>18,.2f}{gap:>16,.2f}")
    print(f"{count} «gaps|figures off|lines differ»", *(worst if count else ()))


if __name__ == "__main__":
    main()
