"""A second Sender, which plays a script on whatever clock the loop has, and a plan with histories of both protocols."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from simulator.cline.profiles import profile as profile_of
from simulator.core.action import Action, ReadFile
from simulator.core.event import Reading
from simulator.core.plan import Branch, PlannedCall, SessionPlan, Turn
from simulator.core.record import Request, Session, ToolRun
from simulator.core.task import Check
from simulator.drive.meter import Meter
from simulator.drive.sender import Job, Reply
from simulator.drive.session import SessionRunner, Stage
from simulator.drive.tools import RecordedTools, Replayed

OFFERED = ("read_file", "edit_file")


@dataclass(frozen=True)
class Met:
    """What one request meets. took_s: from its send to its end."""

    error: str = ""
    defect: str = ""
    took_s: float = 1.0
    spoke: bool = True
    text: str = "half of an answ"
    calls: tuple[tuple[str, str], ...] = ()
    retry_after_s: float | None = None


OK = Met()


@dataclass
class Scripted:
    """script(job, n): what the n-th send meets. sent: (time, job)."""

    script: Callable[[Job, int], Met]
    sent: list[tuple[float, Job]] = field(default_factory=list)
    records: list[Request] = field(default_factory=list)
    open: int = 0
    most_open: int = 0

    async def send(self, job: Job) -> Reply:
        now = asyncio.get_running_loop().time
        met = self.script(job, len(self.sent))
        self.sent.append((now(), job))
        t_sent, self.open = now(), self.open + 1
        self.most_open = max(self.most_open, self.open)
        try:
            await asyncio.sleep(met.took_s)
        finally:
            self.open -= 1
        calls = [{"id": f"c{k}", "name": n, "arguments": a} for k, (n, a) in enumerate(met.calls)]
        spoke = met.spoke and met.error in ("", "cut")
        came = t_sent + met.took_s if spoke else None
        record = Request(
            "r", "agent", job.session, job.slot, job.turn, len(self.records), job.purpose, job.retry, job.t_due_s,
            t_sent, t_sent, came, None, came, now(), 200,
            job.prompt_tok, 0, job.output_tok, None, "usage", job.prompt_tok, job.output_tok, int(spoke), -1, "stop",
            "failed" if met.error else "ok", met.error, f"it was {met.error}" if met.error else "", branch=job.branch,
            defect=met.defect,
        )  # fmt: skip
        self.records.append(record)
        return Reply(record, Reading(text=met.text if spoke else "", tool_calls=calls), met.retry_after_s)


class SlowTools(RecordedTools):
    """Each call takes a second of the loop's time."""

    async def replay(self, session: str, action: Action, recorded: str) -> Replayed:
        now = asyncio.get_running_loop().time
        start = now()
        await asyncio.sleep(1.0)
        return Replayed(start, now(), len(recorded), None, recorded != "broken", "")


@dataclass
class Lines:
    tools: list[ToolRun] = field(default_factory=list)
    sessions: list[Session] = field(default_factory=list)

    def tool(self, record: ToolRun) -> None:
        self.tools.append(record)

    def session(self, record: Session) -> None:
        self.sessions.append(record)

    def diff(self, session: str, patch: str) -> None: ...
    def said(self, session: str, line: bytes) -> None: ...


def message(role: str, content: object, **more: object) -> bytes:
    return orjson.dumps({"role": role, "content": content, **more})


def history(profile: str, turns: int, words: int = 40) -> list[bytes]:
    """A system prompt, a task, then reply and result of each turn."""
    native, classic = profile_of(profile).calls == "native", profile_of(profile).client == "classic"
    pool = [message("system", "You are an agent. " * 20), message("user", "Do the task.")]
    for n in range(turns):
        text = f"reply {n} " + "word " * words
        if native:
            call = {"id": f"r{n}", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}
            said = message("assistant", text, tool_calls=[call])
            pool += [said, message("tool", "lacking" if classic else text, tool_call_id=f"r{n}")]
        else:
            pool.append(message("assistant", text))
        if classic:
            parts = [{"type": "text", "text": t} for t in (text, f"<environment_details>{n}</environment_details>")]
            pool.append(message("user", parts))
    return pool


def plan(profile: str, turns: int = 3, *, start: int = 0, spawns: dict[int, tuple[int, ...]] | None = None,
         branches: Sequence[Branch] = (), words: int = 40) -> SessionPlan:  # fmt: skip
    tools = [{"type": "function", "function": {"name": name}} for name in OFFERED]
    offers = b',"tools":' + orjson.dumps(tools) if profile_of(profile).calls == "native" else b""
    call = (PlannedCall(ReadFile("a"), "a", 0.0),)
    pool = tuple(history(profile, turns, words))
    each, sent_out = (len(pool) - 2) // turns, spawns or {}
    return SessionPlan(
        "s0000", "t", "coding", "medium", 1, "n", profile, "/home/dev/n",
        heads=(b'{"model":"m","messages":[',),
        pool=pool,
        tail=b"]" + offers + b',"stream":true',
        turns=tuple(
            Turn(i, "agent", tuple(range(each * i + 2)), "", 0, 1000 + i, 40, 0.0, call, spawns=sent_out.get(i, ()))
            for i in range(turns)
        ),
        check=Check("", ""), start_turn=start, branches=tuple(branches),
    )  # fmt: skip


@dataclass
class Played:
    session: Session
    sender: Scripted
    lines: Lines
    meter: Meter

    @property
    def times_s(self) -> list[float]:
        return [round(t, 6) for t, _ in self.sender.sent]

    @property
    def retries(self) -> list[int]:
        return [job.retry for _, job in self.sender.sent]

    def messages(self, n: int) -> list[dict[str, Any]]:
        """Of the n-th send."""
        found: list[dict[str, Any]] = orjson.loads(self.sender.sent[n][1].body)["messages"]
        return found


async def play(one: SessionPlan, script: Callable[[Job, int], Met], *, stop_at_s: float | None = None) -> Played:
    loop = asyncio.get_running_loop()
    sender, lines, stopping = Scripted(script), Lines(), asyncio.Event()
    meter = Meter(loop.time)
    if stop_at_s is not None:
        loop.call_at(stop_at_s, stopping.set)
    stage = Stage(sender, SlowTools(), lines, meter, loop.time, lambda t: t, stopping, False, True)  # type: ignore[arg-type]
    session = await SessionRunner(stage, one, 0).run()
    return Played(session, sender, lines, meter)


def then_ok(*met: Met) -> Callable[[Job, int], Met]:
    """The first sends meet these, all later ones succeed."""
    return lambda job, n: met[n] if n < len(met) else OK


def always(met: Met) -> Callable[[Job, int], Met]:
    return lambda job, n: met
