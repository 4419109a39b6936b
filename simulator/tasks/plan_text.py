"""The plan that an agent puts before its user, told from the steps that it is recorded to take afterwards."""

from __future__ import annotations

import random
from collections.abc import Sequence

from simulator.core.action import Command, Edit, Step, Write

_FILES, _CHECKS, _WIDTH = 12, 6, 220
_ANSWERS = (
    "That looks right. Go ahead.",
    "Agreed, please do it like that. Keep the changes small, and tell me at the end what you could not settle.",
    "Fine with me. If something turns out differently from what you expect, decide for the simpler way and mention it.",
    "Good plan. Run the checks after each part and not only at the end. You can start.",
    "Yes. I have nothing to add; the order of the work is up to you.",
)


def plan_of(steps: Sequence[Step]) -> str:
    """Which files change, with what the agent will say about each, how it is checked, and what stays open."""
    changes: dict[str, str] = {}
    checks: dict[str, None] = {}
    for step in steps:
        for action in step.actions:
            if isinstance(action, Edit | Write):
                changes.setdefault(action.path, f"{_what(action)}. {_short(step.say)}".rstrip())
            elif isinstance(action, Command):
                checks.setdefault(_short(action.command, 120))
    files = [f"{no}. `{path}`: {why}" for no, (path, why) in enumerate(list(changes.items())[:_FILES], 1)]
    if len(changes) > _FILES:
        files.append(f"{_FILES + 1}. {len(changes) - _FILES} more files of the same kind, treated in the same way.")
    sections = [
        "## What changes\n" + ("\n".join(files) or "No file; the request asks for an answer."),
        "## How it is checked\n" + "\n".join(f"- `{command}`" for command in list(checks)[:_CHECKS]) if checks else "",
        "## What stays as it is\nEverything that the request does not name: public names, formats, the layout of the "
        "repository.",
        "## Risks\nWhat I have not opened yet may hold surprises; I look at each place before I change it, and run the "
        "checks after each part, so that a mistake shows where it was made.",
    ]
    return "\n\n".join(filter(None, sections))


def answer_to(rng: random.Random) -> str:
    """What the user says to a plan."""
    return rng.choice(_ANSWERS)


def _what(action: Edit | Write) -> str:
    if isinstance(action, Write):
        return "written as a whole"
    return f"{len(action.blocks)} place{'s' if len(action.blocks) != 1 else ''} changed"


def _short(text: str, width: int = _WIDTH) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 3] + "..."
