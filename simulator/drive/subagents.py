"""A turn's sub-agents: conversations of their own in their parent's workspace, all at once; the parent waits.

Their requests and tool runs are lines of their own with `branch`; their time is in no part of the session's wall but
the parent's wait. One that fails, or that meets a fault of ours, ends alone, and its error stands for its report.
"""

from __future__ import annotations

import asyncio

from simulator.core.plan import SessionPlan, Turn
from simulator.drive.stage import Stage
from simulator.drive.talk import Talk
from simulator.drive.toolturn import Hands, Tally
from simulator.drive.wall import Wall


async def run_subagents(stage: Stage, plan: SessionPlan, slot: int, turn: Turn, tally: Tally) -> list[str]:
    """Plays all branches that the turn spawns. Their tool calls are added to the tally. Returns an error a sub-agent,
    "" for one that was played to its end (or stopped with the run); raises only on cancellation, when all of them
    have ended."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_play(stage, plan, slot, number, tally)) for number in turn.spawns]
    return [task.result() for task in tasks]


async def _play(stage: Stage, plan: SessionPlan, slot: int, number: int, tally: Tally) -> str:
    branch, wall = plan.branches[number], Wall(stage.now)
    talk = Talk(stage, plan, slot, wall, branch.turns, number + 1)
    hands = Hands(stage, plan, slot, wall, tally, number + 1)
    wall.cursor = stage.now()
    try:
        for turn in branch.turns:
            if turn.index and turn.think_s > 0:
                await stage.pause(turn.think_s)
                wall.book("think")
            if stage.stopping.is_set():
                return ""
            if not await talk.reply(turn, wall.cursor):
                return f"{branch.name}: {talk.error}" if talk.failed else ""
            await hands.carry_out(turn)
    except Exception as error:  # it is the sub-agent's alone, as a session's is its own
        return f"{branch.name}: {type(error).__name__}: {error}"[:300]
    return ""
