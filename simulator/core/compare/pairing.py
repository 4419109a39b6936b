"""Which run of one side belongs to which of the other: by seed, and within a seed by the order in which they began."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Begun:
    """A run by its place on its side: its seed and when it began (Unix seconds; None when it does not say)."""

    place: int
    seed: int | None
    began_s: float | None


@dataclass(frozen=True, slots=True)
class Pairs:
    """pairs: (place in A, place in B), in the order in which the pairs began. alone_a, alone_b: places without a
    partner. by_order: some pairs are of different seeds."""

    pairs: tuple[tuple[int, int], ...]
    alone_a: tuple[int, ...]
    alone_b: tuple[int, ...]
    by_order: bool = False


def paired(a: Sequence[Begun], b: Sequence[Begun], *, across_seeds: bool = False) -> Pairs:
    """across_seeds: what is left when all equal seeds have been paired is paired in order of beginning, too."""
    left, right = sorted(a, key=_order), sorted(b, key=_order)
    found: list[tuple[Begun, Begun]] = []
    for one in list(left):
        other = next((each for each in right if each.seed == one.seed), None)
        if other is not None:
            found.append((one, other))
            left.remove(one)
            right.remove(other)
    by_order = across_seeds and bool(left) and bool(right)
    if by_order:
        rest = list(zip(left, right, strict=False))
        found += rest
        left, right = left[len(rest) :], right[len(rest) :]
    found.sort(key=lambda pair: min(_order(pair[0]), _order(pair[1])))
    return Pairs(
        tuple((one.place, other.place) for one, other in found),
        tuple(each.place for each in left),
        tuple(each.place for each in right),
        by_order,
    )


def _order(run: Begun) -> tuple[float, int]:
    return (run.began_s if run.began_s is not None else float("inf"), run.place)


INTERLEAVED, ONE_FIRST, NOT_INTERLEAVED, UNKNOWN = "interleaved", "one side first", "not interleaved", "unknown"


@dataclass(frozen=True, slots=True)
class Order:
    """letters: the runs in the order in which they began, "ABBA". how: "interleaved"; "one side first": interleaved,
    and the same side always began; "not interleaved"; "unknown": fewer than two pairs, or a run without a time."""

    letters: str
    how: str


def order(pairs: Sequence[tuple[Begun, Begun]]) -> Order:
    """Whether each pair was run in one go, so that a machine that slowly changes does so to both sides alike."""
    runs = sorted([(each.began_s, "AB"[side]) for pair in pairs for side, each in enumerate(pair) if each.began_s])
    letters = "".join(letter for _, letter in runs)
    if len(pairs) < 2 or len(letters) < 2 * len(pairs):
        return Order(letters, UNKNOWN)
    couples = [letters[i : i + 2] for i in range(0, len(letters), 2)]
    if any(couple not in ("AB", "BA") for couple in couples):
        return Order(letters, NOT_INTERLEAVED)
    return Order(letters, INTERLEAVED if len(set(couples)) == 2 else ONE_FIRST)
