"""A session on its way from another program's file into the trace format.

An importer tells turns as whole prompts, in order. What is kept from the one before, what had to be counted because the
source does not say it, results' sizes and clocks that run backwards are found here, and marked.
"""

from __future__ import annotations

import math
from collections import Counter as Tally
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from pydantic import ValidationError

from simulator import tokenizer
from simulator.trace.counting import HOW, Counter, ours
from simulator.trace.format import Call, Clock, Scope, SessionLine, Totals, TurnLine
from simulator.trace.messages import Message
from simulator.trace.text import Bad
from simulator.trace.when import lasted
from simulator.trace.xml_calls import calls_of

MAX_SESSION_BYTES = 256 << 20
Made = tuple[SessionLine, list[TurnLine]]


@dataclass(slots=True)
class Figures:
    """What a source says of a turn; None, it does not. Times are on the source's clock, seconds."""

    sent_s: float | None = None
    first_s: float | None = None
    end_s: float | None = None
    prompt_tok: int | None = None
    cached_tok: int | None = None
    output_tok: int | None = None
    reasoning_tok: int | None = None
    finish: str = ""
    purpose: str = "agent"


@dataclass(slots=True)
class _Branch:
    """held: the last prompt and its reply. last: index of its last turn among the rows, -1 before it."""

    held: list[Any] = field(default_factory=list)
    turns: int = 0
    last: int = -1
    clock_s: float = -math.inf
    body: dict[str, Any] | None = None


