"""`sim diff` of two runs of a million records: seconds and memory, on first sight and again.

    python tests/cli/bench_diff.py [--records 1000000] [--folder DIR]

First sight: records.jsonl alone, as a killed run leaves it but ended: everything is parsed and folded. After `sim
report`, which every run ends with, the summary and the columns are there. Chunks are left aside.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import orjson

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from fixtures_fold import reply  # noqa: E402
from fixtures_run import Shape, manifest  # noqa: E402

from simulator.store.manifest import write_json  # noqa: E402

SESSIONS, AT_ONCE = 10_000, 1_000


def write(folder: Path, records: int, faster: float, seed: int) -> None:
    """A long run of agents: sessions of equal numbers of turns, 1,000 at a time."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    told = manifest(Shape(seed=1), ended=1.8e9, stopped="", schema=1)
    write_json(folder / "manifest.json", told | {"t0_unix_s": 1.79e9 + seed})
    base = asdict(reply(0.0, [(100, 1)]).request) | {"chunks": 0, "chunks_at": -1}
    turns = records // SESSIONS
    ttft, tpot = rng.lognormal(-1, 0.5, records), rng.lognormal(-4.5, 0.2, records) / faster
    with (folder / "records.jsonl").open("wb") as file:
        for n in range(records):
            session, turn, out = n // turns, n % turns, 50 + n * 7919 % 300
            sent = session // AT_ONCE * 5.0 * turns + turn * 5.0 / faster
            first = sent + float(ttft[n])
            last = first + float(tpot[n]) * out
            times = {"t_due_s": sent - 0.001, "t_call_s": sent, "t_sent_s": sent, "t_first_s": first}
            times |= {"t_first_answer_s": first, "t_last_s": last, "t_end_s": last}
            named = {"session": f"s{session:05d}", "slot": session % AT_ONCE, "turn": turn, "request": n}
            counted = {"output_tok": out, "planned_output_tok": out, "prompt_tok": 1_000 + 500 * turn}
            file.write(orjson.dumps(base | times | named | counted) + b"\n")
    write_json(folder / "windows.json", {"agent": {"start_s": 60.0, "end_s": 5.0 * turns * SESSIONS / AT_ONCE - 60.0}})


def measured(*arguments: str | Path) -> str:
    """Seconds, CPU seconds and largest resident memory of a `sim` process and its children."""
    begun = time.monotonic()
    command = [sys.executable, "-m", "simulator.cli.main", *map(str, arguments)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    took_s, cpu_s = time.monotonic() - begun, usage.ru_utime + usage.ru_stime
    return f"{took_s:.1f} s, CPU {cpu_s:.1f} s, {usage.ru_maxrss / 2**20:.2f} GiB"


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--records", type=int, default=1_000_000)
    options.add_argument("--folder", type=Path)
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-diff-") as scratch:
        base = given.folder or Path(scratch)
        sides = [base / "a", base / "b"]
        for n, side in enumerate(sides):
            if not side.exists():
                write(side, given.records, 1.0 + 0.05 * n, n)
        print(f"two runs of {given.records:,} records; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        for name in ("first sight", "again, columns there"):
            print(f"{name}: sim diff {measured('diff', *sides)}", flush=True)
        for side in sides:
            print(f"sim report {side.name}: {measured('report', side)}", flush=True)
        print(f"after sim report: sim diff {measured('diff', *sides)}")


if __name__ == "__main__":
    main()
