"""The sections of report.md below its main table. Each gives its lines, heading included, or none at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from simulator.core.certify import lateness_tail_s
from simulator.core.wording import counted
from simulator.view.ended import VERIFIED, cut_words, to_check, verified
from simulator.view.format import bar, cell, count, digits, duration, measure, percent
from simulator.view.identity import facts
from simulator.view.verdict import NO_COMPARISON, WHO, limits

Lines = list[str]

PART_NAMES = {
    "model_s": "model",
    "subagent_s": "waiting for sub-agents",
    "tool_run_s": "tools running",
    "tool_queue_s": "tools waiting for a place",
    "tool_pace_s": "tools held to their recorded time",
    "think_s": "thinking",
    "backoff_s": "back-off before retries",
    "client_s": "client",
}
GROUP_NAMES = {
    "by_kind": "task kind",
    "by_size": "task size",
    "by_profile": "client profile",
    "by_context": "prompt length",
}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Lines:
    """A Markdown table; all columns but the first are right-aligned."""
    return [
        "| " + " | ".join(head) + " |",
        "|---" + "|--:" * (len(head) - 1) + "|",
        *("| " + " | ".join(row) + " |" for row in rows),
    ]


def wall(agent: Mapping[str, Any]) -> Lines:
    """Where a session's time goes, model time split at the first token."""
    split = agent["wall"]
    if split is None:
        return []
    rows = []
    for part, name in PART_NAMES.items():
        share, seconds = split["shares"][part], split["parts"][part]
        first = split["first_token_share"] if part == "model_s" else None
        pieces = [(name, share, seconds)]
        if first is not None:
            pieces = [
                ("model, to the first token", share * first, seconds * first),
                ("model, streaming", share * (1 - first), seconds * (1 - first)),
            ]
        rows += [(n, percent(s), duration(t / split["sessions"]), bar(s)) for n, s, t in pieces if t or n == "client"]
    rows.append(("unexplained", percent(split["unexplained_share"]), "", ""))
    heading = f"Means over {counted(split['sessions'], 'session')} with a part of their life in the window."
    return ["## Where a session's wall time goes", "", heading, "", *_left(("", "share", "a session", ""), rows), ""]


