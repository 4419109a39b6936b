"""The SDK client's tool calls, from a name and arguments to actions: sdk/calls.py the other way round. A call that
takes a list is an action for each of its entries, and their results make one answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simulator.cline.complaints import no_such_tool
from simulator.cline.live.classic_calls import relative
from simulator.core.action import (
    Action,
    Command,
    Declined,
    Delegate,
    Edit,
    Insert,
    ReadFile,
    Search,
    SwitchToAct,
    Write,
)

NOBODY = "Nobody is there to answer. Decide by what the request and the repository say."
NO_NETWORK = "The page could not be fetched: there is no network here."
NO_TEAM = "There is no team in this session; spawn_agent works."


def actions(
    name: str, arguments: Mapping[str, Any], cwd: str, offered: Mapping[str, Sequence[str]]
) -> tuple[Action, ...]:
    """At least one; what the client answers with words alone where a call cannot be carried out. offered: the tools
    that there are, each with the arguments that its schema asks for."""
    told = str(dict(arguments))
    if name not in offered:
        return (Declined(name, told, no_such_tool(name)),)
    try:
        found = _actions(name, arguments, cwd)
        if found is None:  # nobody serves it here, and the client looks at the arguments all the same
            for missing in (each for each in offered[name] if each not in arguments):
                raise KeyError(missing)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        missing = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else "they do not fit its schema"
        return (Declined(name, told, f"InvalidToolInput: the arguments of {name} were refused: {missing}"),)
    if found is None:
        return (Declined(name, told, _unserved(name), mistake=False),)
    return found or (Declined(name, told, f"InvalidToolInput: {name} needs at least one entry"),)


def _actions(name: str, given: Mapping[str, Any], cwd: str) -> tuple[Action, ...] | None:
    match name:
        case "read_files":
            return tuple(_read(each, cwd) for each in _listed(given["files"]))
        case "search_codebase":
            return tuple(Search(_text(each)) for each in _listed(given["queries"]))
        case "run_commands":
            return tuple(Command(_text(each)) for each in _listed(given["commands"]))
        case "editor":
            return (_edit(given, cwd),)
        case "spawn_agent":
            return (Delegate((_text(given["task"]),)),)
        case "switch_to_act_mode":
            return (SwitchToAct(),)
        case _:
            return None


def _read(file: Any, cwd: str) -> ReadFile:
    if isinstance(file, str):
        return ReadFile(relative(cwd, file))
    return ReadFile(relative(cwd, _text(file["path"])), _line(file.get("start_line")), _line(file.get("end_line")))


def _edit(given: Mapping[str, Any], cwd: str) -> Action:
    path, new = relative(cwd, _text(given["path"])), _text(given["new_text"])
    old, line = given.get("old_text"), _line(given.get("insert_line"))
    if old:
        return Edit(path, ((_text(old), new),))
    return Write(path, new) if line is None else Insert(path, line, new)


def _listed(value: Any) -> list[Any]:
    """A model may leave a list of one out."""
    return list(value) if isinstance(value, list) else [value]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _line(value: Any) -> int | None:
    return None if value is None else max(1, int(value))


def _unserved(name: str) -> str:
    if name == "ask_question":
        return NOBODY
    return NO_NETWORK if name == "fetch_web_content" else NO_TEAM
