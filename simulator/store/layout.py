"""Run folders of older versions, read as if this one had written them.

`schema` in the manifest counts the layouts. A new field with a default needs no new layout: readers fill it in. What is
renamed, moved or means something else does: SCHEMA goes up by one, STEPS gets how to read the layout before, and
tests/store/schemas/ gets a folder of the new one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

#: the layout that this version writes
SCHEMA = 1
#: (file name, JSON object of that file) -> the object as the next layout has it; files of lines have an object a line
Step = Callable[[str, dict[str, Any]], dict[str, Any]]
#: layout -> the step to the next one
STEPS: Mapping[int, Step] = {}


@dataclass(frozen=True, slots=True)
class Layout:
    """newest: what can be read. steps: one for each layout below it."""

    newest: int = SCHEMA
    steps: Mapping[int, Step] = field(default_factory=lambda: STEPS)

    def raised(self, name: str, value: dict[str, Any], schema: int) -> dict[str, Any]:
        """An object of a file of a folder with that schema, in the newest layout."""
        for each in range(schema, self.newest):
            value = self.steps[each](name, value)
        return value


LAYOUT = Layout()
