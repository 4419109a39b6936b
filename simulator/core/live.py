"""How a live session begins: all that its client must know before the model's first reply, and the recorded way to the
solution, where there is one, to see how far the model leaves it."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.core.action import Action, Listing
from simulator.core.usage import UsageAsked


@dataclass(frozen=True, slots=True)
class Limits:
    """What ends a live session that does not end by itself. turns: replies, summaries included; session_s: from the
    ready workspace on; output_tok: generated in all, sub-agents left out. reply_tok: of one reply, sent with each
    request as a user would set it; None, none is sent."""

    turns: int
    session_s: float
    output_tok: int
    reply_tok: int | None = None


@dataclass(frozen=True, slots=True)
class LiveStart:
    """prompt: the request in words. model: name in the requests. listing, latest_commit: of the repository. path: what
    each recorded step does; () when nothing is recorded. pauses_s: before each turn, begun again when used up. answer:
    what the user says to a plan. usage: as the scenario has it. The others: as cline.setup.Setup has them."""

    prompt: str
    model: str
    repo_name: str
    listing: Listing
    latest_commit: str
    start_unix_s: float
    context_window_tok: int
    limits: Limits
    path: tuple[tuple[Action, ...], ...] = ()
    pauses_s: tuple[float, ...] = ()
    answer: str = ""
    plan_mode: bool = False
    subagents: bool = False
    parallel_tool_calls: bool = True
    cached_double_count: bool = False
    usage: UsageAsked = "end"
