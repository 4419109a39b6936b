"""The shape of traffic: a pure fold over its calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulator.core.shape import Spread
from simulator.core.traffic.call import Sent, Traffic
from simulator.core.traffic.reuse import Reuse, limited, unlimited, working_set

SPAN_S = 300.0
#: cache sizes that are tried when none is asked for, tokens
BUDGETS = (250_000, 500_000, 1_000_000, 2_000_000, 4_000_000)
#: the synthetic test, and how far from it a call is still like it
FIXED_TOK, LIKE = 512, 2.0
POINTS = 240


@dataclass(frozen=True, slots=True)
class AtOnce:
    """How many at a time. times_s: moments from the first call on; sessions, requests: open at each. means and maxima
    over time; requests None where durations are not known."""

    times_s: tuple[float, ...]
    sessions: tuple[int, ...]
    requests: tuple[int, ...] | None
    sessions_mean: float
    sessions_max: int
    requests_mean: float | None
    requests_max: int | None


@dataclass(frozen=True, slots=True)
class Fixed:
    """What a 512/512 test stands for. prompt, output, both: share of calls whose prompt, output, both are within a
    factor of two; tok: share of all prompt and output tokens that such calls make up."""

    prompt: float
    output: float
    both: float
    tok: float


@dataclass(frozen=True, slots=True)
class Shape:
    """samples: name -> values, by which two traffics are compared. turns: calls a session, its own conversation.
    growth_tok: of a call's prompt over the one before in its branch, where it grew; shrank: share of calls where it
    did not. tools: by name, how often. measured: cached over prompt tokens as the engine said. distinct_tok: of all
    blocks. working: mean and largest over spans of five minutes."""

    name: str
    kind: str
    sessions: int
    subagents: int
    calls: int
    span_s: float | None
    samples: dict[str, list[float]]
    spreads: dict[str, Spread | None]
    shrank: float | None
    tool_calls: int
    tools: dict[str, int]
    at_once: AtOnce | None
    reuse: tuple[Reuse, ...]
    measured: float | None
    distinct_tok: int
    working: tuple[float, int] | None
    fixed: Fixed | None
    prompt_tok: int
    output_tok: int
    notes: tuple[str, ...]
    marks: tuple[str, ...]


def fold(traffic: Traffic, budgets: Sequence[int] = ()) -> Shape:
    """budgets: cache sizes in tokens; by default a ladder of them, up to the first that holds everything."""
    calls = traffic.calls
    samples, shrank = _samples(calls)
    best, distinct = unlimited(calls, traffic.block_tok)
    tools = Counter(name for call in calls for name in call.tools)
    timed = [call.at_s for call in calls if call.at_s is not None] if traffic.shared_clock else []
    cached = [(call.cached_tok, call.prompt_tok) for call in calls if call.cached_tok is not None]
    asked_for = sum(prompt for _, prompt in cached)
    return Shape(
        name=traffic.name,
        kind=traffic.kind,
        sessions=len({call.session for call in calls}),
        subagents=len({(call.session, call.branch) for call in calls if call.branch}),
        calls=len(calls),
        span_s=max(timed) - min(timed) if timed else None,
        samples=samples,
        spreads={name: Spread.of(values) for name, values in samples.items()},
        shrank=shrank,
        tool_calls=sum(tools.values()),
        tools=dict(tools.most_common()),
        at_once=_at_once(calls) if traffic.shared_clock else None,
        reuse=(best, *_limited(calls, traffic.block_tok, budgets, distinct)),
        measured=sum(tok for tok, _ in cached) / asked_for if asked_for else None,
        distinct_tok=distinct,
        working=working_set(calls, traffic.block_tok, SPAN_S) if traffic.shared_clock else None,
        fixed=_fixed(calls),
        prompt_tok=sum(call.prompt_tok for call in calls),
        output_tok=sum(call.output_tok for call in calls),
        notes=traffic.notes,
        marks=traffic.marks,
    )


def _limited(calls: Sequence[Sent], block_tok: int, budgets: Sequence[int], distinct: int) -> list[Reuse]:
    if budgets:
        return [limited(calls, block_tok, kv_tok) for kv_tok in budgets]
    needed = [kv_tok for n, kv_tok in enumerate(BUDGETS) if not n or BUDGETS[n - 1] < distinct]
    return [limited(calls, block_tok, kv_tok) for kv_tok in needed]


def _samples(calls: Sequence[Sent]) -> tuple[dict[str, list[float]], float | None]:
    turns: Counter[str] = Counter()
    out: dict[str, list[float]] = {
        name: [] for name in ("turns", "first_prompt_tok", "prompt_tok", "growth_tok", "output_tok", "gap_s", "tools")
    }
    last: dict[tuple[str, int], int] = {}
    followed = shrank = 0
    for call in calls:
        key = call.session, call.branch
        if not call.branch:
            turns[call.session] += 1
        out["prompt_tok"].append(call.prompt_tok)
        out["output_tok"].append(call.output_tok)
        out["tools"].append(len(call.tools))
        if call.gap_s is not None:
            out["gap_s"].append(call.gap_s)
        if key not in last:
            if not call.branch:
                out["first_prompt_tok"].append(call.prompt_tok)
        else:
            followed += 1
            if call.prompt_tok > last[key]:
                out["growth_tok"].append(call.prompt_tok - last[key])
            else:
                shrank += 1
        last[key] = call.prompt_tok
    out["turns"] = [float(n) for n in turns.values()]
    return out, shrank / followed if followed else None


def _fixed(calls: Sequence[Sent]) -> Fixed | None:
    if not calls:
        return None
    prompt = np.array([call.prompt_tok for call in calls], dtype=float)
    output = np.array([call.output_tok for call in calls], dtype=float)
    low, high = FIXED_TOK / LIKE, FIXED_TOK * LIKE
    like_prompt, like_output = ((each >= low) & (each <= high) for each in (prompt, output))
    both = like_prompt & like_output
    total = prompt + output
    return Fixed(
        float(like_prompt.mean()),
        float(like_output.mean()),
        float(both.mean()),
        float(total[both].sum() / total.sum()) if total.sum() else 0.0,
    )


def _at_once(calls: Sequence[Sent]) -> AtOnce | None:
    """Sessions from their first call's start to their last one's end."""
    ends = [(call.at_s, call.at_s + (call.took_s or 0.0)) for call in calls if call.at_s is not None]
    if not ends:
        return None
    start, end = min(a for a, _ in ends), max(b for _, b in ends)
    lives: dict[str, tuple[float, float]] = {}
    for call, (begun, ended) in zip((c for c in calls if c.at_s is not None), ends, strict=True):
        old = lives.get(call.session, (begun, ended))
        lives[call.session] = min(old[0], begun), max(old[1], ended)
    length = max(end - start, 1e-9)
    times = tuple(float(t) for t in np.linspace(0.0, length, POINTS)) if end > start else (0.0,)
    sessions, mean, most = _open(list(lives.values()), start, times, length)
    timed = [call for call in calls if call.at_s is not None]
    known = [each for each, call in zip(ends, timed, strict=True) if call.took_s is not None]
    if len(known) < len(ends) / 2:
        return AtOnce(times, sessions, None, mean, most, None, None)
    requests, requests_mean, requests_max = _open(known, start, times, length)
    return AtOnce(times, sessions, requests, mean, most, requests_mean, requests_max)


def _open(
    lives: Sequence[tuple[float, float]], start: float, times: Sequence[float], length: float
) -> tuple[tuple[int, ...], float, int]:
    """How many lives are open at each time; the mean over the whole, and the most."""
    begins = np.sort(np.array([a for a, _ in lives])) - start
    ends = np.sort(np.array([b for _, b in lives])) - start
    counts = np.searchsorted(begins, times, side="right") - np.searchsorted(ends, times, side="left")
    at_begins = np.searchsorted(begins, begins, side="right") - np.searchsorted(ends, begins, side="left")
    mean = float(sum(b - a for a, b in lives) / length)
    return tuple(int(n) for n in counts), mean, int(at_begins.max())
