"""The classic client with a live model: its replies are read, counted by the server's usage, and answered."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import orjson

from simulator.cline import pool
from simulator.cline.classic import history, window
from simulator.cline.classic.client import Classic
from simulator.cline.live import arguments
from simulator.cline.live.classic_calls import NEEDED, PARAMS, Situation, action
from simulator.cline.live.spoken import Call, Said, Spoken, looks_like_a_call
from simulator.cline.live.xml import XmlReader
from simulator.cline.profiles import Profile
from simulator.cline.retry import Change
from simulator.cline.setup import Draft, Setup
from simulator.core.action import Step

#: of a call whose opening tag is missing or misspelled
_TAGS = re.compile("</?(?:" + "|".join((*NEEDED, *PARAMS)) + ")>")
#: a reply cut to nothing still needs a place in the history
NOTHING = "(nothing)"
#: described in the prompt of a profile with calls in XML; a sub-agent's prompt describes fewer
_XML_TOOLS = frozenset(NEEDED) - {"load_mcp_documentation", "use_subagents"}
_EXPLORER_TOOLS = frozenset({
    "execute_command", "read_file", "search_files", "list_files", "list_code_definition_names", "attempt_completion",
})  # fmt: skip


class LiveClassic(Classic):
    """answer: what the user says to a plan."""

    def __init__(self, profile: Profile, setup: Setup, count: Callable[[str], int], answer: str = "") -> None:
        super().__init__(profile, setup, count)
        self._answer = answer
        self._by_calls = profile.calls == "native"
        self.one_call = not setup.parallel_tool_calls
        self._offered = _offered(profile, setup, self.tails[0])

    def request(self) -> Draft:
        """What is sent now. The history is shortened by the tokens of the last request, as the server counted them."""
        allowed = window.max_allowed_tok(self.setup.context_window_tok)
        quarter = self._used_tok / 2 > allowed
        cut = self._used_tok >= allowed and self._history.shorten(keep_quarter=quarter)
        self._used_tok = 0 if cut else self._used_tok
        return Draft("agent", self._history.view(), "truncated" if cut else "", 0, self._prompt_tok())

    def summarised(self, text: str) -> None:
        """This client asks for no summaries."""

    def shorten(self, change: Change) -> bool:
        """After the server has refused a request as too long; False: nothing could go."""
        return change == "truncate" and self._history.drop(keep_quarter=True)

    def cut_off(self, said: Said) -> None:
        """This client says no more about it than that no tool was called."""

    def read(self, said: Said) -> Spoken:
        return self._read_native(said) if self._by_calls else self._read_xml(said)

    def reader(self) -> XmlReader:
        """For the text of one reply."""
        return XmlReader(tuple(NEEDED), PARAMS)

    def hear(self, spoken: Spoken, sent: Draft) -> None:
        said = spoken.said
        message: dict[str, Any] = {"role": "assistant", "content": spoken.text or NOTHING}
        self._ids = []
        if self._by_calls and spoken.calls:
            named = [(call.id or self._call_id(), call.name, call.arguments) for call in spoken.calls]
            self._ids = [call_id for call_id, _, _ in named]
            message |= {"content": spoken.text or None, "tool_calls": pool.calls(named)}
        index = self.pool.add(message)
        self._history.add(history.Said((index,), (spoken.text,)))
        counted = said.prompt_tok is not None and said.output_tok is not None
        used = (said.prompt_tok or 0) + (said.output_tok or 0) if counted else 0
        self._used_tok = used + ((said.cached_tok or 0) if used and self.setup.cached_double_count else 0)
        self._heard(Step(spoken.text, spoken.actions, progress=spoken.progress), sent)

    def _situation(self) -> Situation:
        return Situation(self.setup.cwd, self._by_calls, self._mode == "plan", self._offered, self._answer)

    def _read_xml(self, said: Said) -> Spoken:
        reader = self.reader()
        reader.feed(said.text)
        found = reader.finish()
        text = said.text
        if self.one_call and found:
            found, text = found[:1], text[: found[0].end]
        where = self._situation()
        calls = tuple(Call("", each.name, "", (action(each.name, each.params, where),)) for each in found)
        progress = [each.params["task_progress"] for each in found if each.params.get("task_progress")]
        sound, leftover = all(each.whole for each in found), not found and _leftover(text)
        return Spoken(said, text, calls, progress[-1] if progress else "", sound, leftover)

    def _read_native(self, said: Said) -> Spoken:
        where, calls, progress, sound = self._situation(), [], "", True
        for each in said.calls[:1] if self.one_call else said.calls:
            fields, whole = arguments.read(each["arguments"])
            sound &= whole
            told = fields.get("task_progress")
            progress = told if isinstance(told, str) and told else progress
            arguments_sent = each["arguments"] if whole and each["arguments"] else orjson.dumps(fields).decode()
            calls.append(Call(each["id"], each["name"], arguments_sent, (action(each["name"], fields, where),)))
        return Spoken(said, said.text, tuple(calls), progress, sound, not calls and _leftover(said.text))


def _leftover(text: str) -> bool:
    return _TAGS.search(text) is not None or looks_like_a_call(text)


def _offered(profile: Profile, setup: Setup, tail: bytes) -> frozenset[str]:
    if profile.calls == "native":
        fields = orjson.loads(b'{"messages":[' + tail + b"}")
        return frozenset(tool["function"]["name"] for tool in fields.get("tools") or ())
    if not profile.environment:
        return _EXPLORER_TOOLS
    return _XML_TOOLS | ({"use_subagents"} if setup.subagents else set())
