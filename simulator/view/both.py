"""One run's two kinds of traffic side by side: what each asks of the engine, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from simulator.core.stats import ratio
from simulator.core.why.measured import Measured
from simulator.core.why.split import Split
from simulator.view.format import DASH, count, measure, percent
from simulator.view.identity import synthetic_shape
from simulator.view.sheet import Sheet
from simulator.view.verdict import WHO
from simulator.view.why import Side, times


@dataclass(frozen=True, slots=True)
class Both:
    """One run's two kinds of traffic. split: the synthetic throughput over the agents', taken apart; None when one of
    them brought nothing."""

    run: Side
    agents: Measured
    synthetic: Measured
    split: Split | None


def shape_sheet(both: Both, heading: str) -> Sheet:
    rows = [(label, *cells) for label, *cells in _shape_rows(both)]
    told = shape_sentences(both)
    return Sheet(heading, told, ("", "agents", _synthetic_name(both.run)), tuple(rows))


def _synthetic_name(run: Side) -> str:
    return synthetic_shape(run.manifest) or "synthetic"


def _shape_rows(both: Both) -> list[tuple[str, str, str]]:
    parts = both.run.summary["agent"], both.run.summary["synthetic"]
    sides = both.agents, both.synthetic

    def summed(label: str, unit: str, *path: str) -> tuple[str, str, str]:
        return (label, *(measure(_at(part, path), unit) for part in parts))

    def counted(label: str, unit: str, values: Sequence[float | None]) -> tuple[str, str, str]:
        return (label, *(measure(each, unit) for each in values))

    limits = [(both.run.summary.get("limit") or {}).get(kind) or {} for kind in ("agent", "synthetic")]
    where = tuple(WHO.get(str(each.get("where")), DASH) for each in limits)
    rows = [
        summed("prompt tokens, mean (ISL)", "", "prompt_tok", "mean"),
        summed("reply tokens, mean (OSL)", "", "output_tok_per_request", "mean"),
        summed("cached share of prompts", "share", "cached_share", "all"),
        counted("prompt tokens computed a request", "", [ratio(m.computed_prompt_tok, m.firsts) for m in sides]),
        counted("share of tokens that is prefill", "share", [ratio(m.computed_prompt_tok, m.step_tok) for m in sides]),
        counted("requests open at the client", "", [m.in_flight for m in sides]),
        counted("requests running in the engine", "", [m.running for m in sides]),
        counted("step as a request sees it", "s", [m.step_s for m in sides]),
        counted("KV cache in use", "share", [m.kv_use for m in sides]),
        counted("output tok/s", "", [m.output_tok_s for m in sides]),
        summed("uncached input tok/s", "", "uncached_input_tok_s"),
        summed("TTFT p50", "s", "ttft_s", "p50"),
        summed("TPOT p50", "s", "tpot_s", "p50"),
        ("the limit is", *where),
    ]
    return [row for row in rows if set(row[1:]) != {DASH}]


def _at(part: Any, path: Sequence[str]) -> float | None:
    for key in path:
        part = part.get(key) if isinstance(part, Mapping) else None
    return part if isinstance(part, int | float) else None


def shape_sentences(both: Both) -> tuple[str, ...]:
    """What each sends, and what comes of it."""
    agent, synthetic = both.run.summary["agent"], both.run.summary["synthetic"]
    name = _synthetic_name(both.run)
    sent = []
    for who, part in (("Agents", agent), (name, synthetic)):
        prompt, reply = _at(part, ("prompt_tok", "mean")), _at(part, ("output_tok_per_request", "mean"))
        cached = _at(part, ("cached_share", "all"))
        told = f"{who}: {count(prompt)} tokens in, {count(reply)} out"
        sent.append(told if cached is None else f"{told}, {percent(cached, 2)} of the prompt cached")
    if both.split is None:
        return (f"{'; '.join(sent)}.",)
    parts = [
        f"{times(each.ratio)} {words}"
        for each, words in zip(
            both.split.factors, ("requests in a step", "tokens a step", "steps a second"), strict=True
        )
        if each.key in ("in_step", "tok_a_step", "steps_s") and each.ln is not None and abs(each.ln) >= 0.01
    ]
    made = f"The engine makes {times(both.split.ratio)} as many tokens a second of {name} as of agents' work"
    return f"{'; '.join(sent)}.", f"{made}{': ' + ', '.join(parts) if parts and both.split.holds else ''}."


def shape_json(both: Both) -> dict[str, Any]:
    return {
        "agents": asdict(both.agents),
        "synthetic": asdict(both.synthetic),
        "sentences": list(shape_sentences(both)),
        "factors": {each.key: each.ratio for each in both.split.factors} if both.split else None,
    }
