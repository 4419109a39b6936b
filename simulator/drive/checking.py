"""Asking a task's check whether a workspace holds the right result."""

from __future__ import annotations

import secrets
import shlex
from pathlib import Path

from simulator.core.task import Check
from simulator.drive.commands import CommandRunner

CHECK_TIMEOUT_S = 60.0
#: Runs the check and says its word, read first and told nobody, when the check came to its end. What it starts runs
#: what an agent wrote: it must find the truth neither in the file that was standard input nor in this process.
_TO_ITS_END = """
import io, os, sys
word, _, truth = sys.stdin.buffer.read().partition(b"\\n")
os.ftruncate(0, 0)
sys.stdin = io.TextIOWrapper(io.BytesIO(truth), encoding="utf-8")
del truth
if sys.platform == "linux":
    import ctypes
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE: its memory and descriptors are nobody else's
code = 0
try:
    exec(compile({program!r}, "check", "exec"), {{"__name__": "__main__"}})
except SystemExit as end:
    code = end.code
    if isinstance(code, str):
        print(code, file=sys.stderr)
        code = 1
sys.stdout.flush()
os.write(1, b"\\n" + word + b"\\n")
sys.exit(code)
"""


def run_check(root: Path, check: Check, runner: CommandRunner, timeout_s: float = CHECK_TIMEOUT_S) -> list[str]:
    """Complaints about the workspace at `root`, a line each; empty when all is right.

    A check that hangs, fails by itself or does not come to its end is a complaint too: an unchecked result never counts
    as right.
    """
    word = secrets.token_hex(16)
    command = f"python -I -c {shlex.quote(_TO_ITS_END.format(program=check.program))}"
    ran = runner.run(command, root, timeout_s, stdin=f"{word}\n{check.truth}".encode())
    lines = [line for line in ran.output.splitlines() if line.strip()]
    ended = bool(lines) and lines[-1] == word
    lines = lines[:-1] if ended else lines
    if ran.exit_code == 0:
        return [] if ended else ["the check was ended before it came to its end, by what it tried"]
    if ran.timed_out:
        return [*lines, f"the check did not end within {timeout_s:g} s"]
    if ran.exit_code == 1 and ended and lines and not lines[0].startswith("Traceback"):
        return lines
    why = lines[-1] if lines else "it said nothing"
    return [f"the check itself failed (exit code {ran.exit_code}): {why}"]
