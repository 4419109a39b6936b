"""`sim cost LADDER`: what each rung's tokens cost under both kinds of traffic, and which rung is cheapest for which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.cli.cost_asked import Paid, Question, paid_of, price_notes, priced, read_days
from simulator.cli.report import folded
from simulator.core.choice.choice import AGENTS, OUTPUT, SYNTHETIC, Repeat, Rung, choose
from simulator.core.compare.pairs import PairedRatio, ratio_of_pairs
from simulator.core.cost import Tokens, added, delivered
from simulator.core.ladder.result import TRAFFICS
from simulator.core.ladder.told import LadderTold, RungTold
from simulator.core.limit import CLIENT
from simulator.core.price_file import ApiPrice, PriceBook
from simulator.core.wording import counted
from simulator.errors import UsageError
from simulator.store.ladder_runs import ladder_told
from simulator.store.manifest import MANIFEST
from simulator.view.cost import Traffic
from simulator.view.cost_ladder import LadderAnswer, Level, RungCost

Priced = Mapping[str, ApiPrice]


@dataclass(frozen=True, slots=True)
class _Measured:
    """A rung with the runs that are at hand: pair -> (kind -> what it delivered). limited: pairs whose client was the
    limit. paid: its GPUs."""

    told: RungTold
    pairs: Mapping[int, Mapping[str, Tokens]]
    limited: frozenset[int]
    paid: Paid

    def per_dollar(self) -> Rung:
        """Output tokens a dollar in place of tokens a second: what a choice by cost looks at."""
        rate = 3_600 / self.paid.usd_h

        def figure(found: Mapping[str, Tokens], kind: str) -> dict[str, float | None] | None:
            tokens = found.get(kind)
            return None if tokens is None else {OUTPUT: rate * tokens.output_tok / tokens.window_s}

        repeats = [
            Repeat(pair, figure(found, AGENTS), figure(found, SYNTHETIC), pair in self.limited)
            for pair, found in self.pairs.items()
        ]
        return Rung(self.told.name, tuple(repeats), level=self.told.concurrency)


def of_ladder(q: Question, folder: Path, book: PriceBook, apis: Priced, utilisation: float) -> LadderAnswer:
    """UsageError when none of its runs is at hand or delivered anything."""
    ladder = ladder_told(folder)
    gone: list[str] = []
    found = [each for rung in ladder.rungs if (each := _measured(q, folder, rung, book, gone)) is not None]
    if not any(each.pairs for each in found):
        raise UsageError(
            f"{folder}: no run of this ladder is here that delivered anything, so there is nothing to price; "
            f"`sim ladder --show {folder}` tells what there is"
        )
    names = {AGENTS: "agents", SYNTHETIC: f"synthetic {ladder.synthetic_shape or ''}".strip()}
    levels = tuple(
        _level(level, [each for each in found if each.told.concurrency == level], names, apis, utilisation)
        for level in dict.fromkeys(each.told.concurrency for each in found)
    )
    shown = [part for level in levels for rung in level.rungs for part in rung.traffic.values()]
    return LadderAnswer(
        title=f"{ladder.scenario} · ladder of {counted(len(ladder.rungs), 'rung')}" if ladder.scenario else str(folder),
        emulated=ladder.engine_kind == "emulated",
        random=ladder.random_weights,
        paid=_paid(found),
        utilisation=utilisation,
        names=names,
        levels=levels,
        read=read_days(apis),
        notes=_notes(ladder, levels, shown, apis, gone),
    )


def _measured(q: Question, folder: Path, rung: RungTold, book: PriceBook, gone: list[str]) -> _Measured | None:
    """None when nothing of it is at hand. gone: is told the run folders that are not."""
    pairs: dict[int, dict[str, Tokens]] = {}
    limited: set[int] = set()
    engine: Mapping[str, Any] | None = None
    for repeat in rung.repeats:
        if repeat.error or repeat.run is None:
            continue
        if not (folder / repeat.run / MANIFEST).is_file():
            gone.append(repeat.run)
            continue
        summary, manifest = folded(folder / repeat.run)
        engine = engine or manifest.get("engine")
        pairs[repeat.pair] = _delivered(folder / repeat.run, summary, live=manifest.get("mode") == "live")
        limits = summary.get("limit") or {}
        if any((limits.get(kind) or {}).get("where") == CLIENT for kind in TRAFFICS.values()):
            limited.add(repeat.pair)
    if not pairs:
        return None
    return _Measured(rung, pairs, frozenset(limited), paid_of(q, book, engine if isinstance(engine, Mapping) else {}))


def _delivered(run: Path, summary: Mapping[str, Any], *, live: bool) -> dict[str, Tokens]:
    try:
        found = {ours: delivered(summary[theirs], live=live) for ours, theirs in TRAFFICS.items()}
    except (KeyError, TypeError, AttributeError):
        raise UsageError(
            f"{run / 'summary.json'} lacks figures that every fold writes; `sim report {run}` makes it again"
        ) from None
    return {kind: tokens for kind, tokens in found.items() if tokens is not None}


def _level(
    level: int | None, rungs: Sequence[_Measured], names: Mapping[str, str], apis: Priced, utilisation: float
) -> Level:
    scaled = [each.per_dollar() for each in rungs]
    costs = []
    for each, rung in zip(rungs, scaled, strict=True):
        traffic: dict[str, Traffic] = {}
        for kind, name in names.items():
            if parts := [found[kind] for found in each.pairs.values() if kind in found]:
                traffic[kind] = priced(kind, name, added(parts), each.paid.usd_h, apis, utilisation)
        against = {kind: _against(scaled[0], rung, kind) for kind in traffic if rung is not scaled[0]}
        costs.append(RungCost(each.told.name, len(each.pairs), each.paid.usd_h, traffic, against))
    return Level(level, tuple(costs), choose(scaled))


def _against(first: Rung, rung: Rung, kind: str) -> PairedRatio | None:
    """A token's cost on a rung over that on the first one: tokens a dollar, the other way round."""
    mine, theirs = rung.values(kind, OUTPUT), first.values(kind, OUTPUT)
    pairs = sorted(mine.keys() & theirs.keys())
    return ratio_of_pairs([mine[n] for n in pairs], [theirs[n] for n in pairs]) if pairs else None


