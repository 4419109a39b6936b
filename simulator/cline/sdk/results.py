"""Outcome -> the SDK client's tool results: JSON, `[{"query","result","success"}]` for what takes lists, one object for
the editor.

Two cuts, as in the client: the tools themselves stop at 48,000 characters or 2,000 lines; when a request is built, each
string loses its middle past 8,000 characters (`sent`). Results here carry the first only.
"""

from __future__ import annotations

import itertools
from typing import Any

import orjson

from simulator.cline.sdk.calls import absolute, command_of
from simulator.cline.state import ResultState
from simulator.core.action import (
    Action,
    Edit,
    Edited,
    EditFailed,
    FileText,
    Finished,
    Heard,
    Listing,
    Matches,
    Outcome,
    Outline,
    Ran,
    ReadFile,
    Refused,
    Report,
    Reports,
    Search,
    SwitchToAct,
)
from simulator.core.task import SDK_STYLE
from simulator.errors import UsageError

TOOL_CHARS, TOOL_LINES = 48_000, 2_000
SENT_CHARS = SDK_STYLE.max_result_chars or 8_000
SEARCH_HITS, SEARCH_CONTEXT = 100, 2
DIFF_LINES = 200
SWITCHED = "Act mode is on. All tools are available from the next reply on; carry out the plan that was agreed."
OUTDATED = "[superseded: the file's newer text comes later in this conversation]"


def render(action: Action, outcome: Outcome, state: ResultState) -> str:
    """All of the action's results; those of an edit in several places joined by line ends."""
    return "\n".join(render_each(action, outcome, state))


def render_each(action: Action, outcome: Outcome, state: ResultState) -> list[str]:
    """One text for each call of calls.calls(action)."""
    path = absolute(state.cwd, getattr(action, "path", "."))
    match outcome:
        case Edited():
            return _edited(action, outcome, path)
        case EditFailed():
            return _edit_failed(action, outcome, path)
        case FileText() if isinstance(action, ReadFile):
            return [_list(_read_query(action, path), read_text(action, outcome))]
        case Matches() if isinstance(action, Search) and command_of(action) is None:
            return [_list(action.regex, matches_text(action.regex, outcome))]
        case Listing() | Matches() | Outline():
            return [_command(command_of(action) or "", _as_ran(action, outcome))]
        case Ran():
            return [_command(command_of(action) or "", outcome)]
        case Refused(reason):
            return _refused(action, reason, path)
        case Reports(reports):
            return [_report(report) for report in reports]
        case Finished() if isinstance(action, SwitchToAct):
            return [_object("switch_to_act_mode", SWITCHED)]
        case Finished() | Heard():
            return []
        case _:
            raise UsageError(f"{type(action).__name__} cannot have the outcome {type(outcome).__name__}")


def _report(report: Report) -> str:
    """A spawned agent's answer with what it took, as one object."""
    usage = {"inputTokens": report.prompt_tok, "outputTokens": report.output_tok}
    took = {"iterations": report.replies, "toolCalls": report.tool_calls, "usage": usage}
    return _json({"text": report.text, "finishReason": "completed", **took})


def sent(text: str) -> str:
    """A result as a request carries it: each string at most 8,000 characters."""
    if len(text) <= SENT_CHARS:
        return text
    if not text.startswith("["):
        return middle_cut(text, SENT_CHARS)

    def cut(value: object) -> object:
        return middle_cut(value, SENT_CHARS) if isinstance(value, str) else value

    return _json([{key: cut(value) for key, value in row.items()} for row in orjson.loads(text)])


def outdated(text: str) -> str:
    """A read's result with a note in the file's place."""
    return _json([{**row, "result": OUTDATED} for row in orjson.loads(text)])


def middle_cut(text: str, limit: int) -> str:
    """`text` in at most `limit` characters: its two ends around a note of what was left out."""
    if len(text) <= limit:
        return text
    note = f"\n\n... [{len(text) - limit:,} or more characters left out of the middle] ...\n\n"
    front = (limit - len(note) + 1) // 2
    back = limit - len(note) - front
    return text[:front] + note + text[len(text) - back :]


def read_text(action: ReadFile, file: FileText) -> str:
    """Numbered lines, numbers right-aligned; at most 2,000 of them and 48,000 characters."""
    lines = file.text.removesuffix("\n").split("\n") if file.text else []
    first = max(1, action.start_line or 1)
    wanted = min(len(lines), action.end_line if action.end_line is not None else len(lines))
    last = min(wanted, first + TOOL_LINES - 1)
    width = len(str(last))
    text = "\n".join(f"{no:>{width}} | {line}" for no, line in enumerate(lines[first - 1 : last], first))
    if last < wanted:
        text += f"\n\n[{wanted - last:,} more lines; read from start_line {last + 1}]"
    return middle_cut(text, TOOL_CHARS)


