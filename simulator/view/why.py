"""The answer of `sim why`: what made two runs' throughput differ, one sentence and the figures behind it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from simulator.core.limit import CLIENT
from simulator.core.why.split import CLOSE, RECORDS, Factor, Split
from simulator.view.cells import clean
from simulator.view.format import DASH, digits, measure, percent
from simulator.view.identity import RANDOM_WEIGHTS, emulation, is_emulated
from simulator.view.sheet import Document, Sheet
from simulator.view.verdict import KINDS, NO_COMPARISON

#: key -> what it is, its unit (view/format.measure), how a sentence says it
WORDS = {
    "in_step": ("requests in a step", "", "requests in a step"),
    "tok_a_step": ("tokens a step gives each", "", "tokens a step"),
    "steps_s": ("steps a second", "", "steps a second"),
    "open": ("requests open at the client", "", "open requests"),
    "streaming_share": ("share of their time that streams", "share", "of their time streaming"),
    "tok_s_streaming": ("tok/s of a streaming reply", "", "tokens a second in each streaming reply"),
    "served_share": ("share of their time in steps", "share", "of their time in steps"),
    "through_tok_s": ("tokens through the model a second", "", "tokens through the model a second"),
    "output_share": ("share of them that is output", "share", "of them output"),
    "prefill_share": ("share of tokens that is prefill", "share", ""),
    "computed_prompt_tok_s": ("prompt tokens computed a second", "", ""),
    "computed_prompt_tok_a_request": ("prompt tokens computed a request", "", ""),
    "hit_share": ("prefix cache hits", "share", ""),
    "acceptance_length": ("acceptance length (drafts)", "", ""),
    "preemptions": ("preemptions", "", ""),
    "running": ("running, mean of scrapes", "", ""),
    "waiting": ("waiting in the engine", "", ""),
    "backlog": ("front-end backlog, requests", "", ""),
    "kv_use": ("KV cache in use", "share", ""),
    "failed": ("failed requests", "", ""),
}
#: a factor nearer to 1 than this is not worth a place in the sentence
UNCHANGED = 0.01
#: the work's output share is told when it makes at least so much of a difference, as a logarithm
TOLD = 0.05


@dataclass(frozen=True, slots=True)
class Side:
    """A run. name: short, for columns; manifest, summary: as its folder has them."""

    name: str
    manifest: Mapping[str, Any]
    summary: Mapping[str, Any]


def sentence(split: Split, a: str, b: str) -> str:
    """ "B makes 19 % more tokens a second than A: 1.79x tokens a step from drafts, 0.78x steps a second, ..." """
    parts = [_told(each, split) for each in _largest(split.factors)]
    if abs(math.log(split.ratio)) < UNCHANGED:
        head = f"{b} and {a} make the same number of tokens a second (within {percent(UNCHANGED)})"
    else:
        more = "more" if split.ratio > 1 else "fewer"
        head = f"{b} makes {percent(abs(split.ratio - 1), 2)} {more} tokens a second than {a}"
    if not split.holds:
        return f"{head}; the split does not hold: its factors give {times(split.product)} for {times(split.ratio)}"
    return f"{head}: {', '.join(parts)}" if parts else f"{head}; no factor moved by more than {percent(UNCHANGED)}"


def _largest(factors: Iterable[Factor]) -> list[Factor]:
    moved = [each for each in factors if each.ln is not None and abs(each.ln) >= UNCHANGED]
    return sorted(moved, key=lambda each: -abs(each.ln or 0.0))


def _told(factor: Factor, split: Split) -> str:
    words = WORDS[factor.key][2]
    drafts = (split.a.drafts or 0.0) != (split.b.drafts or 0.0) and factor.key == "tok_a_step"
    return f"{times(factor.ratio)} {words}{' from drafts' if drafts else ''}"


def work_sentence(split: Split) -> str | None:
    """What prefill has to do with it, where it has: measured on both sides, and exact as a factor of its own."""
    share = next((each for each in split.work if each.key == "output_share"), None)
    if share is None or share.ln is None or abs(share.ln) < max(TOLD, abs(math.log(split.ratio)) / 4):
        return None
    through = next(each for each in split.work if each.key == "through_tok_s")
    computed = next((each for each in split.beside if each.key == "computed_prompt_tok_a_request"), None)
    per = "" if computed is None or computed.ratio is None else (
        f" ({digits(computed.b)} prompt tokens computed a request for {digits(computed.a)})"
    )  # fmt: skip
    return (
        f"As work: {times(through.ratio)} tokens through the model a second, {times(share.ratio)} the share of them "
        f"that is output{per}"
    )


def times(ratio: float | None) -> str:
    """Two places where they tell something: 0.79x, 1.80x, 12.4x."""
    if ratio is None or not math.isfinite(ratio):
        return DASH
    return f"{ratio:.2f}x" if 0.1 <= ratio < 10 else f"{digits(ratio)}x"


def document(splits: Sequence[Split], a: Side, b: Side) -> Document:
    sheets = [_sheet(each, a, b) for each in splits]
    return Document(
        title=f"why: A = {a.name}, B = {b.name}",
        marks=marks((a, b)),
        sheets=tuple(sheets),
        notes=(*_sides(a, b), *_cautions(splits, a, b)),
    )


def marks(sides: Sequence[Side]) -> tuple[str, ...]:
    found = [f"{emulation(each.manifest)}: not a GPU" for each in sides if is_emulated(each.manifest)]
    if any(_engine(each).get("random_weights") is True for each in sides):
        found.append(RANDOM_WEIGHTS)
    return tuple(dict.fromkeys(found))


def _engine(side: Side) -> Mapping[str, Any]:
    engine = side.manifest.get("engine")
    return engine if isinstance(engine, Mapping) else {}


def _sheet(split: Split, a: Side, b: Side) -> Sheet:
    said = [sentence(split, a.name, b.name), work_sentence(split)]
    off = f"factors {split.product:.4f} for a ratio of {split.ratio:.4f}: {100 * split.off:+.2f} %"
    allowed = f"at most {percent(CLOSE)} allowed" if split.holds else f"more than the {percent(CLOSE)} allowed"
    rows = [("output tok/s", digits(split.a.output_tok_s), digits(split.b.output_tok_s), times(split.ratio),
             _points(math.log(split.ratio)))]  # fmt: skip
    rows += _rows("= ", "x ", split.factors)
    if split.batch:
        rows += [(f"{WORDS[split.factors[0].key][0]}, once more", "", "", "", ""), *_rows("= ", "x ", split.batch)]
    if split.work:
        rows += [("output tok/s once more, as work", "", "", "", ""), *_rows("= ", "x ", split.work)]
    rows += [("measured beside it, no exact share", "", "", "", ""), *_rows("", "", split.beside)]
    return Sheet(
        title=KINDS[split.kind],
        said=tuple(each for each in said if each),
        heads=("", "A", "B", "B/A", "100 ln"),
        rows=tuple(rows),
        notes=(f"{off} ({allowed})", *split.notes),
    )


def _rows(first: str, later: str, factors: Sequence[Factor]) -> list[tuple[str, ...]]:
    found = []
    for n, each in enumerate(factors):
        label, unit, _ = WORDS[each.key]
        ln = _points(each.ln) if each.exact else ""
        shown = measure(each.a, unit), measure(each.b, unit)
        found.append((f"  {later if n else first}{label}", *shown, times(each.ratio), ln))
    return found


def _points(ln: float | None) -> str:
    """Hundredths of a natural logarithm, which add up where ratios multiply."""
    return DASH if ln is None else f"{100 * ln:+.1f}"


def _sides(a: Side, b: Side) -> list[str]:
    labels = [(name, clean(str(side.manifest.get("label") or ""))) for name, side in (("A", a), ("B", b))]
    return [f"{name}: {label}" for name, label in labels if label]


def _cautions(splits: Sequence[Split], a: Side, b: Side) -> list[str]:
    found = ["One run a side: this suggests, it decides nothing; `sim diff` over repeated pairs does."]
    for split in splits:
        for name, side in (("A", a), ("B", b)):
            where = (side.summary.get("limit") or {}).get(split.kind) or {}
            if where.get("where") == CLIENT:
                found.append(f"{name}, {KINDS[split.kind]}: the client was the limit; {NO_COMPARISON}.")
    if a.manifest.get("plan_hash") != b.manifest.get("plan_hash"):
        found.append("The two runs played different plans, so the factors compare the traffic, too.")
    if any(split.kind == "agent" for split in splits):
        found.append(
            "Agents wait for their replies: when an engine answers sooner, fewer requests are open at once, so the "
            "number of requests in a step is partly a result of the other factors."
        )
    if any(split.basis == RECORDS for split in splits):
        found.append("Scrapes of the engine's /metrics would allow the finer split: requests, tokens and steps.")
    return found


def as_json(splits: Sequence[Split], a: Side, b: Side) -> dict[str, Any]:
    return {
        "schema": 1,
        "marks": list(marks((a, b))),
        "a": {"name": a.name, "label": a.manifest.get("label")},
        "b": {"name": b.name, "label": b.manifest.get("label")},
        "traffic": {split.kind: _split_json(split, a.name, b.name) for split in splits},
        "cautions": _cautions(splits, a, b),
    }


def _split_json(split: Split, a: str, b: str) -> dict[str, Any]:
    def told(factors: Sequence[Factor]) -> list[dict[str, Any]]:
        return [{**asdict(each), "ratio": each.ratio, "ln": each.ln} for each in factors]

    return {
        "sentence": sentence(split, a, b),
        "as_work": work_sentence(split),
        "basis": split.basis,
        "ratio": split.ratio,
        "product": split.product if math.isfinite(split.product) else None,
        "off": split.off if math.isfinite(split.off) else None,
        "holds": split.holds,
        "factors": told(split.factors),
        "in_step": told(split.batch),
        "work": told(split.work),
        "beside": told(split.beside),
        "notes": list(split.notes),
    }
