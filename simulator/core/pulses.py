"""The pulses of several client processes as one, as if a single process had sent the whole traffic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from simulator.core.certify import LIMITS
from simulator.core.record import Pulse

STAGES = ("setup", "warmup", "ramp", "window", "drain", "synthetic", "done")
#: what is counted anew between two pulses; all other whole numbers are totals or levels
_SINCE = tuple(f.name for f in fields(Pulse) if f.name.startswith("lag_"))
_TRAFFIC = ("output_tok", "requests_done", "requests_failed", "sessions_done")
_LATE = f"lag_over_{1e3 * LIMITS['loop_lag_p99_s']:.0f}ms"
_OWN = {"t_s", "stage", "ends_s", "kind", "loop_lag_s", "cpu_share", "cpu_shares", "slots", *_SINCE, *_TRAFFIC}


class WorstLag:
    """The lag of `count` processes as that of the one that was past the limit most often in the stage so far, so that
    a quantile of it is the worst process's and no average over all. When another takes the lead, the counts before stay
    the former's, which were no fewer than its own: the worst process never reads better than it was.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._stage = ("", "")
        self._so_far = [(0, 0)] * count

    def counts(self, kind: str, stage: str, fresh: Sequence[Sequence[Pulse]]) -> dict[str, int]:
        """fresh: as in `together`, of all `count` processes -> lag_ticks and lag_over_... since the last call."""
        if (kind, stage) != self._stage:
            self._stage, self._so_far = (kind, stage), [(0, 0)] * len(self._so_far)
        each = [{name: sum(getattr(p, name) for p in pulses) for name in _SINCE} for pulses in fresh]
        self._so_far = [
            (late + new[_LATE], slow + sum(new.values()) - new["lag_ticks"])
            for (late, slow), new in zip(self._so_far, each, strict=True)
        ]
        return each[max(range(len(each)), key=self._so_far.__getitem__)]


def together(latest: Sequence[Pulse], fresh: Sequence[Sequence[Pulse]], worst: WorstLag | None = None) -> Pulse:
    """latest: each process's last pulse. fresh: of each process, what it wrote since the pulses were last put together
    (none, when it stalled; `latest` then stands for it, but its lag and share are not counted again).

    The stage is that of the process that is least far, since the last one to begin or end a stage decides; traffic is
    summed over processes that are at the same kind. Lag: the largest, with the ticks and counts of the worst process
    (`worst` remembers which that is; None: of this beat alone). cpu_share: the largest of the processes', for the
    busiest one is the limit; cpu_shares: of each.
    """
    behind = min(latest, key=_progress)
    same = [pulse for pulse in latest if pulse.kind == behind.kind]
    new = [pulse for pulses in fresh for pulse in pulses]
    shares = [
        _mean([p.cpu_share for p in pulses] or [last.cpu_share]) for last, pulses in zip(latest, fresh, strict=True)
    ]
    ends = [p.ends_s for p in same if p.stage == behind.stage and p.ends_s is not None]
    levels = [f.name for f in fields(Pulse) if f.name not in _OWN]
    return Pulse(
        t_s=max(p.t_s for p in latest),
        stage=behind.stage,
        ends_s=max(ends, default=None),
        kind=behind.kind,
        loop_lag_s=max((p.loop_lag_s for p in new), default=0.0),
        cpu_share=max(shares),
        cpu_shares=shares,
        slots=sorted((slot for p in same for slot in p.slots), key=lambda slot: slot.slot),
        **(worst or WorstLag(len(fresh))).counts(behind.kind, behind.stage, fresh),
        **{name: sum(getattr(p, name) for p in same) for name in _TRAFFIC},
        **{name: sum(getattr(p, name) for p in latest) for name in levels},
    )


def _progress(pulse: Pulse) -> tuple[bool, int]:
    return pulse.kind == "synthetic", STAGES.index(pulse.stage)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
