"""The client's own health, and its count of a reply that is still coming."""

from __future__ import annotations

import asyncio
import time

from simulator.core.certify import LAG_MARKS_MS
from simulator.drive.meter import Meter, StreamCounter


async def test_a_loop_that_is_held_up_is_late_for_as_long_and_one_that_is_not_is_watched_all_the_same() -> None:
    meter = Meter(time.monotonic)
    watching = asyncio.create_task(meter.watch_loop())
    await asyncio.sleep(0.2)
    idle = meter.pulse()
    time.sleep(0.3)  # noqa: ASYNC251  holding the loop up is what is meant
    await asyncio.sleep(0.05)
    held_up = meter.pulse()
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
    await asyncio.sleep(0.05)
    assert idle.lag_ticks > 5 and held_up.lag_ticks > 20
    assert held_up.loop_lag_s > 0.25 > idle.loop_lag_s
    over = getattr(held_up, f"lag_over_{LAG_MARKS_MS[0]}ms")
    assert over > 20, "everything that was due meanwhile was late"
    assert meter.pulse().lag_ticks <= 5, "nothing is watched any more"


def test_a_reply_is_counted_as_it_comes_and_corrected_when_it_is_read() -> None:
    meter, times_s, pieces = Meter(lambda: 10.0), [1.0], [b'data: {"a":1}\n\ndata: {']
    counter = StreamCounter(meter, meter.slot(0), lambda: 10.0, times_s, pieces)
    meter.pulse()
    assert (meter.output_tok, counter.output_tok) == (2, 2)
    pieces += [b'"a":2}\n\nda', b'ta: {"a":3}\n\n', b"data: [DONE]\n\n"]
    meter.pulse()
    assert meter.output_tok in (2, 3), "an event that is cut may be missed until the reply has been read"
    counter.settle(9)
    assert meter.output_tok == 9 and meter.counters == set()
