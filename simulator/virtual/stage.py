"""What all sessions of one engine share: clock, engine, log, and the rules of the scenario that bind them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from simulator.engine.embedded.replies import Limits, Replies
from simulator.engine.embedded.request import ID_BYTES
from simulator.virtual.agenda import Agenda
from simulator.virtual.log import Log
from simulator.virtual.replica import Replica, Sent
from simulator.virtual.script import Beat


class Turnstile:
    """Lets one through every 1 / rate seconds; with rate None, at once."""

    def __init__(self, rate_s: float | None) -> None:
        self._gap_s = 1.0 / rate_s if rate_s else 0.0
        self._free_s = 0.0

    def pass_s(self, now_s: float) -> float:
        """When someone who comes now may go."""
        through_s = max(now_s, self._free_s)
        self._free_s = through_s + self._gap_s
        return through_s


@dataclass(slots=True)
class Stage:
    """stopping: no further request starts; a session then ends after the turn in hand. replies: draws lengths when
    they are not forced; None, they are."""

    agenda: Agenda
    log: Log
    replica: Replica
    requests: Turnstile
    starts: Turnstile
    replies: Replies | None = None
    stopping: bool = False
    sent: int = field(default=0)

    def request(self, beat: Beat, salt: bytes, ended: Callable[[Sent], None]) -> Sent | str:
        """The request of a turn, or why the engine refuses it."""
        limit = self.replica.params.max_model_len
        hashes = beat.salted(salt)
        room_tok = limit - beat.prompt_tok
        wanted = beat.output_tok if self.replies is None else beat.max_tok or 1
        if room_tok < wanted:
            return (
                f"this model's maximum context length is {limit} tokens and the request has {beat.prompt_tok} "
                f"and asks for {wanted} more"
            )
        reply_tok = beat.output_tok
        if self.replies is not None:
            fingerprint = (hashes[-1] if hashes else b"") + beat.tail
            reply_tok = self.replies.draw(fingerprint, Limits(max_tok=beat.max_tok or room_tok)).n_tok
        self.sent += 1
        # The engine's own words are not the recorded reply: their blocks are kept, and no later prompt meets them.
        request = Sent(str(self.sent), beat.prompt_tok, reply_tok, hashes, beat.tail + bytes(ID_BYTES * reply_tok), 0.0)
        request.ended = ended
        if beat.stop_after_tok is not None:
            request.stop_at_tok = beat.stop_after_tok
        return request
