"""What live sessions came to, for the report and the last screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.view.format import cell, count, digits, percent
from simulator.view.report_parts import table

#: core.record.FAILURES in words
WORDS = {
    "wrong_answer": "said it was done, and the check disagrees",
    "gave_up": "ended without saying that it was done",
    "loop": "made the same call over and over",
    "malformed_calls": "wrote calls that its client could not read",
    "context_overflow": "ran out of its context window",
    "time_out": "reached a limit of turns, tokens or seconds",
    "engine_error": "its requests failed",
}
GROUPS = {"by_kind": "task kind", "by_size": "task size", "by_profile": "client profile"}


def share(live: Mapping[str, Any]) -> str:
    """`5 of 8 tasks (62.5 %)`."""
    if not live["judged"]:
        return "no session ended by itself"
    return f"{count(live['solved'])} of {count(live['judged'])} tasks ({percent(live['share'])})"


def why_not(live: Mapping[str, Any]) -> str:
    """`2 wrong answer, 1 loop`, the kinds in their usual order; "" when all were solved."""
    return ", ".join(f"{count(number)} {name.replace('_', ' ')}" for name, number in live["failures"].items())


def section(live: Mapping[str, Any] | None) -> list[str]:
    """Nothing for a replay."""
    if live is None:
        return []
    rows = [("**solved**", f"**{share(live)}**")]
    rows += [(f"not solved: {WORDS[name]}", count(number)) for name, number in live["failures"].items()]
    if live["unjudged"]:
        rows.append(("not judged: the run ended before, or it was a fault of ours", count(live["unjudged"])))
    rows += [
        ("replies a session, p50 / p90", _pair(live["turns"])),
        ("prompt tokens a session, p50 / p90", _pair(live["prompt_tok"])),
        ("output tokens a session, p50 / p90", _pair(live["output_tok"])),
    ]
    if live["recorded"]:
        rows.append(("kept to the recorded way", f"{count(live['on_path'])} of {count(live['recorded'])}"))
        rows.append(("left it at turn, p50 (from 0)", digits(live["diverged_turn"]["p50"])))
        rows.append(("recorded calls made, mean", percent(live["recorded_share"]["mean"])))
    lines = ["## Tasks solved", "", *table(("", ""), rows), "", *_parts(live)]
    return [*lines, "A task is solved when its check passes on what the session left, however the session ended.", ""]


def _parts(live: Mapping[str, Any]) -> list[str]:
    rows = [
        (name, cell(group), f"{count(row['solved'])} of {count(row['judged'])}")
        for key, name in GROUPS.items()
        for group, row in live[key].items()
        if len(live[key]) > 1
    ]
    return [*table(("by", "", "solved"), rows), ""] if rows else []


def _pair(spread: Mapping[str, Any]) -> str:
    return f"{digits(spread['p50'])} / {digits(spread['p90'])}"
