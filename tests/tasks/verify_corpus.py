"""Carries out every template x size x seed, checks it, breaks it, and prints a table. Not a test of the suite: it takes
minutes.

    python tests/tasks/verify_corpus.py [--kind finance] [--template NAME] [--sizes small medium] [--seeds 3]
        [--profiles classic-xml sdk]

Exit 1 when anything is wrong. A wide table is one row an instance; `--brief` gives one a template and size.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from itertools import groupby

from simulator.cli.trial import Trial, tried
from simulator.core.task import KINDS, SIZES
from simulator.drive.commands import ShellRunner
from simulator.drive.zygote import ZygoteRunner
from simulator.tasks import catalog

#: turns that a size promises
TURNS = {"small": (10, 24), "medium": (25, 60), "long": (78, 160)}
WINDOW_TOK = 128_000
HEAD = f"{'template':<24} {'size':<7} {'profile':<12} {'seed':>5} {'turns':>6} {'prompt':>8} {'said':>8} {'reply':>7}"
HEAD += f" {'cuts':>5} {'broken':>7} {'make s':>7} {'play s':>7}"


def wrong(one: Trial) -> list[str]:
    """Everything that is wrong with an instance, its shape included."""
    low, high = TURNS[one.size]
    found = list(one.faults)
    if not low <= one.turns <= high:
        found.append(f"{one.turns} turns, wanted {low} to {high}")
    if one.size == "long" and not one.cuts:
        found.append(f"long, and its history is never cut: it says {one.total_tok:,} tokens")
    if not one.broken and not one.faults:
        found.append("its template has no broken results")
    return found


def row(one: Trial) -> str:
    return (
        f"{one.template:<24} {one.size:<7} {one.profile:<12} {one.seed:>5} {one.turns:>6} {one.prompt_tok:>8,} "
        f"{one.total_tok:>8,} {one.output_tok:>7,} {one.cuts:>5} {one.broken:>7} {one.made_s:>7.2f} "
        f"{one.played_s:>7.1f}"
    )


def brief(found: list[Trial]) -> str:
    lines = [
        f"{'template':<24} {'size':<7} {'n':>3} {'turns':>11} {'said tok':>17} {'broken':>7} {'make s':>7} "
        f"{'play s':>7}"
    ]
    for (template, size), group in groupby(found, key=lambda t: (t.template, t.size)):
        ones = list(group)
        turns, said = [t.turns for t in ones], [t.total_tok for t in ones]
        lines.append(
            f"{template:<24} {size:<7} {len(ones):>3} {f'{min(turns)}-{max(turns)}':>11} "
            f"{f'{min(said):,}-{max(said):,}':>17} {min(t.broken for t in ones):>7} "
            f"{statistics.median(t.made_s for t in ones):>7.2f} {statistics.median(t.played_s for t in ones):>7.1f}"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--template", action="append")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--profiles", nargs="+", default=["classic-xml", "sdk"])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--brief", action="store_true")
    asked = parser.parse_args()
    names = asked.template or [n for n in catalog.templates() if asked.kind in (None, catalog.kind_of(n))]
    runner = ZygoteRunner(ShellRunner())
    found, bad, begun = [], 0, time.perf_counter()
    print(HEAD)
    for name in names:
        for size in asked.sizes:
            for k in range(asked.seeds):
                seed = asked.first_seed + k
                one = tried(name, seed, size, asked.profiles[seed % len(asked.profiles)], runner)
                found.append(one)
                faults = wrong(one)
                bad += bool(faults)
                print(row(one), *(f"\n    WRONG: {fault}" for fault in faults), sep="", flush=True)
    runner.close()
    if asked.brief:
        print("\n" + brief(found))
    print(f"{len(found)} instances, {bad} wrong, {time.perf_counter() - begun:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
