"""«Group totals against the reporting tool|Control totals of the reporting package»."""

import sys
from decimal import Decimal

from $calc.$mod_group import $f_group
from $pkg.$m_tab import $f_rows

lines = $f_group()["$o_lines"]
bad = [key for key, total in [("balance", sum(lines.values()))] if total]
for $row in $f_rows("$folder/$file_controls"):
    ours, theirs = lines.get($row["$k_line"], Decimal(0)), Decimal($row["control"])
    if ours != theirs:
        bad.append($row["$k_line"])
    print(f"{$row['$k_line']:<28}{ours:>20,.2f}{theirs:>20,.2f}{ours - theirs:>18,.2f}")
print("«open|differs|not agreed»:", ", ".join(bad) or "none")
sys.exit(bool(bad) and "--$opt_strict" in sys.argv)
