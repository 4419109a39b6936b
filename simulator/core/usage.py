"""When a server is asked to say how many tokens a reply has."""

from __future__ import annotations

from typing import Literal

#: "end": once, as coding agents and `vllm bench serve` ask, so that the server does no more for us than for them.
#: "every_chunk": a running count as well, which tells the tokens of each chunk and costs the server's API process 20 to
#: 30 us a chunk (docs/engine_tests.md): where that process is the limit, so much of the throughput.
UsageAsked = Literal["end", "every_chunk"]
#: what runs did that were made before one could choose
BEFORE = "every_chunk"


def stream_options(asked: UsageAsked) -> dict[str, bool]:
    """The `stream_options` of a request."""
    return {"include_usage": True} | ({"continuous_usage_stats": True} if asked == "every_chunk" else {})
