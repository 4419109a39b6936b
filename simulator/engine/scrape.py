"""Reading an engine from outside: /metrics as a flat dict, and who it is (vLLM 0.25-0.33, or ours)."""

from __future__ import annotations

import json
import math
from typing import Any

import aiohttp
from prometheus_client.parser import text_string_to_metric_families

from simulator.errors import EngineError

#: sample names kept, and what they count; histograms contribute their _sum and _count
NAMES: dict[str, str] = {
    "vllm:num_requests_running": "requests in the running batch",
    "vllm:num_requests_waiting": "requests in the waiting queue",
    "vllm:kv_cache_usage_perc": "share of KV blocks in use, 1 is all",
    "vllm:prompt_tokens_total": "prompt tokens processed",
    "vllm:prompt_tokens_cached_total": "prompt tokens taken from the cache",
    "vllm:generation_tokens_total": "tokens generated",
    "vllm:prefix_cache_queries_total": "tokens looked up in the prefix cache",
    "vllm:prefix_cache_hits_total": "tokens found in the prefix cache",
    "vllm:num_preemptions_total": "preemptions",
    "vllm:admission_rejections_total": "requests refused because too many were queued (0.32 and later)",
    "vllm:request_success_total": "requests ended",
    "vllm:spec_decode_num_drafts_total": "draft rounds",
    "vllm:spec_decode_num_draft_tokens_total": "draft tokens",
    "vllm:spec_decode_num_accepted_tokens_total": "draft tokens accepted",
    "vllm:time_to_first_token_seconds": "server's TTFT",
    "vllm:inter_token_latency_seconds": "server's gap between chunks",
    "vllm:request_time_per_output_token_seconds": "server's TPOT",
    "vllm:e2e_request_latency_seconds": "server's E2EL",
    "vllm:request_queue_time_seconds": "time in the waiting queue",
    "vllm:request_prefill_time_seconds": "time from scheduled to first token",
    "vllm:request_decode_time_seconds": "time from first to last token",
    "vllm:request_inference_time_seconds": "time from scheduled to last token",
    "vllm:iteration_tokens_total": "tokens in a step",
    "process_start_time_seconds": "Unix time at which the process started",
    "process_cpu_seconds_total": "CPU time of the API process",
    "process_resident_memory_bytes": "memory of the API process",
    "embedded:schedule_lag_seconds": "lateness of the emulation's steps, recent peak",
    "embedded:schedule_written_off_seconds_total": "lateness of the emulation that was given up",
    "embedded:front_end_backlog_seconds": "modelled work that waits in the emulation's busiest API process",
}

#: what only an emulation with an oracle counts: replies that it gave, conversations that it did not know
ORACLE = {"embedded:oracle_replies_total", "embedded:oracle_unknown_total"}
#: of an answer, the rest is not read
MAX_BYTES = 8 << 20

#: samples that are one process's, so that several of them are not added up
_NOT_SUMMED = {
    "process_start_time_seconds",
    "vllm:kv_cache_usage_perc",
    "embedded:schedule_lag_seconds",
    "embedded:front_end_backlog_seconds",
}


async def scrape(session: aiohttp.ClientSession, metrics_url: str) -> dict[str, float]:
    """The values of NAMES that the engine has, labels summed away (the largest, where a sum means nothing). One that is
    no finite number is left out: it is not known. Raises EngineError when there is no answer or it is not Prometheus
    text."""
    return flatten(await _text(session, metrics_url))


def flatten(text: str) -> dict[str, float]:
    """Only the lines that matter reach the parser: the many buckets of vLLM's histograms would hold up the event loop
    for tens of milliseconds each second."""
    values: dict[str, float] = {}
    for family in _families("\n".join(filter(_matters, text.splitlines()))):
        for sample in family.samples:
            base = sample.name
            if family.type == "histogram":
                if base.endswith("_bucket"):
                    continue
                base = base.removesuffix("_sum").removesuffix("_count")
            if base not in NAMES:
                continue
            if base in _NOT_SUMMED:
                values[sample.name] = max(sample.value, values.get(sample.name, sample.value))
            else:
                values[sample.name] = values.get(sample.name, 0.0) + sample.value
    return {name: value for name, value in values.items() if math.isfinite(value)}