def _paid(found: Sequence[_Measured]) -> tuple[str, ...]:
    """Where the hourly prices come from, each once; of which rungs, where there are several."""
    told_of: dict[str, list[str]] = {}
    for each in found:
        told_of.setdefault(each.paid.told, []).append(each.told.name)
    if len(told_of) == 1:
        return tuple(told_of)
    return tuple(f"{', '.join(names)}: {text}" for text, names in told_of.items())


def _notes(
    ladder: LadderTold, levels: Sequence[Level], shown: list[Traffic], apis: Priced, gone: Sequence[str]
) -> tuple[str, ...]:
    notes = price_notes(shown, apis)
    notes.append(
        "Repeats of a rung are added up, their windows and their tokens; 'to first' is the ratio of a million output "
        "tokens' cost to the first rung's, over pairs of equal work."
    )
    if gone:
        more = f", and {len(gone) - 1} more" if len(gone) > 1 else ""
        notes.append(f"Run folders that are not here, and not priced: {gone[0]}{more}.")
    if ladder.engine_kind == "emulated":
        notes.append("EMULATED: the engine was a model of one, so these are estimates of a model, not costs.")
    if max(rung.repeats for level in levels for rung in level.rungs) < 2:
        notes.append("One run a rung: differences of a few percent are suggestions; repeated pairs decide.")
    doubted = sum(not each.certified for rung in ladder.rungs for each in rung.repeats if not each.error)
    if doubted:
        notes.append(f"{counted(doubted, 'run is', 'runs are')} not certified; `sim ladder --show` names the reasons.")
    notes.append("An API serves another model, or this one otherwise: prices are compared, not answers.")
    return tuple(notes)
