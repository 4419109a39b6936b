"""How the sessions of a window ended, in words: done, cut as asked, checked or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.view.format import count, digits

VERIFIED = (
    "Verified: of the sessions that played their plan to its last turn, how many left a workspace that passes its "
    "task's check (tests run, files parsed, figures compared). One that is cut off before is not checked."
)


def ended(done: Mapping[str, Any]) -> str:
    """ "12 completed", "8 cut after 3 turns, as asked", or both, and how many an hour where a window tells."""
    cut = done.get("cut", 0)
    whole = done["completed"] - cut
    told = [f"{count(whole)} completed"] if whole or not cut else []
    told += [f"{count(cut)} {cut_words(done)}, as asked"] if cut else []
    if done["per_hour"] is None:
        return " and ".join(told)
    return f"{' and '.join(told)}, {'together ' * (len(told) > 1)}{digits(done['per_hour'])}/h"


def cut_words(done: Mapping[str, Any]) -> str:
    return f"cut after {done['cut_after']} turn{'s' * (done['cut_after'] != 1)}"


def to_check(done: Mapping[str, Any]) -> bool:
    """Whether a recorded solution could have been checked: not where each session was cut before its plan's end."""
    return bool(done["completed"] > done.get("cut", 0) or not done["completed"])


def verified(done: Mapping[str, Any]) -> str:
    """ "12/12", or that none was checked: a session that was cut short is not."""
    checked = done["verified"] + done["refuted"]
    return f"{count(done['verified'])}/{count(checked)}" if checked else "not checked"
