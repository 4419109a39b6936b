"""What live sessions came to, for the report and the last screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.core.quality import quality_of
from simulator.core.wording import counted
from simulator.view.format import DASH, cell, count, digits, percent
from simulator.view.report_parts import table

#: core.record.FAILURES in words
WORDS = {
    "wrong_answer": "said it was done, and the check disagrees",
    "gave_up": "ended without saying that it was done",
    "loop": "made the same call over and over",
    "malformed_calls": "wrote calls that its client could not read",
    "context_overflow": "ran out of its context window",
    "time_out": "reached a limit of turns, tokens or seconds, or its replies never came to an end",
    "engine_error": "its requests failed",
}
GROUPS = {"by_kind": "task kind", "by_size": "task size", "by_profile": "client profile"}


def share(agent: Mapping[str, Any]) -> str:
    """`5 of 8 tasks (62.5 %, 95 % 30.6..86.3)` of the agents' part of a live run's summary."""
    live = agent["live"]
    if not live["judged"]:
        return "no session ended by itself"
    sure = interval(quality_of(agent) or {})
    return f"{count(live['solved'])} of {counted(live['judged'], 'task')} ({percent(live['share'])}, 95 % {sure})"


def interval(row: Mapping[str, Any]) -> str:
    """`30.6..86.3`, per cent; a dash where it is not known."""
    low, high = row.get("low"), row.get("high")
    return DASH if low is None or high is None else f"{digits(100 * low)}..{digits(100 * high)}"


def took(agent: Mapping[str, Any]) -> str:
    """`41.2 solved an hour; 812,000 tokens a solved task, 9,100 of them output`; "" when nothing was solved."""
    found = quality_of(agent)
    if found is None or not agent["live"]["solved"]:
        return ""
    told = [f"{digits(found['per_hour'])} solved an hour"]
    if found["tok_per_solved"] is not None:
        spent, output = count(found["tok_per_solved"]), count(found["output_tok_per_solved"])
        told.append(f"{spent} tokens a solved task, {output} of them output")
    return "; ".join(told)


def why_not(live: Mapping[str, Any]) -> str:
    """`2 wrong answer, 1 loop`, the kinds in their usual order; "" when all were solved."""
    return ", ".join(f"{count(number)} {name.replace('_', ' ')}" for name, number in live["failures"].items())


def mistakes(oracle: Mapping[str, Any]) -> str:
    """What its rates predict, what its log says, and whether the sessions agree with that."""
    other = oracle["not_as_logged"]
    ends = f"does not agree: {counted(other, 'session')} ended otherwise than its log says"
    return "; ".join(
        (
            f"{percent(oracle['predicted_share'])} ± {percent(oracle['predicted_sd'])} solved was predicted",
            f"{counted(oracle['fatal_sessions'], 'session')} with a fatal mistake",
            counted(oracle["recoverable"], "recoverable mistake"),
            ends if other else "agrees: each session ended as its log says",
        )
    )


def section(agent: Mapping[str, Any]) -> list[str]:
    """Nothing for a replay."""
    live, found = agent.get("live"), quality_of(agent)
    if live is None or found is None:
        return []
    rows = [("**solved**", f"**{share(agent)}**"), ("solved an hour", digits(found["per_hour"]))]
    rows += [(f"not solved: {WORDS[name]}", count(number)) for name, number in live["failures"].items()]
    if live["unjudged"]:
        rows.append(("not judged: the run ended before, or it was a fault of ours", count(live["unjudged"])))
    rows += [
        ("turns (replies that stood) a session, p50 / p90", _pair(live["turns"])),
        ("prompt tokens a session, p50 / p90", _pair(live["prompt_tok"])),
        ("output tokens a session, p50 / p90", _pair(live["output_tok"])),
    ]
    if live["solved"]:
        spent = (count(found[key]) for key in ("prompt_tok_per_solved", "output_tok_per_solved"))
        rows.append(("prompt / output tokens a solved task, the unsolved ones' included", " / ".join(spent)))
    if live["recorded"]:
        rows.append(("kept to the recorded way", f"{count(live['on_path'])} of {count(live['recorded'])}"))
        rows.append(("left it at turn, p50 (from 0)", digits(live["diverged_turn"]["p50"])))
        rows.append(("recorded calls made, mean", percent(live["recorded_share"]["mean"])))
    if oracle := live.get("oracle"):
        rows.append(("the oracle's mistakes", mistakes(oracle)))
    lines = ["## Tasks solved", "", *table(("", ""), rows), "", *_parts(live, found)]
    told = "A task is solved when its check passes on what the session left, however the session ended."
    more = "What a solved task costs: `sim cost`. What was said, word for word: `transcripts/` of the run folder."
    return [*lines, f"{told} 95 %: Wilson's interval. {more}", ""]


def _parts(live: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    rows = [
        (
            name,
            cell(group),
            f"{count(row['solved'])} of {count(row['judged'])}",
            percent(found[key][group]["share"]),
            interval(found[key][group]),
        )
        for key, name in GROUPS.items()
        for group, row in live[key].items()
        if len(live[key]) > 1
    ]
    return [*table(("by", "", "solved", "%", "95 %"), rows), ""] if rows else []


def _pair(spread: Mapping[str, Any]) -> str:
    return f"{digits(spread['p50'])} / {digits(spread['p90'])}"
