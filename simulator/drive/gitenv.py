"""The surroundings in which git runs here: no machine, user or session setting may leak in."""

from __future__ import annotations

import os
from pathlib import Path

from simulator.errors import UsageError

CONFIG = Path(__file__).with_name("gitconfig.txt")

#: variables that point git at another repository; GitPython reads them too, so they cannot merely be overridden
STEERING = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_NAMESPACE")


def git_environment(root: Path) -> dict[str, str]:
    """Variables for every git process that works on `root`. Repositories above `root` are never found."""
    return {
        "GIT_CONFIG_GLOBAL": str(CONFIG),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_COUNT": "0",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(root.parent),
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_EDITOR": "true",
        "GIT_PAGER": "cat",
        "GIT_ADVICE": "0",
    }


def steers(part: str) -> bool:
    """Whether a part of a path is .git, or would be on a file system that ignores case or keeps short names."""
    return part.lower().rstrip(". ") in (".git", "git~1")


def refuse_steering() -> None:
    """UsageError when the process was started with variables that point git somewhere else (as in a git hook)."""
    found = [name for name in STEERING if os.environ.get(name)]
    if found:
        raise UsageError(f"{found[0]} is set in the environment, so git would work on another repository: unset it.")
