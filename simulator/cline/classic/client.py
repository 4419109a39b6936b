"""The classic client's side of a conversation: strictly growing, until the window rule cuts it (window.py).

A user message is a list of text parts: the results, a warning or checklist reminder where due, environment_details.
Native calls are answered twice, as the client does it: by a `tool` message that says only that the result is missing,
and by the result itself in the user message that follows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from simulator.cline import guard, pool, texts
from simulator.cline.classic import calls, context, results, window
from simulator.cline.classic.history import History, Said
from simulator.cline.profiles import Profile
from simulator.cline.results import advance, render_result
from simulator.cline.setup import Draft, Reply, Setup
from simulator.cline.state import ResultState
from simulator.core.action import Action, Command, Complete, Declined, Edited, FileText, Outcome, Propose, Ran, Step
from simulator.errors import UsageError

CACHE_BLOCK_TOK = 16
#: all that a `tool` message ever says
MISSING = "result lacking"


class Classic:
    def __init__(self, profile: Profile, setup: Setup, count: Callable[[str], int]) -> None:
        self.profile, self.setup, self.pool = profile, setup, pool.Pool(count)
        tools = _tools(profile, setup)
        self.heads = [pool.head({"model": setup.model})]
        self.tails = [pool.tail(pool.merged(_fields(profile, setup, tools), dict(setup.extra_body)))]
        self._tools_tok = self.pool.tools_tok(tools)
        self.ended = ""
        self._history = History(self.pool, self.pool.text("system", _system(profile, setup)))
        self._state = ResultState(setup.cwd)
        self._mode = setup.mode
        self._step: Step | None = None
        self._ids: list[str] = []
        self._calls = 0
        self._requests = 0  # sent so far
        self._progress, self._updated_at = "", 0
        self._guard, self._without_tool = guard.Guard(), 0
        self._last: Draft | None = None
        self._used_tok = 0  # of the last request, as the client adds it up
        task = f"<task>\n{setup.task_prompt}\n</task>" if profile.environment else setup.task_prompt
        self._hear([task], (None,), self._environment(setup.start_unix_s, first=True))

    def requests(self) -> list[Draft]:
        window_tok = self.setup.context_window_tok
        allowed = window.max_allowed_tok(window_tok)
        quarter = self._used_tok / 2 > allowed
        cut = self._used_tok >= allowed and self._history.shorten(keep_quarter=quarter)
        # a prompt above the window would be refused and cut by the client at once; the plan goes straight to the cut
        while self._prompt_tok() > window_tok - pool.reply_room_tok(window_tok):
            if not self._history.drop(keep_quarter=True):
                if self.setup.must_fit:
                    raise pool.too_long(self.setup, self._prompt_tok())
                break
            cut = True
        return [Draft("agent", self._history.view(), "truncated" if cut else "", 0, self._prompt_tok())]

    def reply(self, step: Step, sent: Draft) -> Reply:
        """`sent`: the request that this answers."""
        native = self.profile.calls == "native"
        if len(step.actions) > 1 and not (native and self.setup.parallel_tool_calls):
            raise UsageError(
                f"profile {self.profile.name} takes one action a step here, but a step of this task has "
                f"{len(step.actions)}; split it in the task's recipe or use profile sdk"
            )
        index, content = self._native(step) if native else self._xml(step)
        self._history.add(Said((index,), (content,)))
        output = self.pool.generated_tok(index)
        output += self.pool.count(step.reasoning) if step.reasoning else 0
        stop = output - pool.END_TOK if step.unread else None
        # a closed stream has no usage chunk, and the client then counts nothing
        used = 0 if step.unread else sent.prompt_tok + output
        self._used_tok = used + (self._cached_tok(sent) if used and self.setup.cached_double_count else 0)
        self._heard(step, sent)
        return Reply(output + (self.pool.count(step.unread) if step.unread else 0), stop)

    def _heard(self, step: Step, sent: Draft) -> None:
        self._requests += 1
        if step.progress:
            self._progress, self._updated_at = step.progress, self._requests
        self._step, self._last = step, sent

    def _xml(self, step: Step) -> tuple[int, str]:
        xml = [calls.as_xml(a, step.progress) for a in step.actions]
        content = "\n\n".join(filter(None, [step.say, *xml]))
        return self.pool.text("assistant", content), content

    def _native(self, step: Step) -> tuple[int, str]:
        made = [calls.as_native(a, step.progress if k == 0 else "", self.setup.cwd) for k, a in enumerate(step.actions)]
        self._ids = [self._call_id() for _ in made]
        message: dict[str, Any] = {"role": "assistant", "content": step.say or None}
        if made:
            named = [(i, n, orjson.dumps(a).decode()) for i, (n, a) in zip(self._ids, made, strict=True)]
            message["tool_calls"] = pool.calls(named)
        return self.pool.add(message), step.say

    def results(self, outcomes: Sequence[Outcome], now_unix_s: float) -> list[str]:
        step = self._step
        if step is None:
            raise UsageError("results() without a reply() before it")
        self._step = None
        made: list[str] = []
        files: list[str | None] = []
        ran: tuple[str, str] | None = None
        for action, outcome in zip(step.actions, outcomes, strict=True):
            made.append(render_result(self.profile, action, outcome, self._state))
            self._state = advance(self.profile, self._state, action, made[-1])
            files.append(_file_in(action, outcome))
            if isinstance(action, Command) and isinstance(outcome, Ran):
                ran = action.command, results.cut_output(outcome.output, action.command)
        if any(isinstance(a, Complete) for a in step.actions):
            return made
        warning = self._watched(step.actions)
        switched = any(isinstance(a, Propose) for a in step.actions)
        if switched:
            self._mode = "act"
        parts = made or [no_tool(self.profile)]
        environment = self._environment(now_unix_s, ran=ran)
        self._hear(parts + warning, tuple(files), environment, switched=switched)
        return made

    def _environment(self, now_unix_s: float, *, first: bool = False, ran: tuple[str, str] | None = None) -> str:
        if not self.profile.environment:
            return ""
        now = context.Now(now_unix_s, self._used_tok, self._mode)
        return context.environment(self.setup, now, first=first, short=self.profile.environment == "short", ran=ran)

    def _hear(
        self, parts: list[str], files: tuple[str | None, ...], environment: str, *, switched: bool = False
    ) -> None:
        """Appends a user message, after a `tool` message for each native call that it answers."""
        reminder = ""
        if self.profile.checklist and switched:
            reminder = texts.load("classic/checklist_switch.md")
        elif self.profile.checklist:
            since = self._requests - self._updated_at
            reminder = context.checklist_part(self._progress, self._requests + 1, since, self._mode)
        whole = list(filter(None, [*parts, reminder, environment]))
        missing = [self.pool.add({"role": "tool", "tool_call_id": i, "content": MISSING}) for i in self._ids]
        self._ids = []
        self._history.add(Said((*missing, self.pool.parts("user", whole)), tuple(whole), files))

    def _watched(self, actions: tuple[Action, ...]) -> list[str]:
        """A warning after too many identical calls; after too many replies without a sound call the client stops."""
        mistaken = all(isinstance(action, Declined) and action.mistake for action in actions)
        self._without_tool = self._without_tool + 1 if mistaken else 0
        if self._without_tool >= guard.NO_TOOL_LIMIT:
            self.ended = "no_tool"
        for action in actions:
            self._guard = self._guard.after(action)
        if not actions:
            self._guard = guard.Guard()
        if not self._guard.level or not actions:
            return []
        return [guard.notice("classic", calls.call(actions[-1])[0], self._guard.times)]

    def _call_id(self) -> str:
        """As an engine would give it; the same in every run."""
        self._calls += 1
        seed = f"{self.setup.cwd}\n{self.setup.task_prompt}\n{self._calls}"
        return "chatcmpl-tool-" + hashlib.sha256(seed.encode()).hexdigest()[:32]

    def _prompt_tok(self) -> int:
        return self.pool.prompt_tok(self._history.view()) + self._tools_tok

    def _cached_tok(self, sent: Draft) -> int:
        """What an engine's prefix cache would report for `sent`, right after the request before it."""
        if self._last is None:
            return 0
        old = self._last.view
        same = next((k for k, (a, b) in enumerate(zip(old, sent.view, strict=False)) if a != b), len(old))
        # the reply between the two was generated in place, so its blocks are cached as well
        same += same == len(old)
        tok = sum(self.pool.tok[i] for i in sent.view[:same]) + self._tools_tok
        return tok // CACHE_BLOCK_TOK * CACHE_BLOCK_TOK


