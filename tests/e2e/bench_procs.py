"""What client processes take at 512/512 x 256: `python tests/e2e/bench_procs.py [--requests N] [--procs 1 2]`.

Runs the synthetic scenario on the embedded engine once for each number of processes and reads the client's own pulses
in the measured window. CPU seconds are of the process, so another program beside it changes the pace and not the cost.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

import orjson

ROOT = Path(__file__).resolve().parents[2]


def measure(procs: int, requests: int, out: Path) -> str:
    """A row of the table."""
    command = [sys.executable, "-m", "simulator.cli.main", "run", str(ROOT / "scenarios/512_512.yaml"), "--plain"]
    command += ["--procs", str(procs), "--out", str(out), "--set", f"synthetic.requests={requests}"]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{done.stdout}\n{done.stderr}")
    window = orjson.loads((out / "windows.json").read_bytes())["synthetic"]
    pulses = [orjson.loads(line) for line in (out / "pulse.jsonl").read_bytes().splitlines()]
    summary = orjson.loads((out / "summary.json").read_bytes())
    spent = [0.0] * procs
    for before, pulse in pairwise(pulses):
        if window["start_s"] <= before["t_s"] and pulse["t_s"] <= window["end_s"] + 0.5:
            for index, share in enumerate(pulse["cpu_shares"] or [pulse["cpu_share"]]):
                spent[index] += share * (pulse["t_s"] - before["t_s"])
    tokens = 512 * requests
    length = window["end_s"] - window["start_s"]
    health = summary["client"]["synthetic"]
    lag_s = health["loop_lag_s"]["p99"]
    each = ", ".join(f"{s:.1f}" for s in spent)
    return (
        f"| {procs} | {tokens / length:,.0f} | {each} | {max(spent) / length:.0%} | {1e6 * sum(spent) / tokens:.1f} "
        f"| {'-' if lag_s is None else f'{lag_s * 1e3:.1f}'} | {health['verdict']} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=768)
    parser.add_argument("--procs", type=int, nargs="+", default=[1, 2])
    chosen = parser.parse_args()
    print("| processes | tok/s | CPU s of each | busiest, of a core | CPU us a token | loop lag p99, ms | verdict |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for procs in chosen.procs:
            print(measure(procs, chosen.requests, Path(folder) / str(procs)), flush=True)


if __name__ == "__main__":
    main()
