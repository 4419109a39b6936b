"""A ladder over levels of load: which rung each kind of traffic chooses at which, and where that changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simulator.core.choice.choice import AGENTS, FIGURES, SYNTHETIC, Winner
from simulator.core.choice.loads import ByLoad, Change, Point
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
        cells += [DASH, ""] if leader is None else [found.leaders(kind, level)[0], _ahead(leader, level)]
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
    if len(found.rungs) < 2:
        return [f"No verdict: {clean(found.first)} is the only rung with figures, and a choice takes two."]
    said = []
    for kind, name in ((AGENTS, "Agents"), (SYNTHETIC, synthetic)):
        if told := _led(found, kind, name):
            said += [told, *(_changed(each, name) for each in found.changes if each.kind == kind)]
    said += _tuned(found, synthetic)
    if found.limited:
        said.append(f"At {_listed(found.limited)} the client was the limit in some runs: no verdict may be drawn.")
    return said


def _led(found: ByLoad, kind: str, name: str) -> str:
    """`Agents, by how many at once: flashinfer or async (within 2 %) seem to lead at 8 and 32, top at 128.`"""
    at = {level: leaders for level in found.levels if (leaders := found.leaders(kind, level))}
    if not at:
        return ""
    sure = all(leader.decided for level in at if (leader := found.leader(kind, level)) is not None)
    stretches: list[tuple[tuple[str, ...], list[int]]] = []
    for level, leaders in at.items():
        if not stretches or set(stretches[-1][0]) != set(leaders):
            stretches.append((leaders, []))
        stretches[-1][1].append(level)
    verb = " leads" if sure else " seems to lead"
    parts = [
        f"{_either(leaders, found.margin(kind))}{'' if n else verb} at {_listed(levels)}"
        for n, (leaders, levels) in enumerate(stretches)
    ]
    return f"{name}, by how many at once: {', '.join(parts)}."


def _either(rungs: Sequence[str], margin: float) -> str:
    told = " or ".join(map(clean, rungs))
    return told if len(rungs) == 1 else f"{told} (within {100 * margin:.0f} %)"


def _listed(levels: Sequence[int]) -> str:
    told = [count(each) for each in levels]
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"


def _changed(change: Change, name: str) -> str:
    """Where the lead passes on, how large it was on both sides, and whether that is shown."""
    before, after = clean(change.before), clean(change.after)
    gaps = []
    if change.ahead is not None:
        gaps.append(f"{after} is {_share(change.ahead)} behind at {count(change.below)}")
    if change.behind is not None:
        gaps.append(f"{before} is {_share(change.behind)} behind at {count(change.above)}")
    told = f" ({', '.join(gaps)})" if gaps else ""
    verb = "passes" if change.decided else "seems to pass"
    where = f"between {count(change.below)} and {count(change.above)}"
    head = f"{name}: {where} the lead {verb} from {before} to {after}{told}"
    if change.decided:
        return f"{head}."
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
    rung, worse = found.leaders(SYNTHETIC, top)[0], FIGURE_WORDS[found.figure][2]
    well: list[int] = []
    costs, sure = [], True
    for level in found.levels:
        mine = found.leader(AGENTS, level)
        if mine is None:
            continue
        other = next((each for each in mine.others if each.rung in (f"{rung}@{level}", rung)), None)
        if rung in found.leaders(AGENTS, level):
            well.append(level)
            sure &= mine.decided
        elif other is not None:
            costs.append(f"{_share(abs(1 - other.ratio.ratio))} {worse} at {count(level)}")
            sure &= other.verdict == Verdict.WORSE
    parts = [*costs, *([f"as well as anywhere at {_listed(well)}"] if well else [])]
    if not parts:
        return []
    told = f"Tuned on {synthetic} at {count(top)} at once you would pick {clean(rung)}; on it your agents"
    return [f"{told} {'run' if sure else 'seem to run'} {_listed_words(parts)}."]


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
