"""What was sent to a real engine, to be sent to the model again: agents' turns from a file, or requests of one size."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from simulator.errors import UsageError

#: columns of a traffic file
COLUMNS = ("slot", "wait_s", "prompt_tok", "output_tok", "kept_tok")


@dataclass(frozen=True, slots=True)
class Turn:
    """wait_s: from the end of the reply before it, for a slot's first from the run's start. kept_tok: so many of the
    prompt's first tokens are those of the prompt before it; 0 begins a session."""

    wait_s: float
    prompt_tok: int
    output_tok: int
    kept_tok: int = 0


def read_turns(path: Path) -> list[list[Turn]]:
    """By slot, in order. Raises UsageError that names the line."""
    try:
        lines = path.read_text().splitlines()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    slots: dict[int, list[Turn]] = {}
    for number, line in enumerate(lines, 1):
        if not line or line.startswith("#"):
            continue
        try:
            slot, wait, prompt, output, kept = line.split()
            turn = Turn(float(wait), int(prompt), int(output), int(kept))
            before = slots.setdefault(int(slot), [])
        except ValueError:
            raise UsageError(f"{path}:{number}: a row is five numbers: {' '.join(COLUMNS)}") from None
        most = min(before[-1].prompt_tok, turn.prompt_tok) if before else 0
        if not (turn.wait_s >= 0 and turn.prompt_tok > 0 and turn.output_tok > 0 and 0 <= turn.kept_tok <= most):
            raise UsageError(f"{path}:{number}: no turn can be {line!r}; kept_tok is at most either prompt's length")
        before.append(turn)
    if not slots:
        raise UsageError(f"{path}: has no rows; give {' '.join(COLUMNS)} of each turn")
    return [slots[slot] for slot in sorted(slots)]


def waves(
    prompt_tok: int, output_tok: int, at_once: int, known_tok: int = 0
) -> tuple[list[list[Turn]], list[list[Turn]]]:  # fmt: skip
    """A closed loop of two requests a slot, and what is to be played before it, so that known_tok tokens of each slot's
    prompts are in the cache (none: nothing)."""
    turn = Turn(0.0, prompt_tok, output_tok, known_tok)
    known = [[Turn(0.0, known_tok, 1)] for _slot in range(at_once)] if known_tok else []
    return known, [[turn, turn] for _slot in range(at_once)]
