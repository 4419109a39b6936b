"""Latencies of single requests; definitions in docs/metrics.md.

Functions from a Table of requests give one value a request, shape (n,), seconds (or tokens a second); NaN where the
value is undefined. A failed request has none, whatever clock points it reached: percentiles say how many failed.
A request that was cancelled because the run ended keeps what it had reached, since leaving it out would favour short
ones; what needs its last token is undefined.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.core.chunks import Chunks
from simulator.core.stats import GapHistogram, describe
from simulator.core.table import Floats, Mask, Table
from simulator.core.window import Traffic, failed, ok


def _only(mask: Mask, values: Floats) -> Floats:
    return np.where(mask, values, np.nan)


def ttft_s(requests: Table) -> Floats:
    """t_first - t_sent: reasoning and tool calls count as output."""
    return _only(~failed(requests), requests["t_first_s"] - requests["t_sent_s"])


def ttft_answer_s(requests: Table) -> Floats:
    """t_first_answer - t_sent: the first output that is not reasoning."""
    return _only(~failed(requests), requests["t_first_answer_s"] - requests["t_sent_s"])


def client_queue_s(requests: Table) -> Floats:
    """t_sent - t_due: lateness of the client, failed requests included, since it happens before they can fail."""
    late: Floats = requests["t_sent_s"] - requests["t_due_s"]
    return late


def e2el_s(requests: Table) -> Floats:
    """t_last - t_sent."""
    return _only(ok(requests), requests["t_last_s"] - requests["t_sent_s"])


def ttft_from_due_s(requests: Table) -> Floats:
    """t_first - t_due: what the request waited for before it could be sent is part of it."""
    return _only(~failed(requests), requests["t_first_s"] - requests["t_due_s"])


def e2el_from_due_s(requests: Table) -> Floats:
    """t_last - t_due."""
    return _only(ok(requests), requests["t_last_s"] - requests["t_due_s"])


def n_first_tok(requests: Table, chunks: Chunks) -> Floats:
    """Tokens in the first output chunk: as stored, else the reply's even share, and all of a one-chunk reply."""
    n, count = requests["output_tok"], requests["chunks"]
    spread = np.ceil(n / np.where(count > 0, count, np.nan))
    stored = chunks.first_tok(requests)
    return np.where(count == 1, n, np.where(np.isnan(stored), spread, stored))


def _decode(requests: Table, chunks: Chunks) -> tuple[Floats, Floats]:
    """Seconds from first to last output and the tokens that came after the first chunk; NaN where no token did, or no
    time passed in which to see one."""
    rest = requests["output_tok"] - n_first_tok(requests, chunks)
    span = requests["t_last_s"] - requests["t_first_s"]
    defined = ok(requests) & (rest > 0) & (span > 0)
    return _only(defined, span), _only(defined, rest)


def tpot_s(requests: Table, chunks: Chunks) -> Floats:
    """(t_last - t_first) / (n - n_first)."""
    span, rest = _decode(requests, chunks)
    each: Floats = span / rest
    return each


def tok_s_user(requests: Table, chunks: Chunks) -> Floats:
    """1 / TPOT of each request."""
    span, rest = _decode(requests, chunks)
    each: Floats = rest / span
    return each


def tok_s_user_e2e(requests: Table) -> Floats:
    """n / E2EL of each request: the wait for the first token included."""
    whole = e2el_s(requests)
    each: Floats = requests["output_tok"] / np.where(whole > 0, whole, np.nan)
    return each


def tokens_per_chunk(requests: Table) -> Floats:
    """n / output chunks: about the acceptance length under speculative decoding."""
    count = requests["chunks"]
    return _only(ok(requests), requests["output_tok"] / np.where(count > 0, count, np.nan))


def gaps(requests: Table, chunks: Chunks) -> tuple[GapHistogram, GapHistogram, int]:
    """(ICL, ITL, requests covered). ICL: every gap between output chunks. ITL: the gap divided by the tokens it
    brought, counted once a token, so its mean is weighted by tokens. A chunk without a token of its own (half a
    character, a tool call's opening) brings none: its gap belongs to the next chunk that does."""
    icl, itl = GapHistogram(), GapHistogram()
    covered = ~failed(requests) & chunks.present(requests)
    for slab in chunks.slabs(requests, covered):
        later = ~slab.first
        icl.add(slab.gap_us[later].astype(np.float64), np.ones(int(later.sum()), dtype=np.int64))
        event = slab.first | (slab.tok > 0)
        row, at, tok = slab.row[event], slab.at_us[event], slab.tok[event]
        same = row[1:] == row[:-1]
        brought = tok[1:][same]
        itl.add((at[1:] - at[:-1])[same] / brought, brought)
    return icl, itl, int(np.count_nonzero(covered))


def latencies(sample: Traffic) -> dict[str, Any]:
    """Distributions of the requests sent in the window."""
    sent, chunks = sample.sent, sample.run.chunks
    bad = int(np.count_nonzero(failed(sent)))
    per_request = {
        "ttft_s": ttft_s(sent),
        "ttft_answer_s": ttft_answer_s(sent),
        "tpot_s": tpot_s(sent, chunks),
        "e2el_s": e2el_s(sent),
        "ttft_from_due_s": ttft_from_due_s(sent),
        "e2el_from_due_s": e2el_from_due_s(sent),
        "tokens_per_chunk": tokens_per_chunk(sent),
        "tok_s_user": tok_s_user(sent, chunks),
        "tok_s_user_e2e": tok_s_user_e2e(sent),
    }
    rows: dict[str, Any] = {name: describe(values, failed=bad) for name, values in per_request.items()}
    icl, itl, covered = gaps(sent, chunks)
    rows |= {"icl_s": icl.describe(covered), "itl_s": itl.describe(covered)}
    rows["client_queue_s"] = describe(client_queue_s(sent))
    rows["prompt_tok"] = describe(sent["prompt_tok"])
    rows["output_tok_per_request"] = describe(_only(ok(sent), sent["output_tok"]), failed=bad)
    return rows
