"""The engine's API processes as a server of their own, on a clock that the caller owns.

vLLM runs HTTP, chat template, tokeniser, detokeniser and SSE in Python processes beside the engine's core. Each is
modelled as one queue, first come first served: a prompt is read and tokenised before the scheduler sees it, and each
step's tokens are detokenised and written after it. One interpreter does both (tokenisers hold it), so a long prompt
delays the streams of its process, and streams delay prompts. While this queue is the limit, the scheduler shows
nothing running and nothing waiting though clients wait: the front-end backlog.

Modelled: `api_server_count` processes, each prompt on the one that is free first, streams spread evenly; the whole
prompt tokenised again at every turn, as vLLM does whatever its prefix cache knows; tokens that cannot be decoded alone,
which make the incremental detokeniser decode the whole prompt again. Not modelled: chunks of one stream that merge when
the process is late; a step's tokens that leave one after the other (they leave together, with the last of them).
"""

from __future__ import annotations

from collections.abc import Iterable

from simulator.engine.embedded.request import Request
from simulator.engine.embedded.settings import EngineParams


class FrontEnd:
    """Times are seconds on the caller's clock, which never runs backward by more than a step.

    busy_s: work done so far, all processes together.
    """

    def __init__(self, params: EngineParams) -> None:
        costs = params.hardware.front_end
        self.costs = costs
        self.count = params.api_server_count
        self.busy_s = 0.0
        self._free_s = [float("-inf")] * self.count  # when each process will have done all that it was given
        self._again_s = costs.redecode_s_per_prompt_tok * params.undecodable_share

    def arrive(self, now_s: float, prompt_tok: int) -> float:
        """When a prompt that arrives now can be given to the scheduler: read, templated and tokenised."""
        free_s = self._free_s
        chosen = min(range(self.count), key=free_s.__getitem__) if self.count > 1 else 0
        work_s = self.costs.per_request_s + prompt_tok * self.costs.tokenise_s_per_tok
        self.busy_s += work_s
        free_s[chosen] = ready_s = max(now_s, free_s[chosen]) + work_s
        return ready_s + self.costs.delay_s

    def emit(self, now_s: float, n_streams: int, n_tok: int, redecoded_tok: int = 0) -> float:
        """When a step's output is with its clients: `n_tok` tokens of `n_streams` streams, done in the engine now.
        redecoded_tok: sum over these tokens of their prompts' lengths; counts only with undecodable tokens."""
        work_s = n_streams * self.costs.per_chunk_s + n_tok * self.costs.detokenise_s_per_tok
        work_s += redecoded_tok * self._again_s
        self.busy_s += work_s
        each_s, free_s, out_s = work_s / min(self.count, max(1, n_streams)), self._free_s, now_s
        order = list(range(self.count))
        if n_streams < self.count:  # fewer streams than processes: those that are free first
            order = sorted(order, key=free_s.__getitem__)[:n_streams]
        for n in order:
            free_s[n] = max(now_s, free_s[n]) + each_s
            out_s = max(out_s, free_s[n])
        return out_s

    def emit_step(self, now_s: float, emissions: Iterable[tuple[Request, int]]) -> float:
        """`emit` for what Scheduler.complete gives."""
        n_streams = n_tok = redecoded_tok = 0
        for request, new in emissions:
            n_streams += 1
            n_tok += new
            redecoded_tok += new * request.prompt_tok
        return self.emit(now_s, n_streams, n_tok, redecoded_tok) if n_streams else now_s

    def backlog_s(self, now_s: float) -> float:
        """How long the busiest process will still work on what it has."""
        return max(0.0, max(self._free_s) - now_s)
