"""Sessions for the tests of simulator/cline: a setup, random steps with outcomes that fit them, and a player."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
from hypothesis import strategies as st

from simulator.cline.conversation import Conversation, Draft, Setup
from simulator.cline.profiles import PROFILES
from simulator.core import action as act

LISTING = act.Listing(("src/", "tests/", "README.md", "calc.py", "rates.csv", "src/util.py"))
SETUP = Setup(
    task_prompt="Correct the monthly payment in calc.py and cover it with a test.",
    cwd="/home/dev/projects/loan-calculator",
    repo_name="loan-calculator",
    model="served-model",
    context_window_tok=128_000,
    listing=LISTING,
    latest_commit="4f0c" * 10,
    start_unix_s=1_795_951_630.0,
)
SOURCE = "".join(f"def rate_{i}(months):\n    return months * {i} + {i % 7}\n\n" for i in range(120))


def count(text: str) -> int:
    """A stand-in tokenizer that is quick and additive enough: four characters a token."""
    return -(-len(text) // 4)


def start(name: str, **changes: Any) -> Conversation:
    return Conversation(PROFILES[name], replace(SETUP, **changes), count)


def messages(talk: Conversation, draft: Draft) -> list[dict[str, Any]]:
    return [orjson.loads(talk.pool[i]) for i in draft.view]


def body(talk: Conversation, draft: Draft) -> bytes:
    return talk.heads[draft.head] + b",".join(talk.pool[i] for i in draft.view) + talk.tails[draft.head] + b"}"


def turn(talk: Conversation, action: act.Action, outcome: act.Outcome, **step: Any) -> list[Draft]:
    """One request, its reply and its result; gives the drafts that were sent."""
    drafts = talk.requests()
    talk.reply(act.Step(step.pop("say", "Next."), (action,), **step))
    talk.results([outcome], SETUP.start_unix_s + len(talk.pool))
    return drafts


_word = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), min_size=1, max_size=30)
_path = st.sampled_from(["calc.py", "src/util.py", "tests/test_calc.py"])
_text = st.one_of(st.just(SOURCE), st.lists(_word, max_size=8).map("\n".join))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[act.Action, act.Outcome]:
    """An action and an outcome that it can have."""
    path, text = draw(_path), draw(_text)
    kind = draw(st.integers(0, 8))
    if kind == 0:
        return act.ReadFile(path), act.FileText(text)
    if kind == 1:
        first = draw(st.integers(1, 50))
        return act.ReadFile(path, first, first + draw(st.integers(0, 400))), act.FileText(text)
    if kind == 2:
        blocks = tuple(draw(st.lists(st.tuples(_word, _word), min_size=1, max_size=3)))
        after = text
        for search, new in blocks:
            after = after.replace(search, new, 1)
        return act.Edit(path, blocks), act.Edited(path, text, after)
    if kind == 3:
        return act.Edit(path, ((draw(_word), "x"),)), act.EditFailed(path, 0, text)
    if kind == 4:
        return act.Write(path, text), act.Edited(path, "", text, created=True)
    if kind == 5:
        return act.Command("python -m unittest"), act.Ran(draw(st.sampled_from([0, 1, None])), text)
    if kind == 6:
        hit = act.Hit(path, 3, draw(_word), (draw(_word),), (draw(_word),))
        return act.Search("def .*", draw(st.sampled_from([".", "src"]))), act.Matches((hit,), 1)
    if kind == 7:
        return act.ListFiles(".", recursive=True), LISTING
    return act.ReadFile("missing.py"), act.Refused("File not found: missing.py")


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[act.Step, list[act.Outcome]]]:
    """Steps with their outcomes, one action each; some think, some send a checklist."""
    out = []
    for action, outcome in draw(st.lists(pairs(), min_size=2, max_size=14)):
        progress = draw(st.sampled_from(["", "", "- [x] Read\n- [ ] Change"]))
        say, reasoning = draw(st.sampled_from(["", "On to it."])), draw(st.sampled_from(["", "Hm."]))
        step = act.Step(say, (action,), reasoning, progress)
        out.append((step, [outcome]))
    return out
