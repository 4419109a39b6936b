"""The shape of traffic, and how unlike another it is, as a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from simulator.core.shape import Spread
from simulator.core.traffic.fold import FIXED_TOK, LIKE, SPAN_S, AtOnce, Shape
from simulator.core.traffic.reuse import Reuse
from simulator.core.traffic.unlike import Comparison
from simulator.core.wording import counted
from simulator.view.format import DASH, count, digits, duration, percent
from simulator.view.page.charts import chart
from simulator.view.sheet import Document, Sheet

#: quantity -> what people call it
NAMES = {
    "turns": "model calls a session", "first_prompt_tok": "first prompt, tokens", "prompt_tok": "prompt, tokens",
    "growth_tok": "growth a call, tokens", "output_tok": "output, tokens", "gap_s": "gap before a call, s",
    "tools": "tool calls a reply",
}  # fmt: skip
MOST_TOOLS = 12


def document(shape: Shape, compared: Sequence[Comparison]) -> Document:
    sheets = [_sizes(shape), _tools(shape), _open(shape), _cache(shape), _fixed(shape)]
    sheets += [_unlike(each) for each in compared]
    return Document(f"Shape of {shape.name}", shape.marks, tuple(s for s in sheets if s is not None), shape.notes)


def as_json(shape: Shape, compared: Sequence[Comparison]) -> dict[str, Any]:
    """schema 1; samples are left out, their quantiles are there."""
    return {
        "schema": 1,
        "name": shape.name,
        "kind": shape.kind,
        "sessions": shape.sessions,
        "subagents": shape.subagents,
        "calls": shape.calls,
        "span_s": shape.span_s,
        "prompt_tok": shape.prompt_tok,
        "output_tok": shape.output_tok,
        "spreads": {name: _spread(each) for name, each in shape.spreads.items()},
        "shrank": shape.shrank,
        "tool_calls": shape.tool_calls,
        "tools": shape.tools,
        "at_once": _at_once(shape.at_once),
        "reuse": [{"kv_tok": r.kv_tok, "share": r.share, "group": r.group} for r in shape.reuse],
        "measured_cached_share": shape.measured,
        "distinct_tok": shape.distinct_tok,
        "working_set_tok": None if shape.working is None else {"mean": shape.working[0], "max": shape.working[1]},
        "like_512_512": None if shape.fixed is None else asdict(shape.fixed),
        "unlike": [
            {"against": c.against, "distance": c.distance, "each": {
                u.name: {"p10": u.ratios[0], "p50": u.ratios[1], "p90": u.ratios[2], "distance": u.distance}
                for u in c.each
            }} for c in compared
        ],
        "notes": list(shape.notes),
        "marks": list(shape.marks),
    }  # fmt: skip


def _spread(each: Spread | None) -> dict[str, float] | None:
    return None if each is None else {"n": each.n, "p10": each.p10, "p50": each.p50, "p90": each.p90, "mean": each.mean}


def _at_once(each: AtOnce | None) -> dict[str, Any] | None:
    if each is None:
        return None
    return {
        "sessions_mean": each.sessions_mean, "sessions_max": each.sessions_max,
        "requests_mean": each.requests_mean, "requests_max": each.requests_max,
    }  # fmt: skip


def _sizes(shape: Shape) -> Sheet:
    rows = []
    for name, title in NAMES.items():
        each = shape.spreads[name]
        cells = [_figure(name, v) for v in (each.p10, each.p50, each.p90, each.mean)] if each else [DASH] * 4
        rows.append((title, *cells, count(each.n if each else 0)))
    own = f"{counted(shape.sessions, 'session')}, {counted(shape.calls, 'model call')}"
    if shape.subagents:
        own += f", {counted(shape.subagents, 'sub-agent')} among them"
    span = f", over {duration(shape.span_s)}" if shape.span_s else ""
    ratio = (
        f"; {digits(shape.prompt_tok / shape.output_tok)} prompt tokens for one of output" if shape.output_tok else ""
    )
    notes = () if shape.shrank is None else (f"{percent(shape.shrank)} of calls are no longer than the one before",)
    return Sheet("Sizes", (own + span + ratio,), ("", "p10", "p50", "p90", "mean", "n"), tuple(rows), notes)


def _figure(name: str, value: float) -> str:
    return digits(value) if name in ("gap_s", "tools") else count(round(value))


def _tools(shape: Shape) -> Sheet | None:
    if not shape.tools:
        return None
    shown = list(shape.tools.items())[:MOST_TOOLS]
    rest = shape.tool_calls - sum(n for _, n in shown)
    rows = [(name, count(n), percent(n / shape.tool_calls)) for name, n in shown]
    if rest:
        rows.append(("others", count(rest), percent(rest / shape.tool_calls)))
    return Sheet("Tools", (), ("tool", "calls", "share"), tuple(rows))


def _open(shape: Shape) -> Sheet | None:
    once = shape.at_once
    if once is None:
        return None
    rows = [("sessions", digits(once.sessions_mean), count(once.sessions_max))]
    requests = (digits(once.requests_mean), count(once.requests_max)) if once.requests_max is not None else (DASH, DASH)
    rows.append(("requests", *requests))
    return Sheet("Open at once", (), ("", "mean", "most"), tuple(rows), chart=_curve(once))


def _curve(once: AtOnce) -> str:
    values = [{"t": t, "n": n, "what": "sessions"} for t, n in zip(once.times_s, once.sessions, strict=True)]
    if once.requests is not None:
        values += [{"t": t, "n": n, "what": "requests"} for t, n in zip(once.times_s, once.requests, strict=True)]
    spec = {
        "data": {"values": values}, "height": 200, "mark": {"type": "line", "interpolate": "step-after"},
        "encoding": {
            "x": {"field": "t", "type": "quantitative", "title": "seconds from the first call"},
            "y": {"field": "n", "type": "quantitative", "title": "open"},
            "color": {"field": "what", "type": "nominal", "title": None,
                      "scale": {"domain": ["sessions", "requests"], "range": ["--c1", "--c2"]}},
        },
    }  # fmt: skip
    return chart(spec, "open-at-once", "Sessions and requests that are open at each moment.")


def _cache(shape: Shape) -> Sheet:
    rows = [(_size(each), percent(each.share) if each.share is not None else DASH) for each in shape.reuse]
    if shape.measured is not None:
        rows.append(("as the engine said, where it did", percent(shape.measured)))
    said = [f"{count(shape.distinct_tok)} distinct prompt tokens"]
    if shape.working is not None:
        mean, most = shape.working
        said.append(f"working set of {duration(SPAN_S)}: {count(round(mean))} tokens on average, at most {count(most)}")
    group = max(each.group for each in shape.reuse)
    notes = [f"blocks were looked up in groups of {group}"] if group > 1 else []
    return Sheet(
        "Prefix reuse", ("; ".join(said),), ("KV cache, tokens", "of prompt tokens"), tuple(rows), tuple(notes)
    )


def _size(each: Reuse) -> str:
    return "unlimited" if each.kv_tok is None else count(each.kv_tok)


def _fixed(shape: Shape) -> Sheet | None:
    fixed = shape.fixed
    if fixed is None:
        return None
    rows = (
        ("prompt", percent(fixed.prompt)), ("output", percent(fixed.output)), ("both", percent(fixed.both)),
        ("tokens in such calls", percent(fixed.tok)),
    )  # fmt: skip
    calls, tok = percent(fixed.both), percent(fixed.tok)
    said = f"a {FIXED_TOK}/{FIXED_TOK} test is like {calls} of the calls and {tok} of the tokens"
    heads = (f"within a factor of {LIKE:g} of {FIXED_TOK}", "share of calls")
    return Sheet(f"What a {FIXED_TOK}/{FIXED_TOK} test stands for", (said,), heads, rows)


def _unlike(compared: Comparison) -> Sheet:
    rows = tuple(
        (NAMES[u.name].partition(",")[0], *(digits(r) for r in u.ratios), f"x {digits(2**u.distance)}")
        for u in compared.each
    )
    if compared.distance is None:
        said = f"nothing can be compared with {compared.against}"
    else:
        said = f"distance to {compared.against}: a factor of {digits(2**compared.distance)} on average"
    note = (
        "ratios of quantiles, this over the other; apart: mean factor between the distributions, quantile by quantile"
    )
    return Sheet(f"How unlike {compared.against}", (said,), ("", "p10", "p50", "p90", "apart"), rows, (note,))
