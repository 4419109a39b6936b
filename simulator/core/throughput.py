"""Tokens over time: what the engine delivered inside the window, wherever its requests began and ended."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.core.stats import finite, known, ratio
from simulator.core.table import Floats, Mask, Table
from simulator.core.turns import conversation
from simulator.core.window import Traffic, failed, ok


def tokens_between(sample: Traffic, edges_s: Floats) -> Floats:
    """Output tokens that arrived in each interval [edges_s[i], edges_s[i+1]); shape (len(edges_s) - 1,).

    A token is placed at the arrival of its chunk. Where chunks and usage disagree usage is right, and the difference is
    placed at the last output. A request whose chunks are lost is spread evenly from its first to its last output.
    Failed requests deliver nothing: a reply that broke off is no use to an agent.
    """
    every = sample.every
    bins = np.zeros(len(edges_s) - 1)
    near = (every["t_last_s"] >= edges_s[0]) & (every["t_first_s"] <= edges_s[-1])
    live = ~failed(every) & near
    held = np.zeros(every.n)
    for slab in sample.run.chunks.slabs(every, live):
        arrived_s = every["t_sent_s"][slab.row] + slab.at_us * 1e-6
        bins += _binned(arrived_s, slab.tok.astype(np.float64), edges_s)
        held += np.bincount(slab.row, weights=slab.tok, minlength=every.n)
    stored = sample.run.chunks.present(every) & live
    rest = np.where(stored, every["output_tok"] - held, np.nan)
    uneven = np.nan_to_num(rest) != 0
    bins += _binned(every["t_last_s"][uneven], rest[uneven], edges_s)
    return bins + _spread(every.where(live & ~stored & (every["output_tok"] > 0)), edges_s)


def _binned(t_s: Floats, weight: Floats, edges_s: Floats) -> Floats:
    place = np.searchsorted(edges_s, t_s, side="right") - 1
    inside = (place >= 0) & (place < len(edges_s) - 1)
    return np.bincount(place[inside], weights=weight[inside], minlength=len(edges_s) - 1).astype(np.float64)


def _spread(requests: Table, edges_s: Floats) -> Floats:
    first, last, n = requests["t_first_s"], requests["t_last_s"], requests["output_tok"]
    instant = last <= first
    bins = _binned(last[instant], n[instant], edges_s)
    first, last, n = first[~instant], last[~instant], n[~instant]
    for i in range(len(bins)):
        overlap = np.minimum(last, edges_s[i + 1]) - np.maximum(first, edges_s[i])
        bins[i] += float(np.sum(n * np.clip(overlap, 0, None) / (last - first)))
    return bins


def prompt_tok(requests: Table) -> tuple[Floats, int]:
    """Prompt tokens of each request, the server's or, where it sent none, the plan's; and how many are the plan's."""
    told, planned = requests["prompt_tok"], requests["planned_prompt_tok"]
    missing = np.isnan(told) & (planned > 0)
    return np.where(missing, planned, told), int(np.count_nonzero(missing))


def in_flight(sample: Traffic) -> float | None:
    """Mean number of requests between t_sent and their end inside the window."""
    every, window = sample.every, sample.window
    until = np.minimum(every["t_end_s"], window.end_s)
    held = known(np.clip(until - np.maximum(every["t_sent_s"], window.start_s), 0, None))
    return ratio(float(held.sum()), window.length_s) if len(held) else None


def _wall_s(sample: Traffic) -> float | None:
    """Last t_last - first t_sent: what `vllm bench serve` divides by."""
    live = sample.every.where(~failed(sample.every))
    first, last = known(live["t_sent_s"]), known(live["t_last_s"])
    return float(last.max() - first.min()) if len(first) and len(last) else None


def _delivering(sample: Traffic) -> Mask:
    """Requests whose prefill ended inside the window: their prompts count as its input."""
    every = sample.every
    began = every["t_first_s"]
    delivering: Mask = ~failed(every) & np.isfinite(began) & sample.window.holds(began)
    return delivering


