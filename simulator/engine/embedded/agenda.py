"""When decoding requests next need a look, so that a step's planning does not have to look at all of them."""

from __future__ import annotations

import heapq

from simulator.engine.embedded.request import RUNNING, Request


class Agenda:
    """A request needs a look when it may have filled a block or reach past its last one. How many tokens it will have
    by then is not known beforehand (drafts), so the earliest possible step is noted, and it is looked at again then.

    step: number of the step that is being planned.
    """

    def __init__(self, block_tok: int, most_new: int, *, caching: bool) -> None:
        self.step = 0
        self._block_tok = block_tok
        self._most_new = most_new
        self._caching = caching
        self._heap: list[tuple[int, int, Request]] = []

    def soon(self, request: Request) -> None:
        """A request that has just begun to decode: a look at the next step."""
        heapq.heappush(self._heap, (self.step + 1, request.order, request))

    def watch(self, request: Request) -> None:
        """Everything is as it should be for the step that is being planned: a look when it may no longer be."""
        threshold = request.room_tok - self._most_new + 1
        if self._caching:
            threshold = min(threshold, (request.n_registered + 1) * self._block_tok)
        steps = max(1, -(-(threshold - request.computed_tok) // self._most_new))
        heapq.heappush(self._heap, (self.step + steps, request.order, request))

    def again(self, requests: list[Request]) -> None:
        for request in requests:
            self.soon(request)

    def due(self) -> list[Request]:
        """Those that need a look now, in order of their admission; forgets them, and those that decode no more."""
        heap, found = self._heap, []
        while heap and heap[0][0] <= self.step:
            _step, order, request = heapq.heappop(heap)
            if request.status == RUNNING and request.decoding and request.order == order:
                found.append((order, request))
        found.sort(key=lambda item: item[0])
        return [request for _order, request in found]
