"""Warnings of a summary: what is odd about a run, why that matters, and what to do about it.

A warning is {"code", "what", "why", "cure"}: `what` has the run's figures, the rest is fixed by the code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from simulator.core.certify import EMULATION_LATE_S
from simulator.core.drift import is_drift
from simulator.core.limit import FRONT_END
from simulator.core.run import KINDS
from simulator.core.stalls import stalled
from simulator.core.stats import ratio
from simulator.core.window import STOPPED_BEFORE
from simulator.core.wording import counted

#: code -> (why it matters, what to do)
REASONS: dict[str, tuple[str, str]] = {
    "unanswered": (
        "nothing was measured, so no figure of this run says anything of the engine",
        "see records.jsonl for what the requests met; raise `time_limit_s` if they were cut off by it",
    ),
    "client_limited": (
        "past these limits the figures describe the load generator: no verdict may be drawn from a comparison with it",
        "give the client idle cores or another machine, or lower the concurrency, and run again",
    ),
    "client_unknown": (
        "without pulses of the load loop nothing shows that the client kept up",
        "run again with this version; a run killed in its first second has none",
    ),
    "no_steady_window": (
        "ramp-up and ramp-down are inside the figures, so tok/s reads low and latencies mix light and full load",
        "let the run reach its window: a longer `window_s`, or refill of finished sessions",
    ),
    "cut_short": (
        "the measured window is shorter than planned and its percentiles cover less",
        "run again to the end before comparing",
    ),
    "overloaded": (
        "arrivals came faster than they were done with, so every latency depends on how long the run lasted",
        "lower the rate, give more places (`sessions`, `synthetic.concurrency`), or a faster engine",
    ),
    "filling": (
        "arrivals last longer than the run has gone on, so the load still grows and its figures are of no rate in "
        "particular",
        "lengthen `ramp_s` beyond a session's life, or use `start: stationary`",
    ),
    "stalled": (
        "the engine or what is between stood still: tok/s is lower and latencies are longer for a reason that is not "
        "this load",
        "look at that time in the engine's log and, where the client's loop lagged as well, at what else ran on this "
        "machine; run again and take the run without it",
    ),
    "damage": (
        "what cannot be read is missing from every figure, and what stands twice is in them twice",
        "expected after a kill or a full disk; else restore the folder, or run again if more than a few lines are lost",
    ),
    "other_model": (
        "the figures are of the model that answered and stand under the name that was asked for",
        "name the server itself instead of a router before it; where both names mean one model, nothing is wrong",
    ),
    "failures": (
        "latency percentiles cover the survivors only, and survivors are often the short ones",
        "see the errors table; fix the cause or lower the load before trusting percentiles",
    ),
    "sessions_failed": (
        "they gave up before their plan's end, so the load and its mix are not what was asked",
        "see `error` in sessions.jsonl for what each met, fix the cause and run again",
    ),
    "censored": (
        "requests cut off by the end are the long ones, so E2EL and turn latency read low",
        "lengthen the window or the drain time; in a live run raise live.max_session_s, or set live.max_reply_tok",
    ),
    "usage_missing": (
        "token counts of these replies are the client's own count or the plan, not the server's, which named none or "
        "fewer than its chunks",
        "ask the server for usage (`stream_options.include_usage`), or mend the proxy that drops it",
    ),
    "cached_impossible": (
        "no prompt has more cached tokens than tokens; these replies are left out of the cached share, and their "
        "server's other counts may be no better",
        "look at `usage` of one reply; a proxy or a plugin that adds its own figures is the usual cause",
    ),
    "length_drift": (
        "another amount of work was done than planned, so runs with other lengths cannot be compared with this one",
        "check that the engine honours `ignore_eos` and `min_tokens`, or use live mode",
    ),
    "prompt_drift": (
        "the engine's template or tokenizer differs from the scenario's, so context lengths are not what was planned",
        "choose the tokenizer of the served model in the scenario",
    ),
    "engine_disagrees": (
        "the engine generated another number of tokens than the client received in the same window",
        "look for other users of this server, dropped streams, or a proxy that buffers",
    ),
    "engine_restarted": (
        "caches were cold again in the middle of the measurement",
        "read the engine's log for the cause and run again",
    ),
    "other_users": (
        "requests of others share the batch and the cache, so the figures are not of this traffic alone",
        "measure a server that nobody else uses",
    ),
    "emulation_late": (
        "the embedded engine got too little CPU to keep to its own cost model",
        "leave it an idle core, or lower the concurrency; a real engine is not concerned",
    ),
    "metrics_unnamed": (
        "what runs and waits, KV use, cache hits, preemptions and acceptance are not known, so nothing tells whether "
        "the engine or its front end is the limit, or whether others use it",
        "measure vLLM itself where a router or proxy answers /metrics in its place; other engines' names are not read",
    ),
    "scrapes_failed": (
        "engine gauges cover only part of the run",
        "check that /metrics answers under load; a busy front end can starve it",
    ),
    "front_end_backlog": (
        "requests wait in the server's API process while its scheduler has nothing: the front end is the limit",
        "use `--api-server-count`, or check detokenisation of special tokens; the GPU is not what is measured",
    ),
    "preemptions": (
        "the KV cache is too small for this load and requests were computed twice",
        "lower `--max-num-seqs`, raise `--gpu-memory-utilization`, or use an FP8 KV cache",
    ),
    "drift": (
        "the engine sped up or slowed down inside the window, so its mean depends on when it was taken",
        "warm up longer, lengthen the window, and look for growing contexts or throttling",
    ),
    "wall_gap": (
        "a part of these sessions' time is unaccounted for, so the wall split is not to be trusted",
        "please report it with the run folder; it is a fault of the simulator",
    ),
    "tool_mismatch": (
        "tools answered otherwise than in the recording, so the workspace is not the one that was planned",
        "see the examples; install what the tasks need, or declare a normaliser",
    ),
    "not_verified": (
        "the recorded solution did not pass its check, so tools or workspace are not sound here",
        "see the sessions' `check`; run the tests of the task repositories",
    ),
}


#: of REASONS, what comes of the client's account and of the limit alone
OF_LIMITS = ("client_limited", "client_unknown", "front_end_backlog")
#: a negative front-end backlog below this share of what is in flight is more than sampling skew
FOREIGN_SHARE = -0.10


def _percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:+.{digits}f} %"


def warning(code: str, what: str) -> dict[str, str]:
    why, cure = REASONS[code]
    return {"code": code, "what": what, "why": why, "cure": cure}


def warnings(summary: dict[str, Any], damage: Mapping[str, int], unsound: Sequence[str] = ()) -> list[dict[str, str]]:
    """All warnings of a summary, the gravest first (in the order of REASONS)."""
    found = of_limits(summary)
    if sent := summary["unanswered"]:
        warm = " of warm-up" * (not summary["agent"] and not summary["synthetic"])
        found.append(warning("unanswered", f"not answered: all of the requests{warm} that were sent, {sent}"))
    for kind in KINDS:
        if summary[kind] is not None:
            found += _traffic(kind, summary[kind])
            found += _engine(kind, summary["engine"].get(kind), summary[kind])
    if others := [
        _others(kind, part["other_models"]) for kind in KINDS if (part := summary[kind]) and part["other_models"]
    ]:
        found.append(warning("other_model", f"asked for another model than replies name: {'; '.join(others)}"))
    if any(each is not None and not each["named"] for each in map(summary["engine"].get, KINDS)):
        found.append(warning("metrics_unnamed", "/metrics answered with none of vLLM's figures"))
    if summary["engine"]["failed_scrapes"]:
        found.append(
            warning("scrapes_failed", f"{counted(summary['engine']['failed_scrapes'], 'scrape')} of /metrics failed")
        )
    lost = ", ".join(f"{n} in {f}" for f, n in sorted(damage.items()))
    if told := ([f"unreadable: {lost}"] if lost else []) + list(unsound):
        found.append(warning("damage", "; ".join(told)))
    return gravest_first(found)


def gravest_first(found: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    order = list(REASONS)
    return sorted(found, key=lambda each: order.index(each["code"]) if each["code"] in REASONS else -1)


def of_limits(summary: Mapping[str, Any]) -> list[dict[str, str]]:
    """Those that come of `client` and `limit` alone, whose codes are OF_LIMITS."""
    found = list(_client(summary["client"]))
    for kind in KINDS:
        if summary[kind] is not None:
            found += _front_end(kind, summary["limit"][kind])
    return found


def _others(kind: str, models: Mapping[str, int]) -> str:
    first = next(iter(models))
    more = f" and {len(models) - 1} more" if len(models) > 1 else ""
    return f"{kind}: {sum(models.values())} name `{first}`{more}"


def _client(client: dict[str, Any]) -> Iterator[dict[str, str]]:
    if client["verdict"] == "client-limited":
        yield warning("client_limited", "; ".join(client["reasons"]))
    elif client["verdict"] == "unknown":
        yield warning("client_unknown", "the client's health was not recorded in the window")


def _traffic(kind: str, part: dict[str, Any]) -> Iterator[dict[str, str]]:
    yield from _window(kind, part)
    yield from _arrival(kind, part["arrival"])
    if part["stalls"] and part["stalls"]["count"]:
        yield warning("stalled", f"{kind}: {stalled(part['stalls'])}")
    yield from _requests(kind, part["requests"], live=part.get("live") is not None)
    yield from _tokens(kind, part)
    if is_drift(part["drift"], part["drift_margin"]):
        what = f"{_percent(part['drift'])} (± {100 * part['drift_margin']:.1f}) tok/s against the first"
        yield warning("drift", f"{kind}: second half of the window {what}")
    if kind == "agent":
        yield from _sessions(part)


def _window(kind: str, part: dict[str, Any]) -> Iterator[dict[str, str]]:
    if part["window"]["note"] == STOPPED_BEFORE:
        yield warning("no_steady_window", f"{kind}: {STOPPED_BEFORE}, whole-run figures instead")
    elif part["window"]["steady"] and part["window"]["note"]:
        yield warning("cut_short", f"{kind}: {part['window']['note']}, {part['window']['length_s']:.0f} s measured")


def _arrival(kind: str, arrival: dict[str, Any] | None) -> Iterator[dict[str, str]]:
    if arrival is None or arrival["state"] not in ("overloaded", "filling"):
        return
    noun = "sessions" if kind == "agent" else "requests"
    what = f"{kind}: {arrival['open_start']} {noun} were there at the start and {arrival['open_end']} at the end, "
    what += f"{arrival['waited_for_place']} of {arrival['planned']} arrivals waited for a place"
    head = "overloaded: no steady state" if arrival["state"] == "overloaded" else "no steady state yet"
    yield warning(arrival["state"], f"{head}; {what}")


def _requests(kind: str, requests: dict[str, Any], *, live: bool) -> Iterator[dict[str, str]]:
    sent = requests["sent"]
    if requests["failed"]:
        yield warning("failures", f"{kind}: {requests['failed']} of {counted(sent, 'request')} failed")
    if requests["cancelled"] > 0.05 * sent:
        end = "the end of the run or of their session's time" if live else "the end"
        yield warning(
            "censored",
            f"{kind}: {requests['cancelled']} of {counted(sent, 'request')} cut off by {end}",
        )


def _tokens(kind: str, part: dict[str, Any]) -> Iterator[dict[str, str]]:
    sources, done = part["token_counts"], part["requests"]["ok"]
    unsure = sources["counted"] + sources["none"]
    if unsure:
        yield warning(
            "usage_missing", f"{kind}: {unsure} of {counted(done, 'reply', 'replies')} came without usage that holds"
        )
    if impossible := part["cached_share"]["impossible"]:
        yield warning(
            "cached_impossible",
            f"{kind}: {counted(impossible, 'reply names', 'replies name')} more cached tokens than prompt tokens",
        )
    for key, code, noun in (("output", "length_drift", "output"), ("prompt", "prompt_drift", "prompt")):
        off = part["planned"][f"{key}_error"]
        if off is not None and abs(off) > 0.01:
            yield warning(code, f"{kind}: {noun} tokens {_percent(off)} against the plan")


def _sessions(part: dict[str, Any]) -> Iterator[dict[str, str]]:
    wall, tools, ended = part["wall"], part["tools"], part["sessions"]
    if ended["failed"]:
        of = sum(ended[outcome] for outcome in ("completed", "failed", "stopped"))
        yield warning(
            "sessions_failed", f"{ended['failed']} of {counted(of, 'session')} that ended in the window failed"
        )
    if wall and wall["not_adding_up"]:
        yield warning(
            "wall_gap", f"parts of {wall['not_adding_up']} of {counted(wall['sessions'], 'session')} miss the wall"
        )
    if tools and tools["mismatches"]:
        example = f", e.g. {tools['examples'][0]}" if tools["examples"] else ""
        yield warning(
            "tool_mismatch",
            f"{tools['mismatches']} of {counted(tools['calls'], 'tool result')} not as recorded{example}",
        )
    if ended["refuted"] and part.get("live") is None:
        yield warning("not_verified", f"{counted(ended['refuted'], 'recorded solution')} failed to pass")


def _front_end(kind: str, limit: dict[str, Any]) -> Iterator[dict[str, str]]:
    if FRONT_END in limit["past"]:
        yield warning("front_end_backlog", f"{kind}: {'; '.join(limit['by_place'][FRONT_END])}")


def _engine(kind: str, engine: dict[str, Any] | None, part: dict[str, Any]) -> Iterator[dict[str, str]]:
    if engine is None:
        return
    if engine["restarted"]:
        fell = ", ".join(engine["fallen"][:3])
        yield warning(
            "engine_restarted", f"{kind}: the engine began again inside the window" + f" ({fell} fell)" * bool(fell)
        )
    if engine["preemptions"]:
        yield warning("preemptions", f"{kind}: {counted(round(engine['preemptions']), 'preemption')} in the window")
    behind = ratio(engine["backlog_mean"], part["in_flight_mean"])
    if behind is not None and behind < FOREIGN_SHARE and engine["backlog_mean"] < -2:
        yield warning("other_users", f"{kind}: the engine has {-engine['backlog_mean']:.1f} more requests than we sent")
    if (engine["emulation_lag_s"] or 0) > EMULATION_LATE_S:
        yield warning("emulation_late", f"{kind}: the emulation is {1e3 * engine['emulation_lag_s']:.0f} ms late")
    told = ratio(engine["output_tok_s"], part["output_tok_s"])
    sure = part["window"]["steady"] and part["window"]["length_s"] >= 20 and not engine["restarted"]
    if told is not None and abs(told - 1) > 0.05 and sure:
        yield warning("engine_disagrees", f"{kind}: the engine's own count is {_percent(told - 1, 0)} off the client's")
