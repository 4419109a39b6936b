"""Synthetic traffic in virtual time: distinct prompts of one length, replies of one length, a closed loop."""

from __future__ import annotations

from simulator.engine.embedded.request import ID_BYTES
from simulator.virtual.agenda import Agenda
from simulator.virtual.log import Log, Stamp
from simulator.virtual.replica import Replica, Sent


class Fixed:
    """One engine's share: `requests` of them, at most `at_once` open. Numbers start at `first`, places at `place`."""

    def __init__(
        self, agenda: Agenda, log: Log, replica: Replica, *, input_tok: int, output_tok: int, requests: int,
        at_once: int, first: int, place: int,
    ) -> None:  # fmt: skip
        self._agenda, self._log, self._replica = agenda, log, replica
        self._input_tok, self._output_tok = input_tok, output_tok
        self._left, self._number = requests, first
        self._open: dict[Sent, tuple[int, int, float]] = {}
        for n in range(min(at_once, requests)):
            self._next(place + n)

    @property
    def over(self) -> bool:
        return not self._left and not self._open

    def cancel(self) -> None:
        self._left = 0
        for sent, (number, slot, due_s) in self._open.items():
            self._replica.abort(sent)
            while sent.times_s and sent.times_s[-1] > self._agenda.now_s:
                sent.times_s.pop()
                sent.tokens.pop()
            self._log.reply(self._stamp(number, slot), sent, due_s, self._agenda.now_s, "cancelled")
        self._open.clear()

    def _stamp(self, number: int, slot: int) -> Stamp:
        return Stamp("synthetic", f"syn{number}", slot, 0, "synthetic", self._input_tok, self._output_tok)

    def _next(self, slot: int) -> None:
        if not self._left:
            return
        number = self._number
        self._left, self._number = self._left - 1, number + 1
        size = self._replica.params.block_size
        name = f"syn{number}/".encode()
        hashes = [name + str(n).encode() for n in range(self._input_tok // size)]
        rest = name.ljust(self._input_tok % size * ID_BYTES)[: self._input_tok % size * ID_BYTES]
        request = Sent(
            name.decode(), self._input_tok, self._output_tok, hashes, rest + bytes(ID_BYTES * self._output_tok), 0.0
        )
        request.ended = self._ended
        self._open[request] = (number, slot, self._agenda.now_s)
        self._replica.send(request)

    def _ended(self, request: Sent) -> None:
        number, slot, due_s = self._open.pop(request)
        self._log.reply(self._stamp(number, slot), request, due_s, self._agenda.now_s)
        self._next(slot)
