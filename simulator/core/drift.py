"""Whether the engine sped up or slowed down inside the window, and how much of that is noise."""

from __future__ import annotations

import numpy as np

from simulator.core.latency import e2el_s
from simulator.core.stats import mean, quantile, ratio, t_95
from simulator.core.table import Floats
from simulator.core.throughput import still_sending_s, tokens_between
from simulator.core.window import Traffic

#: bins of a half are this many median E2EL long, so that neighbours hardly share requests and waves do not alias
BIN_E2EL = 3.0
BINS = (3, 12)
#: a change smaller than this is not worth a word, however sure
WORTH = 0.05


def drift(sample: Traffic) -> dict[str, float | None]:
    """{drift, drift_margin}. drift: (second half / first half) - 1 of output tokens, over the part of the window in
    which requests were still being sent: a fixed number of requests leaves a tail that is no drift. None without a
    steady window, or when that part is less than half of it.

    drift_margin: half width of the 95 % interval around it, by batch means: bins of at least three median E2EL, delta
    method, Student's t. None when a half holds fewer than three such bins: then nothing can be called drift.
    """
    window, sending_s = sample.window, still_sending_s(sample)
    if not window.steady or sending_s - window.start_s < window.length_s / 2:
        return {"drift": None, "drift_margin": None}
    half_s = (sending_s - window.start_s) / 2
    least_s = BIN_E2EL * (quantile(e2el_s(sample.sent), 0.5) or np.inf)
    bins = min(BINS[1], int(half_s / least_s)) if least_s > 0 else 0
    edges = np.linspace(window.start_s, sending_s, 2 * max(bins, 1) + 1)
    arrived = tokens_between(sample, edges)
    first, second = arrived[: len(arrived) // 2], arrived[len(arrived) // 2 :]
    against = ratio(mean(second), mean(first))
    margin = None if against is None or bins < BINS[0] else _margin(first, second)
    return {"drift": None if against is None else against - 1, "drift_margin": margin}


def _margin(first: Floats, second: Floats) -> float:
    """Of mean(second) / mean(first), the means of (n,) bins each."""
    n, below = len(first), float(first.mean())
    against = float(second.mean()) / below
    spread = float(second.var(ddof=1)) + against**2 * float(first.var(ddof=1))
    return t_95(2 * n - 2) * float(np.sqrt(spread / n)) / below


def is_drift(found: float | None, margin: float | None) -> bool:
    """Past 5 % and past its own interval."""
    return found is not None and margin is not None and abs(found) > max(WORTH, margin)
