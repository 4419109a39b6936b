"""What a ladder has measured: its rungs and repeats as ladder.json holds them, and what they say together. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simulator.core.certify import FAILED_SHARE, OK
from simulator.core.compare.pairs import PairedRatio, ratio_of_pairs
from simulator.core.wording import counted

#: the figures of each kind of traffic: key in ladder.json, key in summary.json, quantile there
FIGURES = (
    ("output_tok_s", "output_tok_s", None),
    ("ttft_p50_s", "ttft_s", "p50"),
    ("tpot_p50_s", "tpot_s", "p50"),
    ("turn_p50_s", "turn_latency_s", "p50"),
)
#: kind of traffic: its name in ladder.json and in summary.json
TRAFFICS = {"agents": "agent", "synthetic": "synthetic"}


def figures(summary: Mapping[str, Any]) -> dict[str, dict[str, float | None] | None]:
    """{"agents": {...}, "synthetic": {...}} of a run's summary; None for traffic that it did not send."""
    found: dict[str, dict[str, float | None] | None] = {}
    for ours, theirs in TRAFFICS.items():
        part = summary.get(theirs)
        found[ours] = None if not part else {key: _value(part, name, at) for key, name, at in FIGURES}
    return found


def _value(part: Mapping[str, Any], name: str, at: str | None) -> float | None:
    value = part.get(name)
    if at is not None:
        value = value.get(at) if isinstance(value, Mapping) else None
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def doubts(summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> list[str]:
    """Why a run that came to its end is not certified, a clause each; empty: it is."""
    found = []
    client = summary.get("client") or {}
    if client.get("verdict") != OK:
        reasons = "; ".join(str(each) for each in client.get("reasons") or ())
        found.append(f"{client.get('verdict') or 'unknown client'}{f' ({reasons})' if reasons else ''}")
    if stopped := manifest.get("stopped"):
        found.append(f"stopped by {stopped}")
    if manifest.get("unverified"):
        found.append(f"{counted(manifest['unverified'], 'recorded solution')} did not verify")
    for ours, theirs in TRAFFICS.items():
        requests = (summary.get(theirs) or {}).get("requests") or {}
        failed, sent = requests.get("failed") or 0, requests.get("sent") or 0
        if failed > FAILED_SHARE * sent:
            found.append(f"{failed} of {counted(sent, 'request')} of {ours} failed")
        if ((summary.get("engine") or {}).get(theirs) or {}).get("restarted"):
            found.append(f"the engine was restarted during {ours}")
    if manifest.get("caches_reset") is False:
        found.append("the engine did not drop its prefix cache when asked (VLLM_SERVER_DEV_MODE=1 lets it)")
    return found


@dataclass(frozen=True, slots=True)
class Row:
    """A rung in the final table. agents, synthetic: geometric means over its good repeats, by figure; ratio: of each
    traffic's tok/s to the first rung's, over the pairs that both have; there: by kind of traffic, the first rung's
    tok/s and its own over these pairs, of which that is the ratio. certified, repeats: how many of how many; wanted:
    how many were asked for; errors: one sentence each."""

    name: str
    agents: Mapping[str, float]
    synthetic: Mapping[str, float]
    agents_ratio: PairedRatio | None
    synthetic_ratio: PairedRatio | None
    there: Mapping[str, tuple[float, float]]
    certified: int
    repeats: int
    wanted: int
    errors: tuple[str, ...]
    doubts: tuple[str, ...]


def rows(told: Mapping[str, Any]) -> list[Row]:
    """One a rung of ladder.json. At several levels of load each is compared with the first rung at its own level."""
    rungs: Sequence[Mapping[str, Any]] = told.get("rungs") or ()
    firsts: dict[Any, Mapping[str, Any]] = {}
    for rung in rungs:
        firsts.setdefault(rung.get("concurrency"), rung)
    return [_row(rung, firsts[rung.get("concurrency")], int(told.get("pairs") or 0)) for rung in rungs]


def good(rung: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Its repeats that came to their end."""
    return [each for each in rung.get("repeats") or () if not each.get("error")]


def _row(rung: Mapping[str, Any], first: Mapping[str, Any], wanted: int) -> Row:
    repeats = good(rung)
    common = {kind: [] if rung is first else _common(first, rung, kind) for kind in TRAFFICS}
    ratios = {
        kind: ratio_of_pairs([a for a, _ in pairs], [b for _, b in pairs]) if pairs else None
        for kind, pairs in common.items()
    }
    return Row(
        name=str(rung.get("name")),
        agents=_means(repeats, "agents"),
        synthetic=_means(repeats, "synthetic"),
        agents_ratio=ratios["agents"],
        synthetic_ratio=ratios["synthetic"],
        there={
            kind: (statistics.geometric_mean(a for a, _ in pairs), statistics.geometric_mean(b for _, b in pairs))
            for kind, pairs in common.items()
            if pairs
        },
        certified=sum(bool(each.get("certified")) for each in repeats),
        repeats=len(repeats),
        wanted=wanted,
        errors=tuple(dict.fromkeys(str(each["error"]) for each in rung.get("repeats") or () if each.get("error"))),
        doubts=tuple(dict.fromkeys(str(clause) for each in repeats for clause in each.get("doubts") or ())),
    )


def _means(repeats: Sequence[Mapping[str, Any]], kind: str) -> dict[str, float]:
    found = {}
    for key, _, _ in FIGURES:
        values = [part[key] for each in repeats if (part := each.get(kind)) and part.get(key)]
        if values:
            found[key] = statistics.geometric_mean(values)
    return found


def _common(first: Mapping[str, Any], rung: Mapping[str, Any], kind: str) -> list[tuple[float, float]]:
    """tok/s of both sides, of each pair that both have."""
    sides = [
        {each["pair"]: (each.get(kind) or {}).get("output_tok_s") for each in good(side)} for side in (first, rung)
    ]
    pairs = [(sides[0][pair], sides[1][pair]) for pair in sorted(sides[0].keys() & sides[1].keys())]
    return [(a, b) for a, b in pairs if a and b]
