"""Whether two runs delivered the same work: output tokens of the same requests, matched by what they were."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xxhash
from numpy.typing import NDArray

from simulator.core.table import Floats, Table, Text
from simulator.core.window import ok

#: tokens over matched requests may differ by this share
TOLERANCE = 0.01
Keys = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Delivered:
    """keys: one for each request that a plan asked for and that was answered, (n,), rising; the same in all runs of a
    plan. tok: its output tokens, (n,)."""

    keys: Keys
    tok: Floats


@dataclass(frozen=True, slots=True)
class Match:
    """requests: in both runs. of: answered in the run that answered fewer. difference: tokens of B over those of A,
    less 1, over the matched requests; None without any."""

    requests: int
    of: int
    difference: float | None


def delivered(requests: Table, kind: str) -> Delivered:
    """Of one kind of traffic. A request is its conversation, turn and purpose; of several attempts the last one that
    was answered counts. Streams that the client closed itself have no count and are left out."""
    mine = ok(requests) & requests.text("kind").among(kind) & ~requests.text("purpose").among("warmup")
    rows = np.flatnonzero(mine & (np.nan_to_num(requests["stopped"]) == 0) & np.isfinite(requests["output_tok"]))
    keys = _hashed(requests.text("session"))[rows]
    for part in (_hashed(requests.text("purpose"))[rows], _whole(requests["branch"][rows])):
        keys = _mixed(keys, part)
    keys = _mixed(keys, _whole(requests["turn"][rows]))
    # the last of equal keys: records stand in the order in which they ended
    last, place = np.unique(keys[::-1], return_index=True)
    return Delivered(last, requests["output_tok"][rows[::-1][place]])


def match(a: Delivered, b: Delivered) -> Match:
    _, left, right = np.intersect1d(a.keys, b.keys, assume_unique=True, return_indices=True)
    before, after = float(a.tok[left].sum()), float(b.tok[right].sum())
    return Match(len(left), min(len(a.keys), len(b.keys)), after / before - 1 if before else None)


def _hashed(text: Text) -> Keys:
    """One number for each row's text, the same in every run; shape (n,)."""
    each = np.array([xxhash.xxh3_64_intdigest(name.encode()) for name in text.names] or [0], dtype=np.uint64)
    found: Keys = each[text.codes]
    return found


def _whole(values: Floats) -> Keys:
    return np.nan_to_num(values).astype(np.int64).astype(np.uint64)


def _mixed(keys: Keys, more: Keys) -> Keys:
    """64-bit mixing (the finaliser of SplitMix64): a million keys meet by chance once in 40 million runs."""
    mixed = keys * np.uint64(0x9E3779B97F4A7C15) + more
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: Keys = mixed ^ (mixed >> np.uint64(31))
    return found
