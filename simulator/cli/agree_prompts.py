"""The prompts of `sim agree`: turns out of a scenario's plans, as its clients would send them."""

from __future__ import annotations

import random

from simulator.cli.absent import sentences
from simulator.cli.planning import plan
from simulator.cli.screen import PlanningScreen
from simulator.core.plan import SessionPlan, Turn
from simulator.core.scenario import Scenario
from simulator.drive.greedy import Prompt
from simulator.errors import UsageError

#: a name for plans that are of no model yet; each request gets that of its server
MODEL = "agree"


def prompts_of(scenario: Scenario, turns: int, max_tok: int) -> list[Prompt]:
    """So many turns drawn by the scenario's seed from all that its sessions play, in order of session and turn; all of
    them where there are fewer. UsageError when none leaves room for a reply."""
    print(*(f"{line}\n" for line in sentences(scenario)), sep="", end="")
    with PlanningScreen(plain=False) as screen:
        folder = plan(scenario, MODEL, screen.progress)
    room = scenario.context_window_tok - max_tok
    every = [
        (row.session, turn.index)
        for row in folder.sessions
        for turn in _asks(folder.load(row.session))
        if turn.prompt_tok <= room
    ]
    if not every:
        raise UsageError(
            f"no turn of {scenario.name} leaves room for {max_tok:,} tokens in {scenario.context_window_tok:,}: give a "
            "smaller --max-tokens, or a larger context_window_tok"
        )
    chosen = set(random.Random(f"agree/{scenario.seed}").sample(every, min(turns, len(every))))
    return [
        Prompt(row.session, turn.index, row.profile, loaded.body(turn, forced=False))
        for row in folder.sessions
        if any(session == row.session for session, _ in chosen)
        for loaded in (folder.load(row.session),)
        for turn in _asks(loaded)
        if (row.session, turn.index) in chosen
    ]


def _asks(plan: SessionPlan) -> list[Turn]:
    """Requests of the agent itself that this run would send."""
    return [turn for turn in plan.turns[plan.start_turn : plan.last_turn] if turn.purpose == "agent"]
