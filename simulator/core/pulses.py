"""The pulses of several client processes as one, as if a single process had sent the whole traffic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from simulator.core.record import Pulse

STAGES = ("setup", "warmup", "ramp", "window", "drain", "synthetic", "done")
#: what is counted anew between two pulses; all other whole numbers are totals or levels
_SINCE = tuple(f.name for f in fields(Pulse) if f.name.startswith("lag_"))
_TRAFFIC = ("output_tok", "requests_done", "requests_failed", "sessions_done")
_OWN = {"t_s", "stage", "ends_s", "kind", "loop_lag_s", "cpu_share", "cpu_shares", "slots", *_SINCE, *_TRAFFIC}


def together(latest: Sequence[Pulse], fresh: Sequence[Sequence[Pulse]]) -> Pulse:
    """latest: each process's last pulse. fresh: of each process, what it wrote since the pulses were last put together
    (none, when it stalled; `latest` then stands for it, but its lag and share are not counted again).

    The stage is that of the process that is least far, since the last one to begin or end a stage decides; traffic is
    summed over processes that are at the same kind. Lag: the largest, its ticks and counts added up. cpu_share: the
    largest of the processes', for the busiest one is the limit; cpu_shares: of each.
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
        **{name: sum(getattr(p, name) for p in new) for name in _SINCE},
        **{name: sum(getattr(p, name) for p in same) for name in _TRAFFIC},
        **{name: sum(getattr(p, name) for p in latest) for name in levels},
    )


def _progress(pulse: Pulse) -> tuple[bool, int]:
    return pulse.kind == "synthetic", STAGES.index(pulse.stage)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
