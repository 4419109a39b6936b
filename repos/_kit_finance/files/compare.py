"""«Our figures against $control|Sets our figures beside $control|$control and our figures, line by line»."""

import argparse
from decimal import Decimal

from $calc.$m_calc import $f_figures, $f_load, $f_names
from $pkg.$m_tab import $f_rows

STATED = "$controls_path"


def pairs(names):
    """«(name, figure, ours, theirs)|Name, figure, our value and the stated one» for every stated figure."""
    stated = $f_rows(STATED)
    for name in names:
        ours = $f_figures($f_load(name))
        for $row in stated:
            if $row["$k_name"] == name:
                yield name, $row["$k_figure"], ours[$row["$k_figure"]], Decimal($row["$k_value"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--$opt_gaps", dest="gaps", action="store_true", help="only what differs")
    options = parser.parse_args()
    differing = 0
    for name, figure, mine, theirs in pairs(options.names or $f_names()):
        differing += mine != theirs
        if mine != theirs or not options.gaps:
            print(f"{name:<14} {figure:<22} ours {mine:>16,}  stated {theirs:>16,}  gap {mine - theirs:>14,}")
    print(differing, "«differences|figures differ|open gaps»")
    return 1 if differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
