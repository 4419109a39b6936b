"""The solutions of planned sessions in a file that an oracle reads while it grows."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from simulator.errors import UsageError
from simulator.store.plans import PlanFolder, PlannedSession
from simulator.tasks.solutions import solutions_of


def write_solutions(path: Path, folder: PlanFolder, rows: Iterable[PlannedSession], cwd: str | None = None) -> int:
    """Appends those of the sessions and of their sub-agents; gives how many. cwd: the folder that their client works
    in, None, the plans' own. UsageError when the file cannot be written."""
    number = 0
    try:
        with path.open("ab") as file:
            for row in rows:
                found = solutions_of(folder.load(row.session), cwd)
                file.write(b"".join(each.line() for each in found))
                number += len(found)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}); name another file") from None
    return number
