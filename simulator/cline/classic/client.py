"""The classic client's side of a conversation: strictly growing, until the window rule cuts it (window.py).

A history is user, assistant, user, ...; a user message is a list of text parts: the results, a warning or checklist
reminder where due, environment_details. What was sent once is never rewritten, so that a cache holds; only a cut does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from simulator.cline import pool, texts
from simulator.cline.classic import calls, context, results, window
from simulator.cline.profiles import Profile
from simulator.cline.results import advance, render_result
from simulator.cline.setup import Draft, Setup
from simulator.cline.state import ResultState
from simulator.core.action import Action, Command, Complete, Edited, FileText, Outcome, Ran, Step
from simulator.errors import UsageError

CACHE_BLOCK_TOK = 16
SAME_CALLS = 3


@dataclass(frozen=True, slots=True)
class _Said:
    """A message of the history. files: for each result part, the file of which it holds a copy, or None."""

    index: int
    parts: tuple[str, ...]
    files: tuple[str | None, ...] = ()


class Classic:
    def __init__(self, profile: Profile, setup: Setup, count: Callable[[str], int]) -> None:
        self.profile, self.setup, self.pool = profile, setup, pool.Pool(count)
        temperature = profile.temperature if setup.temperature is None else setup.temperature
        fields: dict[str, Any] = {}
        if temperature is not None:
            fields["temperature"] = temperature or 0  # a plain 0 on the wire, not 0.0
        fields |= {"stream": True, "stream_options": {"include_usage": True}}
        self.heads = [pool.head({"model": setup.model})]
        self.tails = [pool.tail(pool.merged(fields, dict(setup.extra_body)))]
        values = {"cwd": setup.cwd, "platform": setup.platform, "shell": setup.shell, "home": setup.home}
        self._system = self.pool.text("system", texts.system_prompt(profile.sections, values))
        self._said: list[_Said] = []
        self._removed_to: int | None = None
        self._state = ResultState(setup.cwd)
        self._step: Step | None = None
        self._requests = 0  # sent so far
        self._progress, self._updated_at = "", 0
        self._same: tuple[tuple[Action, ...], int] = ((), 0)
        self._last: Draft | None = None
        self._used_tok = 0  # of the last request, as the client adds it up
        task = f"<task>\n{setup.task_prompt}\n</task>"
        self._hear([task], (None,), context.environment(setup, setup.start_unix_s, 0, first=True))

    def requests(self) -> list[Draft]:
        limit = self.setup.context_window_tok - pool.reply_room_tok(self.setup.context_window_tok)
        cut = self._used_tok >= window.max_allowed_tok(self.setup.context_window_tok) and self._shorten()
        # a prompt above the window would be refused and cut by the client at once; the plan goes straight to the cut
        while self.pool.prompt_tok(self._view()) > limit:
            if not self._drop(keep_quarter=True):
                raise pool.too_long(self.setup, self.pool.prompt_tok(self._view()))
            cut = True
        view = self._view()
        return [Draft("agent", view, "truncated" if cut else "", 0, self.pool.prompt_tok(view))]

    def reply(self, step: Step, sent: Draft) -> int:
        """`sent`: the request that this answers."""
        if self.profile.one_call_per_reply and len(step.actions) > 1:
            raise UsageError(
                f"profile {self.profile.name} takes one action a step, but a step of this task has "
                f"{len(step.actions)}; split it in the task's recipe or use profile sdk"
            )
        xml = [calls.as_xml(a, step.progress) for a in step.actions]
        content = "\n\n".join(filter(None, [step.say, *xml]))
        index = self.pool.text("assistant", content)
        self._said.append(_Said(index, (content,)))
        output = self.pool.tok[index] - pool.MESSAGE_TOK + pool.END_TOK
        output += self.pool.count(step.reasoning) if step.reasoning else 0
        self._requests += 1
        if step.progress:
            self._progress, self._updated_at = step.progress, self._requests
        self._used_tok = sent.prompt_tok + output + (self._cached_tok(sent) if self.setup.cached_double_count else 0)
        self._step, self._last = step, sent
        return output

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
        parts = made or [texts.load("classic/no_tool.md")]
        warning = self._repeated(step.actions)
        environment = context.environment(self.setup, now_unix_s, self._used_tok, ran=ran)
        self._hear(parts + warning, tuple(files), environment)
        return made

    def _hear(self, parts: list[str], files: tuple[str | None, ...], environment: str) -> None:
        """Appends a user message."""
        reminder = context.checklist_part(self._progress, self._requests + 1, self._requests - self._updated_at)
        whole = [*parts, *([reminder] if reminder else []), environment]
        self._said.append(_Said(self.pool.parts("user", whole), tuple(whole), files))

    def _repeated(self, actions: tuple[Action, ...]) -> list[str]:
        before, times = self._same
        self._same = actions, times + 1 if actions and actions == before else 1
        if self._same[1] < SAME_CALLS or not actions:
            return []
        name = calls.call(actions[0])[0]
        return [
            f"[{name}] was called {self._same[1]} times in a row with the same arguments, and the same answer is all "
            "it can give. Take another step: other arguments, or another tool."
        ]

    def _view(self) -> tuple[int, ...]:
        said = self._said
        kept = said if self._removed_to is None else [*said[:2], *said[self._removed_to + 1 :]]
        return (self._system, *(s.index for s in kept))

    def _cached_tok(self, sent: Draft) -> int:
        """What an engine's prefix cache would report for `sent`, right after the request before it."""
        if self._last is None:
            return 0
        old = self._last.view
        same = next((k for k, (a, b) in enumerate(zip(old, sent.view, strict=False)) if a != b), len(old))
        # the reply between the two was generated in place, so its blocks are cached as well
        same += same == len(old)
        tok = sum(self.pool.tok[i] for i in sent.view[:same])
        return tok // CACHE_BLOCK_TOK * CACHE_BLOCK_TOK

    def _shorten(self) -> bool:
        """Notes for older copies of files; message pairs too when that saves too little. False: nothing could go."""
        before = sum(self.pool.chars[i] for i in self._view())
        changed = self._note_old_copies()
        after = sum(self.pool.chars[i] for i in self._view())
        if changed and (before - after) / before >= window.ENOUGH_SAVED:
            return True
        quarter = self._used_tok / 2 > window.max_allowed_tok(self.setup.context_window_tok)
        return self._drop(keep_quarter=quarter) or changed

    def _note_old_copies(self) -> bool:
        start = 0 if self._removed_to is None else self._removed_to + 1
        seen: set[str] = set()
        changed = False
        for at in range(len(self._said) - 1, start - 1, -1):
            said = self._said[at]
            parts, files = list(said.parts), list(said.files)
            for k in range(len(files) - 1, -1, -1):
                path = files[k]
                if path is not None and path in seen:
                    parts[k], files[k] = results.without_file(parts[k]), None
                elif path is not None:
                    seen.add(path)
            if tuple(parts) != said.parts:
                self._said[at] = _Said(self.pool.parts("user", parts), tuple(parts), tuple(files))
                changed = True
        return changed

    def _drop(self, *, keep_quarter: bool) -> bool:
        to = window.last_removed(len(self._said), self._removed_to, keep_quarter=keep_quarter)
        if to is None:
            return False
        if self._removed_to is None:
            note = texts.load("classic/truncated.md")
            self._said[1] = _Said(self.pool.text("assistant", note), (note,))
        self._removed_to = to
        return True


def _file_in(action: Action, outcome: Outcome) -> str | None:
    """The file of which this call's result holds a copy."""
    match outcome:
        case FileText():
            return getattr(action, "path", None)
        case Edited(path):
            return path
        case _:
            return None
