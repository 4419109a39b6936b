"""Greedy agreement of two engines, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.core.wording import counted
from simulator.view.format import DASH, count, digits, percent
from simulator.view.identity import EMULATED, RANDOM
from simulator.view.sheet import Document, Sheet

PLUMBING = "it proves that the plumbing works, and nothing about any arithmetic"
KINDS = {"replies": "equal replies", "calls": "equal tool calls", "call_names": "equal names of calls"}
WHO = {"ab": "A and B", "aa": "A and A again"}


def document(answer: Mapping[str, Any]) -> Document:
    """answer: as cli/agree.py folds it: {a, b, prompts, seed, max_tok, concurrency, tokens, compared: {"ab", "aa"}}."""
    sheets = [_shares(answer)]
    sheets += [_divergence(name, each) for name, each in answer["compared"].items()]
    return Document(
        f"Greedy agreement: {_name(answer['a'])} and {_name(answer['b'])}", marks(answer), tuple(sheets), _notes(answer)
    )


def _name(side: Mapping[str, Any]) -> str:
    return f"{side['named']} ({side['model']})"


def marks(answer: Mapping[str, Any]) -> tuple[str, ...]:
    told = []
    for mark, key in ((EMULATED, "emulated"), (RANDOM, "random_weights")):
        sides = [name.upper() for name in ("a", "b") if answer[name].get(key)]
        if sides:
            told.append(f"{mark} ({' and '.join(sides)}): {PLUMBING}")
    return tuple(told)


def _shares(answer: Mapping[str, Any]) -> Sheet:
    rows = []
    for name, found in answer["compared"].items():
        for key, what in KINDS.items():
            each = found[key]
            told = f"{count(each['good'])} of {count(each['of'])}", percent(each["share"]), _sure(each)
            if each["of"]:
                rows.append((f"{what}, {WHO[name]}", *told))
    failed = [f"{counted(each['failed'], 'prompt')} without two answers ({WHO[name]}) in no figure"
              for name, each in answer["compared"].items() if each["failed"]]  # fmt: skip
    first = answer["compared"]["ab"]
    said = f"{percent(first['replies']['share'])} of replies are equal to the last token"
    calls = f"{percent(first['calls']['share'])} of tool calls with name and arguments"
    said = f"{said}, {calls}" if first["calls"]["of"] else f"{said}; neither side made a tool call"
    return Sheet("", (said,), ("", "", "%", "95 %"), tuple(rows), tuple(failed))


def _sure(each: Mapping[str, Any]) -> str:
    return DASH if each["low"] is None else f"{digits(100 * each['low'])}..{digits(100 * each['high'])}"


def _divergence(name: str, found: Mapping[str, Any]) -> Sheet:
    each = found["divergence"]
    rows = tuple(
        (f"{count(row['tok'])}", count(row["at_risk"]), count(row["diverged"]), percent(row["share"]), _sure(row))
        for row in each["table"]
    )
    reached = ", ".join(
        f"{part} by token {count(each[key])}" if each[key] is not None else f"{part} never"
        for key, part in (("p10", "a tenth"), ("p25", "a quarter"), ("p50", "half"))
    )
    said = (
        f"{counted(each['diverged'], 'reply parts', 'replies part')} somewhere in {count(each['tok'])} tokens: "
        + reached,
    )
    heads = ("after tokens", "still told", "parted", "the same, %", "95 %")
    return Sheet(f"First divergence, {WHO[name]}", said, heads, rows)


def _notes(answer: Mapping[str, Any]) -> tuple[str, ...]:
    asked = f"{counted(answer['prompts'], 'prompt')} of {answer['scenario']}, seed {answer['seed']}; temperature 0"
    bound = (
        f"replies end by themselves or at {count(answer['max_tok'])} tokens, {count(answer['concurrency'])} at once."
    )
    text = "A server told no token ids: tokens are this package's own count of the text, and places near, not exact."
    told = [
        f"{asked}, {bound}",
        "Tokens are the servers' own ids." if answer["tokens"] == "ids" else text,
        "Still told: replies as long as that. An equal reply tells nothing past its end (Kaplan and Meier heed it).",
        "Turns of one session share most of their prompt, so the intervals are somewhat narrow.",
    ]
    warm = [name for name, cold in answer["forgot"].items() if not cold]
    if warm:
        names = ", ".join(warm)
        told.append(f"The prefix cache could not be dropped before {names} (VLLM_SERVER_DEV_MODE=1 lets a vLLM do it).")
    if "aa" not in answer["compared"]:
        told.append(
            "How far A agrees with itself was not asked: --twice tells it, and only what goes beyond it is B's."
        )
    return tuple(told)
