"""When the SDK client compacts, and with what text.

Its estimate is characters / 3 of system prompt, messages and tools as JSON, so number-heavy histories (about two
characters a token) are larger than it believes. The last ~20,000 estimated tokens stay; what is older becomes one
message, written by the model in a request of its own ("agentic"), or a fixed notice where that request would not fit
("basic").
"""

from __future__ import annotations

from collections.abc import Sequence

from simulator.cline import texts
from simulator.core.action import Command, Complete, Edit, ReadFile, Step, Write

CHARS_PER_TOK = 3
SHARE = 0.9
KEEP_TOK = 20_000
REPLY_TOK = 8_192
DEFAULT_INPUT_TOK = 128_000
STALE_BYTES = 65_536
_SHOWN_STEPS, _SHOWN_NAMES, _LINE = 60, 40, 160


def trigger_tok(window_tok: int, max_input_tok: int | None) -> int:
    """Estimated tokens at which the client compacts. window_tok 0: unknown to it."""
    base = max_input_tok or (SHARE * window_tok if window_tok else DEFAULT_INPUT_TOK)
    return int(SHARE * base)


def covers(new: tuple[int | None, int | None], old: tuple[int | None, int | None]) -> bool:
    """Whether a read of lines `new` (first, last; None: open) shows all that a read of `old` showed."""
    starts = (new[0] or 1) <= (old[0] or 1)
    ends = new[1] is None or (old[1] is not None and new[1] >= old[1])
    return starts and ends


def first_kept(sizes: Sequence[int], heads: Sequence[bool], keep_tok: int) -> int:
    """Index of the first message to keep. sizes: characters each; heads: a cut may come before this message (an
    assistant's, so that no tool result loses its call). 0: nothing can be cut off."""
    total = 0
    best = 0
    for at in range(len(sizes) - 1, -1, -1):
        total += sizes[at]
        if heads[at] and (best == 0 or total <= keep_tok * CHARS_PER_TOK):
            best = at
        if total > keep_tok * CHARS_PER_TOK and best:
            break
    return best


def summary(task_prompt: str, steps: Sequence[Step]) -> str:
    """What the model is recorded to answer to the compaction request: a digest of the steps that are given up."""
    actions = [a for s in steps for a in s.actions]
    reads = dict.fromkeys(a.path for a in actions if isinstance(a, ReadFile))
    edits = dict.fromkeys(a.path for a in actions if isinstance(a, Edit | Write))
    commands = dict.fromkeys(_short(a.command) for a in actions if isinstance(a, Command))
    done = [f"{no}. {_did(step)}" for no, step in enumerate(steps, 1)]
    progress = next((s.progress for s in reversed(steps) if s.progress), "")
    sections = [
        f"## Request\n{task_prompt}",
        "## What was done\n" + "\n".join(done[-_SHOWN_STEPS:]),
        _names("## Files changed", edits),
        _names("## Files read", reads),
        _names("## Commands run", commands),
        f"## Checklist\n{progress}" if progress else "",
        f"## Where the work stands\n{_short(steps[-1].say or done[-1], 600)}" if steps else "",
    ]
    return "\n\n".join(filter(None, sections))


def notice(task_prompt: str, left_out: int) -> str:
    """The message that stands for the older ones when no summary could be asked for."""
    return texts.fill(texts.load("sdk/notice.md"), {"task": task_prompt, "count": str(left_out)})


def _did(step: Step) -> str:
    what = "; ".join(filter(None, map(_named, step.actions)))
    return " ".join(filter(None, [_short(step.say), f"({what})" if what else ""])) or "(no action)"


def _named(action: object) -> str:
    match action:
        case Command(command):
            return f"ran `{_short(command)}`"
        case Edit(path) | Write(path):
            return f"changed {path}"
        case Complete():
            return ""
        case _:
            return f"{type(action).__name__} {getattr(action, 'path', '')}".strip()


def _names(title: str, names: dict[str, None]) -> str:
    return f"{title}\n" + "\n".join(f"- {n}" for n in list(names)[-_SHOWN_NAMES:]) if names else ""


def _short(text: str, limit: int = _LINE) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 3] + "..."
