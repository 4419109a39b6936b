"""`vllm bench serve --save-result`: one JSON object. With --save-detailed it has arrays, an entry a request.

Source: vLLM's vllm/benchmarks/serve.py and lib/endpoint_request_func.py (commits in docs/metrics.md). TTFT and E2EL
start at the call; TPOT is (E2EL - TTFT) / (n - 1); its ITL is the gap between chunks, our ICL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from simulator.core.foreign.calls import Call, records
from simulator.core.foreign.common import LEVELS, Measured, figures
from simulator.core.foreign.fields import needed, number, whole
from simulator.core.stats import P99_NEEDS, describe, ratio
from simulator.errors import UsageError

TOOL = "vllm bench serve"
#: our spread -> their word
_WORDS = {"ttft_s": "ttft", "e2el_s": "e2el", "tpot_s": "tpot", "icl_s": "itl"}
_ARRAYS = ("input_lens", "output_lens", "ttfts", "itls", "start_times", "errors")


def is_one(told: Mapping[str, Any]) -> bool:
    return {"output_throughput", "total_output_tokens", "completed"} <= told.keys()


def parse(told: Mapping[str, Any], source: str) -> Measured:
    """source: the file's name for messages. Raises UsageError."""
    done = int(needed(told.get("completed"), "completed", source))
    found: dict[str, float | None] = {
        "output_tok_s": number(told.get("output_throughput")),
        "requests_s": number(told.get("request_throughput")),
        "prompt_tok": ratio(number(told.get("total_input_tokens")), done),
        "output_tok": ratio(number(told.get("total_output_tokens")), done),
    }
    for key, word in _WORDS.items():
        found |= {f"{key}.{level}": _told(told, level, word, done) for level in LEVELS}
    if all(isinstance(told.get(name), list) for name in _ARRAYS):  # they tell more percentiles, of the same values
        detailed = figures(*records(list(_calls(told, source))))
        found = {key: detailed.get(key) if value is None else value for key, value in found.items()}
    elif isinstance(told.get("latencies"), list):
        lasted = describe(np.array([at for each in told["latencies"] if (at := number(each))], dtype=np.float64))
        found |= {key: lasted[level] for level in LEVELS if found[key := f"e2el_s.{level}"] is None}
    return Measured(
        name=source,
        tool=TOOL,
        model=str(told.get("model_id") or ""),
        figures=found,
        requests=done,
        failed=whole(told.get("failed")) or 0,
        at_once=whole(told.get("max_concurrency")),
    )


def _told(told: Mapping[str, Any], level: str, word: str, done: int) -> float | None:
    if not done or (level == "p99" and done < P99_NEEDS):
        return None
    value = number(told.get(f"{level}_{word}_ms"), 1e-3)
    return number(told.get(f"median_{word}_ms"), 1e-3) if value is None and level == "p50" else value


def _calls(told: Mapping[str, Any], source: str) -> Iterator[Call]:
    columns = [told[name] for name in _ARRAYS]
    if len({len(column) for column in columns}) != 1:
        raise UsageError(f"{source}: its arrays {', '.join(_ARRAYS)} differ in length; give the file as it was written")
    begun = min((at for each in told["start_times"] if (at := number(each)) is not None), default=0.0)
    for prompt, n, ttft, gaps, start, error in zip(*columns, strict=True):
        call_s = (number(start) or 0.0) - begun
        first, held = number(ttft), _gaps(gaps)
        good = not error and bool(number(n)) and first is not None
        first_s = call_s + (first or 0.0)
        last_s = first_s + sum(held)
        failure = str(error or "no output") if not good else ""
        yield Call(call_s, first_s, last_s, last_s, whole(prompt), whole(n), held, failure)


def _gaps(found: Any) -> tuple[float, ...]:
    held = [number(each) for each in found] if isinstance(found, list) else []
    return tuple(each for each in held if each is not None and each >= 0)
