"""What a reader of a comparison must know beside its figures: cause and cure in one sentence each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from simulator.core.certify import UNKNOWN
from simulator.core.compare.comparable import NAMED, Couple, OneRun, gpu_of, matched
from simulator.core.compare.pairing import NOT_INTERLEAVED, ONE_FIRST, Order
from simulator.core.compare.settings import differences
from simulator.core.drift import is_drift
from simulator.core.run import KINDS

#: with more failed requests than this, percentiles are of the survivors
MANY_FAILED = 0.01
#: pairs from which a sign-flip p can fall below 5 %
DECIDING_PAIRS = 6


def notes(
    pairs: Sequence[Couple], order: Order, alone: tuple[list[str], list[str]], allowed: Collection[str]
) -> Iterator[str]:
    """alone: runs of A and of B without a partner."""
    for side, names in zip("AB", alone, strict=True):
        if names:
            yield f"left out for want of a partner with the same seed, {side}: {_some(names)}"
    virtual = all(run.engine.get("virtual") is True for pair in pairs for run in pair)
    if order.how == NOT_INTERLEAVED and not virtual:
        yield (
            f"not interleaved ({_short(order.letters)}): if the machine changed meanwhile, that is inside the "
            "difference; run them as A B B A ..."
        )
    elif order.how == ONE_FIRST and not virtual:
        yield f"interleaved, and {order.letters[0]} always began ({_short(order.letters)}); A B B A ... is fairer"
    if 1 < len(pairs) < DECIDING_PAIRS:
        yield (
            f"with {len(pairs)} pairs the exact sign-flip p cannot fall below {2 / 2 ** len(pairs):.2g}; the interval "
            f"then rests on log ratios being normal. {DECIDING_PAIRS} pairs are the usual number for a decision"
        )
    yield from _mixed_sides(pairs)
    if pairs and all(run.live for pair in pairs for run in pair):
        yield (
            "live agents do what their model says, so each side did other work: its tok/s and latency are of that work "
            "and rank no engines by themselves; solved tasks, and what they took, do"
        )
    runs = list({run.name: run for pair in pairs for run in pair}.values())
    for kind in KINDS:
        yield from _of_traffic(kind, runs, pairs)
    yield from _unknown(runs, allowed)


def _mixed_sides(pairs: Sequence[Couple]) -> Iterator[str]:
    for side, runs in zip("AB", zip(*pairs, strict=True), strict=True):
        for run in runs[1:]:
            found = [each for each in differences(runs[0].engine, run.engine) if each.place != "seen"]
            if found:
                names = _some([each.name for each in found])
                yield f"side {side} mixes configurations: {run.name} differs from {runs[0].name} in {names}"
                break


def _of_traffic(kind: str, runs: Sequence[OneRun], pairs: Sequence[Couple]) -> Iterator[str]:
    who = NAMED[kind]
    parts = [(run, part) for run in runs if (part := run.part(kind)) is not None]
    drifting = [f"{run.name} {100 * part['drift']:+.0f} %" for run, part in parts if _drifts(part)]
    if drifting:
        yield f"{who}, throughput drifted inside the window: {_some(drifting)}; a longer ramp or window would settle it"
    lost = [
        f"{run.name} {failed:,} of {sent:,}"
        for run, part in parts
        if (told := _failed(part))
        for failed, sent in [told]
    ]
    if lost:
        yield f"{who}, failed requests: {_some(lost)}; percentiles are of those that were answered"
    unknown = [run.name for run, _ in parts if _health(run, kind) == UNKNOWN]
    if unknown:
        yield f"{who}, the client's health is unknown: {_some(unknown)}; whether it was the limit cannot be told"
    seldom = [found for a, b in pairs if (found := matched(kind, a, b)) is not None and 2 * found.requests < found.of]
    if seldom:
        yield (
            f"{who}, only {seldom[0].requests:,} of {seldom[0].of:,} requests are the same on both sides: one got much "
            "further than the other, so the mix of turns is not quite the same"
        )


def _drifts(part: Mapping[str, Any]) -> bool:
    return is_drift(part.get("drift"), part.get("drift_margin"))


def _failed(part: Mapping[str, Any]) -> tuple[int, int] | None:
    requests = part.get("requests") or {}
    failed, sent = requests.get("failed") or 0, requests.get("sent") or 0
    return (failed, sent) if sent and failed / sent > MANY_FAILED else None


def _health(run: OneRun, kind: str) -> str | None:
    health = (run.summary.get("client") or {}).get(kind)
    return health.get("verdict") if isinstance(health, Mapping) else None


def _unknown(runs: Sequence[OneRun], allowed: Collection[str]) -> Iterator[str]:
    silent = [run.name for run in runs if gpu_of(run) is None]
    if silent and "gpu" not in allowed:
        yield f"no GPU is named by {_some(silent)}: that it was the same is taken on trust"
    machines = {str((run.manifest.get("host") or {}).get("cpu")) for run in runs}
    if len(machines) > 1:
        yield f"the client ran on different machines: {_some(sorted(machines))}"


def _some(names: Sequence[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _short(letters: str) -> str:
    return letters if len(letters) <= 24 else f"{letters[:24]}..."