@dataclass(slots=True)
class Draft:
    """format ... body: as in format.SessionLine. stored: the prompts are whole, system prompt and tools included, so
    that what is missing is not to be guessed. clock: of the figures' times. estimated: of the session's own fields."""

    format: str
    session: str
    origin: str = ""
    client: str = ""
    profile: str = ""
    model: str = ""
    cwd: str = ""
    clock: Clock = ""
    body: dict[str, Any] | None = None
    stored: bool = False
    block_tok: int = 0
    block_scope: Scope = "none"
    totals: Totals = field(default_factory=Totals)
    estimated: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unstored_tok: int | None = None
    _rows: list[dict[str, Any]] = field(default_factory=list)
    _branches: dict[int, _Branch] = field(default_factory=dict)
    _counter: Counter = field(default_factory=Counter)
    _bytes: int = 0
    _start_s: float | None = None
    _mended: Tally[str] = field(default_factory=Tally)

    def turn(
        self,
        messages: Sequence[Message],
        reply: Message | None,
        figures: Figures,
        *,
        branch: int = 0,
        calls: Sequence[Call] = (),
        body: dict[str, Any] | None = None,
    ) -> int:
        """messages: the whole prompt. calls: of the reply; by default those that it makes (xml_calls.py). Gives the
        row's number for `spawn`. Bad when the session is too large to hold."""
        state = self._branches.setdefault(branch, _Branch())
        keep = _kept(state.held, messages)
        add = list(messages[keep:])
        self._weigh([*add, *([reply] if reply is not None else [])])
        row = self._row(state, branch, figures)
        row |= {"keep": keep, "add": tuple(add), "reply": reply}
        row["calls"] = list(calls) or [Call(tool=name, id=ident) for ident, name in calls_of(messages, reply)]
        if body is not None and body != (state.body or self.body):
            self._weigh([body])
            row["body"] = state.body = body
        tools = (state.body or self.body or {}).get("tools")
        self._count(row, messages, reply, tools, figures)
        self._results(state, add)
        state.held = [*messages, *([reply] if reply is not None else [])]
        return self._append(state, row)

    def shape(self, blocks: Sequence[int] | None, figures: Figures, *, branch: int = 0) -> int:
        """A turn of which only the prompt's blocks (None: not even those) and the figures are known."""
        state = self._branches.setdefault(branch, _Branch())
        row = self._row(state, branch, figures)
        if blocks is not None:
            keep = _kept(state.held, blocks)
            row |= {"keep_blocks": keep, "add_blocks": tuple(blocks[keep:])}
            state.held = list(blocks)
        row |= {"prompt_tok": figures.prompt_tok or 0, "output_tok": figures.output_tok or 0, "calls": []}
        return self._append(state, row)

    def spawn(self, row: int, branch: int) -> None:
        self._rows[row].setdefault("spawns", []).append(branch)

    def call(self, row: int, made: Call) -> None:
        """One more tool call of a row's reply."""
        self._rows[row]["calls"].append(made)

    def replace_calls(self, row: int, calls: Sequence[Call]) -> None:
        self._rows[row]["calls"] = list(calls)

    def finish_calls(self, row: int, results: Sequence[tuple[str, str]]) -> None:
        """Results (id, text) that no further turn will carry."""
        texts = dict(results)
        self._rows[row]["calls"] = [
            c.model_copy(update={"result": texts[c.id], "result_tok": tokenizer.count(texts[c.id])})
            if c.id in texts and c.result is None and c.result_tok is None else c
            for c in self._rows[row]["calls"]
        ]  # fmt: skip

    def took(self, row: int, ident: str, seconds: float | None, ok: bool | None = None) -> None:
        """How long a call of a row's reply took, as far as the source tells."""
        good = lasted(seconds)
        self._rows[row]["calls"] = [
            c.model_copy(update={"took_s": good, "ok": ok}) if c.id == ident else c for c in self._rows[row]["calls"]
        ]

    def calls(self, row: int) -> tuple[Call, ...]:
        return tuple(self._rows[row]["calls"])

    @property
    def branches(self) -> int:
        """How many sub-agents have told a turn."""
        return max(self._branches, default=0)

    @property
    def empty(self) -> bool:
        return not any(row["branch"] == 0 for row in self._rows)

    def made(self) -> Made:
        """Bad when what it holds is no session."""
        if self.empty:
            raise Bad("it holds no model call")
        self._weigh([self.body or {}])
        self._guess_unstored()
        for what, n in self._mended.items():
            self.notes.append(f"{n} {what}")
        shared = self._shared_estimates()
        try:
            line = SessionLine(
                session=self.session[:400], format=self.format, origin=self.origin, client=self.client,
                profile=self.profile, model=self.model, cwd=self.cwd,
                clock="" if self._start_s is None else self.clock,
                start_s=None if self.clock == "session" else self._start_s, body=self.body,
                block_tok=self.block_tok, block_scope=self.block_scope, unstored_tok=self.unstored_tok or 0,
                totals=self.totals, estimated=self.estimated | shared, notes=tuple(self.notes),
            )  # fmt: skip
            return line, [TurnLine(session=line.session, **_plain(row)) for row in self._rows]
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            raise Bad(
                f"{'.'.join(map(str, fault['loc']))}: {fault.get('ctx', {}).get('error', fault['msg'])}"
            ) from None

    def _weigh(self, fresh: list[Message]) -> None:
        try:
            self._bytes += sum(len(orjson.dumps(message)) for message in fresh)
        except TypeError:
            raise Bad("a message of it is nested deeper than 250 levels") from None
        if self._bytes > MAX_SESSION_BYTES:
            raise Bad(f"one session of it holds more than {MAX_SESSION_BYTES >> 20} MiB of messages")

    def _row(self, state: _Branch, branch: int, figures: Figures) -> dict[str, Any]:
        row: dict[str, Any] = {"branch": branch, "turn": state.turns, "estimated": {}}
        purpose = figures.purpose
        row |= {"purpose": "subagent" if branch and purpose == "agent" else purpose, "finish": figures.finish}
        if self.clock and figures.sent_s is not None and math.isfinite(figures.sent_s):
            row["t_s"] = self._when(state, figures.sent_s)
            for key, moment in (("first_s", figures.first_s), ("took_s", figures.end_s)):
                if moment is not None and moment < figures.sent_s:
                    self._mended["times before their request's were left out"] += 1
                elif moment is not None:
                    row[key] = round(moment - figures.sent_s, 6)
        cached = figures.cached_tok
        if cached is not None and figures.prompt_tok is not None and cached > figures.prompt_tok:
            self._mended["cached counts above their prompt's were left out"] += 1
            cached = None
        return row | {"cached_tok": cached, "reasoning_tok": figures.reasoning_tok}

    def _when(self, state: _Branch, sent_s: float) -> float:
        """Seconds after the session's start; a clock that runs backwards stands still."""
        if self._start_s is None:
            if sent_s < 0:
                self._mended["negative times were taken as 0"] += 1
            self._start_s = max(0.0, sent_s)
        t_s = sent_s - self._start_s
        if t_s < max(0.0, state.clock_s):
            self._mended["times out of order were set to the one before"] += 1
            t_s = max(0.0, state.clock_s)
        state.clock_s = t_s
        return round(t_s, 6)

    def _count(self, row: dict[str, Any], messages: Sequence[Message], reply: Message | None, tools: Any,
               figures: Figures) -> None:  # fmt: skip
        known = figures.prompt_tok
        recount = self.stored and ours(self.model)
        counted = self._counter.prompt(messages, tools) if known is None or recount else None
        if known is None:
            row["prompt_tok"], row["estimated"]["prompt_tok"] = counted, HOW
        else:
            row["prompt_tok"] = known
            row["recount_tok"] = counted
        if figures.output_tok is not None:
            row["output_tok"] = figures.output_tok
        else:
            row["output_tok"] = self._counter.reply(reply) if reply is not None else 0
            row["estimated"]["output_tok"] = HOW

    def _results(self, state: _Branch, add: Sequence[Message]) -> None:
        """Sizes of the results that a turn brings, for the calls of the one before."""
        results = {m.get("tool_call_id"): m for m in add if m.get("role") == "tool"}
        if state.last < 0 or not results:
            return
        row = self._rows[state.last]
        row["calls"] = [
            c.model_copy(update={"result_tok": self._counter.message(results[c.id])})
            if c.id in results and c.result_tok is None else c
            for c in row["calls"]
        ]  # fmt: skip

    def _append(self, state: _Branch, row: dict[str, Any]) -> int:
        state.turns += 1
        self._rows.append(row)
        state.last = len(self._rows) - 1
        return state.last

    def _guess_unstored(self) -> None:
        """System prompt and tools that neither the source nor a profile gives: the rest of the first prompt."""
        first = next(row for row in self._rows if row["branch"] == 0)
        if self.unstored_tok is not None or self.stored or "add" not in first or "prompt_tok" in first["estimated"]:
            return
        tools = (self.body or {}).get("tools")
        rest = first["prompt_tok"] - self._counter.prompt(first["add"], tools)
        if rest > 0 and not self.profile:
            self.unstored_tok = rest
            self.estimated["unstored_tok"] = f"first prompt less its messages, {HOW}"

    def _shared_estimates(self) -> dict[str, str]:
        """What every turn estimates in one way is said once, as `turn.FIELD`."""
        common = dict(self._rows[0]["estimated"])
        for row in self._rows[1:]:
            common = {key: how for key, how in common.items() if row["estimated"].get(key) == how}
        for row in self._rows:
            row["estimated"] = {key: how for key, how in row["estimated"].items() if key not in common}
        return {f"turn.{key}": how for key, how in common.items()}


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"calls": tuple(row["calls"]), "spawns": tuple(row.get("spawns", ()))}


def _kept(held: Sequence[Any], new: Sequence[Any]) -> int:
    """How many leading items two prompts share."""
    for n, (old, fresh) in enumerate(zip(held, new, strict=False)):
        if old is not fresh and old != fresh:
            return n
    return min(len(held), len(new))
