"""How many of a run's conversations the recorder found again.

    sim run SCENARIO --endpoint http://127.0.0.1:8100 --out RUN     (8100: sim record)
    python tests/record/check_sessions.py requests.jsonl RUN

The run knows whose each request was and the log has to find out; the two are matched by time and prompt tokens.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import orjson


def rows(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def apart_s(line: dict[str, Any], record: dict[str, Any], t0_s: float) -> float:
    """Seconds between the two; far when they differ in prompt tokens."""
    usage = (line.get("response") or {}).get("usage") or {}
    far = usage.get("prompt_tokens") != record["prompt_tok"]
    return abs(line["ts"] - t0_s - (record["t_sent_s"] or 0.0)) + 10.0 * far


def main(log: Path, run: Path) -> None:
    lines, t0_s = rows(log), orjson.loads((run / "manifest.json").read_bytes())["t0_unix_s"]
    true: dict[tuple[str, int], set[int]] = defaultdict(set)
    found: dict[str, set[int]] = defaultdict(set)
    for record in rows(run / "records.jsonl"):
        if record["kind"] != "agent" or record["purpose"] == "warmup" or record["t_sent_s"] is None or not lines:
            continue
        line = min(lines, key=lambda each: apart_s(each, record, t0_s))
        lines.remove(line)
        true[record["session"], record["branch"]].add(line["number"])
        found[line["session"]].add(line["number"])
    exact = {frozenset(each) for each in true.values()} & {frozenset(each) for each in found.values()}
    print(
        f"{len(exact)} of {len(true)} conversations, {sum(map(len, exact))} of {sum(map(len, true.values()))} requests"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
