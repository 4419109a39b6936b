"""Which mistakes are made where, by luck that depends on seed, request and step alone; and what each looks like."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import orjson
import xxhash

from simulator.core.solution import Said, Solution, Way
from simulator.engine.embedded.brain.rates import OF_A_TURN, Rates

#: names that models make up
NO_SUCH_TOOLS = ("open_file", "apply_changes", "shell", "edit_lines", "view_code")
_LAST_TAG = re.compile(r"</(\w+)>\s*$")
#: with these the sdk client takes a reply for the end of the task
_ENDS_SDK = ("no_tool", "call_in_content", "call_in_reasoning")


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of a session: "" | "loop" | "early_stop" | "wrong_edit", from step `at` on."""

    kind: str = ""
    at: int = 0


def fate(rates: Rates, seed: int, key: str, solution: Solution) -> Fate:
    """loop and early_stop come before the first change is made, so that the work is surely missing; wrong_edit is of
    everything that is written."""
    if solution.branch:
        return Fate()
    kind = _drawn(rates.of_a_session(), _luck(seed, key, "session"))
    place = _luck(seed, key, "place")
    first_change = next((n for n, way in enumerate(solution.ways) if way.changes), None)
    match kind:
        case "loop":
            before = solution.ways[: max(1, first_change or 0)] if first_change is not None else solution.ways[:-1]
            calling = [n for n, way in enumerate(before) if way.asks]
            return Fate(kind, calling[int(place * len(calling))]) if calling else Fate()
        case "early_stop" if first_change is not None:
            return Fate(kind, int(place * (first_change + 1)))
        case "wrong_edit" if first_change is not None:
            return Fate(kind, first_change)
        case _:
            return Fate()


def slip(rates: Rates, seed: int, key: str, solution: Solution, step: int) -> str:
    """The mistake with which a step is first tried, "" for none."""
    kind = _drawn(rates.of_a_turn(), _luck(seed, key, str(step)))
    return kind if kind and _fits(kind, solution, step) else ""


def _fits(kind: str, solution: Solution, step: int) -> bool:
    """Whether a step's reply can have that mistake."""
    way = solution.ways[step]
    if solution.branch or not way.asks or step == len(solution.ways) - 1:
        return False
    if kind == "unfit_edit":
        return way.unfit is not None
    # a client that gets nothing but reasoning asks again with the same history, in which the first step has no trace
    return step > 0 or kind != "call_in_reasoning"


def ends(kind: str, solution: Solution, step: int) -> bool:
    """Whether this mistake at this step leaves the task unsolved, when the client does as its original does."""
    if kind in ("loop", "early_stop", "wrong_edit"):
        return True
    return solution.client == "sdk" and kind in _ENDS_SDK and any(way.counts for way in solution.ways[step:])


def chance(rates: Rates, solution: Solution) -> float:
    """That the session's task is solved, over all seeds: that none of its mistakes is one that `ends` it."""
    ways, of_a_session = solution.ways, rates.of_a_session()
    if not any(way.changes for way in ways):
        of_a_session = {"loop": rates.loop}
    if not any(way.asks for way in ways[:-1]):
        of_a_session = {}
    share = 1.0 - sum(of_a_session.values())
    for step in range(len(ways)):
        kinds = [kind for kind in OF_A_TURN if ends(kind, solution, step) and _fits(kind, solution, step)]
        share *= 1.0 - sum(getattr(rates, kind) for kind in kinds)
    return share


def mistaken(kind: str, way: Way, *, xml: bool, luck: float) -> Said:
    """A step's reply with that mistake. luck: which of several forms it takes."""
    said = way.reply
    match kind:
        case "unfit_edit":
            return way.unfit or said
        case "malformed":
            return _cut_xml(said) if xml else _broken(said, whole=luck < 0.5)
        case "unknown_tool":
            return _renamed(said, NO_SUCH_TOOLS[int(luck * len(NO_SUCH_TOOLS))], xml=xml)
        case "no_tool":
            return Said(f"{_prose(said, xml=xml)} I will do that now.".strip())
        case "call_in_content":
            return Said(f"{_prose(said, xml=xml)}\n{_as_text(way)}".strip())
        case "call_in_reasoning":
            hidden = said.content if xml else f"{said.content}\n{_as_text(way)}"
            return Said("", "\n".join(filter(None, [said.reasoning, hidden])).strip())
        case "talks_on":
            return replace(said, after="\n\nWith that done, the next thing to look at is what it changes for the rest.")
        case _:
            return said


def luck_of(seed: int, key: str, step: int) -> float:
    """For the form of a mistake."""
    return _luck(seed, key, f"{step} form")


def _cut_xml(said: Said) -> Said:
    """Ends inside the first parameter's opening tag, so that nobody can take the call for a whole one."""
    name = _tool_of(said.content)
    opening = said.content.rfind(f"<{name}>") if name else -1
    inside = said.content.find("<", opening + 1) if opening >= 0 else -1
    if inside < 0 or said.content.startswith("</", inside):
        return Said(said.content[: len(said.content) // 2])
    return Said(said.content[: inside + 4].rstrip(">"))


def _broken(said: Said, *, whole: bool) -> Said:
    """whole: only the closing brace of the last call is missing; else it ends inside its first key."""
    *others, (name, arguments) = said.calls
    arguments = arguments.rstrip()
    cut = arguments[:-1] if whole and len(arguments) > 2 else arguments[:4]
    return replace(said, calls=(*others, (name, cut)))


def _renamed(said: Said, name: str, *, xml: bool) -> Said:
    if not xml:
        return replace(said, calls=tuple((name, arguments) for _, arguments in said.calls))
    old = _tool_of(said.content)
    head, mark, rest = said.content.rpartition(f"<{old}>")
    if not mark:
        return said
    return replace(said, content=f"{head}<{name}>{rest.removesuffix(f'</{old}>')}</{name}>")


def _prose(said: Said, *, xml: bool) -> str:
    """What is said around the call."""
    if not xml:
        return said.content
    name = _tool_of(said.content)
    return said.content.partition(f"<{name}>")[0].rstrip() if name else said.content


def _tool_of(content: str) -> str:
    found = _LAST_TAG.search(content)
    return found[1] if found else ""


def _as_text(way: Way) -> str:
    asks = [{"name": name, "arguments": orjson.loads(arguments)} for name, arguments in way.asks]
    calls = [orjson.dumps(ask).decode() for ask in asks]
    return "\n".join(f"<tool_call>\n{call}\n</tool_call>" for call in calls)


def _drawn(rates: Mapping[str, float], luck: float) -> str:
    total = 0.0
    for kind, rate in rates.items():
        total += rate
        if luck < total:
            return kind
    return ""


def _luck(seed: int, key: str, what: str) -> float:
    return xxhash.xxh3_64_intdigest(f"{seed}/{key}/{what}".encode()) / 2**64
