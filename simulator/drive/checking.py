"""Asking a task's check whether a workspace holds the right result."""

from __future__ import annotations

import shlex
from pathlib import Path

from simulator.core.task import Check
from simulator.drive.commands import CommandRunner

CHECK_TIMEOUT_S = 60.0


def run_check(root: Path, check: Check, runner: CommandRunner, timeout_s: float = CHECK_TIMEOUT_S) -> list[str]:
    """Complaints about the workspace at `root`, a line each; empty when all is right.

    A check that hangs or fails by itself is a complaint too: an unchecked result never counts as right.
    """
    command = f"python -I -c {shlex.quote(check.program)}"
    ran = runner.run(command, root, timeout_s, stdin=check.truth.encode())
    if ran.exit_code == 0:
        return []
    lines = [line for line in ran.output.splitlines() if line.strip()]
    if ran.timed_out:
        return [*lines, f"the check did not end within {timeout_s:g} s"]
    if ran.exit_code == 1 and lines and not lines[0].startswith("Traceback"):
        return lines
    why = lines[-1] if lines else "it said nothing"
    return [f"the check itself failed (exit code {ran.exit_code}): {why}"]
