"""The classic client's tool calls, from a name and parameters to an action: calls.py the other way round."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simulator.cline.complaints import words
from simulator.core.action import (
    Action,
    Command,
    Complete,
    Declined,
    Definitions,
    Delegate,
    Edit,
    ListFiles,
    Propose,
    ReadFile,
    Search,
    Write,
)

#: tool -> parameters without which it is not carried out; "a|b": either
NEEDED: dict[str, tuple[str, ...]] = {
    "execute_command": ("command", "requires_approval"),
    "read_file": ("path",),
    "write_to_file": ("path|absolutePath", "content"),
    "replace_in_file": ("path|absolutePath", "diff"),
    "search_files": ("path", "regex"),
    "list_files": ("path",),
    "list_code_definition_names": ("path",),
    "use_mcp_tool": ("server_name", "tool_name"),
    "access_mcp_resource": ("server_name", "uri"),
    "load_mcp_documentation": (),
    "ask_followup_question": ("question",),
    "attempt_completion": ("result",),
    "plan_mode_respond": ("response",),
    "use_subagents": ("prompt_1",),
}
_OPTIONAL = ("timeout", "start_line", "end_line", "file_pattern", "recursive", "arguments", "options",
             "needs_more_exploration", "task_progress", "prompt_2", "prompt_3", "prompt_4", "prompt_5")  # fmt: skip
PARAMS = tuple(dict.fromkeys([name for needed in NEEDED.values() for each in needed for name in each.split("|")]))
PARAMS += tuple(name for name in _OPTIONAL if name not in PARAMS)
_SEARCH = re.compile(r"^(?:-{3,}|<{3,}) ?SEARCH>?\s*$")
_DIVIDER = re.compile(r"^={3,}\s*$")
_REPLACE = re.compile(r"^(?:\+{3,}|>{3,}) ?REPLACE>?\s*$")
NO_BLOCKS = (
    "No SEARCH/REPLACE block could be found in `diff`. Write each as ------- SEARCH, the lines as they are, =======, "
    "the lines as they shall be, +++++++ REPLACE."
)
NOBODY = "Nobody is there to answer. Decide for yourself by what the request and the repository say, and go on."
UNCONNECTED = "No MCP server is connected in this session, so there is nothing to call."
IN_PLAN_MODE = "Files are not changed in PLAN MODE. Put the plan before the user with plan_mode_respond."
IN_ACT_MODE = "plan_mode_respond belongs to PLAN MODE, and this is ACT MODE. Take the next step of the task."


@dataclass(frozen=True, slots=True)
class Situation:
    """What a call is read by. offered: names of the tools that are there. answer: what the user will say to a plan."""

    cwd: str
    native: bool
    plan_mode: bool
    offered: frozenset[str]
    answer: str


def action(name: str, params: Mapping[str, Any], at: Situation) -> Action:
    """The action, or what the client says instead."""
    told = str(dict(params))

    def declined(reason: str, *, mistake: bool = False) -> Declined:
        return Declined(name, told, reason, mistake)

    if name not in at.offered or name not in NEEDED:
        return declined(words("unknown_tool", name, native=at.native), mistake=True)
    given = {key: _text(value) for key, value in params.items() if value is not None}
    if not all(any(given.get(one) for one in each.split("|")) for each in NEEDED[name]):
        return declined(words("missing_argument", name, native=at.native), mistake=True)
    if at.plan_mode and name in ("write_to_file", "replace_in_file"):
        return declined(IN_PLAN_MODE)
    if name == "plan_mode_respond" and not at.plan_mode:
        return declined(IN_ACT_MODE)
    match name:
        case "ask_followup_question":
            return declined(NOBODY)
        case "use_mcp_tool" | "access_mcp_resource" | "load_mcp_documentation":
            return declined(UNCONNECTED)
        case "replace_in_file" if not (blocks(given["diff"])):
            return declined(NO_BLOCKS, mistake=True)
    return _action(name, given, at)


def _action(name: str, given: Mapping[str, str], at: Situation) -> Action:
    path = relative(at.cwd, given.get("path") or given.get("absolutePath") or ".")
    match name:
        case "execute_command":
            return Command(given["command"], timeout_s=_number(given.get("timeout")))
        case "read_file":
            first, last = _number(given.get("start_line")), _number(given.get("end_line"))
            return ReadFile(path, *(None if line is None else max(1, round(line)) for line in (first, last)))
        case "write_to_file":
            return Write(path, _whole_lines(given["content"]))
        case "replace_in_file":
            return Edit(path, blocks(given["diff"]))
        case "search_files":
            return Search(given["regex"], path, given.get("file_pattern") or None)
        case "list_files":
            return ListFiles(path, given.get("recursive", "").lower() == "true")
        case "list_code_definition_names":
            return Definitions(path)
        case "plan_mode_respond":
            return Propose(given["response"], at.answer)
        case "use_subagents":
            return Delegate(tuple(filter(None, (given.get(f"prompt_{n}", "") for n in range(1, 6)))))
        case _:
            return Complete(given["result"])


def blocks(diff: str) -> tuple[tuple[str, str], ...]:
    """SEARCH/REPLACE blocks; one whose end is missing goes on to the end, one without a divider is none."""
    out: list[tuple[str, str]] = []
    search: list[str] | None = None
    replace: list[str] | None = None
    for line in diff.removesuffix("\n").split("\n"):
        if _SEARCH.match(line) and replace is None:
            search = []
        elif search is not None and replace is None and _DIVIDER.match(line):
            replace = []
        elif search is not None and replace is not None and _REPLACE.match(line):
            out.append((_joined(search), _joined(replace)))
            search = replace = None
        elif replace is not None:
            replace.append(line)
        elif search is not None:
            search.append(line)
    if search is not None and replace is not None:
        out.append((_joined(search), _joined(replace)))
    return tuple(out)


def relative(cwd: str, path: str) -> str:
    """A path as it stands in the workspace; one outside stays as it is, and the tool refuses it."""
    path = path.strip()
    if path == cwd or path.startswith(cwd.rstrip("/") + "/"):
        path = path[len(cwd.rstrip("/")) + 1 :] or "."
    return posixpath.normpath(path) if path and not path.startswith("/") else path or "."


def _joined(lines: list[str]) -> str:
    return "".join(line + "\n" for line in lines)


def _whole_lines(text: str) -> str:
    """A tag's own line leaves blanks behind the last line end; a text file ends with a line end."""
    text = re.sub(r"\n[ \t]*$", "\n", text)
    return text if not text or text.endswith("\n") else text + "\n"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else str(value)


def _number(text: str | None) -> float | None:
    try:
        found = float(text or "")
    except ValueError:
        return None
    return found if 0 < found < 1e6 else None
