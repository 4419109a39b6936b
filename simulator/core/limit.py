"""Where the limit is: in the client, in the engine's front end (its API process), in the engine behind it, or nowhere.

One rule for the live view, the last screen and the report, over means of one kind of traffic. What lies nearer to the
client hides what lies behind it: a client at its limit cannot see whether the engine is at its own as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

CLIENT, FRONT_END, ENGINE, NONE, UNKNOWN = "client", "engine front end", "engine", "none", "unknown"

#: mean requests that wait in a place, before it counts as a limit: so many, and such a share of those in flight
BACKLOG_LEAST, BACKLOG_SHARE = 2.0, 0.10
WAITING_LEAST, WAITING_SHARE = 1.0, 0.05
#: share of the KV cache in use, mean, at which new requests have to wait for old ones
KV_FULL = 0.95
#: a first token this much later at the client than in the engine: seconds, share of the client's TTFT, and share of a
#: whole request, below which a faster front end would not be noticed (medians)
OUTSIDE_S, OUTSIDE_SHARE, OUTSIDE_OF_TURN = 0.050, 0.25, 0.10


@dataclass(frozen=True, slots=True)
class Signs:
    """What is known of one kind of traffic over a span; None: not known. Requests are means over time.

    client: why the client is past its limits, () when it is not, None when its health was not recorded. in_flight: open
    at the client; backlog: of those, neither running nor waiting in the engine (a little below 0 by sampling skew);
    kv_use: share. outside_s: median of the client's TTFT less the engine's own, ttft_s, turn_s: medians
    of the client's, of a whole request.
    """

    client: tuple[str, ...] | None = None
    in_flight: float | None = None
    backlog: float | None = None
    running: float | None = None
    waiting: float | None = None
    kv_use: float | None = None
    preemptions: float | None = None
    outside_s: float | None = None
    ttft_s: float | None = None
    turn_s: float | None = None


def limit(signs: Signs) -> dict[str, Any]:
    """{where, past, by_place, reasons, figures}. where: one of "client", "engine front end", "engine", "none" (nothing
    queues: latency is the engine's own speed at this load) and "unknown". past: all places past their limits, nearest
    to the client first; by_place: their signs, a sentence each. reasons: the sentences in order; figures: the numbers
    that were judged."""
    found = [(CLIENT, list(signs.client or ())), (FRONT_END, _front_end(signs)), (ENGINE, _engine(signs))]
    past = [place for place, reasons in found if reasons]
    missing = _missing(signs)
    if past[:1] == [CLIENT]:
        where = CLIENT
    elif missing:
        where = UNKNOWN
    else:
        where = past[0] if past else NONE
    reasons = [reason for _, told in found for reason in told]
    if where == UNKNOWN:
        reasons = [*missing, *reasons]
    elif where == NONE:
        reasons = [_at_ease(signs)]
    by_place = {place: told for place, told in found if told}
    return {"where": where, "past": past, "by_place": by_place, "reasons": reasons, "figures": _figures(signs)}


def _missing(signs: Signs) -> list[str]:
    lacks = []
    if signs.client is None:
        lacks.append("the client's health was not recorded")
    if signs.running is None or signs.waiting is None:
        lacks.append("the engine does not tell what it runs and what waits (/metrics)")
    return lacks


def _front_end(signs: Signs) -> list[str]:
    found = []
    behind, open_ = signs.backlog, signs.in_flight
    # Requests that wait for the scheduler show that the front end has handed on more than the engine can take.
    if behind is not None and open_ and behind > max(BACKLOG_LEAST, BACKLOG_SHARE * open_, signs.waiting or 0.0):
        found.append(
            f"{_n(behind)} of {_n(open_)} open requests neither run nor wait in the engine (front-end backlog, limit "
            f"{_n(max(BACKLOG_LEAST, BACKLOG_SHARE * open_))})"
        )
    late = _outside(signs)
    if late and (signs.turn_s is None or (signs.outside_s or 0.0) > OUTSIDE_OF_TURN * signs.turn_s):
        found.append(late)
    return found


def _outside(signs: Signs) -> str:
    """What of the first token passes outside the engine, where it is much of it; else ""."""
    late, whole = signs.outside_s, signs.ttft_s
    if late is None or whole is None or late <= max(OUTSIDE_S, OUTSIDE_SHARE * whole):
        return ""
    return (
        f"{1e3 * late:.0f} of {1e3 * whole:.0f} ms to the first token (medians) pass outside the engine: "
        "HTTP, template, tokeniser, detokeniser, network"
    )


def _engine(signs: Signs) -> list[str]:
    found = []
    waiting, kv_use = signs.waiting, signs.kv_use
    full = kv_use is not None and kv_use > KV_FULL
    if waiting is not None and waiting > max(WAITING_LEAST, WAITING_SHARE * (signs.in_flight or 0.0)):
        place = "the KV cache" if full else "the batch"
        found.append(f"{_n(waiting)} requests wait for {place}, {_n(signs.running or 0.0)} run")
    if full:
        found.append(f"the KV cache is {100 * (kv_use or 0):.0f} % in use, limit {100 * KV_FULL:.0f} %")
    if signs.preemptions:
        found.append(f"{signs.preemptions:.0f} requests were preempted for want of KV cache")
    return found


def _at_ease(signs: Signs) -> str:
    kv = "" if signs.kv_use is None else f", KV {100 * signs.kv_use:.0f} %"
    late = _outside(signs)
    told = f"; {late}" if late else ""
    return f"nothing queues ({_n(signs.running or 0.0)} run, {_n(signs.waiting or 0.0)} wait{kv}){told}"


def _n(requests: float) -> str:
    """0, 0.4, 9.5, 128."""
    return f"{requests:.0f}" if requests >= 9.95 or requests < 0.05 else f"{requests:.1f}"


def _figures(signs: Signs) -> dict[str, float | None]:
    return {
        "in_flight": signs.in_flight,
        "backlog": signs.backlog,
        "running": signs.running,
        "waiting": signs.waiting,
        "kv_use": signs.kv_use,
        "preemptions": signs.preemptions,
        "ttft_minus_server_s": signs.outside_s,
    }
