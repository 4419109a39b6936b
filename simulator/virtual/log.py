"""What a simulation leaves: the same records as a run in real time, to be written or folded.

Records are held in memory, or with a spool on disk until they are put in order; `loads` counts them either way.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

import numpy as np

from simulator.core.chunks import pack
from simulator.core.record import EngineSample, Request, Session, ToolRun
from simulator.virtual.replica import Sent
from simulator.virtual.spool import Sheet, Spool
from simulator.virtual.tally import Load, Times

KINDS = ("agent", "synthetic")
#: with more slots than this, pulses tell sums alone: thousands of rows twice a second fill a disk and no screen
SHOWN_SLOTS = 256


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
    """requests: (record, microseconds since the previous chunk, tokens of each chunk), numbered by `sort`; with a spool
    it and `tools` stay empty. spool: where they are written as they end; sheets: what spools have left. shown: records
    of the slots that pulses tell one by one. tool_times: of all tool calls."""

    requests: list[tuple[Request, array[int], array[int]]] = field(default_factory=list)
    tools: list[ToolRun] = field(default_factory=list)
    sessions: list[Session] = field(default_factory=list)
    samples: list[EngineSample] = field(default_factory=list)
    loads: dict[str, Load] = field(default_factory=lambda: {kind: Load() for kind in KINDS})
    tool_times: Times = field(default_factory=Times)
    shown: list[Request] = field(default_factory=list)
    spool: Spool | None = None
    sheets: list[Sheet] = field(default_factory=list)

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
        at_s = np.array(times)
        gaps_us = np.diff(np.rint((at_s - sent.sent_s) * 1e6), prepend=0.0).astype(np.uint32)
        tokens = np.array(sent.tokens, np.uint16)
        self.loads[stamp.kind].arrived(at_s, tokens)
        self._keep(record, array("I", gaps_us.tobytes()), array("H", tokens.tobytes()))
        return record

    def refuse(self, stamp: Stamp, t_s: float, detail: str) -> None:
        """A request that does not fit the engine's context, answered at once with 400."""
        record = Request(
            "", stamp.kind, stamp.session, stamp.slot, stamp.turn, -1, stamp.purpose, 0, t_s, t_s, t_s, None, None,
            None, t_s, 400, None, None, None, None, "none", stamp.planned_prompt_tok, stamp.planned_output_tok, 0, -1,
            "", "failed", "context_overflow", detail, branch=stamp.branch,
        )  # fmt: skip
        self._keep(record, array("I"), array("H"))

    def _keep(self, record: Request, gaps_us: array[int], tokens: array[int]) -> None:
        self.loads[record.kind].ended(record.t_call_s, record.t_end_s, record.outcome)
        if record.kind == "agent" and record.branch == 0 and record.slot < SHOWN_SLOTS:
            self.shown.append(record)
        if self.spool is None:
            self.requests.append((record, gaps_us, tokens))
        else:
            key = (record.t_call_s, record.slot, record.branch, record.turn)
            self.spool.requests.add(record, key, pack(gaps_us, tokens))

    def tool(self, call: ToolRun) -> None:
        self.tool_times.add(call.t_ready_s, call.t_release_s)
        if self.spool is None:
            self.tools.append(call)
        else:
            self.spool.tools.add(call, (call.t_release_s, call.slot, call.branch, call.turn, call.call))

    def close(self) -> None:
        """Nothing more is logged: what is in the spool is on disk."""
        if self.spool is not None:
            self.sheets, self.spool = self.spool.close(), None

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
        self.shown += other.shown
        self.sheets += other.sheets
        self.tool_times.extend(other.tool_times)
        for kind, load in other.loads.items():
            self.loads[kind].extend(load)
