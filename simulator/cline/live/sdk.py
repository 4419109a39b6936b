"""The SDK client with a live model. Its own estimate of tokens decides when it asks for a summary, and the model's
words are the summary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import orjson

from simulator.cline import guard, pool, texts
from simulator.cline.live import arguments
from simulator.cline.live.sdk_calls import actions
from simulator.cline.live.spoken import Call, Said, Spoken, looks_like_a_call
from simulator.cline.profiles import Profile
from simulator.cline.recovery import MISTAKES
from simulator.cline.retry import Change
from simulator.cline.sdk import client, results, window
from simulator.cline.setup import Cut, Draft, Setup
from simulator.cline.state import ResultState
from simulator.core.action import Action, Complete, Declined, Heard, Outcome, Propose, Refused, Step, SwitchToAct
from simulator.errors import UsageError

PROPOSALS = 3


class LiveSdk(client.Sdk):
    """answer: what the user says to a plan."""

    one_call = False

    def __init__(self, profile: Profile, setup: Setup, count: Callable[[str], int], answer: str = "") -> None:
        super().__init__(profile, setup, count)
        self._answer, self._proposals, self._mistakes = answer, 0, 0
        self._heard: tuple[Call, ...] = ()
        self._summing: int | None = None  # what is older than this message is being summed up
        self._offered = [_names(tail) for tail in self.tails]

    def request(self) -> Draft:
        """What is sent now: the agent's request, or the one for a summary, whose answer goes to summarised()."""
        cut: Cut = "switched" if self._switched else ""
        if self._replace_stale():
            cut = "stale_reads"
        if self._estimate_tok() >= window.trigger_tok(self.setup.context_window_tok, self.setup.max_input_tok):
            asked = self._ask_for_summary()
            if asked is not None:
                return asked
        self._switched = False
        return Draft("agent", self._view(), cut, self._head, self._prompt_tok())

    def summarised(self, text: str) -> None:
        """text: the summary; "" when none came, and a notice has to do."""
        at, self._summing = self._summing, None
        if at is None:
            raise UsageError("summarised() without a request for a summary before it")
        if text:
            self._cut_to(at, client.SUMMARY + text)
        else:
            self._cut_to_notice(window.KEEP_TOK)

    def shorten(self, change: Change) -> bool:
        """After the server has refused a request, or cut a reply, for its length; False: nothing could go."""
        keep = window.KEEP_TOK
        while change == "compact" and keep:
            if self._cut_to_notice(keep):
                return True
            keep //= 2
        return False

    def cut_off(self, said: Said) -> None:
        """A reply without a call that ended at its length limit, and the client's words about it."""
        self._said.append(client.Said(self.pool.text("assistant", said.text), f"[Assistant]\n{said.text}"))
        self._said.append(self._user(texts.load("sdk/cut_off.md")))

    def read(self, said: Said) -> Spoken:
        calls, sound = [], True
        for each in said.calls:
            fields, whole = arguments.read(each["arguments"])
            sound &= whole
            mended = each["arguments"] if whole and each["arguments"] else orjson.dumps(fields).decode()
            made = actions(each["name"], fields, self.setup.cwd, self._offered[self._head])
            calls.append(Call(each["id"], each["name"], mended, made))
        if not calls and said.text:
            calls = [Call("", "", "", (self._closing(said.text),))]
        leftover = not said.calls and looks_like_a_call(said.text, said.reasoning)
        return Spoken(said, said.text, tuple(calls), sound=sound, leftover=leftover)

    def hear(self, spoken: Spoken, sent: Draft) -> None:
        message: dict[str, Any] = {"role": "assistant", "content": spoken.text or None}
        if spoken.said.reasoning and self.profile.sends_reasoning:
            message["reasoning_content"] = spoken.said.reasoning
        self._heard = tuple(
            Call(call.id or self._call_id(), call.name, call.arguments, call.actions) if call.name else call
            for call in spoken.calls
        )
        named = [(call.id, call.name, call.arguments) for call in self._heard if call.name]
        if named:
            message["tool_calls"] = pool.calls(named)
        for _, name, told in named:
            self._guard, self._called = self._guard.after((name, told)), name
        if not named:
            self._guard = guard.Guard()
        lines = [f"[Assistant]\n{spoken.text}"] if spoken.text else []
        lines += [f"[Tool call] {name} {told}" for _, name, told in named]
        step = Step(spoken.text, spoken.actions)
        self._said.append(client.Said(self.pool.add(message), "\n".join(lines), step))

    def results(self, outcomes: Sequence[Outcome], now_unix_s: float) -> list[str]:
        """outcomes: one for each action of the reply's calls, in order. now_unix_s is not used by this client."""
        left, made = list(outcomes), []
        for call in self._heard:
            given, left = left[: len(call.actions)], left[len(call.actions) :]
            made.append(self._answer_to(call, given))
        self._watched()
        mistaken = [isinstance(a, Declined) and a.mistake for call in self._heard for a in call.actions]
        self._mistakes = self._mistakes + 1 if mistaken and all(mistaken) else 0
        if self._mistakes >= MISTAKES["sdk"]:
            self.ended = self.ended or "mistakes"
        if any(isinstance(a, SwitchToAct) for call in self._heard for a in call.actions) and self._mode == "plan":
            self._mode, self._switched = "act", True
            self._system = self._system_message()
        self._heard = ()
        return made

    @property
    def _head(self) -> int:
        return 2 if self._mode == "plan" else 0

    def _closing(self, text: str) -> Action:
        """What a reply without a call is: the end of the run; in plan mode a plan, as long as the user has patience."""
        if self._mode == "plan" and self._proposals < PROPOSALS:
            self._proposals += 1
            return Propose(text, self._answer)
        return Complete(text)

    def _answer_to(self, call: Call, outcomes: Sequence[Outcome]) -> str:
        if not call.name:
            self._said += [self._user(outcome.text) for outcome in outcomes if isinstance(outcome, Heard)]
            return ""
        pairs = list(zip(call.actions, outcomes, strict=True))
        state = ResultState(self.setup.cwd)
        shown = [_shown(action, outcome, state) for action, outcome in pairs]
        text = shown[0] if len(shown) == 1 else _as_one(shown)
        if len(pairs) == 1:
            self._hear(call.id, *pairs[0], results.sent(text))
        else:
            content = results.sent(text)
            self._said.append(client.Said(self._tool_message(call.id, content), f"[Tool result]\n{content}"))
        return text

    def _ask_for_summary(self) -> Draft | None:
        """None: too little is older than what stays, or it is too long to ask for, and a notice stands in its place."""
        at = self._split(window.KEEP_TOK)
        if not any(said.step for said in self._said[:at]):
            return None
        view = self._summary_view(at)
        prompt_tok = self.pool.prompt_tok(view)
        if prompt_tok + window.REPLY_TOK > self.setup.context_window_tok:
            self._cut_to_notice(window.KEEP_TOK)
            return None
        self._summing = at
        return Draft("compaction", view, "", 1, prompt_tok, 0, window.REPLY_TOK)


def _shown(action: Action, outcome: Outcome, state: ResultState) -> str:
    if isinstance(action, Declined) and isinstance(outcome, Refused):
        return orjson.dumps({"error": outcome.reason}).decode()
    return results.render(action, outcome, state)


def _as_one(texts_: Sequence[str]) -> str:
    """Lists of rows, joined to one list."""
    return orjson.dumps([row for text in texts_ for row in orjson.loads(text)]).decode()


def _names(tail: bytes) -> dict[str, list[str]]:
    """The tools of a body, each with the arguments that it asks for."""
    fields = orjson.loads(b'{"messages":[' + tail + b"}")
    tools = [tool["function"] for tool in fields.get("tools") or ()]
    return {tool["name"]: list(tool["parameters"].get("required") or ()) for tool in tools}