def _identifies(line: str) -> bool:
    return "cache_config_info" in line or line.startswith(("embedded:", "# TYPE embedded:"))


def _matters(line: str) -> bool:
    name = line.split(" ", 3)[2] if line.startswith("# TYPE ") else line.partition("{")[0].partition(" ")[0]
    for suffix in ("_sum", "_count", "_created"):
        name = name.removesuffix(suffix)
    return not name.startswith("#") and (name in NAMES or f"{name}_total" in NAMES)


async def identify(session: aiohttp.ClientSession, base_url: str) -> dict[str, Any]:
    """Who answers at base_url (with or without /v1): models (id, max_model_len), version, cache_config (labels of
    vllm:cache_config_info), process_start_time_s, emulated, and `oracle` of an emulation that has one. What the engine
    does not tell is empty or None. Raises EngineError when nothing answers."""
    try:
        return await _identity(session, base_url)
    except (TypeError, AttributeError, ValueError, KeyError) as error:
        raise EngineError(
            f"{base_url}/models: the answer is not an OpenAI-compatible list of models ({type(error).__name__}); "
            "check the address"
        ) from None


async def _identity(session: aiohttp.ClientSession, base_url: str) -> dict[str, Any]:
    root = base_url.rstrip("/").removesuffix("/v1")
    models = await _json(session, f"{root}/v1/models")
    version: dict[str, Any] = {}
    families: list[Any] = []
    try:
        version = await _json(session, f"{root}/version")
        text = await _text(session, f"{root}/metrics")
        families = _families("\n".join(line for line in text.splitlines() if _matters(line) or _identifies(line)))
    except EngineError:
        pass  # other OpenAI-compatible servers have neither
    samples = [sample for family in families for sample in family.samples]
    cache = next((dict(s.labels) for s in samples if s.name == "vllm:cache_config_info"), {})
    starts = (s.value for s in samples if s.name == "process_start_time_seconds" and math.isfinite(s.value))
    names = {s.name for s in samples}
    return {
        "models": [
            {"id": str(m["id"]), "max_model_len": _length(m.get("max_model_len"))} for m in models["data"][:100]
        ],
        "version": version.get("version"),
        "cache_config": cache,
        "process_start_time_s": next(starts, None),
        "emulated": bool(version.get("emulated")) or any(name.startswith("embedded:") for name in names),
        **({"oracle": {"rates": "not told"}} if names & ORACLE else {}),
    }


def _length(told: Any) -> int | None:
    """Tokens of a window; None of what cannot be so many."""
    return told if isinstance(told, int) and not isinstance(told, bool) and told > 0 else None


def _families(text: str) -> list[Any]:
    try:
        return list(text_string_to_metric_families(text))
    except ValueError as error:
        raise EngineError(f"/metrics is not Prometheus text ({error}); check the address") from None


async def _text(session: aiohttp.ClientSession, url: str) -> str:
    try:
        async with session.get(url) as response:
            if response.status != 200:
                raise EngineError(f"{url}: HTTP {response.status}; check the address and the API key")
            body = await response.content.read(MAX_BYTES)
            while len(body) < MAX_BYTES and (more := await response.content.read(MAX_BYTES - len(body))):
                body += more
            if len(body) >= MAX_BYTES:  # what was cut off in the middle of a number would be another one
                body = body[: body.rfind(b"\n") + 1]
            return body.decode("utf-8", "replace")
    except (aiohttp.ClientError, TimeoutError) as error:
        raise EngineError(f"{url}: no answer ({type(error).__name__}); is the engine running?") from None


async def _json(session: aiohttp.ClientSession, url: str) -> dict[str, Any]:
    text = await _text(session, url)
    try:
        value = json.loads(text)  # Python's own: it takes the NaN that Python servers write
    except (ValueError, RecursionError):
        raise EngineError(f"{url}: the answer is not JSON; check the address") from None
    return value if isinstance(value, dict) else {}
