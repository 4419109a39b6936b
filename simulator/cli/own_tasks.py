"""Which task templates a scenario asks for, looked at before anything starts."""

from __future__ import annotations

import difflib
from pathlib import Path

from simulator.core.scenario import Scenario
from simulator.errors import UsageError
from simulator.tasks import catalog


def with_tasks(scenario: Scenario, source: Path) -> Scenario:
    """The scenario with its `tasks_dir` as an absolute path. UsageError when a template is not there, or cannot be
    played as the scenario asks."""
    if scenario.trace is not None or not scenario.sessions or (scenario.tasks_dir is None and not scenario.templates):
        return scenario
    folder = None if scenario.tasks_dir is None else (source.parent / scenario.tasks_dir).resolve()
    known = catalog.templates(folder)
    for name in scenario.templates:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean `{near[0]}`?" if near else "`sim tasks list` says which there are"
            raise UsageError(f"{source}: `templates` names `{name}`, and there is none of that name; {hint}")
    names = [n for kind in scenario.tasks for n in catalog.of_kind(kind, folder, scenario.templates)]
    silent = [n for n in names if not catalog.recorded(n, folder)]
    if silent and scenario.mode == "replay":
        raise UsageError(
            f"{source}: {', '.join(silent)} has no recorded way, so a replay cannot play it; say `mode: live`, or name "
            "the templates to play with `templates`"
        )
    return scenario if folder is None else scenario.model_copy(update={"tasks_dir": str(folder)})
