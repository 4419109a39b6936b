"""guidellm's benchmarks JSON: one or several benchmarks, each with figures and with its requests.

Source: guidellm 0.8's schemas (commits in docs/metrics.md). Its clock starts at the request's start; everything here is
folded from its requests' own times, as its TPOT, its ITL weighted by tokens and its percentiles are other ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from simulator.core.foreign.calls import Call, records
from simulator.core.foreign.common import Measured, figures
from simulator.core.foreign.fields import mapping, number, whole
from simulator.core.stats import ratio
from simulator.errors import UsageError

TOOL = "guidellm"


def is_one(told: Mapping[str, Any]) -> bool:
    return isinstance(told.get("benchmarks"), list)


def parse(told: Mapping[str, Any], source: str, which: int | None = None) -> Measured:
    """which: of several benchmarks in the file the which-th, from 1. Raises UsageError."""
    benchmarks = told["benchmarks"]
    if which is None and len(benchmarks) != 1:
        raise UsageError(f"{source} holds {len(benchmarks)} benchmarks; say which, as {source}#1")
    if which is not None and not 1 <= which <= len(benchmarks):
        raise UsageError(f"{source}#{which}: the file holds {len(benchmarks)} benchmarks")
    chosen = mapping(benchmarks[(which or 1) - 1])
    sent = mapping(chosen.get("requests"))
    good, bad = sent.get("successful"), sent.get("errored")
    if not isinstance(good, list):
        raise UsageError(f"{source} has no `requests.successful`; files of guidellm 0.8 with their requests are read")
    calls = list(_calls(good))
    if len(calls) < len(good):
        raise UsageError(f"{source}: requests without `info.timings`; files of guidellm 0.8 are read")
    found = {**figures(*records(calls))}
    lasted = number(chosen.get("duration"))
    found |= {"output_tok_s": ratio(_sum(calls), lasted), "requests_s": ratio(float(len(calls)), lasted)}
    config = mapping(chosen.get("config"))
    streams = mapping(config.get("strategy")).get("streams")
    return Measured(
        name=source if which is None else f"{source}#{which}",
        tool=TOOL,
        model=str(mapping(config.get("backend")).get("model") or ""),
        figures=found,
        requests=len(calls),
        failed=len(bad) if isinstance(bad, list) else 0,
        at_once=whole(streams),
    )


def _sum(calls: list[Call]) -> float | None:
    told = [call.output_tok for call in calls if call.output_tok is not None]
    return float(sum(told)) if told else None


def _calls(good: list[Any]) -> Iterator[Call]:
    times = [mapping(mapping(mapping(each).get("info")).get("timings")) for each in good]
    begun = min((at for each in times if (at := number(each.get("request_start"))) is not None), default=0.0)
    for each, clock in zip(good, times, strict=True):
        start, end = number(clock.get("request_start")), number(clock.get("request_end"))
        if start is None or end is None:
            continue
        first, last = (number(clock.get(f"{name}_token_iteration")) for name in ("first", "last"))
        yield Call(
            call_s=start - begun,
            first_s=None if first is None else first - begun,
            last_s=None if last is None else last - begun,
            end_s=end - begun,
            prompt_tok=whole(each.get("prompt_tokens")),
            output_tok=whole(each.get("output_tokens")),
        )
