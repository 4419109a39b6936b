"""What is said of figures once they are folded: whether the client held, where the limit is, what to know before use.

Apart from the fold itself, so that figures which an earlier version folded are judged by the rules of this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.core.advice import OF_LIMITS, gravest_first, of_limits
from simulator.core.certify import UNKNOWN, account, judged_health, signs
from simulator.core.limit import limit
from simulator.core.run import KINDS

#: A summary says by which rules it was folded. Raised whenever the same records come to other figures or judgements,
#: which tests/store/test_fold_version.py notices.
FOLD = 5


def limits(summary: Mapping[str, Any]) -> dict[str, Any]:
    """{kind: core.limit.limit of it}; None of traffic that was not sent. Needs `client`, `engine` and the kinds."""
    scraped, health = summary["engine"], summary["client"]
    return {
        kind: limit(signs(health[kind], scraped.get(kind), summary[kind])) if summary[kind] is not None else None
        for kind in KINDS
    }


def judged_again(summary: Mapping[str, Any]) -> dict[str, Any]:
    """A summary with the figures that it has; client, limit and the warnings that come of them by today's rules.
    Its own judgement stays where it was folded so long ago that it lacks what they ask for, and where no client ran
    (virtual time)."""
    found = dict(summary)
    if summary.get("fold") == FOLD:
        return found
    try:
        told = summary["client"]
        sent = [kind for kind in KINDS if summary[kind] is not None]
        if any(told[kind] is None for kind in sent):
            return found
        found["client"] = account({kind: judged_health(told[kind], told[kind]["verdict"] != UNKNOWN) for kind in sent})
        found["limit"] = limits(found)
        stated = [each for each in summary["warnings"] if each["code"] not in OF_LIMITS]
        found["warnings"] = gravest_first([*stated, *of_limits(found)])
    except (KeyError, TypeError, AttributeError, ValueError):
        return dict(summary)
    return found
