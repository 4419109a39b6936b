"""«Paid-in and distributed against the managers' statement|Statement of the fund managers compared with our flows»."""

from decimal import Decimal

from $calc.$mod_returns import $f_all
from $pkg.$m_tab import $f_rows

ours = $f_all()
gaps = 0
for $row in $f_rows("$statement"):
    entry = ours[$row["position"]]
    for key, column in (("$o_paid", "$s_paid"), ("$o_back", "$s_back")):
        gap = entry[key] - Decimal($row[column])
        gaps += gap != 0
        print(f"{$row['position']:<26}{key:<20}{entry[key]:>18,.2f}{Decimal($row[column]):>18,.2f}{gap:>16,.2f}")
print("«agreed|all agree|no gaps»" if not gaps else f"{gaps} «gaps|lines do not agree|open»")
