"""What the command line has to say about live sessions."""

from __future__ import annotations

from simulator.core.scenario import Scenario
from simulator.drive.sandbox import refuse_without
from simulator.errors import UsageError


def sandboxed(scenario: Scenario, *, allow_unsandboxed: bool = False) -> bool:
    """Whether the sessions' commands run in the sandbox: a model makes them up, so they must, unless the user says
    otherwise. UsageError when that cannot be done here."""
    return scenario.mode == "live" and refuse_without(allow_unsandboxed)


def replay_only(scenario: Scenario, what: str) -> None:
    """UsageError for a live scenario where there is no model to answer. what: who asks."""
    if scenario.mode == "live":
        cure = f"leave {what} out" if what.startswith("--") else "use `sim run`"
        raise UsageError(
            f"{what} needs recorded replies, and in `mode: live` the model writes them; give --set mode=replay, or "
            f"{cure}"
        )
