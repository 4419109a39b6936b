"""How far two engines say the same when neither has a choice: replies to the same prompts at temperature 0."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.core.proportion import Z_95, wilson
from simulator.core.stats import ratio
from simulator.core.table import Floats, Ints

QUANTILES = {"p10": 0.10, "p25": 0.25, "p50": 0.50}


@dataclass(frozen=True, slots=True)
class Answer:
    """What one engine said to one prompt. tokens: of the whole reply, in any alphabet that both sides share. calls:
    (name, arguments) each, the arguments in one spelling. error: "" when it was answered."""

    tokens: tuple[Hashable, ...] = ()
    calls: tuple[tuple[str, str], ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class Beside:
    """first: tokens before the first one that differs, a reply that ends earlier differing there; None when all are the
    same. tok: of the shorter reply. calls, same_calls, same_names: whether either made a call, and whether both made
    the same ones in the same order, with their arguments or by their names alone."""

    first: int | None
    tok: int
    calls: bool
    same_calls: bool
    same_names: bool


def beside(a: Answer, b: Answer) -> Beside:
    short = min(len(a.tokens), len(b.tokens))
    first = next((n for n in range(short) if a.tokens[n] != b.tokens[n]), None)
    if first is None and len(a.tokens) != len(b.tokens):
        first = short
    names = [[name for name, _ in each.calls] for each in (a, b)]
    return Beside(first, short, bool(a.calls or b.calls), a.calls == b.calls, names[0] == names[1])


def agreement(pairs: Sequence[tuple[Answer, Answer]]) -> dict[str, Any]:
    """{prompts, failed, replies, calls, call_names, divergence}. failed: prompts that a side did not answer, which are
    in no figure. replies: {good, of, share, low, high} of equal ones; calls, call_names: of prompts at which either
    side made a call. divergence: see `survival`."""
    known = [beside(a, b) for a, b in pairs if not a.error and not b.error]
    called = [each for each in known if each.calls]
    return {
        "prompts": len(pairs),
        "failed": len(pairs) - len(known),
        "replies": _share(sum(each.first is None for each in known), len(known)),
        "calls": _share(sum(each.same_calls for each in called), len(called)),
        "call_names": _share(sum(each.same_names for each in called), len(called)),
        "divergence": survival(known),
    }


def _share(good: int, of: int) -> dict[str, Any]:
    low, high = wilson(good, of) or (None, None)
    return {"good": good, "of": of, "share": ratio(float(good), float(of)), "low": low, "high": high}


def survival(known: Sequence[Beside]) -> dict[str, Any]:
    """{diverged, tok, p10, p25, p50, table}: how long replies stay the same, after Kaplan and Meier, since an equal
    reply only tells that nothing differed up to its end.

    tok: tokens that were compared, in all. p10: the smallest number of tokens by which a tenth of the replies differ;
    None when so many never did. table: at 1, 2, 4, ... tokens {tok, at_risk, diverged, share, low, high}: replies that
    reached that token or differed at it, those of all that differ up to it, and the share that is still the same
    after so many tokens, with Greenwood's 95 % interval on the log-log scale (Wilson's where none or all differed).
    """
    end = np.array([each.tok if each.first is None else each.first for each in known], dtype=np.int64)
    event = np.array([each.first is not None for each in known], dtype=np.bool_)
    longest = int((end + event).max(initial=0))
    at_risk = _at_risk(end, event, longest)
    differ = np.bincount(end[event], minlength=longest)[:longest].astype(np.float64)
    share = np.cumprod(1 - differ / np.maximum(at_risk, 1))
    table = [_row(tok, at_risk, differ, share) for tok in _powers(longest)]
    quantiles = {name: _reached(share, 1 - q) for name, q in QUANTILES.items()}
    return {"diverged": int(event.sum()), "tok": int(end.sum()), **quantiles, "table": table}


def _at_risk(end: Ints, event: np.ndarray[Any, np.dtype[np.bool_]], longest: int) -> Floats:
    """Replies that have a token at each place, or differ there; shape (longest,)."""
    last = end + event  # one past the last place at which a reply tells anything
    gone = np.bincount(last, minlength=longest + 1)
    left: Floats = (len(end) - np.cumsum(gone)[:longest]).astype(np.float64)
    return left


def _powers(longest: int) -> list[int]:
    """1, 2, 4, ..., and the longest."""
    found = [1 << n for n in range(longest.bit_length()) if 1 << n < longest]
    return [*found, longest] if longest else []


def _row(tok: int, at_risk: Floats, differ: Floats, share: Floats) -> dict[str, Any]:
    still, count = float(share[tok - 1]), int(at_risk[tok - 1])
    low, high = _interval(still, count, differ[:tok], at_risk[:tok])
    return {
        "tok": tok, "at_risk": count, "diverged": int(differ[:tok].sum()), "share": still, "low": low, "high": high,
    }  # fmt: skip


def _interval(still: float, count: int, differ: Floats, at_risk: Floats) -> tuple[float, float]:
    if still in (0.0, 1.0):
        return wilson(round(still * count), count) or (0.0, 1.0)
    spread = math.sqrt(float((differ / (at_risk * np.maximum(at_risk - differ, 1))).sum())) / abs(math.log(still))
    away = Z_95 * spread
    return still ** math.exp(away), still ** math.exp(-away)


def _reached(share: Floats, level: float) -> int | None:
    below = np.flatnonzero(share <= level + 1e-12)
    return int(below[0]) + 1 if len(below) else None
