"""What a simulation leaves: the same records as a run in real time, in memory, to be written or folded."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from itertools import pairwise

from simulator.core.record import EngineSample, Pulse, Request, Session, ToolRun
from simulator.virtual.replica import Sent


@dataclass(frozen=True, slots=True)
class Stamp:
    """Whose request it is. Fields as in core/record.Request."""

    kind: str
    session: str
    slot: int
    turn: int
    purpose: str
    planned_prompt_tok: int
    planned_output_tok: int
    branch: int = 0


@dataclass(slots=True)
class Log:
    """requests: (record, microseconds since the previous chunk, tokens of each chunk); their numbers are given by
    `sort`."""

    requests: list[tuple[Request, array[int], array[int]]] = field(default_factory=list)
    tools: list[ToolRun] = field(default_factory=list)
    sessions: list[Session] = field(default_factory=list)
    samples: list[EngineSample] = field(default_factory=list)
    pulses: list[Pulse] = field(default_factory=list)

    def reply(self, stamp: Stamp, sent: Sent, t_due_s: float, t_end_s: float, outcome: str = "ok") -> Request:
        """A request that was sent. outcome: "ok" | "cancelled"."""
        ok, times = outcome == "ok", sent.times_s
        whole = sent.emitted_tok == sent.reply_tok
        record = Request(
            run="",
            kind=stamp.kind,
            session=stamp.session,
            slot=stamp.slot,
            turn=stamp.turn,
            request=-1,
            purpose=stamp.purpose,
            retry=0,
            t_due_s=t_due_s,
            t_call_s=sent.sent_s,
            t_sent_s=sent.sent_s,
            t_first_s=times[0] if times else None,
            t_first_answer_s=times[0] if times else None,
            t_last_s=times[-1] if times else None,
            t_end_s=t_end_s,
            status=200,
            prompt_tok=sent.prompt_tok if times else None,
            cached_tok=max(0, sent.cached_tok) if ok and whole else None,
            output_tok=sum(sent.tokens) if times else None,
            reasoning_tok=None,
            output_source="continuous" if times else "none",
            planned_prompt_tok=stamp.planned_prompt_tok,
            planned_output_tok=stamp.planned_output_tok,
            chunks=len(times),
            chunks_at=-1,
            finish="length" if ok and whole else "",
            outcome=outcome,
            error="" if ok else "cancelled",
            server_ttft_s=sent.first_s - sent.arrival_s if times else None,
            branch=stamp.branch,
            stopped=ok and not whole,
        )
        marks = [round((t - sent.sent_s) * 1e6) for t in times]
        gaps = [b - a for a, b in pairwise([0, *marks])]
        self.requests.append((record, array("I", gaps), array("H", sent.tokens)))
        return record

    def refuse(self, stamp: Stamp, t_s: float, detail: str) -> None:
        """A request that does not fit the engine's context, answered at once with 400."""
        record = Request(
            "", stamp.kind, stamp.session, stamp.slot, stamp.turn, -1, stamp.purpose, 0, t_s, t_s, t_s, None, None,
            None, t_s, 400, None, None, None, None, "none", stamp.planned_prompt_tok, stamp.planned_output_tok, 0, -1,
            "", "failed", "context_overflow", detail, branch=stamp.branch,
        )  # fmt: skip
        self.requests.append((record, array("I"), array("H")))

    def sort(self, run: str) -> None:
        """By time, ties by place; numbers the requests in order of their calls."""
        self.requests.sort(key=lambda r: (r[0].t_call_s, r[0].slot, r[0].branch, r[0].turn))
        for number, (record, _gaps, _tokens) in enumerate(self.requests):
            record.run, record.request = run, number
        self.tools.sort(key=lambda t: (t.t_release_s, t.slot, t.branch, t.turn, t.call))
        self.sessions.sort(key=lambda s: (s.t_end_s, s.slot))

    def extend(self, other: Log) -> None:
        self.requests += other.requests
        self.tools += other.tools
        self.sessions += other.sessions
        self.samples += other.samples
