"""What an engine's /metrics say about it at this moment, from its last samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from simulator.core.gauges import ACCEPTED, DRAFTS, HITS, KV_USE, LAG, PREEMPTIONS, QUERIES, RUNNING, WAITING
from simulator.core.limit import Signs

STALE_S = 5.0
RECENT_S = 10.0
#: (run time in seconds, metric name -> value)
Sample = tuple[float, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Gauges:
    """None where the engine does not say.

    hits: share of looked-up prefix tokens found in the cache over the last 10 s. acceptance: tokens a sequence got in
    a step that had drafts, same time. backlog: requests open at the client that the engine neither runs nor queues,
    mean of that time, since single scrapes are never of quite the same moment. late_s: how far an emulation lags behind
    its own model. signs: means of that time, for the question where the limit is. error: why there are no values.
    """

    running: int | None = None
    waiting: int | None = None
    kv_share: float | None = None
    hits: float | None = None
    acceptance: float | None = None
    preemptions: int | None = None
    backlog: int | None = None
    late_s: float | None = None
    signs: Signs = field(default_factory=Signs)
    error: str = ""


def read_gauges(
    samples: Sequence[Sample], failure: tuple[float, str], now_s: float, open_at: Callable[[float], int | None],
    since_s: float = 0.0,
) -> Gauges:  # fmt: skip
    """samples: good ones, oldest first; failure: time and text of the last bad one; open_at: how many requests the
    client had open about then; since_s: when the load that the signs are of began. Without values when the last good
    sample is older than STALE_S at `now_s`."""
    failed_s, error = failure
    if not samples or now_s - samples[-1][0] > STALE_S:
        return Gauges(error=error if now_s - failed_s < 2 * STALE_S else "")
    t_s, new = samples[-1]
    recent = [sample for sample in samples if sample[0] >= t_s - RECENT_S]
    old, signs = recent[0][1], _signs([sample for sample in recent if sample[0] > since_s], open_at)
    accepted = _ratio(old, new, ACCEPTED, DRAFTS)
    return Gauges(
        running=_whole(new, RUNNING),
        waiting=_whole(new, WAITING),
        kv_share=new.get(KV_USE),
        hits=_ratio(old, new, HITS, QUERIES),
        acceptance=None if accepted is None else 1 + accepted,
        preemptions=_whole(new, PREEMPTIONS),
        backlog=None if signs.backlog is None else max(0, round(signs.backlog)),
        late_s=new.get(LAG),
        signs=signs,
    )


def _signs(recent: Sequence[Sample], open_at: Callable[[float], int | None]) -> Signs:
    def mean(name: str) -> float | None:
        told = [values[name] for _, values in recent if name in values]
        return sum(told) / len(told) if told else None

    told = [(count, values) for t_s, values in recent if (count := open_at(t_s)) is not None]
    behind = [n - v[RUNNING] - v[WAITING] for n, v in told if RUNNING in v and WAITING in v]
    old, new = (values.get(PREEMPTIONS) for _, values in (recent[0], recent[-1])) if recent else (None, None)
    return Signs(
        in_flight=sum(n for n, _ in told) / len(told) if told else None,
        backlog=sum(behind) / len(behind) if behind else None,
        running=mean(RUNNING),
        waiting=mean(WAITING),
        kv_use=mean(KV_USE),
        preemptions=None if old is None or new is None else max(0.0, new - old),
    )


def _whole(values: Mapping[str, float], name: str) -> int | None:
    value = values.get(name)
    return None if value is None else round(value)


def _ratio(old: Mapping[str, float], new: Mapping[str, float], part: str, whole: str) -> float | None:
    """Growth of `part` over growth of `whole`; None when nothing happened or a counter was reset."""
    if not {part, whole} <= old.keys() & new.keys():
        return None
    grown, of = new[part] - old[part], new[whole] - old[whole]
    return grown / of if of > 0 and grown >= 0 else None
