"""A ladder over levels of load: which rung each kind of traffic chooses at which, and where that changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simulator.core.choice.choice import AGENTS, FIGURES, OUTPUT, SYNTHETIC, Winner
from simulator.core.choice.loads import ByLoad, Change, Point, plain
from simulator.core.compare.verdict import Verdict
from simulator.view.by_load_chart import load_charts
from simulator.view.cells import clean
from simulator.view.compare_traffic import FIGURE_WORDS
from simulator.view.format import DASH, count
from simulator.view.sheet import Sheet

#: of a sheet, and of the picture that belongs to it
LOADS = "Which rung leads at how many at once"


def load_sheets(found: ByLoad, synthetic: str) -> tuple[Sheet, Sheet]:
    """The answer with the leaders of each level, and every rung's ratio to the first. synthetic: how its traffic is
    called, `512/512`."""
    names = {AGENTS: "agents", SYNTHETIC: synthetic}
    heads = ("at once", *(head for name in names.values() for head in (f"{name} choose", "ahead of")), "agents there")
    answer = Sheet(
        title=LOADS,
        said=tuple(sentences(found, synthetic)),
        heads=tuple(head.replace(f"{synthetic} choose", f"{synthetic} chooses") for head in heads),
        rows=tuple(_leaders(found, level) for level in found.levels),
        notes=("agents there: against their own leader, on the rung that the synthetic test chooses at this level",),
        chart=load_charts(found, synthetic),
    )
    columns = [(kind, level) for kind in names for level in found.levels if found.knows(kind)]
    ratios = Sheet(
        title=f"Ratio to {clean(found.first)} at the same number at once",
        heads=("rung", *(f"{names[kind]} {level}" for kind, level in columns)),
        rows=tuple((name, *(_ratio(found, kind, name, level) for kind, level in columns)) for name in found.rungs),
    )
    return answer, ratios


def _leaders(found: ByLoad, level: int) -> tuple[str, ...]:
    cells = [count(level)]
    for kind in (AGENTS, SYNTHETIC):
        leader = found.leader(kind, level)
        cells += [DASH, ""] if leader is None else [plain((level, leader)), _ahead(leader, level)]
    regret = found.choices[level].regret
    return (*cells, DASH if regret is None else "the same" if regret == 0 else _worse(regret, found.figure))


def _ahead(leader: Winner, level: int) -> str:
    """`top by 3.1 %`: the next best, and how far behind it is."""
    if not leader.others:
        return ""
    second = leader.others[0]
    behind = abs(1 - second.ratio.ratio)
    return f"{second.rung.removesuffix(f'@{level}')} by {_share(behind)}"


def _share(share: float) -> str:
    return f"{100 * share:.1f} %"


def _worse(regret: float, figure: str) -> str:
    return f"{100 * regret:+.1f} %" if FIGURES[figure] == "lower" else f"{-100 * regret:+.1f} %"


def _ratio(found: ByLoad, kind: str, name: str, level: int) -> str:
    curve = next((each for each in found.curves if (each.kind, each.rung) == (kind, name)), None)
    point = None if curve is None else curve.at(level)
    return DASH if point is None else f"{point.ratio.ratio:.2f}"


def sentences(found: ByLoad, synthetic: str) -> list[str]:
    """Who leads where, where that changes, and what a choice by the synthetic test at its largest load would cost."""
    said = []
    for kind, name in ((AGENTS, "Agents"), (SYNTHETIC, synthetic)):
        if told := _led(found, kind, name):
            said += [told, *(_changed(each, name, found.figure) for each in found.changes if each.kind == kind)]
    return [*said, *_tuned(found, synthetic)]


def _led(found: ByLoad, kind: str, name: str) -> str:
    """`Agents, by how many at once: flashinfer seems to lead at 8 and 32, top at 128.`"""
    led = [(level, leader) for level in found.levels if (leader := found.leader(kind, level)) is not None]
    if not led:
        return ""
    sure = all(leader.decided for _, leader in led)
    stretches: list[tuple[str, list[int]]] = []
    for each in led:
        if not stretches or stretches[-1][0] != plain(each):
            stretches.append((plain(each), []))
        stretches[-1][1].append(each[0])
    verb = "leads" if sure else "seems to lead"
    if len(stretches) == 1:
        rung, at = stretches[0]
        return f"{name}, by how many at once: {clean(rung)} {verb} at all of {_listed(at)}."
    parts = [f"{clean(rung)}{f' {verb}' if not n else ''} at {_listed(at)}" for n, (rung, at) in enumerate(stretches)]
    return f"{name}, by how many at once: {', '.join(parts)}."


def _listed(levels: Sequence[int]) -> str:
    told = [count(each) for each in levels]
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"


def _changed(change: Change, name: str, figure: str) -> str:
    """Where the lead passes on, how large it was on both sides, and whether that is shown."""
    who = f"{name}: between {count(change.below)} and {count(change.above)}"
    before, after = clean(change.before), clean(change.after)
    gaps = []
    if change.ahead is not None:
        gaps.append(f"{after} is {_share(change.ahead)} behind at {count(change.below)}")
    if change.behind is not None:
        gaps.append(f"{before} is {_share(change.behind)} behind at {count(change.above)}")
    told = f" ({', '.join(gaps)})" if gaps else ""
    if change.decided:
        return f"{who} the lead passes from {before} to {after}{told}."
    head = f"{who} the lead seems to pass from {before} to {after}{told}"
    if change.tie:
        margin = 2 if change.kind == SYNTHETIC or figure == OUTPUT else 5
        return f"{head}, but a gap below {margin} % is none: the two may be equal there."
    match change.verdict:
        case Verdict.SUGGESTIVE:
            return f"{head}: so few pairs suggest this and decide nothing."
        case Verdict.CLIENT_LIMITED:
            return f"{head}, but the client was the limit: no verdict may be drawn."
    return f"{head}; these repeats do not decide it."


def _tuned(found: ByLoad, synthetic: str) -> list[str]:
    """People tune at the largest load and serve what comes."""
    top = found.levels[-1]
    leader = found.leader(SYNTHETIC, top)
    if leader is None or not found.knows(AGENTS):
        return []
    rung, costs, sure = plain((top, leader)), [], True
    worse = FIGURE_WORDS[found.figure][2]
    for level in found.levels:
        mine = found.leader(AGENTS, level)
        if mine is None:
            continue
        if plain((level, mine)) == rung:
            costs.append(f"as well as anywhere at {count(level)}")
            sure &= mine.decided
        elif other := next((each for each in mine.others if each.rung in (f"{rung}@{level}", rung)), None):
            costs.append(f"{_share(abs(1 - other.ratio.ratio))} {worse} at {count(level)}")
            sure &= other.verdict == Verdict.WORSE
    if not costs:
        return []
    told = f"Tuned on {synthetic} at {count(top)} at once you would pick {clean(rung)}; your agents"
    return [f"{told} {'run' if sure else 'seem to run'} {_listed_words(costs)} there."]


def _listed_words(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def load_json(found: ByLoad, synthetic: str) -> dict[str, Any]:
    return {
        "levels": list(found.levels),
        "first": clean(found.first),
        "sentences": sentences(found, synthetic),
        "curves": [
            {
                "kind": curve.kind,
                "rung": clean(curve.rung),
                "points": [
                    {"level": each.level, "value": each.value, "ratio": each.ratio.ratio} | _span(each)
                    for each in curve.points
                ],
            }
            for curve in found.curves
        ],
        "changes": [
            {
                "kind": each.kind, "below": each.below, "above": each.above, "from": clean(each.before),
                "to": clean(each.after), "ahead": each.ahead, "behind": each.behind, "decided": each.decided,
            }
            for each in found.changes
        ],
    }  # fmt: skip


def _span(point: Point) -> dict[str, float | None]:
    return {"low": point.ratio.low, "high": point.ratio.high}
