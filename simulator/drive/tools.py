"""What a session needs of the world its tools act on. The tool host (a process of its own) is one; its names rule."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from simulator.core.action import (
    Action,
    Command,
    Complete,
    Declined,
    Definitions,
    Delegate,
    Edit,
    Insert,
    ListFiles,
    Outcome,
    Propose,
    ReadFile,
    Recorded,
    Refused,
    Search,
    SwitchToAct,
    Write,
)
from simulator.core.plan import SessionPlan
from simulator.core.task import Check


@dataclass(frozen=True, slots=True)
class Replayed:
    """One action done for real. t_start, t_end: time.monotonic() of the work itself. matched: the outcome equals the
    recorded one after normalising; difference: first differing line, shortened."""

    t_start: float
    t_end: float
    result_chars: int
    exit_code: int | None
    matched: bool
    difference: str


@dataclass(frozen=True, slots=True)
class Done:
    """t_start, t_end: time.monotonic() of the work itself, the same clock in every process of a machine."""

    outcome: Outcome
    t_start: float
    t_end: float


class Tools(Protocol):
    async def setup(self, plan: SessionPlan, earlier: Sequence[Action]) -> None:
        """Workspace of this session: checkout on an own branch, earlier edits applied and committed."""

    async def replay(self, session: str, action: Action, recorded: str) -> Replayed: ...

    async def do(self, session: str, action: Action) -> Done: ...

    async def commit(self, session: str, message: str) -> bool:
        """True when there was something to commit."""

    async def check(self, session: str, check: Check) -> list[str]: ...

    async def finish(self, session: str) -> tuple[str, str]:
        """(final diff, "n files +a -r"); the workspace is removed unless the run keeps workspaces."""


class RecordedTools:
    """Tools that are not carried out: each answers at once with what was recorded. For load without workspaces."""

    async def setup(self, plan: SessionPlan, earlier: Sequence[Action]) -> None:
        return None

    async def replay(self, session: str, action: Action, recorded: str) -> Replayed:
        now = time.monotonic()
        return Replayed(now, now, len(recorded), None, True, "")

    async def do(self, session: str, action: Action) -> Done:
        now = time.monotonic()
        return Done(Refused("Nothing is carried out here."), now, now)

    async def commit(self, session: str, message: str) -> bool:
        return False

    async def check(self, session: str, check: Check) -> list[str]:
        return []

    async def finish(self, session: str) -> tuple[str, str]:
        return "", "0 files +0 -0"


def tool_name(action: Action) -> str:
    match action:
        case ListFiles():
            return "list"
        case ReadFile():
            return "read"
        case Search():
            return "search"
        case Definitions():
            return "definitions"
        case Edit() | Insert():
            return "edit"
        case Write():
            return "write"
        case Command():
            return "command"
        case Complete():
            return "complete"
        case Propose():
            return "propose"
        case SwitchToAct():
            return "switch"
        case Delegate():
            return "delegate"
        case Declined():
            return "declined"
        case Recorded(tool):
            return tool


def edits(action: Action) -> bool:
    return isinstance(action, Edit | Insert | Write)