def matches_text(regex: str, found: Matches) -> str:
    """Each hit under `path:line:column`, with two lines of context around it."""
    hits = found.hits[:SEARCH_HITS]
    files = len({h.path for h in found.hits})
    out = [f"Found {found.total:,} results for pattern: {regex}", f"In {files:,} files."]
    if found.total > len(hits):
        out.append(f"The first {len(hits)} are shown.")
    for hit in hits:
        before, after = hit.before[-SEARCH_CONTEXT:], hit.after[:SEARCH_CONTEXT]
        start = hit.line_no - len(before)
        out += ["", f"{hit.path}:{hit.line_no}:{hit.column}"]
        for no, line in enumerate((*before, hit.line, *after), start):
            out.append(f"{'>' if no == hit.line_no else ' '} {no}: {line}")
    return middle_cut("\n".join(out) + "\n", TOOL_CHARS)


def _as_ran(action: Action, outcome: Listing | Matches | Outline) -> Ran:
    """What the shell command of calls.command_of prints for this outcome, and its exit code."""
    match outcome:
        case Listing(paths):
            path = getattr(action, "path", ".")
            prefix = "" if path in (".", "") else path.rstrip("/") + "/"
            return Ran(0, "".join(p.removeprefix(prefix) + "\n" for p in paths))
        case Matches(hits):
            return Ran(0 if hits else 1, "".join(f"{h.path}:{h.line_no}:{h.line}\n" for h in hits))
        case Outline(files):
            text = "".join(f"{path}:{no}:{line}\n" for path, lines in files for no, line in lines)
            return Ran(0 if text else 1, text)


def _command(command: str, ran: Ran) -> str:
    output = middle_cut(ran.output, TOOL_CHARS)
    if ran.exit_code == 0 and not ran.timed_out:
        return _list(command, output)
    if ran.timed_out or ran.exit_code is None:
        return _list(command, output, "Command ran past its limit and was stopped")
    error = f"Command exited with code {ran.exit_code}"
    return _list(command, f"[{error}]\n{output}", error)


def _edited(action: Action, edit: Edited, path: str) -> list[str]:
    if edit.created:
        return [_object(f"edit:{path}", f"New file written: {path}")]
    blocks = action.blocks if isinstance(action, Edit) else (("", ""),)
    states = [edit.before]
    for search, replace in blocks[:-1]:
        # a block that was found only loosely by the editor cannot be placed here: the rest is shown as one change
        found = search in states[-1]
        states.append(states[-1].replace(search, replace, 1) if found else edit.after)
    states.append(edit.after)
    changes = itertools.pairwise(states)
    return [_object(f"edit:{path}", f"Edited {path}\n```diff\n{diff_text(a, b)}\n```") for a, b in changes]


def diff_text(before: str, after: str) -> str:
    """The lines that differ, `-no: text` then `+no: text`, without context; at most 200."""
    old, new = before.split("\n"), after.split("\n")
    short = min(len(old), len(new))
    head = next((k for k in range(short) if old[k] != new[k]), short)
    tail = next((k for k in range(short - head) if old[-1 - k] != new[-1 - k]), short - head)
    gone = [f"-{no}: {line}" for no, line in enumerate(old[head : len(old) - tail], head + 1)]
    come = [f"+{no}: {line}" for no, line in enumerate(new[head : len(new) - tail], head + 1)]
    lines = gone + come
    if len(lines) > DIFF_LINES:
        lines = [*lines[:DIFF_LINES], f"... {len(lines) - DIFF_LINES:,} more changed lines"]
    return "\n".join(lines)


def _edit_failed(action: Action, failed: EditFailed, path: str) -> list[str]:
    """The block that was not found, and the others of the same reply, of which none was applied."""
    number = len(action.blocks) if isinstance(action, Edit) else 1
    missing = f"The edit was not made: old_text does not occur in {path}."
    other = f"The edit was not made: another edit of {path} in the same reply failed."
    return [_object(f"edit:{path}", "", missing if k == failed.block else other) for k in range(number)]


def _refused(action: Action, reason: str, path: str) -> list[str]:
    if isinstance(action, ReadFile):
        return [_list(_read_query(action, path), "", reason)]
    command = command_of(action)
    if command is not None:
        return [_list(command, "", reason)]
    if isinstance(action, Search):
        return [_list(action.regex, "", reason)]
    number = len(action.blocks) if isinstance(action, Edit) else 1
    return [_object(f"edit:{path}", "", reason)] * number


def _read_query(action: ReadFile, path: str) -> str:
    if action.start_line is None and action.end_line is None:
        return path
    return f"{path}:{action.start_line or 1}-{action.end_line or 'end'}"


def _row(query: str, result: str, error: str) -> dict[str, Any]:
    failure = {"error": error} if error else {}
    return {"query": query, "result": result, **failure, "success": not error}


def _list(query: str, result: str, error: str = "") -> str:
    return _json([_row(query, result, error)])


def _object(query: str, result: str, error: str = "") -> str:
    return _json(_row(query, result, error))


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
