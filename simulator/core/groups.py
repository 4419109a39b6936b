"""The same figures for parts of the agent traffic: by task kind, size, profile, and context length."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from simulator.core.latency import tpot_s, ttft_s
from simulator.core.sessions import outcomes, wall
from simulator.core.stats import describe
from simulator.core.table import Ints, Mask, Table
from simulator.core.throughput import cached, prompt_tok
from simulator.core.turns import latency, turns_due
from simulator.core.window import Traffic, failed, ok

#: Session field -> key of the summary
BY_SESSION = {"task_kind": "by_kind", "task_size": "by_size", "profile": "by_profile"}
#: upper edges of context length, tokens
CONTEXT_TOK = (8_192, 16_384, 32_768, 65_536, 131_072)
UNFINISHED = "unfinished"


def groups(sample: Traffic) -> dict[str, dict[str, Any]]:
    """{by_kind, by_size, by_profile, by_context}: each {group name: figures}. Requests of sessions that left no session
    record (the run was killed) are the group "unfinished"."""
    found: dict[str, dict[str, Any]] = {}
    for field, key in BY_SESSION.items():
        label = {s.session: str(getattr(s, field)) for s in sample.run.sessions}
        names = [label.get(name, UNFINISHED) for name in sample.every.text("session").names]
        found[key] = {}
        for group in sorted(set(names)):
            members = np.array([name == group for name in names])
            part = _part(sample, _of(sample.every, members), _of(sample.sent, members))
            if part.sent.n:
                inside = {name for name, g in zip(sample.every.text("session").names, names, strict=True) if g == group}
                chosen = [s for s in sample.run.sessions if s.session in inside]
                found[key][group] = {**_figures(part), **outcomes(part, chosen), "wall": wall(part, chosen)}
    found["by_context"] = by_context(sample)
    return found


def by_context(sample: Traffic) -> dict[str, Any]:
    """Figures by prompt length: the bucket "<16k" holds prompts of 8,192 to 16,383 tokens."""
    bucket = _bucket(sample.every), _bucket(sample.sent)
    found: dict[str, Any] = {}
    for i in range(len(CONTEXT_TOK) + 1):
        part = _part(sample, bucket[0] == i, bucket[1] == i)
        if part.sent.n:
            found[_bucket_name(i)] = _figures(part)
    return found


def _bucket(requests: Table) -> Ints:
    lengths, _ = prompt_tok(requests)
    return np.searchsorted(np.array(CONTEXT_TOK), np.nan_to_num(lengths), side="right").astype(np.int64)


def _bucket_name(i: int) -> str:
    return f"<{CONTEXT_TOK[i] // 1024}k" if i < len(CONTEXT_TOK) else f">={CONTEXT_TOK[-1] // 1024}k"


def _of(requests: Table, members: Mask) -> Mask:
    mine: Mask = members[requests.text("session").codes]
    return mine


def _part(sample: Traffic, every: Mask, sent: Mask) -> Traffic:
    return replace(sample, every=sample.every.where(every), sent=sample.sent.where(sent))


def _figures(part: Traffic) -> dict[str, Any]:
    sent = part.sent
    lost = int(np.count_nonzero(failed(sent)))
    return {
        "requests": sent.n,
        "ok": int(np.count_nonzero(ok(sent))),
        "failed_requests": lost,
        "ttft_s": describe(ttft_s(sent), failed=lost),
        "tpot_s": describe(tpot_s(sent, part.run.chunks), failed=lost),
        "turn_latency_s": latency(turns_due(part)),
        "prompt_tok": describe(sent["prompt_tok"]),
        "output_tok": float(np.nansum(sent["output_tok"])),
        "cached_share": cached(part)["all"],
    }
