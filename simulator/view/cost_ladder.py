"""The answer of `sim cost` on a ladder: a line a rung, for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from simulator.core.choice.choice import AGENTS, SYNTHETIC, Choice, Winner
from simulator.core.compare.pairs import PairedRatio
from simulator.core.compare.verdict import Verdict
from simulator.core.wording import counted
from simulator.view.cells import clean
from simulator.view.cost import Traffic, cost_grid, saved, traffic_json
from simulator.view.final import Hanging
from simulator.view.format import DASH, count, digits, dollars
from simulator.view.identity import EMULATED, RANDOM_WEIGHTS


@dataclass(frozen=True, slots=True)
class RungCost:
    """repeats: runs that were priced. usd_h: of all its GPUs. traffic: kind -> its repeats' tokens, added up, and what
    they cost. against: kind -> cost of an output token over that on the first rung, None without a common pair; without
    the first rung's own."""

    name: str
    repeats: int
    usd_h: float
    traffic: Mapping[str, Traffic]
    against: Mapping[str, PairedRatio | None]


@dataclass(frozen=True, slots=True)
class Level:
    """Rungs at one level of load (None: the scenario's own), and which is the choice by output tokens a dollar."""

    level: int | None
    rungs: tuple[RungCost, ...]
    choice: Choice


@dataclass(frozen=True, slots=True)
class LadderAnswer:
    """paid: where the hourly prices come from, in words. names: kind -> what people call it. read: API -> when its
    price was read."""

    title: str
    emulated: bool
    random: bool
    paid: tuple[str, ...]
    utilisation: float
    names: Mapping[str, str]
    levels: tuple[Level, ...]
    read: Mapping[str, str]
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "engine_kind": "emulated" if self.emulated else "real",
            "engine": "EMULATED" if self.emulated else None,
            "random_weights": self.random,
            "what": self.title,
            "paid": list(self.paid),
            "utilisation": self.utilisation,
            "sentences": [line for level in self.levels for line in sentences(level, self.names)],
            "rungs": [_rung_json(level.level, rung) for level in self.levels for rung in level.rungs],
            "notes": list(self.notes),
        }


def _rung_json(level: int | None, rung: RungCost) -> dict[str, Any]:
    against = {kind: None if found is None else asdict(found) for kind, found in rung.against.items()}
    traffic = {kind: traffic_json(each) for kind, each in rung.traffic.items()}
    return {
        "name": clean(rung.name), "concurrency": level, "repeats": rung.repeats, "usd_h": rung.usd_h,
        "traffic": traffic, "cost_to_first": against,
    }  # fmt: skip


def ladder_table(answer: LadderAnswer) -> RenderableType:
    """For 80 columns: a table a kind of traffic and level, then each API."""
    parts: list[RenderableType] = []
    if answer.emulated:
        parts.append(Text(f" {EMULATED}: what a model of a server would cost ", style="bold white on red"))
    if answer.random:
        parts.append(Text(f" {RANDOM_WEIGHTS} ", style="bold black on yellow"))
    parts.append(Text(clean(answer.title), style="bold"))
    parts += [Hanging(Text(f"{'own':11}{clean(line)}")) for line in answer.paid]
    for level in answer.levels:
        at = "" if level.level is None else f", {count(level.level)} at once"
        parts += [Text(), *(Text(line, style="bold") for line in sentences(level, answer.names))]
        for kind, name in answer.names.items():
            if any(kind in rung.traffic for rung in level.rungs):
                parts += [Text(), Text(f"{name}{at}, at 100 % utilisation", style="bold underline")]
                parts.append(_own(level, kind))
        parts += [each for name in answer.read for each in (Text(), _api(level, name, answer))]
    return Group(*parts, Text(), *(Hanging(Text(f"{'note':11}{note}")) for note in answer.notes))


