"""How long a client lets a command run. Pure."""

from __future__ import annotations

import re

from simulator.core.action import Command

USUAL_S = 30.0
LONG_S = 300.0
#: what installs, builds, tests or fetches; a word of a command, wherever it stands in a pipeline
_LONG = re.compile(
    r"(?:^|[\s;&|(/])(?:"
    r"(?:npm|pnpm|yarn|bun)\s+(?:(?:run|-\S+)\s+)*(?:install|i|ci|add|build|test|start)\b"
    r"|(?:pip3?|uv|poetry|conda|apt|apt-get|brew|gem|bundle|composer|go|cargo|dotnet)\s+(?:\S+\s+)*?"
    r"(?:install|sync|build|test|get|check|update|restore|publish)\b"
    r"|(?:pytest|tox|nox|jest|vitest|mocha|rspec|phpunit|ctest|make|cmake|ninja|bazel|tsc|gradlew?|mvnw?"
    r"|docker(?:-compose)?|podman)(?![\w./-])"
    r"|git\s+clone\b"
    r"|python3?\s+(?:-\S+\s+(?:[^-\s]\S*\s+)?)*?-m\s+(?:pytest|unittest|pip|tox|build)\b"
    r")"
)


def time_limit_s(action: Command, *, patterns: bool) -> float:
    """What the action asks for, else 30 s. patterns: a client that allows 300 s to whatever installs, builds or
    tests (classic)."""
    if action.timeout_s is not None:
        return action.timeout_s
    return LONG_S if patterns and _LONG.search(action.command[:2_000]) else USUAL_S
