"""Words that several rooms say in the same way."""

from __future__ import annotations

from collections.abc import Mapping


def counted(number: int, noun: str, many: str = "") -> str:
    """`1 commit`, `1,204 commits`; many: the plural, where an s does not make it."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"


def left_out(lacks: Mapping[str, str]) -> tuple[str, ...]:
    """A sentence for each template that a machine cannot play; lacks: its name -> what it needs, and the cure."""
    return tuple(f"{name} is left out, for it needs {why}" for name, why in lacks.items())