def sentences(level: Level, names: Mapping[str, str]) -> list[str]:
    """Which rung is cheapest for which traffic, what the wrong choice costs, and how sure that is."""
    at = "" if level.level is None else f" at {count(level.level)} at once"
    found = []
    for kind, winner in ((AGENTS, level.choice.agents), (SYNTHETIC, level.choice.synthetic)):
        if winner is not None and winner.others:
            sure = "cost" if winner.decided else "seem to cost"
            price = dollars(1e6 / winner.value)
            found.append(f"{names[kind]}{at}: output tokens {sure} least on {clean(winner.rung)}, {price} a million.")
    if regret := _regret(level.choice):
        found.append(regret)
    return found


def _regret(choice: Choice) -> str:
    mine, theirs, share = choice.agents, choice.synthetic, choice.regret
    if mine is None or theirs is None or share is None or mine.rung == theirs.rung or share >= 1:
        return ""
    pairs = next(each.ratio.n for each in mine.others if each.rung == theirs.rung)
    dearer = 100 * share / (1 - share)
    head = f"Chosen by the synthetic test's cost ({clean(theirs.rung)}), agents' output tokens"
    match choice.verdict:
        case Verdict.WORSE:
            return f"{head} cost {dearer:.1f} % more."
        case Verdict.EQUIVALENT:
            return f"{head} cost the same, within 2 %."
        case Verdict.CLIENT_LIMITED:
            return f"{head} look {dearer:.1f} % dearer, but the client was the limit: no verdict may be drawn."
        case Verdict.SUGGESTIVE:
            few = counted(pairs, "pair")
            return f"{head} seem to cost {dearer:.1f} % more ({few}: this suggests, it decides nothing)."
    return f"{head} look {dearer:.1f} % dearer; these repeats do not decide it."


def _own(level: Level, kind: str) -> RenderableType:
    spans = any(found is not None and found.low is not None for r in level.rungs for found in r.against.values())
    heads = ("", "runs", "tok/s", "$/Mtok out", "$/Mtok all", "to first", *("95 % interval",) * spans)
    grid = cost_grid(*heads, first=14)
    winner: Winner | None = level.choice.agents if kind == AGENTS else level.choice.synthetic
    for rung in level.rungs:
        part = rung.traffic.get(kind)
        if part is None:
            grid.add_row(Text(clean(rung.name)), count(rung.repeats), *(DASH,) * 3)
            continue
        best = winner is not None and winner.rung == rung.name and len(level.rungs) > 1
        figures = (
            part.tokens.output_tok / part.tokens.window_s,
            part.own.usd_per_mtok_output,
            part.own.usd_per_mtok_blended,
        )
        cells = (count(rung.repeats), *map(digits, figures), *_to_first(rung, kind)[: 1 + spans])
        grid.add_row(Text(clean(rung.name)), *cells, style="bold" if best else "")
    return grid


def _to_first(rung: RungCost, kind: str) -> tuple[str, str]:
    """`-21.3 %`, and its interval where there is one."""
    if kind not in rung.against:
        return "", ""
    found = rung.against[kind]
    if found is None:
        return DASH, ""
    change = f"{100 * (found.ratio - 1):+.1f} %"
    if found.low is None or found.high is None:
        return change, ""
    return change, f"{100 * (found.low - 1):+.1f} to {100 * (found.high - 1):+.1f} %"


def _api(level: Level, name: str, answer: LadderAnswer) -> RenderableType:
    """What an API asks for the same tokens, and from which utilisation on each rung is cheaper."""
    at = f"at {100 * answer.utilisation:g} %"
    kinds = [kind for kind in answer.names if any(kind in rung.traffic for rung in level.rungs)]
    grid = cost_grid("", *(head for kind in kinds for head in (kind, at, "even at")), first=14)
    for rung in level.rungs:
        cells: list[str] = []
        for kind in kinds:
            part = rung.traffic.get(kind)
            each = next((found for found in part.apis if found.api == name), None) if part is not None else None
            if each is None:
                cells += (DASH,) * 3
            else:
                told = saved(each.saving, each.saving_at, each.break_even)
                cells += (digits(each.bill.blended_usd_mtok), *told[1:])
        grid.add_row(Text(clean(rung.name)), *cells)
    said = f"{clean(name)}: $/Mtok of the same tokens, saved {at} utilisation, even at"
    return Group(Text(said, style="bold"), grid)
