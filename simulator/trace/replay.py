"""From a recorded session to a plan that is played as any other: the same messages, the recorded reply lengths, gaps
and tool latencies, and nothing executed.

What differs from the recorded bodies is said in docs/import.md: the model's name, streaming with usage, length fields.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from simulator.core.action import Recorded
from simulator.core.plan import Branch, PlannedCall, SessionPlan, Turn
from simulator.core.task import Check
from simulator.core.usage import UsageAsked, stream_options
from simulator.trace.counting import Counter
from simulator.trace.format import SessionLine, TurnLine
from simulator.trace.gaps import Gap, gaps
from simulator.trace.messages import Message, text_of
from simulator.trace.synthesise import Cells, overhead_tok, text
from simulator.trace.trace_file import TracedSession

#: fields of a recorded body that the plan decides
DECIDED = (
    "max_tokens", "max_completion_tokens", "min_tokens", "ignore_eos", "stream", "stream_options", "n", "best_of",
)  # fmt: skip
#: the client whose failure behaviour is played where no profile fits
UNKNOWN_CLIENT = "sdk"
TEMPLATE = KIND = "trace"


@dataclass(frozen=True, slots=True)
class Casting:
    """How a session is played. name: in the run. copy: 0 the recorded one; n, one more of it whose private text is its
    own. shared: block names that stand in several sessions. model: name in the requests. window_tok: a session ends
    before a turn that does not fit. age: share of its turns that are already done. pause: seconds waited for a recorded
    gap; took: seconds that a tool is waited for."""

    name: str
    copy: int
    shared: frozenset[tuple[str, int]]
    model: str
    window_tok: int
    age: float
    max_turns: int | None
    pause: Callable[[float], float]
    took: Callable[[float], float]
    usage: UsageAsked = "end"


def plan(session: TracedSession, casting: Casting) -> SessionPlan:
    return _Playing(session, casting).plan()


@dataclass(slots=True)
class _Frames:
    """Heads and tails, one a distinct body."""

    heads: list[bytes] = field(default_factory=list)
    tails: list[bytes] = field(default_factory=list)

    def of(self, body: dict[str, Any], casting: Casting) -> int:
        head, tail = frame(body, casting.model, casting.usage)
        for n, known in enumerate(zip(self.heads, self.tails, strict=True)):
            if known == (head, tail):
                return n
        self.heads.append(head)
        self.tails.append(tail)
        return len(self.heads) - 1


def frame(body: dict[str, Any], model: str, usage: UsageAsked = "end") -> tuple[bytes, bytes]:
    """What stands before and after the messages of a body. The recorded order of its keys is kept."""
    if "messages" not in body:
        body = {"model": model, "messages": None, **body}
    keys = list(body)
    at = keys.index("messages")
    before = {key: body[key] for key in keys[:at] if key not in DECIDED}
    after = {key: body[key] for key in keys[at + 1 :] if key not in DECIDED}
    if "model" in after:
        after["model"] = model
    else:
        before["model"] = model
    head = orjson.dumps(before)[:-1] + b',"messages":['
    return head, b"]," + orjson.dumps({**after, "stream": True, "stream_options": stream_options(usage)})[1:-1]


class _Playing:
    def __init__(self, session: TracedSession, casting: Casting) -> None:
        self._line, self._session, self._casting = session.line, session, casting
        self._frames, self._counter = _Frames(), Counter()
        self._pool: list[bytes] = []
        self._places: dict[int, tuple[Any, int]] = {}  # by identity; the object is kept alive beside its place
        self._cells = Cells(self._line.block_tok, self._block_key)
        self._unstored = _unstored(self._line)
        self._first: dict[int, tuple[Message, Message]] = {}

    def plan(self) -> SessionPlan:
        casting, line = self._casting, self._line
        found = gaps(self._session)
        branches = [
            Branch(f"branch {n}", self._turns(self._session.branch(n), found))
            for n in range(1, self._session.branches + 1)
        ]
        turns = self._turns(self._session.branch(0), found)
        start = min(int(casting.age * len(turns)), max(len(turns) - 1, 0))
        return SessionPlan(
            session=casting.name,
            task_template=TEMPLATE,
            task_kind=KIND,
            task_size="recorded",
            task_seed=casting.copy,
            task_name=line.session,
            profile=line.profile or UNKNOWN_CLIENT,
            cwd=line.cwd,
            heads=tuple(self._frames.heads),
            pool=tuple(self._pool),
            tail=self._frames.tails[0],
            turns=turns,
            check=Check("", ""),
            start_turn=start,
            end_turn=None if casting.max_turns is None else start + casting.max_turns,
            tails=tuple(self._frames.tails),
            branches=tuple(branches),
            ends="recorded",
        )

    def _turns(self, told: Sequence[TurnLine], found: dict[tuple[int, int], Gap]) -> tuple[Turn, ...]:
        """Up to the first that does not fit the window."""
        held: list[Message] = []
        blocks: list[int] = []
        body = self._line.body or {}
        out: list[Turn] = []
        last: tuple[int, ...] = ()
        for turn in told:
            body = turn.body or body
            if turn.add is not None:
                prompt = [*held[: turn.keep], *(self._copied(m, n) for n, m in enumerate(turn.add, turn.keep))]
                held = [*prompt, *([turn.reply] if turn.reply is not None else [])]
            else:
                blocks = [*blocks[: turn.keep_blocks], *(turn.add_blocks or ())]
                prompt = self._cells.prompt(blocks, turn.prompt_tok)
            sent = self._whole(prompt)
            prompt_tok = self._counter.prompt(sent, body.get("tools"))
            output_tok = max(1, turn.output_tok)
            if prompt_tok + output_tok > self._casting.window_tok:
                break
            view = tuple(self._place(m) for m in sent)
            if turn.reply is not None:
                self._place(turn.reply)
            same = turn.add is None or view[: len(last)] == last or turn.purpose == "compaction"
            cut = "" if same else "compacted" if out[-1].purpose == "compaction" else "truncated"
            out.append(self._turn(turn, view, cut, body, prompt_tok, output_tok, found[turn.branch, turn.turn]))
            last = view
        return tuple(out)

    def _turn(
        self, turn: TurnLine, view: tuple[int, ...], cut: str, body: dict[str, Any], prompt_tok: int, output_tok: int,
        gap: Gap,
    ) -> Turn:  # fmt: skip
        limit = body.get("max_tokens", body.get("max_completion_tokens"))
        return Turn(
            index=turn.turn,
            purpose=turn.purpose,
            view=view,
            cut=cut,
            head=self._frames.of(body, self._casting),
            prompt_tok=prompt_tok,
            output_tok=output_tok,
            think_s=self._casting.pause(gap.pause_s) if turn.turn else 0.0,
            calls=tuple(
                PlannedCall(Recorded(call.tool), call.result or "", self._casting.took(took))
                for call, took in zip(turn.calls, gap.calls_s, strict=True)
            ),
            max_tok=limit if isinstance(limit, int) and limit > 0 else None,
            spawns=tuple(n - 1 for n in turn.spawns),
        )

    def _whole(self, prompt: list[Message]) -> list[Message]:
        """With what stands before all that is known of a prompt; there is one system message at most."""
        if not self._unstored:
            return prompt
        first = prompt[0] if prompt and prompt[0].get("role") == "system" else None
        found = self._first.get(id(first))
        if found is None:
            known = text_of(first.get("content")) if first is not None else ""
            made = {"role": "system", "content": f"{self._unstored}\n{known}" if known else self._unstored}
            found = self._first[id(first)] = (first or made, made)
        return [found[1], *(prompt if first is None else prompt[1:])]

    def _place(self, told: Message) -> int:
        found = self._places.get(id(told))
        if found is None:
            self._pool.append(orjson.dumps(told))
            found = self._places[id(told)] = (told, len(self._pool) - 1)
        return found[1]

    def _copied(self, told: Message, place: int) -> Message:
        """A further copy's own first words: what follows them is shared with no other copy."""
        if not self._casting.copy or told.get("role") != "user" or place > 2:
            return told
        mark = f"(session {self._casting.name})\n"
        content = told.get("content")
        if isinstance(content, str):
            return told | {"content": mark + content}
        return told | {"content": [{"type": "text", "text": mark}, *(content or [])]}

    def _block_key(self, block: int | None, place: int) -> str:
        line, copy = self._line, self._casting.copy
        own = f"{line.format}/{line.session}/{copy}"
        if block is None:
            return f"{own}/at {place}"
        if line.block_scope == "trace":
            common = not copy or (line.format, block) in self._casting.shared
            return f"{line.format}/{block}" if common else f"{line.format}/{copy}/{block}"
        return f"{own}/{block}"


def _unstored(line: SessionLine) -> str:
    """Sessions of one client share it: a longer one begins with a shorter one. "" when all is known."""
    return text(f"unstored/{line.client or line.format}", line.unstored_tok - overhead_tok())
