"""Traffic through front end and scheduler on a clock of its own: what a client would have seen of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from simulator.engine.embedded.config import EngineParams
from simulator.engine.embedded.frontend import FrontEnd
from simulator.engine.embedded.request import ID_BYTES, Request
from simulator.engine.embedded.scheduler import Scheduler
from simulator.engine.embedded.traffic import Turn


@dataclass(slots=True, eq=False)
class Played(Request):
    """A request with what its client notes; seconds on the loop's clock. later: its session was answered before."""

    slot: int = 0
    later: bool = False
    sent_s: float = 0.0
    out_s: float = float("nan")  # its first token
    end_s: float = float("nan")  # its last

    @property
    def ttft_s(self) -> float:
        return self.out_s - self.sent_s

    @property
    def turn_s(self) -> float:
        return self.end_s - self.sent_s

    @property
    def tpot_s(self) -> float | None:
        """None of a single token."""
        return (self.end_s - self.out_s) / (self.reply_tok - 1) if self.reply_tok > 1 else None

    @property
    def front_end_s(self) -> float:
        """What the client waited for its first token beyond the engine's own account."""
        return self.ttft_s - (self.first_s - self.arrival_s)


@dataclass(slots=True)
class Heard:
    """done: requests in order of their ends; out: (when a step's tokens were with the clients, how many).
    from_s: when a window begins: the last of the slots had its first reply, or the first token of it."""

    done: list[Played] = field(default_factory=list)
    out: list[tuple[float, int]] = field(default_factory=list)
    from_s: float = 0.0


class Loop:
    """A closed loop: each slot sends its next turn once it has the reply and has waited."""

    def __init__(self, params: EngineParams) -> None:
        self.params = params
        self.scheduler = Scheduler(params)
        self.front_end = FrontEnd(params)
        self.now_s = 0.0
        self._ahead: list[tuple[float, int, Played, bool]] = []  # (when, order, what, the front end has done it)
        self._order = itertools.count()
        self._names: dict[int, list[bytes]] = {}  # of a slot: its last prompt's blocks
        self._made = 0

    def play(
        self, slots: Sequence[Iterable[Turn]], *, window_s: float | None = None, from_first_token: bool = False
    ) -> Heard:
        """Until all is answered. window_s: nothing is sent later than so long after all slots have had a reply;
        from_first_token: after all have had the first token of one."""
        heard, left = Heard(), [iter(turns) for turns in slots]
        waiting = set(range(len(slots)))
        for slot, turns in enumerate(left):
            self._send(slot, next(turns), self.now_s)
        scheduler = self.scheduler
        while self._ahead or scheduler.has_work:
            if not scheduler.has_work:
                self._until(max(self.now_s, self._ahead[0][0]))
            plan = scheduler.step(self.now_s)
            if plan is None:
                self._until(max(self.now_s, self._ahead[0][0]) if self._ahead else self.now_s)
                continue
            self._until(plan.end_s)
            emissions = scheduler.complete(plan)
            out_s = self.front_end.emit_step(plan.end_s, emissions)
            heard.out.append((out_s, sum(new for _request, new in emissions)))
            for request, new in emissions:
                assert isinstance(request, Played)
                first, last = request.emitted_tok == new, request.emitted_tok == request.reply_tok
                if first:
                    request.out_s = out_s
                if first if from_first_token else last:
                    waiting.discard(request.slot)
                    heard.from_s = heard.from_s or (0.0 if waiting else out_s)
                if not last:
                    continue
                request.end_s = out_s
                heard.done.append(request)
                turn = next(left[request.slot], None)
                late = window_s is not None and heard.from_s and out_s > heard.from_s + window_s
                if turn is not None and not late:
                    self._send(request.slot, turn, out_s)
        self.now_s = max(self.now_s, heard.out[-1][0])
        return heard

    def _until(self, now_s: float) -> None:
        """What clients send until then passes the front end, what has passed it is queued."""
        self.now_s, ahead = now_s, self._ahead
        while ahead and ahead[0][0] <= now_s:
            at_s, _order, request, ready = heappop(ahead)
            if ready:
                self.scheduler.add(request)
            else:
                request.arrival_s = self.front_end.arrive(at_s, request.prompt_tok)
                heappush(ahead, (request.arrival_s, next(self._order), request, True))

    def _send(self, slot: int, turn: Turn, now_s: float) -> None:
        """Blocks have names here, not tokens: a prompt's first ones are those of the prompt before it, the rest are
        nobody else's. Names of a reply's blocks come from its number."""
        self._made += 1
        size, mark = self.params.block_size, self._made.to_bytes(ID_BYTES, "little")
        kept = self._names.get(slot, [])[: turn.kept_tok // size]
        fresh = range(len(kept), turn.prompt_tok // size)
        names = self._names[slot] = kept + [mark + n.to_bytes(ID_BYTES, "little") for n in fresh]
        rest = mark * (turn.prompt_tok % size + turn.output_tok)
        request = Played(str(self._made), turn.prompt_tok, turn.output_tok, list(names), rest, now_s)
        request.slot, request.later, request.sent_s = slot, turn.kept_tok > 0, now_s + turn.wait_s
        heappush(self._ahead, (request.sent_s, next(self._order), request, False))
