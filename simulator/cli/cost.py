"""`sim cost`: a run's tokens on rented or owned GPUs, beside an API's bill for the same tokens."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from simulator.cli.cost_asked import (
    Question,
    apis_of,
    book_of,
    paid_of,
    price_notes,
    priced,
    rates_of,
    read_days,
    utilisation_of,
)
from simulator.cli.cost_ladder import of_ladder
from simulator.cli.report import folded
from simulator.cli.screen import whole_lines
from simulator.core.cost import delivered
from simulator.core.gpus import gpu_kind
from simulator.core.price_file import ApiPrice, PriceBook
from simulator.core.wording import counted
from simulator.errors import UsageError
from simulator.store.ladder_runs import is_ladder
from simulator.view.cost import FEW_SESSIONS, Answer, Traffic, table
from simulator.view.cost_ladder import LadderAnswer, ladder_table
from simulator.view.identity import emulation, is_emulated, is_random, synthetic_shape, title


def main(question: Question) -> int:
    if (question.folder is None) == (question.rates is None):
        raise UsageError("give a run folder, or --rates output=11840 for a figure that is no run; one of the two")
    utilisation, book = utilisation_of(question.utilisation), book_of(question.prices)
    apis = apis_of(question, book)
    answer: Answer | LadderAnswer
    if question.folder is None:
        answer = _of_rates(question, book, apis, utilisation)
    elif is_ladder(question.folder):
        answer = of_ladder(question, question.folder, book, apis, utilisation)
    else:
        answer = _of_run(question, question.folder, book, apis, utilisation)
    if question.json:
        print(orjson.dumps(answer.as_json(), option=orjson.OPT_INDENT_2).decode())
    else:
        whole_lines().print(ladder_table(answer) if isinstance(answer, LadderAnswer) else table(answer))
    return 0


def _of_rates(q: Question, book: PriceBook, apis: Mapping[str, ApiPrice], utilisation: float) -> Answer:
    tokens, paid = rates_of(q.rates or ""), paid_of(q, book, {})
    shown = [priced("given", "given", tokens, paid.usd_h, apis, utilisation)]
    notes = [*price_notes(shown, apis), "The rates were given by hand; no run stands behind them."]
    return Answer("rates given by hand", "", False, paid.usd_h, paid.told, utilisation, shown, read_days(apis), notes)


def _of_run(q: Question, folder: Path, book: PriceBook, apis: Mapping[str, ApiPrice], utilisation: float) -> Answer:
    summary, manifest = folded(folder)
    engine = manifest.get("engine")
    paid = paid_of(q, book, engine if isinstance(engine, Mapping) else {})
    names = {"agent": "agents", "synthetic": f"synthetic {synthetic_shape(manifest)}".strip()}
    try:
        found = {kind: delivered(summary[kind], live=manifest.get("mode") == "live") for kind in names}
        shown = [
            priced(kind, names[kind], tokens, paid.usd_h, apis, utilisation)
            for kind, tokens in found.items()
            if tokens is not None
        ]
        notes = _run_notes(summary, manifest, shown, paid.gpu, book)
    except (KeyError, TypeError, AttributeError):
        raise UsageError(
            f"{folder / 'summary.json'} lacks figures that every fold writes; `sim report {folder}` makes it again"
        ) from None
    if not shown:
        raise UsageError(f"{folder}: no request of this run finished, so there is nothing to price")
    marked = emulation(manifest) if is_emulated(manifest) else ""
    notes = [*price_notes(shown, apis), *notes]
    return Answer(
        title(manifest), marked, is_random(manifest), paid.usd_h, paid.told, utilisation, shown, read_days(apis), notes
    )


def _run_notes(
    summary: Mapping[str, Any], manifest: Mapping[str, Any], shown: list[Traffic], priced: str | None, book: PriceBook
) -> list[str]:
    """What limits the worth of these figures, the gravest first."""
    notes = []
    if is_emulated(manifest):
        notes.append("EMULATED: the engine was a model of one, so these are estimates of a model, not costs.")
    if summary["client"]["verdict"] == "client-limited":
        notes.append("client-limited: the engine waited for the client and could deliver more, so own cost reads high.")
    engine = manifest.get("engine")
    ran_on = gpu_kind(engine, book.gpus) if isinstance(engine, Mapping) else None
    if priced and ran_on and priced.lower() != ran_on.lower():
        notes.append(f"The run was on {ran_on} and {priced} is priced: its speed would be another.")
    if any(not summary[each.kind]["window"]["steady"] for each in shown):
        notes.append("No steady window: ramp-up and ramp-down are inside, so own cost reads high.")
    for each in shown:
        if each.tokens.cached_tok is None and each.tokens.input_tok:
            notes.append(f"The server did not tell what was cached ({each.name}): all its input is priced as uncached.")
        if each.tokens.sessions is not None and each.tokens.sessions < FEW_SESSIONS:
            notes.append(
                f"Only {counted(each.tokens.sessions, 'session')} finished in the window, so the cost of one is rough."
            )
        if each.tokens.sessions is not None and each.tokens.solved is None:
            notes.append("A replay solves nothing, so a solved task has no cost; live runs have.")
    notes.append("An API serves another model, or this one otherwise: prices are compared, not answers.")
    return notes
