"""`python tests/engine/embedded/turns_of_runs.py RUN... > FILE`: what the agents of runs of one plan sent, as a traffic
file of the embedded engine (simulator/engine/embedded/traffic.py).

Of each slot, the turns of the run that came furthest there, so that the model never runs dry before a real engine did;
what a shorter run sent is the beginning of it, unless a free slot took another session.
"""

from __future__ import annotations

import gzip
import json
import statistics
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

HEAD = """\
# What 32 agents sent to a real engine: the turns of {folder} (runs of one plan,
# {runs}; of each slot, the run that came furthest there).
# A row a turn, in order of its slot: slot; seconds from the end of the reply before it (tools, a new workspace; for the
# first turn of a slot: from the run's start); prompt and reply, tokens as the engine counted them; how many of the
# prompt's first tokens are the prompt's before it (0: a new session)."""

Record = dict[str, Any]


def slots(run: Path) -> dict[int, list[Record]]:
    """The agents' requests of a run by slot, in order. Raises ValueError where a row cannot be a turn of a replay."""
    found: dict[int, list[Record]] = {}
    with gzip.open(run / "records.jsonl.gz", "rt") as lines:
        for each in map(json.loads, lines):
            if each["kind"] == "agent" and each["slot"] >= 0 and each["t_sent_s"] is not None:
                if each["retry"] or each["branch"] or each["outcome"] not in ("ok", "cancelled"):
                    raise ValueError(f"{run}: request {each['request']} is no plain turn")
                found.setdefault(each["slot"], []).append(each)
    for turns in found.values():
        turns.sort(key=lambda each: float(each["t_sent_s"]))
    return found


def rows(runs: Iterable[Path]) -> Iterator[str]:
    sent = [slots(run) for run in runs]
    known = [{(e["slot"], e["session"], e["turn"]): e for turns in one.values() for e in turns} for one in sent]
    first_s = [min(turns[0]["t_sent_s"] for turns in one.values()) for one in sent]
    for slot in sorted(set().union(*sent)):
        turns = max((one.get(slot, []) for one in sent), key=len)
        before: Record | None = None
        for each in turns:
            same = before is not None and before["session"] == each["session"]
            seen = [one[key] for one in known if (key := (slot, each["session"], each["turn"])) in one]
            if before is None:
                waits_s = [one[slot][0]["t_sent_s"] - at_s for one, at_s in zip(sent, first_s, strict=True)]
                wait_s = statistics.median(waits_s)
            else:
                wait_s = max(0.0, each["t_sent_s"] - before["t_end_s"])
            prompt_tok = _prompt_tok(each)
            kept_tok = 0
            if same and before is not None:
                kept_tok = _prompt_tok(before)
                if prompt_tok < kept_tok:  # the client has cut its history: what is left of it is what was found
                    kept_tok = max(one["cached_tok"] or 0 for one in seen)
            output_tok = each["output_tok"] if each["outcome"] == "ok" else each["planned_output_tok"]
            yield f"{slot} {wait_s:.3f} {prompt_tok} {output_tok} {kept_tok}"
            before = each


def _prompt_tok(record: Record) -> int:
    return int(record["prompt_tok"] or record["planned_prompt_tok"])


def text(runs: list[Path]) -> str:
    folder = "/".join(runs[0].parts[-4:-2])
    head = HEAD.format(folder=folder, runs=", ".join(run.name for run in runs))
    return "\n".join([head, *rows(runs)]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(text([Path(name) for name in sys.argv[1:]]))
