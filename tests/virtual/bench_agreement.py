"""The same scenario in real time and in virtual time, side by side: `python tests/virtual/bench_agreement.py SCENARIO`.

Both are run with `sim run`, so the first takes as long as the scenario says. A second argument names the folder of a
run in real time that is there already. Prints a Markdown table.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import orjson

ROWS = (
    ("output tok/s", ("output_tok_s",)),
    ("TTFT p50", ("ttft_s", "p50")),
    ("TTFT p95", ("ttft_s", "p95")),
    ("TPOT p50", ("tpot_s", "p50")),
    ("turn latency p50", ("turn_latency_s", "p50")),
    ("cached share", ("cached_share", "all")),
    ("requests sent", ("requests", "sent")),
)


def run(scenario: str, out: Path, *options: str) -> Path:
    command = [sys.executable, "-m", "simulator.cli.main", "run", scenario, "--out", str(out), "--plain", *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return out


def value(part: dict[str, Any] | None, path: tuple[str, ...]) -> float | None:
    found: Any = part
    for name in path:
        found = None if found is None else found[name]
    return found if found is None else float(found)


def main() -> None:
    scenario = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        real = Path(sys.argv[2]) if len(sys.argv) > 2 else run(scenario, Path(folder) / "real")
        virtual = run(scenario, Path(folder) / "virtual", "--virtual")
        one, two = (orjson.loads((each / "summary.json").read_bytes()) for each in (real, virtual))
    print("| EMULATED | real time | virtual time | difference |\n|---|---:|---:|---:|")
    for kind in ("agent", "synthetic"):
        for name, path in ROWS:
            a, b = value(one[kind], path), value(two[kind], path)
            if a is not None and b is not None and (a or b):
                print(f"| {kind}: {name} | {a:,.4g} | {b:,.4g} | {100 * (b / a - 1):+.1f} % |")
    client = one["client"]
    print(f"\nClient in real time: {client['verdict']} {'; '.join(client['reasons'])}")


if __name__ == "__main__":
    main()
