"""Action -> the SDK client's native tool calls.

Its tools list, search and outline nothing but whole-repository patterns, so a model does those with shell commands;
an edit of several places is several `editor` calls in one reply.
"""

from __future__ import annotations

import posixpath
import shlex
from typing import Any

from simulator.cline import texts
from simulator.core.action import (
    Action,
    Command,
    Complete,
    Definitions,
    Delegate,
    Edit,
    ListFiles,
    Propose,
    ReadFile,
    Search,
    SwitchToAct,
    Write,
)


def absolute(cwd: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(cwd, path))


def command_of(action: Action) -> str | None:
    """The shell command that carries out an action for which the client has no tool of its own; None: it has one."""
    match action:
        case Command(command):
            return command
        case ListFiles(path, recursive):
            where = shlex.quote(path)
            if not recursive:
                return "ls -1Ap --group-directories-first" + ("" if path in (".", "") else f" {where}")
            return f"find {where} -mindepth 1 -not -path '*/.*' \\( -type d -printf '%P/\\n' -o -printf '%P\\n' \\)"
        case Search(regex, path, pattern) if pattern or path not in (".", ""):
            glob = f" -g {shlex.quote(pattern)}" if pattern else ""
            where = "" if path in (".", "") else f" {shlex.quote(path)}"
            return f"rg -nH --sort path{glob} -e {shlex.quote(regex)}{where}"
        case Definitions(path):
            files = shlex.quote(path) if "." in posixpath.basename(path) else f"{shlex.quote(path)}/*.*"
            return f"grep -nHE '^ *(async def|def|class|func|function|export) ' {files}"
        case _:
            return None


def calls(action: Action, cwd: str) -> list[tuple[str, dict[str, Any]]]:
    """Tool name and arguments of each call that the action takes; none for Complete and Propose, which are replies in
    words."""
    command = command_of(action)
    if command is not None:
        return [("run_commands", {"commands": [command]})]
    match action:
        case ReadFile(path, start, end):
            bounds = {"start_line": start, "end_line": end}
            file = {"path": absolute(cwd, path)} | {k: v for k, v in bounds.items() if v is not None}
            return [("read_files", {"files": [file]})]
        case Search(regex):
            return [("search_codebase", {"queries": [regex]})]
        case Edit(path, blocks):
            where = absolute(cwd, path)
            return [("editor", {"path": where, "old_text": old, "new_text": new}) for old, new in blocks]
        case Write(path, content):
            return [("editor", {"path": absolute(cwd, path), "new_text": content})]
        case Delegate(prompts):
            who = texts.load("sdk/subagent.md")
            return [("spawn_agent", {"systemPrompt": who, "task": prompt}) for prompt in prompts]
        case SwitchToAct():
            return [("switch_to_act_mode", {})]
        case _:
            return []


def answer(say: str, actions: tuple[Action, ...]) -> str:
    """The reply's text: what is said, and the final answer or the plan where the step gives one."""
    ends = [a.result for a in actions if isinstance(a, Complete)]
    ends += [a.plan for a in actions if isinstance(a, Propose)]
    return "\n\n".join(filter(None, [say, *ends]))
