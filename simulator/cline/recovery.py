"""What each client does after a request went wrong: events in, moves out, nothing else.

How often and how fast a request is repeated is retry.py's; here is what else a client knows: which replies it takes
for its answer, which it complains about in the history, when it has had enough.

    classic   a stream cut after output, a reply ended by its length limit, one without a tool that it can call: counted
              as a reply, answered by a complaint; the third mistake in a row ends the task.
    sdk       a cut stream ends the run; a reply ended by its length limit is answered by a compaction, then by three
              complaints; broken arguments are repaired in silence; an unknown tool is answered by an error result (six
              mistakes, or five equal calls, in a row end the run); a reply without a call is the end of the task.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from simulator.cline.profiles import profile
from simulator.cline.retry import Change, next_try

Complaint = Literal["", "no_tool", "missing_argument", "unknown_tool", "cut_off"]
#: mistakes in a row at which a client gives up
MISTAKES = {"classic": 3, "sdk": 6}
SAME_CALLS = 5
CUT_OFFS = 3
#: longer than this, a Retry-After is not heeded
RETRY_AFTER_LIMIT_S = 60.0
_CLASSIC_COMPLAINTS: dict[str, Complaint] = {
    "length": "no_tool",
    "call_in_text": "no_tool",
    "bad_arguments": "missing_argument",
    "unknown_tool": "unknown_tool",
}


@dataclass(frozen=True, slots=True)
class Event:
    """A reply as the client sees it. error: one of core/record.ERRORS, or "". defect: one of core/outcome.DEFECTS, or
    "". spoke: output came. call: its first tool call, name and arguments. retry_after_s: as the server asked."""

    error: str = ""
    defect: str = ""
    spoke: bool = True
    call: str = ""
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """go_on: false, the session ends. again: send the request once more after delay_s, when the history has been
    changed and the complaint has entered it behind what came."""

    go_on: bool
    again: bool = False
    delay_s: float = 0.0
    change: Change = ""
    complaint: Complaint = ""
    why: str = ""


ON = Move(True)


@dataclass(frozen=True, slots=True)
class Recovery:
    """A conversation's troubles so far. tries: sends of the present request that failed; mistakes: replies in a row
    that were complained about; cut_offs: of the present turn; call, same: the last call and how often in a row."""

    profile_name: str
    tries: int = 0
    mistakes: int = 0
    cut_offs: int = 0
    call: str = ""
    same: int = 0

    def after(self, event: Event) -> tuple[Recovery, Move]:
        client = profile(self.profile_name).client
        if event.error == "empty" or (event.defect == "reasoning_only" and client == "classic"):
            return self._failed("empty", event)
        if event.error and not (event.error == "cut" and event.spoke and client == "classic"):
            return self._failed(event.error, event)
        if not event.error and not event.defect:
            return Recovery(self.profile_name), ON
        return self._classic(event) if client == "classic" else self._sdk(event)

    def _failed(self, error: str, event: Event) -> tuple[Recovery, Move]:
        tries = self.tries + 1
        step = next_try(self.profile_name, error, tries)
        if step is None:
            return self, Move(False, why="no further try")
        asked_s = event.retry_after_s or 0.0
        delay_s = max(step.delay_s, asked_s if asked_s <= RETRY_AFTER_LIMIT_S else 0.0)
        return replace(self, tries=tries), Move(True, True, delay_s, step.change)

    def _classic(self, event: Event) -> tuple[Recovery, Move]:
        return self._mistake("classic", _CLASSIC_COMPLAINTS.get(event.defect, "no_tool"))

    def _sdk(self, event: Event) -> tuple[Recovery, Move]:
        match event.defect:
            case "bad_arguments":
                return Recovery(self.profile_name), ON
            case "length":
                if self.cut_offs > CUT_OFFS:
                    return self, Move(False, why=f"the reply was cut off again after {CUT_OFFS} complaints")
                after = replace(self, cut_offs=self.cut_offs + 1, tries=0)
                first = self.cut_offs == 0
                return after, Move(True, True, change="compact") if first else Move(True, True, complaint="cut_off")
            case "unknown_tool":
                same = self.same + 1 if event.call == self.call else 1
                if same >= SAME_CALLS:
                    return self, Move(False, why=f"the same call {SAME_CALLS} times in a row")
                return replace(self, call=event.call, same=same)._mistake("sdk", "unknown_tool")
            case _:
                return self, Move(False, why="the client took a reply without a tool call for the end of the task")

    def _mistake(self, client: str, complaint: Complaint) -> tuple[Recovery, Move]:
        mistakes = self.mistakes + 1
        if mistakes >= MISTAKES[client]:
            return self, Move(False, why=f"{mistakes} mistakes in a row")
        return replace(self, mistakes=mistakes, tries=0), Move(True, True, complaint=complaint)
