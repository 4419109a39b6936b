"""How long recorded tools took and recorded people paused: seeded draws from measured shapes.

The figures are medians and 90th percentiles of auto-approving clients: the classic client waits for its diff view and
terminals (edits take seconds), the sdk client hardly at all; commands have the long tail of test suites and builds.
"""

from __future__ import annotations

import math
import random

from simulator.core.action import Action, Command, Complete, Delegate, Edit, Propose, SwitchToAct, Write
from simulator.core.plan import SessionPlan, Turn
from simulator.core.scenario import Think

Z90 = 1.2815515655446004
#: (median_s, p90_s, cap_s)
_TOOL = {
    "classic": {"look": (0.35, 1.2, 5.0), "edit": (3.0, 5.0, 12.0), "command": (1.8, 15.0, 60.0)},
    "sdk": {"look": (0.15, 0.6, 5.0), "edit": (0.2, 0.8, 5.0), "command": (1.5, 15.0, 60.0)},
}
#: a person answers or approves in one pause of sixteen
_PERSON_SHARE, _PERSON = 1 / 16, (20.0, 130.0, 300.0)


def lognormal(rng: random.Random, median: float, p90: float, cap: float) -> float:
    """A draw with this median and 90th percentile, at most `cap`; rounded to a millisecond."""
    sigma = math.log(p90 / median) / Z90
    return round(min(cap, median * math.exp(sigma * rng.gauss(0.0, 1.0))), 3)


def tool_s(rng: random.Random, client: str, action: Action) -> float:
    """client: "classic" | "sdk"."""
    match action:
        case Complete() | Propose() | SwitchToAct() | Delegate():
            return 0.0
        case Edit() | Write():
            return lognormal(rng, *_TOOL[client]["edit"])
        case Command():
            return lognormal(rng, *_TOOL[client]["command"])
        case _:
            return lognormal(rng, *_TOOL[client]["look"])


def think_s(rng: random.Random, think: Think) -> float:
    if think.kind == "none":
        return 0.0
    if think.kind == "recorded":
        return lognormal(rng, *_PERSON) if rng.random() < _PERSON_SHARE else 0.0
    assert think.median_s is not None and think.p90_s is not None
    return lognormal(rng, think.median_s, think.p90_s, think.cap_s)


def answer_s(rng: random.Random, think: Think) -> float:
    """A person reads a plan and answers it; no pause where the scenario has none."""
    return 0.0 if think.kind == "none" else lognormal(rng, *_PERSON)


#: seconds a token, faster than any engine decodes for one session
_FASTEST_TOKEN_S = 0.003
_FASTEST_CALL_S = 0.02


def floor_s(plan: SessionPlan, *, paced: bool) -> float:
    """A time that no engine and no machine beat for what is left of this session; decides how many more sessions its
    slot needs."""
    total = 0.0
    for turn in plan.turns[plan.start_turn : plan.last_turn]:
        total += _turn_s(turn, paced)
        total += max((sum(_turn_s(t, paced) for t in plan.branches[n].turns) for n in turn.spawns), default=0.0)
    return total


def _turn_s(turn: Turn, paced: bool) -> float:
    tok = turn.output_tok if turn.stop_after_tok is None else turn.stop_after_tok
    calls = sum(call.recorded_s if paced else _FASTEST_CALL_S for call in turn.calls)
    return turn.think_s + tok * _FASTEST_TOKEN_S + calls
