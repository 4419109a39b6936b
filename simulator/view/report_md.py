"""report.md: a run for people, from its summary and manifest alone. Its first screen is enough for a tired reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simulator.core.metric import TABLE, value
from simulator.core.stats import P99_NEEDS
from simulator.view.arrivals import arrivals
from simulator.view.format import DASH, cell, count, digits, duration, measure, percent
from simulator.view.identity import (
    RANDOM_WEIGHTS,
    command,
    emulation,
    facts,
    is_emulated,
    is_random,
    lacked,
    synthetic_shape,
    title,
    tools_carried_out,
)
from simulator.view.report_parts import client, engine, errors, groups, limit, sessions, table, tools, wall, warnings
from simulator.view.solved import section, share, took, why_not
from simulator.view.verdict import NO_COMPARISON, WHO, failures, limits, missing_p99

Lines = list[str]


def report(summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> str:
    """The whole report as Markdown. The first line says so when the engine was emulated."""
    lines: Lines = []
    if is_emulated(manifest):
        lines += [f"# ⚠ {emulation(manifest)}: these figures describe the simulator's model of a server, not a GPU", ""]
    if is_random(manifest):
        lines += [f"# ⚠ {RANDOM_WEIGHTS}", ""]
    lines += [f"# {cell(title(manifest))}", "", *headline(summary, manifest), ""]
    agent, synthetic = summary["agent"], summary["synthetic"]
    if agent is None and synthetic is None:
        lines += ["No request was recorded, so there is nothing to report.", ""]
    else:
        lines += [*side_by_side(agent, synthetic, manifest), *notes(summary, manifest), ""]
    if agent is not None:
        carried_out = tools_carried_out(manifest)
        lines += [*section(agent), *wall(agent), *sessions(agent, carried_out=carried_out), *groups(agent)]
        lines += tools(agent, carried_out=carried_out)
    lines += [
        *arrivals(summary),
        *errors(summary),
        *limit(summary),
        *client(summary["client"]),
        *engine(summary, manifest),
        *warnings(summary),
    ]
    return "\n".join([*lines, *repeat(manifest)]) + "\n"


def headline(summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> Lines:
    """A few sentences: what was delivered, how it felt, who is the limit, what failed, and whether to believe it."""
    agent, synthetic = summary["agent"], summary["synthetic"]
    lines: Lines = []
    if agent is not None and (live := agent.get("live")):
        missed = why_not(live)
        told = "; ".join(filter(None, (missed, took(agent))))
        lines.append(f"**Solved: {share(agent)}**{f'; {told}' if told else ''}.  ")
    if agent is not None:
        busy = agent["in_flight_mean"]
        lines.append(
            f"**Agents: {measure(agent['output_tok_s'], 'tok/s')} output**, {digits(busy)} requests in flight; "
            f"a turn takes {duration(agent['turn_latency_s']['p50'])} (p50), first token after "
            f"{duration(agent['ttft_s']['p50'])}, then {duration(agent['tpot_s']['p50'])} a token; "
            f"{percent(agent['cached_share']['all'])} of prompt tokens came from the cache.  "
        )
    if synthetic is not None:
        shape = synthetic_shape(manifest)
        name = f"Synthetic {shape}" if shape else "Synthetic"
        speed = measure(synthetic["output_tok_s"], "tok/s")
        limited = summary["client"]["verdict"] == "client-limited"
        beside = "" if agent is None else " on the same engine" + ("" if limited else _times(agent, synthetic))
        lines.append(f"**{name}: {speed} output**{beside}.  ")
    told = [f"{name}: {WHO[where]}, {cell(reasons[0])}" for name, where, reasons in limits(summary)]
    if told:
        lines.append(f"**Who is the limit** – {'; '.join(told)}.  ")
    verdict = summary["client"]["verdict"]
    marked = f": the figures describe the load generator, and {NO_COMPARISON}" * (verdict == "client-limited")
    lines.append(f"Client: **{verdict}**{marked}.  ")
    lines.append(f"{failures(summary).capitalize()}. {_warned(summary['warnings'])}")
    return lines


def _times(agent: Mapping[str, Any] | None, synthetic: Mapping[str, Any]) -> str:
    ours, theirs = (agent or {}).get("output_tok_s"), synthetic["output_tok_s"]
    return f", {digits(theirs / ours)} times the agents'" if ours and theirs else ""


def _warned(noted: Sequence[Mapping[str, str]]) -> str:
    if not noted:
        return "No warnings."
    several = "s" if len(noted) > 1 else ""
    return f"{len(noted)} warning{several}, the first: {cell(noted[0]['what'])} ([all](#warnings))."


def side_by_side(agent: Any, synthetic: Any, manifest: Mapping[str, Any]) -> Lines:
    """Both kinds of traffic (or the one there is), the same rows; rows that neither has are left out."""
    heads = {"agents": agent, f"synthetic {synthetic_shape(manifest)}".strip(): synthetic}
    heads = {head: part for head, part in heads.items() if part is not None}
    parts = list(heads.values())
    rows = [_window(*parts), _drift(*parts), _requests(*parts)]
    for metric in TABLE:
        told = [value(part, metric) for part in parts]
        if any(each is not None for each in told):
            rows.append((metric.label, *(measure(each, metric.unit) for each in told)))
    lines = ["## Agents beside synthetic traffic" if len(parts) > 1 else "## Figures", ""]
    return lines + table(("", *heads), rows)


def notes(summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> Lines:
    """A line for each figure of the table that needs one."""
    agent = summary["agent"]
    lines = ["Percentiles cover requests sent in the window; failed ones have no latency and are counted above."]
    if any(part and not part["window"]["steady"] for part in (agent, summary["synthetic"])):
        lines.append(
            "Without a steady window these are whole-run figures: ramp-up and ramp-down are inside, so tok/s reads low "
            "and latencies mix light and full load. Compare such a run only with runs of the same scenario."
        )
    few = missing_p99(summary)
    if few:
        lines.append(f"p99 is decided by a handful of requests below {P99_NEEDS:,} and left out ({', '.join(few)}).")
    spread = [part for part in (agent, summary["synthetic"]) if part and _spread(part)]
    if spread:
        held = " and ".join(f"{part['tokens_per_chunk']['mean']:.2f}" for part in spread)
        lines.append(
            f"ITL is an estimate: chunks held {held} tokens on average, and a reply's tokens were told once, at its "
            "end, so they are spread evenly. `usage: every_chunk` counts them, which costs the server CPU a chunk."
        )
    promised = next((part["goodput"] for part in (agent, summary["synthetic"]) if part and part["goodput"]), None)
    if promised:
        asked = ", ".join(f"{name.removesuffix('_s')} ≤ {duration(limit)}" for name, limit in promised["slo"].items())
        lines.append(f"Goodput counts requests that met every objective of the scenario ({cell(asked)}).")
    if agent is not None and agent["fairness"]["jain"] is not None:
        lines.append(
            "Fairness compares how much each session was slowed down: a turn's latency over the median of turns with "
            "about its context; Jain's index is 1 when all are alike, 1/n when one gets everything."
        )
    lines += [cell(line) for line in lacked(manifest)]
    return ["", *(f"- {line}" for line in lines)]


def _spread(part: Mapping[str, Any]) -> bool:
    """Whether chunks of several tokens were not counted one by one."""
    sources = part["token_counts"]
    return bool(sources["usage"] + sources["counted"]) and (part["tokens_per_chunk"]["mean"] or 0) > 1.05


def _drift(*parts: Any) -> tuple[str, ...]:
    """The halves of the window against one another, with the 95 % interval where the window is long enough for one."""

    def told(part: Any) -> str:
        found, margin = part["drift"], part.get("drift_margin")
        if found is None:
            return DASH
        return f"{100 * found:+.1f} %" + (" (short: may be noise)" if margin is None else f" ± {100 * margin:.1f}")

    return ("second half against first", *map(told, parts))


def _window(*parts: Any) -> tuple[str, ...]:
    def told(part: Any) -> str:
        window = part["window"]
        return duration(window["length_s"]) + (f" ({window['note']})" if window["note"] else "")

    return ("window", *map(told, parts))


def _requests(*parts: Any) -> tuple[str, ...]:
    def told(part: Any) -> str:
        n = part["requests"]
        odd = [f"{count(n[key])} {key}" for key in ("failed", "cancelled") if n[key]]
        return f"{count(n['ok'])} of {count(n['sent'])} ok" + (f" ({', '.join(odd)})" if odd else "")

    return ("requests", *map(told, parts))


def repeat(manifest: Mapping[str, Any]) -> Lines:
    """The command, and what it takes to get the same work again."""
    lines = ["## Repeat this run", ""]
    told = command(manifest)
    lines += ["```", told.replace("```", "'''"), "```", ""] if told else ["The command was not recorded.", ""]
    keys = ("seed", "mode", "scenario_hash", "plan_hash", "tokenizer", "versions", "host")
    known = [fact for key in keys for fact in facts(manifest.get(key), key)]
    return [*lines, *table(("", ""), [(name, cell(text)) for name, text in known])] if known else lines