def _left(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Lines:
    """A table whose last column is a bar, which grows from the left."""
    lines = table(head, rows)
    lines[1] = lines[1][: -len("--:|")] + ":--|"
    return lines


def sessions(agent: Mapping[str, Any], *, carried_out: bool = True) -> Lines:
    done, live = agent["sessions"], agent.get("live") is not None
    cut, check = done.get("cut", 0), "passed their check" if live else "recorded solution verified"
    rows = [
        ("completed in the window", count(done["completed"] - cut)),
        *([(f"{cut_words(done)}, as asked", count(cut))] if cut else ()),
        ("an hour", digits(done["per_hour"])),
        *([(check, verified(done))] if carried_out and to_check(done) else ()),
        ("failed", count(done["failed"])),
        ("stopped by the end of the run", count(done["stopped"])),
        ("turns / tool calls / edits", " / ".join(count(done[key]) for key in ("turns", "tool_calls", "edits"))),
        ("wall of whole sessions p50", duration(done["wall_s"]["p50"])),
    ]
    lines = [
        "## Sessions",
        "",
        *table(("", ""), rows),
        "",
        *([] if live or not carried_out or not to_check(done) else [VERIFIED, ""]),
    ]
    return lines + [f"- check of {cell(text)}" for text in done["check_examples"]] + [""] * bool(done["check_examples"])


def groups(agent: Mapping[str, Any]) -> Lines:
    head = ("requests", "failed", "prompt", "cached", "TTFT p50", "TTFT p95", "TPOT p50", "turn p50", "turn p95")
    lines: Lines = []
    for key, name in GROUP_NAMES.items():
        parts = agent[key]
        if not parts:
            continue
        rows = [(cell(group), *_group(row)) for group, row in parts.items()]
        lines += [f"## By {name}", "", *table((name, *head), rows), ""]
    return lines


def _group(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        count(row["requests"]),
        count(row["failed_requests"]),
        measure(row["prompt_tok"]["mean"], "tok"),
        percent(row["cached_share"]),
        duration(row["ttft_s"]["p50"]),
        duration(row["ttft_s"]["p95"]),
        duration(row["tpot_s"]["p50"]),
        duration(row["turn_latency_s"]["p50"]),
        duration(row["turn_latency_s"]["p95"]),
    )


def tools(agent: Mapping[str, Any], *, carried_out: bool = True) -> Lines:
    made = agent["tools"]
    if made is None:
        return []
    if not carried_out:
        calls = counted(made["calls"], "call was", "calls were")
        told = f"{calls} not carried out: each was answered after its recorded latency."
        return ["## Tools", "", told, ""]
    rows = [(cell(name), *_tool(row)) for name, row in made["by_tool"].items()]
    rows.append(("**all**", *_tool(made)))
    head = ("tool", "calls", "differ", "run p50", "run p95", "queue p95", "run, total")
    lines = ["## Tools", "", *table(head, rows), ""]
    return lines + [f"- {cell(text)}" for text in made["examples"]] + [""] * bool(made["examples"])


def _tool(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        count(row["calls"]),
        count(row["mismatches"]),
        duration(row["run_s"]["p50"]),
        duration(row["run_s"]["p95"]),
        duration(row["queue_s"]["p95"]),
        duration(row["run_total_s"]),
    )


def errors(summary: Mapping[str, Any]) -> Lines:
    rows = []
    for kind in ("agent", "synthetic"):
        part = summary[kind]
        for name, row in part["errors"].items() if part else ():
            share = percent(row["count"] / part["requests"]["sent"])
            rows.append((kind, cell(name), count(row["count"]), share, cell(row["example"])))
    lines = ["## Errors", ""]
    if rows:
        lines += [*_left(("traffic", "error", "requests", "share", "for example"), rows), ""]
    else:
        lines += ["No request failed in the window.", ""]
    odd = (summary["agent"] or {}).get("defects") or {}
    if odd:
        told = ", ".join(f"{count(n)} {cell(kind)}" for kind, n in odd.items())
        lines += [f"Replies that came whole and that the clients objected to: {told}.", ""]
    return lines


def client(health: Mapping[str, Any]) -> Lines:
    """The client's account of itself, beside its limits."""
    kinds = [kind for kind in ("agent", "synthetic") if health[kind] is not None]
    limited = f": {NO_COMPARISON}" * (health["verdict"] == "client-limited")
    lines = ["## Client health", "", f"Verdict: **{health['verdict']}**{limited}", ""]
    lines += [f"- {cell(reason)}" for reason in health["reasons"]] + [""] * bool(health["reasons"])
    if not kinds:
        return lines
    limits = health["limits"]
    each = [health[kind] for kind in kinds]
    rows = [
        ("event-loop lag p50", *(duration(h["loop_lag_s"]["p50"]) for h in each), ""),
        ("event-loop lag p99", *(duration(h["loop_lag_s"]["p99"]) for h in each), duration(limits["loop_lag_p99_s"])),
        ("CPU, share of a core", *(percent(h["cpu_share"]["mean"]) for h in each), percent(limits["cpu_share_mean"])),
        ("sent late p50", *(duration(h["lateness_s"]["p50"]) for h in each), ""),
        ("sent late, tail", *(duration(lateness_tail_s(h)) for h in each), ""),
        ("lateness, share of a turn", *(percent(h["lateness_share"]) for h in each), percent(limits["lateness_share"])),
    ]
    if any(h["ttft_minus_server_s"]["n"] for h in each):
        told = [h["ttft_minus_server_s"] for h in each]
        rows.append(("TTFT less the engine's own p50", *(duration(t["p50"]) for t in told), ""))
        rows.append(("TTFT less the engine's own p95", *(duration(t["p95"]) for t in told), ""))
    return [*lines, *table(("", *kinds, "limit"), rows), ""]


def limit(summary: Mapping[str, Any]) -> Lines:
    """Which party is at its limit, with all that speaks for it."""
    lines = []
    for name, where, reasons in limits(summary):
        lines += [f"- **{name}: {WHO[where]}**", *(f"  - {cell(reason)}" for reason in reasons)]
    return ["## Where the limit is", "", *lines, ""] if lines else []


BACKLOG = (
    "Front-end backlog: requests open at the client that the engine neither runs nor has waiting: they are in its API "
    "process, or on the way."
)


#: facts about an engine that tell a reader nothing
UNSHOWN = {"process_start_time_s", "emulated"}
#: what an emulation's hardware file says of measurements that it was held against: nothing is set by it
MEASURED = ".calibration."


def _backlog(requests: float | None) -> str:
    """Below 0 only because two counts are never of quite the same moment."""
    if requests is None or requests >= 0:
        return digits(requests)
    return f"0 ({digits(requests).replace('-', '−')} by sampling skew)"


def engine(summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> Lines:
    """Gauges over the windows, then who the engine is."""
    gauges = summary["engine"]
    kinds = [kind for kind in ("agent", "synthetic") if gauges[kind] is not None]
    lines = ["## Engine", ""]
    if kinds:
        each = [gauges[kind] for kind in kinds]
        shown = (
            ("running, mean", "running_mean", ""),
            ("waiting, mean", "waiting_mean", ""),
            ("waiting, most", "waiting_max", ""),
            ("KV cache in use, mean", "kv_use_mean", "share"),
            ("KV cache in use, most", "kv_use_max", "share"),
            ("prefix cache hits", "prefix_hit_share", "share"),
            ("preemptions", "preemptions", ""),
            ("acceptance length", "acceptance_length", ""),
            ("generated, by its own count", "output_tok_s", "tok/s"),
        )
        rows = [(name, *(measure(g[key], unit) for g in each)) for name, key, unit in shown]
        rows += [
            ("front-end backlog, mean", *(_backlog(g["backlog_mean"]) for g in each)),
            ("front-end backlog p95", *(_backlog(g["backlog_p95"]) for g in each)),
        ]
        if any(g.get("emulation_lag_s") is not None for g in each):
            rows.append(("emulation behind its own model", *(duration(g.get("emulation_lag_s")) for g in each)))
        lines += [*table(("", *kinds), rows), "", BACKLOG, ""]
    else:
        lines += ["Its /metrics were not read in any window.", ""]
    told = [fact for fact in facts(manifest.get("engine")) if fact[0] not in UNSHOWN and MEASURED not in fact[0]]
    known = [(cell(name), cell(text)) for name, text in told]
    plain, nested = [[fact for fact in known if ("." in fact[0]) is deep] for deep in (False, True)]
    if plain:
        lines += [*table(("identity", ""), plain), ""]
    if nested:
        lines += ["<details><summary>All settings of the engine</summary>", "", *table(("setting", ""), nested), ""]
        lines += ["</details>", ""]
    return lines


def warnings(summary: Mapping[str, Any]) -> Lines:
    lines = ["## Warnings", ""]
    if not summary["warnings"]:
        return [*lines, "Nothing to warn about.", ""]
    for number, noted in enumerate(summary["warnings"], 1):
        lines.append(f"{number}. **{cell(noted['what'])}** (`{noted['code']}`)  ")
        lines.append(f"   Why it matters: {noted['why']}.  ")
        lines.append(f"   Cure: {noted['cure']}.")
    return [*lines, ""]
