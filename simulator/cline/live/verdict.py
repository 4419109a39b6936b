"""Why a live session solved nothing, from how it ended and what its check says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from simulator.cline.guard import SOFT

End = Literal["done", "silent", "no_tool", "loop_guard", "mistakes", "limit", "cut_off", "overflow", "engine"]


@dataclass(frozen=True, slots=True)
class Ending:
    """end: "done", it said so; "silent", an answer without a word; "no_tool", the client had no sound call for too
    long; "loop_guard", the client saw one call too often; "mistakes", too many calls of tools that there are not;
    "limit", one of core.live.Limits; "cut_off", replies that ended at their length limit; "overflow", the window;
    "engine", its requests failed.
    malformed: since the last sound call, or in the answer that ended it, one could not be read. same: how often the
    last call came in a row."""

    end: End
    malformed: bool = False
    same: int = 0


def failure_class(ending: Ending, *, solved: bool) -> str:
    """One of core.record.FAILURES, "" for a task that is solved, however its session ended."""
    if solved:
        return ""
    match ending.end:
        case "done":
            return "malformed_calls" if ending.malformed else "wrong_answer"
        case "silent" | "no_tool":
            return "malformed_calls" if ending.malformed else "gave_up"
        case "mistakes":
            return "malformed_calls"
        case "loop_guard":
            return "loop"
        case "limit" | "cut_off":
            return "loop" if ending.same >= SOFT else "time_out"
        case "overflow":
            return "context_overflow"
        case "engine":
            return "engine_error"
