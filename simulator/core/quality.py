"""What solved tasks took: their share with its interval, how many an hour, and tokens for each. Folded from the counts
of core/solved.py, so that nothing is counted twice; dollars are core/cost.py's, which knows prices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.core.proportion import wilson
from simulator.core.stats import ratio

GROUPS = ("by_kind", "by_size", "by_profile")


def quality(live: Mapping[str, Any] | None, window_s: float) -> dict[str, Any] | None:
    """live: as core/solved.solved gives it; None of a replay gives None. {share, low, high, per_hour,
    prompt_tok_per_solved, output_tok_per_solved, tok_per_solved, by_kind, by_size, by_profile}.

    low, high: Wilson's 95 % interval of the share. per_hour: solved in the window over its length, also where the
    window is the whole run, whose end then counts with agents that have nothing left to do. ..._per_solved: tokens of
    all judged sessions, the unsolved ones included, over the solved; None when nothing was solved or the server told of
    no tokens. by_...: name -> {share, low, high}.
    """
    if live is None:
        return None
    good = int(live["solved"])
    prompt, output = (_total(live[key]) for key in ("prompt_tok", "output_tok"))
    return {
        **_share(live),
        "per_hour": ratio(float(good), window_s / 3_600) if window_s > 0 else None,
        "prompt_tok_per_solved": _each(prompt, good),
        "output_tok_per_solved": _each(output, good),
        "tok_per_solved": _each(prompt + output, good) if prompt and output else None,
        **{key: {name: _share(row) for name, row in live[key].items()} for key in GROUPS},
    }


def _share(row: Mapping[str, Any]) -> dict[str, float | None]:
    good, of = int(row["solved"]), int(row["judged"])
    low, high = wilson(good, of) or (None, None)
    return {"share": ratio(float(good), float(of)), "low": low, "high": high}


def _total(spread: Mapping[str, Any]) -> float:
    return float(spread["n"]) * float(spread["mean"] or 0.0)


def _each(total: float, good: int) -> float | None:
    return ratio(total, float(good)) if total else None


def quality_of(part: Mapping[str, Any]) -> dict[str, Any] | None:
    """Of a traffic part of summary.json, also of one that was folded before there was such a block."""
    found = part.get("quality")
    return found if found is not None else quality(part.get("live"), part["window"]["length_s"])
