"""Which kind of session a plan is."""

from __future__ import annotations

from simulator.core.plan import SessionPlan
from simulator.drive.livesession import LiveRunner
from simulator.drive.seat import Seat
from simulator.drive.session import SessionRunner
from simulator.drive.stage import Stage


def runner(stage: Stage, plan: SessionPlan, slot: int, t_due_s: float | None = None) -> Seat:
    """What plays it in that slot. t_due_s: when an open loop wants it to arrive."""
    if plan.live is not None:
        return LiveRunner(stage, plan, slot, plan.live, t_due_s)
    return SessionRunner(stage, plan, slot, t_due_s)
