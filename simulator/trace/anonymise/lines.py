"""Lines of a trace without what was said and by whom. What stays: counts, times, order, tool names, the protocol."""

from __future__ import annotations

from typing import Any

from simulator import tokenizer
from simulator.cline.profiles import PROFILES
from simulator.core import template
from simulator.trace import chains, counting
from simulator.trace.anonymise import toolnames
from simulator.trace.anonymise.messages import Messages
from simulator.trace.anonymise.values import Values
from simulator.trace.anonymise.words import Words
from simulator.trace.format import Call, Header, SessionLine, TurnLine
from simulator.trace.importing import IMPORTERS
from simulator.trace.trace_file import TracedSession

MADE_BY = "sim anonymise"
OTHER = "other"
_FINISHES = "stop length tool_calls function_call content_filter abort end_turn tool_use max_tokens stop_sequence"
FINISHES = frozenset(_FINISHES.split())
#: ways of estimating that are our own words
HOWS = frozenset((counting.HOW, chains.HOW, f"first prompt less its messages, {counting.HOW}"))
TRIES = 6


class Anonymiser:
    """Sessions of one trace, in its order. first_unix_s: the earliest start of those on the calendar's clock; times are
    told from there on."""

    def __init__(self, key: bytes, first_unix_s: float) -> None:
        self._words, self._first_s = Words(key), first_unix_s
        self._names: dict[tuple[str, str], str] = {}
        self._blocks: dict[tuple[str, int], int] = {}
        self.sessions = self.turns = self.unequal = 0

    def header(self, old: Header) -> Header:
        return Header(made_by=MADE_BY, tokenizer=old.tokenizer if old.tokenizer == tokenizer.NAME else "")

    def session(self, traced: TracedSession) -> tuple[SessionLine, list[TurnLine]]:
        old = traced.line
        values = Values(self._words, toolnames.kept(traced))
        messages = Messages(self._words, values)
        self.sessions += 1
        name = f"s{self.sessions:04d}"
        line = SessionLine(
            session=name, format=old.format if old.format in IMPORTERS else OTHER,
            client=self._name("client", old.client), profile=old.profile if old.profile in PROFILES else "",
            model=self._name("model", old.model), clock=old.clock, start_s=self._start(old),
            body=self._body(values, old.body), block_tok=old.block_tok, block_scope=old.block_scope,
            unstored_tok=old.unstored_tok, totals=old.totals, estimated=_estimated(old.estimated),
        )  # fmt: skip
        scope = {"trace": old.format, "session": name}.get(old.block_scope, name)
        turns = [self._turn(turn, name, scope, values, messages) for turn in traced.turns]
        self.turns += len(turns)
        self.unequal += messages.unequal
        return line, turns

    def _turn(self, old: TurnLine, session: str, scope: str, values: Values, messages: Messages) -> TurnLine:
        new: dict[str, Any] = {
            "session": session,
            "finish": old.finish if old.finish in FINISHES or not old.finish else OTHER,
            "calls": tuple(self._call(call, values) for call in old.calls),
            "body": self._body(values, old.body),
            "estimated": _estimated(old.estimated),
        }
        if old.add is not None:
            new["add"] = tuple(messages.of(message) for message in old.add)
        if old.reply is not None:
            new["reply"] = messages.of(old.reply)
        if old.add_blocks is not None:
            new["add_blocks"] = tuple(self._block(scope, block) for block in old.add_blocks)
        return old.model_copy(update=new)

    def _call(self, old: Call, values: Values) -> Call:
        result = None if old.result is None else self._words.text(old.result)
        return old.model_copy(
            update={"tool": values.tool(old.tool), "id": self._words.shaped(old.id), "result": result}
        )

    def _body(self, values: Values, old: dict[str, Any] | None) -> dict[str, Any] | None:
        if old is None:
            return None
        fixed = {"model": self._name("model", str(old.get("model") or "")), "messages": None}
        renamed: dict[str, Any] = {}
        for name, each in old.items():
            if name in fixed:
                renamed[name] = fixed[name]
            else:
                renamed[values.key(name)] = values.setting(each, name)
        self._match_tools(old.get("tools"), renamed.get("tools"))
        return renamed

    def _match_tools(self, old: Any, made: Any) -> None:
        """Words more or fewer behind the longest description, until the tools cost what they did."""
        if not isinstance(old, list) or not old or not isinstance(made, list):
            return
        wanted = tokenizer.count(template.render_tools(old))
        told = [each["function"] for each in made if isinstance(each, dict) and isinstance(each.get("function"), dict)]
        told = [each for each in told if isinstance(each.get("description"), str) and each["description"]]
        for _ in range(TRIES):
            missing = wanted - tokenizer.count(template.render_tools(made))
            if not missing or not told:
                break
            longest = max(told, key=lambda each: len(each["description"]))
            longest["description"] = self._words.more(longest["description"], missing)
        self.unequal += wanted != tokenizer.count(template.render_tools(made))

    def _name(self, kind: str, old: str) -> str:
        """`model-1` for the first of its kind, and so on; "" stays."""
        if not old:
            return ""
        number = sum(known == kind for known, _ in self._names) + 1
        return self._names.setdefault((kind, old), f"{kind}-{number}")

    def _block(self, scope: str, block: int) -> int:
        return self._blocks.setdefault((scope, block), len(self._blocks) + 1)

    def _start(self, old: SessionLine) -> float | None:
        if old.start_s is None or old.clock != "unix":
            return old.start_s
        return round(old.start_s - self._first_s, 6)


def _estimated(old: dict[str, str]) -> dict[str, str]:
    fields = {*SessionLine.model_fields, *TurnLine.model_fields}
    return {
        name: how if how in HOWS else "estimated" for name, how in old.items() if name.removeprefix("turn.") in fields
    }
