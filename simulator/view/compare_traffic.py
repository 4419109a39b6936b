"""The answer of `sim compare-traffic`: which configuration each kind of traffic would choose, and what the wrong
choice costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from simulator.core.choice.choice import AGENTS, FIGURES, OUTPUT, SYNTHETIC, Choice, Rung, Winner
from simulator.core.choice.rank import LEAST_REPEATS
from simulator.core.compare.verdict import Verdict
from simulator.view.cells import clean
from simulator.view.format import DASH, digits, measure
from simulator.view.page.labels import PLACES, places
from simulator.view.sheet import Sheet

#: figure -> how a column and a sentence call it
FIGURE_WORDS = {
    OUTPUT: ("tok/s", "tok/s", "slower"),
    "turn_p50_s": ("turn p50", "s", "longer a turn"),
    "ttft_p50_s": ("TTFT p50", "s", "longer to the first token"),
    "tpot_p50_s": ("TPOT p50", "s", "longer a token"),
}
#: of a sheet, and of the picture that belongs to it
CHOICE = "Which rung wins for which traffic"
#: head of a column: a rung's figure over the pairs that it has in common with the best
SAME_PAIRS = "same pairs"


def verdict_sentence(choice: Choice, figure: str) -> str:
    """Would tuning on the synthetic test have chosen wrongly, and what would that have cost."""
    mine, theirs = choice.agents, choice.synthetic
    if mine is None or theirs is None:
        lacking = "agents" if mine is None else "synthetic"
        return f"No rung has a figure of {lacking} traffic, so there is nothing to choose between."
    if choice.undrawn:
        return f"No verdict: {clean(choice.undrawn)}."
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
        case Verdict.SUGGESTIVE:
            return f"{head} seem to run {price} there than on {mine.rung} ({pairs}: this suggests, it decides nothing)."
        case _:
            return f"{head} look {price} there than on {mine.rung}{span}; these repeats do not decide it."


def choice_sheets(rungs: Sequence[Rung], choice: Choice, figure: str) -> tuple[Sheet, Sheet]:
    """Of one level of load: the answer with the agents' table, and the synthetic test's."""
    level = next((rung.level for rung in rungs if rung.level is not None), None)
    at = "" if level is None else f", {level} at once"
    heads, rows = _table(rungs, choice.agents, AGENTS, figure)
    mine = Sheet(
        title=f"{CHOICE}{at}",
        said=(verdict_sentence(choice, figure),),
        heads=heads,
        rows=rows,
        notes=tuple(_notes(rungs, choice)),
        chart=_chart(rungs, figure, f"choice-{level or 0}"),
    )
    heads, rows = _table(rungs, choice.synthetic, SYNTHETIC, OUTPUT)
    return mine, Sheet(f"The synthetic test{at}", heads=heads, rows=rows)


Table = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]


def _table(rungs: Sequence[Rung], winner: Winner | None, kind: str, figure: str) -> Table:
    """(heads, rows). Where a rung's ratio to the best is over other pairs than its own figure beside it, the two
    figures that the ratio is of stand there, too."""
    unit = "s" if FIGURE_WORDS[figure][1] == "s" else ""
    whole = {rung.name: rung.mean(kind, figure) for rung in rungs}
    others = {} if winner is None else {each.rung: each for each in winner.others}
    apart = winner is not None and any(
        not math.isclose(there, whole[name] or 0.0)
        for each in winner.others
        for there, name in ((each.value, each.rung), (each.best, winner.rung))
    )
    rows = []
    for rung in rungs:
        n = f"{len(rung.repeats)}{f' ({rung.failed} failed)' if rung.failed else ''}"
        other = others.get(rung.name)
        there = ("", "") if other is None else (measure(other.value, unit), measure(other.best, unit))
        cells = (rung.name, n, measure(whole[rung.name], unit), *(there if apart else ()))
        rows.append((*cells, *_against(winner, rung.name)))
    extra = (SAME_PAIRS, "best there") if apart else ()
    heads = ("rung", "repeats", f"{kind} {FIGURE_WORDS[figure][0]}", *extra, "against best", "95 % interval", "")
    return heads, tuple(rows)


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
        *_names(values, place),
    ]
    return {"data": {"values": values}, "layer": layers}


def _names(values: Sequence[dict[str, Any]], place: dict[str, Any]) -> list[dict[str, Any]]:
    """Each rung's name once, at its highest repeat, where it covers nothing: a layer for each such place."""
    points: dict[str, list[tuple[float, float]]] = {}
    for each in values:
        points.setdefault(each["rung"], []).append((each["synthetic"], each["agents"]))
    named = {rung: max(p, key=lambda point: point[1]) for rung, p in points.items()}
    stand = places(named, [point for p in points.values() for point in p])
    layers: list[dict[str, Any]] = []
    for where in dict.fromkeys(stand.values()):
        some = [{"rung": r, "synthetic": named[r][0], "agents": named[r][1]} for r in named if stand[r] == where]
        layers.append({
            "data": {"values": some}, "mark": {"type": "text", "fontSize": 11, **PLACES[where]},
            "encoding": {**place, "text": {"field": "rung", "type": "nominal"}, "color": {"value": "--ink"}},
        })  # fmt: skip
    return layers


def _against(winner: Winner | None, rung: str) -> tuple[str, str, str]:
    """Ratio to the best, its interval, and the word for it."""
    if winner is None or rung == winner.rung:
        return (DASH if winner is None or not winner.others else "best", "", "")
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
