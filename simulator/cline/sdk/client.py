"""The SDK client's side of a conversation: system, user, then (assistant, tool, tool, ...)*.

Append-only until stale reads are replaced (in one batch once 65,536 bytes can be won, which protects prefix caches) or
the history is compacted (window.py). The client's total budget of 6 MB is left out: no window in use reaches it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from simulator.cline import guard, pool, texts, when
from simulator.cline.profiles import Profile
from simulator.cline.sdk import calls, results, window
from simulator.cline.setup import Cut, Draft, Mode, Reply, Setup
from simulator.cline.state import ResultState
from simulator.core.action import Action, FileText, Heard, Outcome, ReadFile, Step, SwitchToAct

SUMMARY = "Context summary:\n\n"


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the history. text: as the compaction request shows it. step: an assistant's. read: the path and
    lines that a tool message holds, None otherwise; call_id and content are set with it. stale: may be replaced."""

    index: int
    text: str
    step: Step | None = None
    read: tuple[str, int | None, int | None] | None = None
    call_id: str = ""
    content: str = ""
    stale: bool = False


class Sdk:
    def __init__(self, profile: Profile, setup: Setup, count: Callable[[str], int]) -> None:
        self.profile, self.setup, self.pool = profile, setup, pool.Pool(count)
        tool_set = profile.tool_set or setup.tool_set
        tools = {"act": texts.tools(profile.tools, tool_set)}
        if setup.mode == "plan":
            tools["plan"] = texts.tools(profile.tools, f"{tool_set}-plan")
        self.heads, self.tails = _frame(profile, setup, tools)
        self._tools_tok = {mode: self.pool.tools_tok(made) for mode, made in tools.items()}
        self._tools_chars = {mode: len(orjson.dumps(made).decode()) for mode, made in tools.items()}
        self.ended = ""
        self._mode: Mode = setup.mode
        self._switched = False  # since the last request
        self._guard, self._called = guard.Guard(), ""
        self._system = self._system_message()
        self._said = [self._user(setup.task_prompt)]
        self._given_up: list[Step] = []  # steps that a compaction removed
        self._calls = 0
        self._step: Step | None = None
        self._ids: list[list[str]] = []

    def requests(self) -> list[Draft]:
        cut: Cut = "switched" if self._switched else ""
        self._switched = False
        if self._replace_stale():
            cut = "stale_reads"
        out: list[Draft] = []
        if self._estimate_tok() >= window.trigger_tok(self.setup.context_window_tok, self.setup.max_input_tok):
            asked = self._compact()
            if asked is not None:
                cut = "compacted"
                out += asked
        limit = self.setup.context_window_tok - pool.reply_room_tok(self.setup.context_window_tok)
        keep = window.KEEP_TOK
        # as in classic: no send that is sure to be refused; the client's answer to it, the notice, comes at once
        while self._prompt_tok() > limit:
            if self._cut_to_notice(keep):
                cut = "compacted"
            elif keep == 0:
                if self.setup.must_fit:
                    raise pool.too_long(self.setup, self._prompt_tok())
                break
            keep //= 2
        head = 2 if self._mode == "plan" else 0
        return [*out, Draft("agent", self._view(), cut, head, self._prompt_tok())]

    def reply(self, step: Step, sent: Draft) -> Reply:
        made = [calls.calls(a, self.setup.cwd) for a in step.actions]
        self._ids = [[self._call_id() for _ in group] for group in made]
        flat = [(i, n, orjson.dumps(a).decode()) for ids, g in zip(self._ids, made, strict=True)
                for i, (n, a) in zip(ids, g, strict=True)]  # fmt: skip
        content = calls.answer(step.say, step.actions)
        message: dict[str, Any] = {"role": "assistant", "content": content or None}
        if step.reasoning and self.profile.sends_reasoning:
            message["reasoning_content"] = step.reasoning
        if flat:
            message["tool_calls"] = pool.calls(flat)
        for _, n, a in flat:
            self._guard, self._called = self._guard.after((n, a)), n
        if not flat:
            self._guard = guard.Guard()
        lines = [f"[Assistant]\n{content}"] if content else []
        lines += [f"[Tool call] {n} {a}" for _, n, a in flat]
        index = self.pool.add(message)
        self._said.append(Said(index, "\n".join(lines), step))
        self._step = step
        hidden = step.reasoning and not self.profile.sends_reasoning
        return Reply(self.pool.generated_tok(index) + (self.pool.count(step.reasoning) if hidden else 0))

    def results(self, outcomes: Sequence[Outcome], now_unix_s: float) -> list[str]:
        """now_unix_s is not used: this client shows the model no times but the day."""
        step, self._step = self._step, None
        state = ResultState(self.setup.cwd)
        made: list[str] = []
        for action, outcome, ids in zip(step.actions if step else (), outcomes, self._ids, strict=True):
            each = results.render_each(action, outcome, state)
            for call_id, text in zip(ids, each, strict=True):
                self._hear(call_id, action, outcome, results.sent(text))
            if isinstance(outcome, Heard):
                self._said.append(self._user(outcome.text))
            made.append("\n".join(each))
        self._watched()
        if step and any(isinstance(a, SwitchToAct) for a in step.actions) and self._mode == "plan":
            self._mode, self._switched = "act", True
            self._system = self._system_message()
        return made

    def _watched(self) -> None:
        """After too many identical calls: a notice to the model, and later the end of the run."""
        level = self._guard.level
        if level == "hard":
            self.ended = "loop_guard"
        elif level == "soft":
            self._said.append(self._user(guard.notice("sdk", self._called, self._guard.times)))

    def _user(self, text: str) -> Said:
        """A user's message; only a compaction request shows the tag with the mode."""
        return Said(self.pool.text("user", text), f'[User]\n<user_input mode="{self._mode}">{text}</user_input>')

    def _system_message(self) -> int:
        sections = self.profile.plan_sections if self._mode == "plan" else ()
        day = when.day(self.setup.start_unix_s, self.setup.tz_name)
        values = {"cwd": self.setup.cwd, "platform": self.setup.platform, "date": day}
        return self.pool.text("system", texts.system_prompt(sections or self.profile.sections, values))

    def _hear(self, call_id: str, action: Action, outcome: Outcome, content: str) -> None:
        """Appends a tool message; earlier reads of what it shows become stale."""
        said = Said(self._tool_message(call_id, content), f"[Tool result]\n{content}")
        if isinstance(action, ReadFile) and isinstance(outcome, FileText):
            span = (action.start_line, action.end_line)
            for at, old in enumerate(self._said):
                if old.read and old.read[0] == action.path and not old.stale and window.covers(span, old.read[1:]):
                    self._said[at] = replace(old, stale=True)
            said = replace(said, read=(action.path, *span), call_id=call_id, content=content)
        self._said.append(said)

    def _tool_message(self, call_id: str, content: str) -> int:
        message = {"role": "tool", "tool_call_id": call_id, "content": content}
        return self.pool.add(message)

    def _call_id(self) -> str:
        """As an engine would give it; the same in every run."""
        self._calls += 1
        seed = f"{self.setup.cwd}\n{self.setup.task_prompt}\n{self._calls}"
        return "chatcmpl-tool-" + hashlib.sha256(seed.encode()).hexdigest()[:32]

    def _view(self) -> tuple[int, ...]:
        return (self._system, *(s.index for s in self._said))

    def _prompt_tok(self) -> int:
        return self.pool.prompt_tok(self._view()) + self._tools_tok[self._mode]

    def _estimate_tok(self) -> int:
        chars = sum(self.pool.chars[i] for i in self._view()) + self._tools_chars[self._mode]
        return -(-chars // window.CHARS_PER_TOK)

    def _replace_stale(self) -> bool:
        waiting = [k for k, s in enumerate(self._said) if s.stale]
        short = {k: results.outdated(self._said[k].content) for k in waiting}
        won = sum(len(self._said[k].content.encode()) - len(text.encode()) for k, text in short.items())
        if won < window.STALE_BYTES:
            return False
        for k, text in short.items():
            index = self._tool_message(self._said[k].call_id, text)
            self._said[k] = Said(index, f"[Tool result]\n{text}")
        return True

    def _split(self, keep_tok: int) -> int:
        sizes = [self.pool.chars[s.index] for s in self._said]
        return window.first_kept(sizes, [s.step is not None for s in self._said], keep_tok)

    def _compact(self) -> list[Draft] | None:
        """The summary request, and the history as it is after it; [] when a notice has to do. None: too little is
        older than what stays."""
        at = self._split(window.KEEP_TOK)
        if not any(s.step for s in self._said[:at]):
            return None
        view = self._summary_view(at)
        prompt_tok = self.pool.prompt_tok(view)
        if prompt_tok + window.REPLY_TOK > self.setup.context_window_tok:
            self._cut_to_notice(window.KEEP_TOK)
            return []
        steps = [*self._given_up, *(s.step for s in self._said[:at] if s.step)]
        text = window.summary(self.setup.task_prompt, steps)
        output_tok = self.pool.count(text) + pool.END_TOK
        self._cut_to(at, SUMMARY + text)
        return [Draft("compaction", view, "", 1, prompt_tok, output_tok, window.REPLY_TOK)]

    def _summary_view(self, at: int) -> tuple[int, int]:
        """The messages that ask for a summary of what is older than message `at`."""
        history = "\n\n".join(s.text for s in self._said[:at])
        ask = texts.fill(texts.load("sdk/compaction_user.md"), {"history": history})
        return self.pool.text("system", texts.load("sdk/compaction_system.md")), self.pool.text("user", ask)

    def _cut_to_notice(self, keep_tok: int) -> bool:
        at = self._split(keep_tok)
        if not any(s.step for s in self._said[:at]):
            return False
        self._cut_to(at, window.notice(self.setup.task_prompt, at))
        return True

    def _cut_to(self, at: int, text: str) -> None:
        self._given_up += [s.step for s in self._said[:at] if s.step]
        self._said = [self._user(text), *self._said[at:]]


def _frame(profile: Profile, setup: Setup, tools: dict[str, list[dict[str, Any]]]) -> tuple[list[bytes], list[bytes]]:
    """Heads and tails: the agent's requests with tools, the compaction request without, requests in plan mode."""
    effort = {"reasoning_effort": setup.thinking} if setup.thinking else {}
    temperature = profile.temperature if setup.temperature is None else setup.temperature
    warmth = {} if temperature is None else {"temperature": temperature}
    head = pool.head({"model": setup.model, **warmth, **effort})
    stream: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
    extra = dict(setup.extra_body)
    tails = [pool.tail(pool.merged({"tools": t, "tool_choice": "auto", **stream}, extra)) for t in tools.values()]
    tails.insert(1, pool.tail(pool.merged(stream, extra)))
    return [head] * len(tails), tails
