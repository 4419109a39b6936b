"""Outcome -> the classic client's result text: `[tool for 'argument'] Result:` and a body.

Limits: a read shows 1,000 lines by default and 400,000 bytes of extracted text; a search 300 hits or 250,000 bytes; a
listing 200 paths; a command's output is halved past 500 lines and cut to 100 + 100 past 1,000 lines or 512 KiB. An edit
sends the whole file back.
"""

from __future__ import annotations

from simulator.cline import texts
from simulator.cline.classic.calls import label
from simulator.cline.state import ResultState, digest
from simulator.core.action import (
    Action,
    Command,
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
    Write,
)
from simulator.errors import UsageError

READ_LINES = 1_000
EXTRACT_BYTES = 400_000
SEARCH_HITS, SEARCH_BYTES = 300, 250_000
LIST_PATHS = 200
OUTLINE_FILES = 50
OUTPUT_LINES, OUTPUT_LINES_HARD, OUTPUT_BYTES_HARD, KEPT_HARD = 500, 1_000, 512 * 1024, 100
SECOND_READ = "[File already read] '{path}' was given to you earlier in this task; here it is once more:\n"
LATER_READ = (
    "[DUPLICATE READ] '{path}' has now been given to you {times} times and did not change in between. Work with what "
    "you have instead of reading it again.\n"
)
NOT_FOUND = "SEARCH block "
STALE = "[NOTE] An older copy of this file stood here. It was taken out to save room; the newest copy is further down."
REMINDER = (
    "From here on, take the text above as the file's true state: it includes whatever a formatter or another tool "
    "changed while saving (quotes, indentation, line ends, import order). Every SEARCH block that you write for this "
    "file next has to match this text, not the text that you sent and not what you read before."
)


def header(action: Action) -> str:
    return f"[{label(action)}] Result:\n"


def render(action: Action, outcome: Outcome, state: ResultState) -> str:
    return header(action) + _body(action, outcome, state)


def _body(action: Action, outcome: Outcome, state: ResultState) -> str:
    match outcome:
        case Listing():
            return listing(outcome, getattr(action, "path", "."))
        case FileText() if isinstance(action, ReadFile):
            body = read_body(action, outcome)
            return repeat_prefix(action, body, state) + body
        case Matches():
            return matches_body(outcome)
        case Outline():
            return outline_body(outcome)
        case Edited():
            return edited_body(outcome)
        case EditFailed():
            return edit_failed_body(outcome, state.failed_edits.get(outcome.path, 0) + 1)
        case Ran():
            return ran_body(outcome, action.command if isinstance(action, Command) else "")
        case Refused(reason):
            return f"The tool could not do this:\n<error>\n{reason}\n</error>"
        case Heard(text):
            return f"<user_message>\n{text}\n</user_message>\n\n{texts.load('classic/switched.md')}"
        case Reports(reports):
            return reports_body(reports)
        case Finished():
            return ""
        case _:
            raise UsageError(f"{type(action).__name__} cannot have the outcome {type(outcome).__name__}")


def listing(found: Listing, path: str) -> str:
    """Paths relative to the folder listed, at most 200."""
    if not found.paths:
        return "The folder is empty."
    prefix = "" if path in (".", "") else path.rstrip("/") + "/"
    body = "\n".join(p.removeprefix(prefix) for p in found.paths[:LIST_PATHS])
    if found.truncated or len(found.paths) > LIST_PATHS:
        body += "\n\n(Only part of the files is listed. List a folder further down to see the rest.)"
    return body


def read_body(action: ReadFile, file: FileText) -> str:
    """Numbered lines and a footer that says which part of the file they are."""
    text = file.text
    note = ""
    if file.extracted and len(text) > EXTRACT_BYTES:
        text = text[:EXTRACT_BYTES]
        note = f"\n\n(Extracted text ends here: {len(file.text):,} characters, {EXTRACT_BYTES:,} shown.)"
    lines = text.removesuffix("\n").split("\n") if text else []
    total = len(lines)
    first = min(max(1, action.start_line or 1), max(total, 1))
    last = min(total, action.end_line if action.end_line is not None else first + READ_LINES - 1)
    shown = "\n".join(f"{no} | {line}" for no, line in enumerate(lines[first - 1 : last], first))
    if first == 1 and last == total:
        return f"{shown}\n\n(File has {total} lines total.){note}"
    more = f" Use start_line={last + 1} to go on." if last < total else ""
    return f"{shown}\n\n(Showing lines {first}-{last} of {total} total.{more}){note}"


def repeat_prefix(action: ReadFile, body: str, state: ResultState) -> str:
    times, seen = state.reads.get((action.path, action.start_line, action.end_line), (0, ""))
    if times == 0 or seen != digest(body):
        return ""
    return (SECOND_READ if times == 1 else LATER_READ).format(path=action.path, times=times + 1)


def matches_body(found: Matches) -> str:
    """One block a file; inside it each hit with one line of context on each side, separated by rulers."""
    if not found.total:
        return "Found 0 results."
    shown = found.hits[:SEARCH_HITS]
    out = [f"Found {found.total:,} result{'s' if found.total != 1 else ''}."]
    if found.total > len(shown):
        out[0] = f"Found {found.total:,} results; the first {len(shown)} are shown. Narrow the search to see others."
    size = len(out[0])
    path = None
    for hit in shown:
        block = [] if hit.path == path else ["", hit.path, "│----"]
        block += [f"│{line}" for line in (*hit.before[-1:], hit.line, *hit.after[:1])] + ["│----"]
        size += sum(len(line.encode()) + 1 for line in block)
        if size > SEARCH_BYTES:
            out.append("\n(Results past 0.25 MB are left out. Use a narrower pattern or folder.)")
            break
        path = hit.path
        out += block
    return "\n".join(out)


