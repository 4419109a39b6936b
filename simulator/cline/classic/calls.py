"""Action -> the classic client's tool call."""

from __future__ import annotations

import posixpath
from typing import Any

from simulator.core.action import (
    Action,
    Command,
    Complete,
    Declined,
    Definitions,
    Delegate,
    Edit,
    Insert,
    ListFiles,
    Propose,
    ReadFile,
    Recorded,
    Search,
    SwitchToAct,
    Write,
)
from simulator.errors import UsageError

SEARCH, DIVIDER, REPLACE = "------- SEARCH", "=======", "+++++++ REPLACE"


def diff(blocks: tuple[tuple[str, str], ...]) -> str:
    """SEARCH/REPLACE blocks as the model writes them; an empty side has no line."""

    def lines(text: str) -> str:
        return text if not text or text.endswith("\n") else text + "\n"

    return "\n".join(f"{SEARCH}\n{lines(s)}{DIVIDER}\n{lines(r)}{REPLACE}" for s, r in blocks)


def call(action: Action) -> tuple[str, dict[str, Any]]:
    """Tool name and its parameters in order."""
    match action:
        case ListFiles(path, recursive):
            return "list_files", {"path": path, "recursive": recursive}
        case ReadFile(path, start, end):
            bounds = {"start_line": start, "end_line": end}
            return "read_file", {"path": path} | {k: v for k, v in bounds.items() if v is not None}
        case Search(regex, path, pattern):
            return "search_files", {"path": path, "regex": regex} | ({"file_pattern": pattern} if pattern else {})
        case Definitions(path):
            return "list_code_definition_names", {"path": path}
        case Edit(path, blocks):
            return "replace_in_file", {"path": path, "diff": diff(blocks)}
        case Write(path, content):
            return "write_to_file", {"path": path, "content": content}
        case Command(command, _, timeout_s):
            limit = {} if timeout_s is None else {"timeout": round(timeout_s)}
            return "execute_command", {"command": command, "requires_approval": False} | limit
        case Complete(result):
            return "attempt_completion", {"result": result}
        case Propose(plan):
            return "plan_mode_respond", {"response": plan}
        case Delegate(prompts):
            return "use_subagents", {f"prompt_{no}": prompt for no, prompt in enumerate(prompts, 1)}
        case Declined(tool):
            return tool, {}
        case Insert():
            raise UsageError("the classic client has no tool that inserts at a line; use replace_in_file")
        case SwitchToAct():
            raise UsageError("the classic client has no tool that leaves plan mode: its user does that")
        case Recorded(tool):
            raise UsageError(f"a recorded call of {tool!r} is only answered; it is no call of this client")


def as_native(action: Action, progress: str, cwd: str) -> tuple[str, dict[str, Any]]:
    """Tool name and arguments of a native call; files to write are named absolutely."""
    name, params = call(action)
    if isinstance(action, Edit | Write):
        path = posixpath.normpath(posixpath.join(cwd, params.pop("path")))
        params = {"absolutePath": path, **params}
    return name, params | ({"task_progress": progress} if progress else {})


def as_xml(action: Action, progress: str) -> str:
    """The call as it stands in a reply's text. Long values get lines of their own, as models write them."""
    name, params = call(action)
    if progress:
        params["task_progress"] = progress
    lines = [f"<{name}>"]
    for key, given in params.items():
        value = given if isinstance(given, str) else str(given).lower()
        tall = key in ("content", "diff", "task_progress") or "\n" in value
        pad = "\n" if tall else ""
        end = "" if value.endswith("\n") else pad
        lines.append(f"<{key}>{pad}{value}{end}</{key}>")
    lines.append(f"</{name}>")
    return "\n".join(lines)


def label(action: Action) -> str:
    """`tool for 'argument'`, with which a result's first line names its call."""
    name, params = call(action)
    match action:
        case Search(regex, _, pattern):
            return f"{name} for '{regex}'" + (f" in '{pattern}'" if pattern else "")
        case Command(command):
            return f"{name} for '{command}'"
        case Complete() | Propose() | Delegate() | Declined():
            return name
        case _:
            return f"{name} for '{params['path']}'"
