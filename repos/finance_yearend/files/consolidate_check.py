"""«Group totals against the reporting tool|Control totals of the reporting package»."""

import sys
from decimal import Decimal

from $calc.$mod_group import $f_group, $f_masters, $f_translate
from $pkg.$m_tab import $f_rows


def origin(wanted):
    """«Which entity brings what to a line, before elimination|A line's parts by entity, not eliminated»."""
    entities, rates, lines = $f_masters()
    for code, entity in entities.items():
        parts = [$row for $row in $f_translate(entity, rates, lines) if $row[1] == wanted]
        if parts:
            internal = sum(($row[4] for $row in parts if $row[2]), Decimal(0))
            yield code, entity["currency"], sum($row[4] for $row in parts), internal


def main():
    lines = $f_group()["$o_lines"]
    bad = [key for key, total in [("balance", sum(lines.values()))] if total]
    for $row in $f_rows("$folder/$file_controls"):
        name = $row["$k_line"]
        ours, theirs = lines.get(name, Decimal(0)), Decimal($row["control"])
        print(f"{name:<28}{ours:>20,.2f}{theirs:>20,.2f}{ours - theirs:>18,.2f}")
        if ours != theirs:
            bad.append(name)
            for code, currency, total, internal in origin(name):
                print(f"    {code:<6}{currency:<6}{total:>20,.2f}  internal {internal:>18,.2f}")
    print("«open|differs|not agreed»:", ", ".join(bad) or "none")
    return bool(bad) and "--$opt_strict" in sys.argv


if __name__ == "__main__":
    sys.exit(main())