def rates(sample: Traffic) -> dict[str, Any]:
    """Tokens a second in the window and beside it. A prompt is placed at its request's first output."""
    window = sample.window
    arrived = tokens_between(sample, np.array([-np.inf, window.start_s, window.end_s, np.inf]))
    output = float(arrived[1] if window.steady else arrived.sum())
    prompts, planned = prompt_tok(sample.every.where(_delivering(sample)))
    prompt = float(np.nansum(prompts)) if np.isfinite(prompts).any() else None
    lost = sample.sent.where(failed(sample.sent))["output_tok"]
    spoke = bool((~failed(sample.every) & np.isfinite(sample.every["t_last_s"])).any())
    return {
        "output_tok": output if spoke else None,
        "output_tok_s": ratio(output, window.length_s) if spoke else None,
        "output_tok_s_whole_run": ratio(float(arrived.sum()), _wall_s(sample)),
        "input_tok": prompt,
        "input_tok_s": ratio(prompt, window.length_s),
        "total_tok_s": ratio(None if prompt is None or not spoke else prompt + output, window.length_s),
        "prompts_planned": planned,
        "failed_output_tok": finite(np.nansum(lost)) if len(lost) else 0.0,
        "in_flight_mean": in_flight(sample),
        "in_flight_max": most_in_flight(sample),
        "subagent_share": _subagent_share(sample),
    }


def most_in_flight(sample: Traffic) -> int | None:
    """Most requests between t_sent and their end at one moment of the window; None when nothing was sent."""
    every, window = sample.every, sample.window
    sent, ended = every["t_sent_s"], every["t_end_s"]
    inside = np.isfinite(sent) & (sent < window.end_s) & (ended > window.start_s)
    if not inside.any():
        return None if not np.isfinite(sent).any() else 0
    begins, ends = np.sort(np.maximum(sent[inside], window.start_s)), np.sort(ended[inside])
    open_then = np.arange(1, len(begins) + 1) - np.searchsorted(ends, begins, side="right")
    return int(open_then.max())


def _subagent_share(sample: Traffic) -> float | None:
    """Of the requests sent in the window, how many were sub-agents'. None for synthetic traffic."""
    if sample.kind != "agent":
        return None
    return ratio(float(np.count_nonzero(np.nan_to_num(sample.sent["branch"]))), float(sample.sent.n))


def still_sending_s(sample: Traffic) -> float:
    """When the window's last request was sent; its end when none was."""
    window, sends = sample.window, known(sample.sent["t_sent_s"])
    last = float(sends.max()) if len(sends) else window.end_s
    return min(max(last, window.start_s), window.end_s)


def cached(sample: Traffic) -> dict[str, Any]:
    """Cached share of prompt tokens, of requests sent in the window whose usage names both: {all, first_turns,
    later_turns, n, source, impossible}. A first turn is the first that its session sent in this run; a session that was
    warmed up before has none. Synthetic requests have no turns. impossible: requests said to have more cached tokens
    than prompt tokens, which are left out."""
    sent = sample.sent
    named = ok(sent) & np.isfinite(sent["cached_tok"]) & (sent["prompt_tok"] > 0)
    told = named & (sent["cached_tok"] <= sent["prompt_tok"])

    def share(rows: Mask) -> float | None:
        return ratio(float(sent["cached_tok"][rows].sum()), float(sent["prompt_tok"][rows].sum()))

    n = int(np.count_nonzero(told))
    first = is_first_turn(sample) if sample.kind == "agent" else None
    return {
        "all": share(told),
        "first_turns": None if first is None else share(told & first),
        "later_turns": None if first is None else share(told & ~first),
        "n": n,
        "source": "usage" if n else None,
        "impossible": int(np.count_nonzero(named & ~told)),
    }


def is_first_turn(sample: Traffic) -> Mask:
    """Which of the requests sent in the window belong to the first turn of their conversation (a session's own, or a
    sub-agent's) in this run; shape (n,)."""
    requests = sample.run.requests
    talks, place = np.unique(conversation(requests), return_inverse=True)
    earliest = np.full(len(talks), np.inf)
    warm = requests.text("purpose").among("warmup")
    np.minimum.at(earliest, place, np.where(warm, -np.inf, requests["turn"]))
    mine: Mask = sample.sent["turn"] == earliest[np.searchsorted(talks, conversation(sample.sent))]
    return mine
