"""The running batch: who is in it, what those that decode need for the next step, what becomes of those that end."""

from __future__ import annotations

from simulator.engine.embedded.agenda import Agenda
from simulator.engine.embedded.cache import Cache
from simulator.engine.embedded.request import FINISHED, RUNNING, Request, StepPlan


class Batch:
    """running: in order of admission; leaving: ended, but planned for once more while that was not known (asynchronous
    scheduling), so that their blocks are not back yet."""

    def __init__(self, cache: Cache, *, most_new: int, overlapped: bool) -> None:
        self.running: list[Request] = []
        self.leaving: list[Request] = []
        self._cache = cache
        self._overlapped = overlapped
        self._most_new = most_new  # tokens that a step can give a sequence: one, and its drafts
        self._agenda = Agenda(cache.layout.block_tok, most_new, caching=cache.caching)
        self._admitted = 0
        self._filling = 0  # running requests whose prompt is not computed yet
        self._context_tok = 0  # of those that decode, all together
        self._in_vain: list[int] = []  # contexts of replies that ended unforeseen in the step before

    def admit(self, request: Request) -> None:
        request.status = RUNNING
        request.order = self._admitted = self._admitted + 1
        self._filling += 1
        self.running.append(request)

    def begin(self, request: Request) -> None:
        """Its prompt, or what was known of it when it was preempted, is computed: it decodes from now on."""
        request.decoding = True
        self._filling -= 1
        self._context_tok += request.computed_tok + 1
        self._agenda.soon(request)

    def advanced(self, n_tok: int) -> None:
        """The contexts of those that decode have grown by so much together."""
        self._context_tok += n_tok

    def remove(self, request: Request) -> None:
        self.running.remove(request)
        self._leave(request)
        self._free_when_alone()

    def pop_youngest(self) -> Request:
        request = self.running.pop()
        self._leave(request)
        return request

    def next_step(self) -> None:
        self._agenda.step += 1

    def let_go(self) -> None:
        """A step is over: those that left in the one before give their blocks back."""
        for request in self.leaving:
            self._cache.free(request)
        self.leaving = []

    def finish(self, ended: list[tuple[Request, int]]) -> None:
        """(request, tokens that its last step gave it): they leave the batch."""
        for request, new in ended:
            self._cache.register(request, request.computed_tok)
            self._cache.save_states(request, exact=True)
            if self._overlapped and (request.stops or new > 1):
                self._in_vain.append(request.computed_tok + 1)
            self._leave(request)
            request.status = FINISHED
            if self._overlapped:
                self.leaving.append(request)
            else:
                self._cache.free(request)
        self.running = [request for request in self.running if request.status == RUNNING]
        self._free_when_alone()

    def _free_when_alone(self) -> None:
        """With nothing left to plan, what has ended gives its blocks back at once."""
        if not self.running:
            self.let_go()
            self._in_vain = []

    def _leave(self, request: Request) -> None:
        if request.decoding:
            self._context_tok -= request.computed_tok + 1
            request.decoding = False
        else:
            self._filling -= 1

    def plan_in_vain(self, plan: StepPlan) -> int:
        """Decode slots of replies that have ended: planned before that was known. Their tokens of the budget."""
        plan.wasted = len(self._in_vain)
        if not plan.wasted:
            return 0
        plan.work.decode_seqs += plan.wasted
        plan.work.decode_context_tok += sum(self._in_vain)
        self._in_vain = []
        return plan.wasted * self._most_new

    def plan_decodes(self, plan: StepPlan, budget: int) -> bool:
        """Everybody decodes and few, if any, need a block: the common step, planned without looking at each request.
        False when it must be planned one by one."""
        running = self.running
        if self._filling or len(running) * self._most_new > budget:
            return False
        due = self._agenda.due()
        for n, request in enumerate(due):
            if not self.attend(request):
                self._agenda.again(due[n:])
                return False
            self._agenda.watch(request)
        plan.decodes = running.copy()
        plan.work.decode_seqs += len(running)
        plan.work.decode_context_tok += self._context_tok
        return True

    def attend(self, request: Request) -> bool:
        """A decoding request's blocks: those that are full become findable, what the next step needs is claimed. False
        without room."""
        block_tok, computed = self._cache.layout.block_tok, request.computed_tok
        if computed // block_tok > request.n_registered:
            self._cache.register(request, computed)
        if computed // block_tok > request.n_states:
            self._cache.save_states(request, exact=True)
        if computed + self._most_new <= request.room_tok and not request.to_turn:
            return True
        return self._cache.grow(request, computed + self._most_new)
