"""Live agents against the embedded engine's oracle: the share of tasks that they solve beside the share that the rates
of its mistakes predict, and session by session what the oracle's log says.

    python tests/engine/embedded/bench_oracle.py --sessions 32
    python tests/engine/embedded/bench_oracle.py --sessions 64 --rates no_tool=0.02,loop=0.1

A minute or two a line on two cores, more where other things run: the engine takes the time that it models.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import orjson

from simulator.core.solution import from_line
from simulator.engine.embedded.brain.mistakes import chance
from simulator.engine.embedded.brain.rates import checked, parse_rates
from simulator.store.manifest import ORACLE_LOG, SOLUTIONS

SCENARIO = Path("scenarios/live_8_agents.yaml")
PROFILES = "profiles={classic-xml: 1, classic-glm: 1, classic-native: 1, compact: 1, sdk: 1}"
RATES = (
    "malformed=0",
    "malformed=0.2,unfit_edit=0.3",
    "unknown_tool=0.2,talks_on=0.2",
    "no_tool=0.02",
    "call_in_content=0.01,call_in_reasoning=0.01",
    "loop=0.2",
    "early_stop=0.2",
    "wrong_edit=0.2",
    "loop=0.1,early_stop=0.1,wrong_edit=0.1,no_tool=0.02,malformed=0.1",
)


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()


def row(rates: str, folder: Path) -> str:
    sessions = [orjson.loads(line) for line in lines(folder / "sessions.jsonl")]
    solved = {each["session"] for each in sessions if each["verified"]}
    told = [orjson.loads(line) for line in lines(folder / ORACLE_LOG)]
    lost = {each["session"] for each in told if each["fatal"]}
    wrong = sum((each["session"] in solved) == (each["session"] in lost) for each in sessions)
    given = checked(parse_rates(rates, "--rates"), "--rates")
    known = [from_line(line) for line in lines(folder / SOLUTIONS)]
    chances = [chance(given, each) for each in known if not each.branch]
    mean, spread = sum(chances), sum(p * (1 - p) for p in chances) ** 0.5
    off = abs(len(solved) - mean) / spread if spread else float(len(solved) != mean)
    slips = sum(bool(each["mistake"]) for each in told)
    return (
        f"| `{rates}` | {len(sessions)} | {slips} | {len(solved)} | {mean:.1f} ± {spread:.1f} | {off:.1f} | {wrong} |"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=32)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rates", action="append", help="once a line; default: one line for each kind of mistake")
    asked = parser.parse_args()
    print("| rates | sessions | mistakes | solved | predicted | standard deviations off | not as logged |")
    print("|---|--:|--:|--:|--:|--:|--:|", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        for number, rates in enumerate(asked.rates or RATES):
            out = Path(scratch) / str(number)
            command = [sys.executable, "-m", "simulator.cli.main", "run", str(SCENARIO), "--plain", "--out", str(out)]
            command += ["--set", f"sessions={asked.sessions}", "--set", PROFILES, "--seed", str(asked.seed)]
            done = subprocess.run([*command, "--oracle", rates], capture_output=True, text=True)
            if done.returncode not in (0, 1) or not (out / "sessions.jsonl").exists():
                print(done.stdout + done.stderr, file=sys.stderr)
                return done.returncode or 1
            print(row(rates, out), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
