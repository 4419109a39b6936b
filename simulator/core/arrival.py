"""When an open loop's sessions and requests are due: a pure function of scenario and seed.

Times are seconds from the traffic's start, absolute, in rising order. A longer run's schedule begins with a shorter
one's, a faster one is the same draw on a faster clock, and any process can compute it (and its own part of it) alone.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import count, islice, takewhile

from simulator.core.scenario import Arrival, Scenario, Synthetic, SyntheticArrival
from simulator.errors import UsageError

#: sessions are planned before the run, a few a second; more of them are a longer run than anybody waits for
MAX_SESSIONS = 4096


def due_times(arrival: Arrival | SyntheticArrival, seed: int, stream: str) -> Iterator[float]:
    """Due times without end, or to the end of a trace. stream: what arrives, so that sessions and requests of one seed
    do not arrive in step. UsageError for a trace whose file nobody has read."""
    if arrival.kind == "trace":
        if arrival.times_s is None:
            raise UsageError(f"arrival trace `{arrival.file}` was not read; give `times_s` instead of `file` here")
        times: Iterator[float] = (t * arrival.scale for t in arrival.times_s)
    elif arrival.kind == "poisson":
        times = (t / _rate(arrival) for t in _unit_poisson(seed, stream))
    elif arrival.kind == "constant":
        times = (number / _rate(arrival) for number in count())
    else:
        raise ValueError("a closed loop has no schedule")
    return islice(times, arrival.total)


def session_times(scenario: Scenario) -> tuple[float, ...]:
    """All sessions that an open loop plans: those due before the window ends, or `arrival.total` of them. UsageError
    when there are none, or too many."""
    times = due_times(scenario.arrival, scenario.seed, "session")
    first = next(times, None)
    if first is None:
        raise UsageError("the arrival trace is empty; give it at least one time")
    _check_pace(scenario.arrival, first, scenario.time_limit_s, "arrival")
    end_s = window_end_s(scenario, first)
    rest = times if end_s is None else takewhile(lambda t: t < end_s, times)
    planned = (first, *islice(rest, MAX_SESSIONS))
    if len(planned) > MAX_SESSIONS:
        raise UsageError(
            f"more than {MAX_SESSIONS:,} sessions would arrive; lower `arrival.sessions_per_s`, `window_s` or "
            "`ramp_s`, or cap them with `arrival.total`"
        )
    if not math.isfinite(planned[-1]):
        raise UsageError("`arrival`: a session would be due at an infinite time; lower the trace's `scale`")
    return planned


def window_end_s(scenario: Scenario, first_s: float) -> float | None:
    """When the window closes: it opens `ramp_s` after the first arrival. None: when all have arrived and ended."""
    return None if scenario.window_s is None else first_s + scenario.ramp_s + scenario.window_s


def request_times(block: Synthetic, seed: int) -> tuple[float, ...]:
    """Due times of an open loop's synthetic requests, at most `requests` of them."""
    return tuple(islice(due_times(block.arrival, seed, "request"), block.requests))


def check_requests(scenario: Scenario) -> None:
    """UsageError when no synthetic request of an open loop would arrive in the run's time."""
    block = scenario.synthetic
    if block is None or not block.arrival.open:
        return
    times = request_times(block, scenario.seed)
    _check_pace(block.arrival, times[0], scenario.time_limit_s, "synthetic.arrival")
    if not math.isfinite(times[-1]):
        raise UsageError("`synthetic.arrival`: a request would be due at an infinite time; lower the trace's `scale`")


def _check_pace(arrival: Arrival | SyntheticArrival, first_s: float, limit_s: float, key: str) -> None:
    rate = arrival.rate_per_s
    if rate is not None and rate * limit_s < 1:
        name = "sessions_per_s" if isinstance(arrival, Arrival) else "requests_per_s"
        raise UsageError(
            f"`{key}.{name}` {rate:g} is less than one arrival in the run's time limit; give at least "
            f"{1 / limit_s:.2g}, or raise `time_limit_s` ({limit_s:g})"
        )
    if first_s >= limit_s:
        raise UsageError(
            f"`{key}`: the first arrival is due at {first_s:g} s and the run ends at its time limit, {limit_s:g} s; "
            "let it arrive sooner, or raise `time_limit_s`"
        )


def _unit_poisson(seed: int, stream: str) -> Iterator[float]:
    """Arrivals at one a second: exponential gaps added up, the first after a gap of its own."""
    rng = random.Random(f"{seed}/arrival/{stream}")
    time = 0.0
    while True:
        time += rng.expovariate(1.0)
        yield time


def _rate(arrival: Arrival | SyntheticArrival) -> float:
    assert arrival.rate_per_s is not None  # the scenario was checked
    return arrival.rate_per_s