def no_tool(profile: Profile) -> str:
    """The answer to a reply without a call; in XML it shows once more how a call is written."""
    return texts.load(f"classic/no_tool{'_native' if profile.calls == 'native' else ''}.md")


def _tools(profile: Profile, setup: Setup) -> list[dict[str, Any]]:
    if not profile.tools:
        return []
    more = texts.tools(profile.tools, "subagents") if setup.subagents else []
    return [*texts.tools(profile.tools, profile.tool_set), *more]


def _fields(profile: Profile, setup: Setup, tools: list[dict[str, Any]]) -> dict[str, Any]:
    """The body after its messages, in the client's order."""
    temperature = profile.temperature if setup.temperature is None else setup.temperature
    fields: dict[str, Any] = {}
    if temperature is not None:
        fields["temperature"] = temperature or 0  # a plain 0 on the wire, not 0.0
    fields |= {"stream": True, "stream_options": {"include_usage": True}}
    if tools:
        fields |= {"tools": tools, "tool_choice": "auto", "parallel_tool_calls": setup.parallel_tool_calls}
    return fields


def _system(profile: Profile, setup: Setup) -> str:
    sections = profile.sections
    if setup.subagents and profile.calls == "xml":
        sections = (sections[0], "classic/subagents_xml.md", *sections[1:])
    values = {"cwd": setup.cwd, "platform": setup.platform, "shell": setup.shell, "home": setup.home}
    return texts.system_prompt(sections, values)


def _file_in(action: Action, outcome: Outcome) -> str | None:
    """The file of which this call's result holds a copy."""
    match outcome:
        case FileText():
            return getattr(action, "path", None)
        case Edited(path):
            return path
        case _:
            return None
