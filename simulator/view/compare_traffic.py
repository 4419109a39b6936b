"""The answer of `sim compare-traffic`: what two kinds of traffic ask of one engine, and which configuration each would
choose."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from simulator.core.choice.choice import AGENTS, FIGURES, OUTPUT, SYNTHETIC, Choice, Rung, Winner
from simulator.core.choice.rank import LEAST_REPEATS
from simulator.core.compare.verdict import Verdict
from simulator.core.stats import ratio
from simulator.core.why.measured import Measured
from simulator.core.why.split import Split
from simulator.view.cells import clean
from simulator.view.format import DASH, count, digits, measure, percent
from simulator.view.identity import synthetic_shape
from simulator.view.sheet import Sheet
from simulator.view.verdict import WHO
from simulator.view.why import Side, times

#: figure -> how a column and a sentence call it
FIGURE_WORDS = {
    OUTPUT: ("tok/s", "tok/s", "slower"),
    "turn_p50_s": ("turn p50", "s", "longer a turn"),
    "ttft_p50_s": ("TTFT p50", "s", "longer to the first token"),
    "tpot_p50_s": ("TPOT p50", "s", "longer a token"),
}
#: of a sheet, and of the picture that belongs to it
CHOICE = "Which rung wins for which traffic"


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


def verdict_sentence(choice: Choice, figure: str) -> str:
    """Would tuning on the synthetic test have chosen wrongly, and what would that have cost."""
    mine, theirs = choice.agents, choice.synthetic
    if mine is None or theirs is None:
        lacking = "agents" if mine is None else "synthetic"
        return f"No rung has a figure of {lacking} traffic, so there is nothing to choose between."
    if choice.regret is None:
        return (
            f"Tuned on the synthetic test you would pick {theirs.rung}, your agents would pick {mine.rung}; the two "
            "have no pair of repeats in common, so the price is not known."
        )
    few = choice.runs < 2
    if mine.rung == theirs.rung:
        seem = "seem to choose" if few or not (mine.decided and theirs.decided) else "choose"
        return f"Both kinds of traffic {seem} {mine.rung}: tuning on the synthetic test would not have cost anything."
    worse = FIGURE_WORDS[figure][2]
    span = "" if choice.low is None or choice.high is None else (
        f" (95 % {100 * choice.low:.1f} to {100 * choice.high:.1f} %)"
    )  # fmt: skip
    head = f"Tuned on the synthetic test you would pick {theirs.rung}; your agents"
    price = f"{100 * choice.regret:.1f} % {worse}"
    pairs = "one pair" if choice.low is None else "two pairs"
    match choice.verdict:
        case Verdict.WORSE:
            return f"{head} run {price} there than on {mine.rung}{span}."
        case Verdict.EQUIVALENT:
            return f"{head} run as well there as on {mine.rung}, within 2 %{span}: it would not have cost anything."
        case Verdict.CLIENT_LIMITED:
            return (
                f"{head} look {price} there than on {mine.rung}, but the client was the limit: no verdict may be drawn."
            )
        case Verdict.SUGGESTIVE:
            return f"{head} seem to run {price} there than on {mine.rung} ({pairs}: this suggests, it decides nothing)."
        case _:
            return f"{head} look {price} there than on {mine.rung}{span}; these repeats do not decide it."


def choice_sheets(rungs: Sequence[Rung], choice: Choice, figure: str) -> tuple[Sheet, Sheet]:
    """Of one level of load: the answer with the agents' table, and the synthetic test's."""
    level = next((rung.level for rung in rungs if rung.level is not None), None)
    at = "" if level is None else f", {level} at once"
    mine = Sheet(
        title=f"{CHOICE}{at}",
        said=(verdict_sentence(choice, figure),),
        heads=_heads("agents", figure),
        rows=_rows(rungs, choice.agents, AGENTS, figure),
        notes=tuple(_notes(rungs, choice)),
        chart=_chart(rungs, figure, f"choice-{level or 0}"),
    )
    theirs = _rows(rungs, choice.synthetic, SYNTHETIC, OUTPUT)
    return mine, Sheet(f"The synthetic test{at}", heads=_heads("synthetic", OUTPUT), rows=theirs)


def _heads(who: str, figure: str) -> tuple[str, ...]:
    return ("rung", "repeats", f"{who} {FIGURE_WORDS[figure][0]}", "against best", "95 % interval", "")


def _rows(rungs: Sequence[Rung], winner: Winner | None, kind: str, figure: str) -> tuple[tuple[str, ...], ...]:
    rows = []
    for rung in rungs:
        n = f"{len(rung.repeats)}{f' ({rung.failed} failed)' if rung.failed else ''}"
        value = measure(rung.mean(kind, figure), "s" if FIGURE_WORDS[figure][1] == "s" else "")
        rows.append((rung.name, n, value, *_against(winner, rung.name)))
    return tuple(rows)


def _chart(rungs: Sequence[Rung], figure: str, name: str) -> str:
    spec = choice_spec(rungs, figure)
    if not spec:
        return ""
    from simulator.view.page.charts import chart  # the bundle is for pages alone

    caption = "One point a repeat. The synthetic test chooses the rightmost rung; agents choose the " + (
        "highest." if FIGURES[figure] == "higher" else "lowest."
    )
    return chart({**spec, "height": 260}, name, caption)


def choice_spec(rungs: Sequence[Rung], figure: str) -> dict[str, Any]:
    """Each repeat as a point: agents' figure against synthetic tok/s. Where the two kinds of traffic agree, points rise
    (or fall, where less is better) from the left to the right. {} without a repeat that has both."""
    head = FIGURE_WORDS[figure][0]
    values = [
        {"rung": clean(rung.name), "synthetic": theirs, "agents": mine, "pair": repeat.pair}
        for rung in rungs
        for repeat in rung.repeats
        if (mine := repeat.figure(AGENTS, figure)) is not None
        and (theirs := repeat.figure(SYNTHETIC, OUTPUT)) is not None
    ]
    if not values:
        return {}

    def axis(field: str, title: str) -> dict[str, Any]:
        return {"field": field, "type": "quantitative", "title": title, "scale": {"zero": False, "padding": 24}}

    place = {"x": axis("synthetic", "synthetic tok/s"), "y": axis("agents", f"agents, {head}")}
    told = {"field": "rung", "type": "nominal"}
    layers = [
        {
            "mark": {"type": "point", "filled": True, "size": 70},
            "encoding": {**place, "color": {**told, "legend": None}},
        },
        {
            "mark": {"type": "text", "dy": -11, "fontSize": 11},
            "encoding": {
                "x": {**place["x"], "aggregate": "mean"}, "y": {**place["y"], "aggregate": "max"},
                "text": told, "color": {"value": "--ink"},
            },
        },
    ]  # fmt: skip
    return {"data": {"values": values}, "layer": layers}


def _against(winner: Winner | None, rung: str) -> tuple[str, str, str]:
    """Ratio to the best, its interval, and the word for it."""
    if winner is None or rung == winner.rung:
        return (DASH if winner is None else "best", "", "")
    found = next((each for each in winner.others if each.rung == rung), None)
    if found is None:
        return (DASH, "", "")
    low, high = found.ratio.low, found.ratio.high
    interval = "" if low is None or high is None else f"{100 * (low - 1):+.1f} to {100 * (high - 1):+.1f} %"
    return f"{100 * (found.ratio.ratio - 1):+.1f} %", interval, str(found.verdict)


def _notes(rungs: Sequence[Rung], choice: Choice) -> list[str]:
    found = []
    doubted = [repeat for rung in rungs for repeat in rung.repeats if repeat.doubts]
    if doubted:
        clauses = dict.fromkeys(clause for repeat in doubted for clause in repeat.doubts)
        n = "1 repeat is" if len(doubted) == 1 else f"{len(doubted)} repeats are"
        found.append(f"{n} not certified: {'; '.join(list(clauses)[:3])}")
    for winner in (choice.agents, choice.synthetic):
        if winner is not None and winner.equal:
            found.append(f"{winner.kind}: {winner.rung} is best, not told apart from {', '.join(winner.equal)}")
        if winner is not None and winner.missing:
            found.append(f"{winner.kind}: no figure to compare of {', '.join(winner.missing)}")
    agreed = choice.agreement
    if agreed.tau is not None:
        interval = (
            f"95 % {agreed.low:+.2f} to {agreed.high:+.2f} over resampled repeats"
            if agreed.low is not None and agreed.high is not None
            else f"no interval below {LEAST_REPEATS} repeats"
        )
        chance = "" if agreed.p is None else f", p = {digits(agreed.p, 2)}"
        told = (
            f"order of {agreed.n} rungs, agents against synthetic: Kendall's tau {agreed.tau:+.2f} ({interval}{chance})"
        )
        if not agreed.can_tell:
            told += f"; {agreed.n} rungs are too few for it to mean anything"
        found.append(told)
    return found


def choice_json(rungs: Sequence[Rung], choice: Choice, figure: str) -> dict[str, Any]:
    def winner(one: Winner | None) -> dict[str, Any] | None:
        return None if one is None else {**_finite(asdict(one)), "equal": list(one.equal), "decided": one.decided}

    return {
        "agents_by": figure,
        "better": FIGURES[figure],
        "sentence": verdict_sentence(choice, figure),
        "level": next((rung.level for rung in rungs if rung.level is not None), None),
        "rungs": [
            {
                "name": clean(rung.name),
                "repeats": len(rung.repeats),
                "failed": rung.failed,
                "agents": rung.mean(AGENTS, figure),
                "synthetic": rung.mean(SYNTHETIC, OUTPUT),
            }
            for rung in rungs
        ],
        "winner": {AGENTS: winner(choice.agents), SYNTHETIC: winner(choice.synthetic)},
        "regret": {"share": choice.regret, "low": choice.low, "high": choice.high, "verdict": choice.verdict},
        "agreement": asdict(choice.agreement),
    }


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def shape_json(both: Both) -> dict[str, Any]:
    return {
        "agents": asdict(both.agents),
        "synthetic": asdict(both.synthetic),
        "sentences": list(shape_sentences(both)),
        "factors": {each.key: each.ratio for each in both.split.factors} if both.split else None,
    }