def outline_body(found: Outline) -> str:
    if not found.files:
        return "No definitions found."
    out = []
    for path, lines in found.files[:OUTLINE_FILES]:
        out += [path, "|----", *(f"│{line}" for _, line in lines), "|----", ""]
    return "\n".join(out).rstrip("\n")


def edited_body(edit: Edited) -> str:
    newline = "" if edit.after.endswith("\n") else "\n"
    return (
        f"The content was saved to {edit.path}.\n\nThe file as it is now, complete:\n\n"
        f'<final_file_content path="{edit.path}">\n{edit.after}{newline}\n</final_file_content>\n\n{REMINDER}\n'
    )


def edit_failed_body(edit: EditFailed, times: int) -> str:
    advice = (
        f"The edit was not made {times} times in a row. Use write_to_file with the complete text of the file instead."
        if times >= 3
        else "The edit was not made. Copy the lines to search for exactly from the text above, white space too, and "
        "send fewer than five blocks at once, each as short as it can be and still be found only once."
    )
    return (
        f"{NOT_FOUND}{edit.block + 1} is not in {edit.path}; the file was left as it is.\n\n"
        f'<file_content path="{edit.path}">\n{edit.text}\n</file_content>\n\n{advice}'
    )


def ran_body(ran: Ran, command: str) -> str:
    if ran.timed_out or ran.exit_code is None:
        status = "Command was stopped at its limit before it ended."
    elif ran.exit_code == 0:
        status = "Command finished (exit code 0)."
    else:
        status = f"Command failed with exit code {ran.exit_code}."
    output = cut_output(ran.output, command)
    return f"{status}\nOutput:\n{output}" if output else status


def reports_body(reports: tuple[Report, ...]) -> str:
    """Totals, then each sub-agent's report under a line with what it took."""
    calls, prompt = sum(r.tool_calls for r in reports), sum(r.prompt_tok for r in reports)
    out = [
        f"{len(reports)} sub-agent{'s' if len(reports) != 1 else ''} sent, {len(reports)} done, 0 failed. "
        f"{calls} tool calls, {prompt:,} tokens in, {sum(r.output_tok for r in reports):,} tokens out."
    ]
    for no, report in enumerate(reports, 1):
        out.append(
            f"## {no}. {_first_line(report.prompt)}\nDone: {report.replies} replies, {report.tool_calls} tool calls, "
            f"{report.prompt_tok:,} tokens in, {report.output_tok:,} tokens out.\n\n{report.text}"
        )
    return "\n\n".join(out)


def _first_line(text: str, limit: int = 100) -> str:
    line = text.split("\n", 1)[0]
    return line if len(line) <= limit else line[: limit - 3] + "..."


def cut_output(output: str, command: str) -> str:
    """A command's output as it enters the conversation."""
    text = output.removesuffix("\n")
    lines = text.split("\n")
    # four bytes a character at most, so short texts need not be encoded to know
    large = 4 * len(text) > OUTPUT_BYTES_HARD and len(text.encode(errors="replace")) > OUTPUT_BYTES_HARD
    if len(lines) > OUTPUT_LINES_HARD or large:
        saved = f"Full output saved to: /tmp/agent-output-{digest(command + output)[:12]}.log"
        return f"{_both_ends(text, lines)}\n\n{saved}"
    if len(lines) > OUTPUT_LINES:
        half = OUTPUT_LINES // 2
        return "\n".join([*lines[:half], "... (output truncated) ...", *lines[-half:]])
    return text


def _both_ends(text: str, lines: list[str]) -> str:
    """100 lines from each end, or as much of each end as half the bytes allow when lines are few or huge."""
    half = OUTPUT_BYTES_HARD // 8  # characters, of four bytes at most
    if len(lines) <= 2 * KEPT_HARD:
        left_out = max(0, len(text) - 2 * half)
        return f"{text[:half]}\n\n... ({left_out:,} characters left out) ...\n\n{text[-half:]}"
    front, back = "\n".join(lines[:KEPT_HARD])[:half], "\n".join(lines[-KEPT_HARD:])[-half:]
    return f"{front}\n\n... ({len(lines) - 2 * KEPT_HARD:,} lines left out) ...\n\n{back}"


def advance(state: ResultState, action: Action, text: str) -> ResultState:
    """Counts repeated reads of one unchanged content, and edits of one file that failed in a row."""
    body = text.removeprefix(header(action))
    match action:
        case ReadFile(path, start, end):
            key = (path, start, end)
            times, seen = state.reads.get(key, (0, ""))
            for notice in (SECOND_READ, LATER_READ):
                body = body.removeprefix(notice.format(path=path, times=times + 1))
            mark = digest(body)
            entry = (times + 1 if mark == seen else 1, mark)
            return ResultState(state.cwd, {**state.reads, key: entry}, state.failed_edits)
        case Edit(path) | Write(path):
            failed = state.failed_edits.get(path, 0) + 1 if body.startswith(NOT_FOUND) else 0
            return ResultState(state.cwd, state.reads, {**state.failed_edits, path: failed})
        case _:
            return state


def without_file(text: str) -> str:
    """A result that holds a copy of a file, with a note in the copy's place (its first line and frame stay)."""
    first, _, body = text.partition("\n")
    opening, closing = body.find("<final_file_content"), body.rfind("</final_file_content>")
    if opening < 0 or closing < 0:
        return f"{first}\n{STALE}"
    frame_end = body.index("\n", opening) + 1
    return f"{first}\n{body[:frame_end]}{STALE}\n{body[closing:]}"
