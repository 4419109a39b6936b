"""What may differ between a recorded tool result and the real one without the work being different.

Each normaliser is declared with its reason and is as narrow as it can be: an amount, a date in the data or a checksum
that a program prints must still count as a difference.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simulator.core.action import (
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
    Refused,
    Reports,
)


@dataclass(frozen=True, slots=True)
class Normaliser:
    """`pattern` is replaced by `to` (re.sub's syntax), line by line unless it says otherwise."""

    name: str
    reason: str
    pattern: re.Pattern[str]
    to: str


def _n(name: str, reason: str, pattern: str, to: str) -> Normaliser:
    return Normaliser(name, reason, re.compile(pattern, re.MULTILINE), to)


_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
NORMALISERS: tuple[Normaliser, ...] = (
    _n("elapsed", "test runners print how long they took", r"\bin \d+(?:\.\d+)? ?(?:s|ms|sec|seconds)\b", "in <time>"),
    _n("shell_time", "`time` prints durations", r"^(real|user|sys)(\s+)\d+m?[\d.]+s?$", r"\1\2<time>"),
    _n("timing_field", "programs log their own durations",
       r"(?i)\b(elapsed|took|duration)(:? ?=? ?)\d+(?:\.\d+)? ?(?:s|ms|us|sec|seconds)\b", r"\1\2<time>"),
    _n("slow_test", "durations before a test's phase or name", r"^\d+\.\d+s (call|setup|teardown)\b", r"<time> \1"),
    _n("temporary_path", "temporary names are drawn at random",
       r"/(?:private/)?(?:tmp|var/tmp|var/folders)/[\w.+/-]+", "<tmp>"),
    _n("address", "default object representations show memory addresses",
       r"\bat 0x[0-9a-fA-F]{6,16}\b", "at <address>"),
    _n("pid", "process ids are the machine's", r"(?i)\bpid(\s*[=:]?\s*)\d+\b", r"pid\1<pid>"),
    _n("git_commit", "a commit made in the session has the time in its hash", r"^commit [0-9a-f]{40}\b",
       "commit <hash>"),
    _n("git_made", "the same hash, as git prints it after a commit",
       r"^\[([\w./-]+)( \(root-commit\))? [0-9a-f]{7,40}\]", r"[\1\2 <hash>]"),
    _n("git_oneline", "the same hash in a short log", r"^(?=\d*[a-f])[0-9a-f]{7,12} (?=\S)",
       "<hash> "),
    _n("git_head", "the same hash after a reset or checkout", r"\bHEAD is now at [0-9a-f]{7,40}\b",
       "HEAD is now at <hash>"),
    _n("ls_total", "blocks on disk depend on the file system", r"^total \d+$", "total <blocks>"),
    _n("ls_long_folder", "links, owners, sizes and times of folders are the machine's",
       rf"^(d[rwxsStT-]{{9}})[.+@]?\s+\d+\s+\S+\s+\S+\s+\d+\s+{_MONTH}\s+\d+\s+[\d:]+ ", r"\1 <folder> "),
    _n("ls_long_file", "links, owners and times of files are the machine's; the size stays",
       rf"^(-[rwxsStT-]{{9}})[.+@]?\s+\d+\s+\S+\s+\S+\s+(\d+)\s+{_MONTH}\s+\d+\s+[\d:]+ ", r"\1 \2 <when> "),
    _n("date_command", "`date` prints now",
       rf"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) {_MONTH} [ \d]\d \d\d:\d\d:\d\d (?:[AP]M )?[A-Z]{{2,5}} \d{{4}}\b",
       "<now>"),
    _n("log_stamp", "a log line starts with the moment of writing",
       r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]\d{3,6}(?:Z|[+-]\d\d:?\d\d)?\b", "<now>"),
)  # fmt: skip


def normalise(text: str, *, roots: Mapping[str, str], today: Sequence[str] = ()) -> str:
    """`text` without what may differ. roots: real path -> name shown instead, e.g. {"/run/ws/s0007": "<cwd>"}; the
    longest is replaced first. today: ISO dates that count as "now" (a run may pass midnight)."""
    for root in sorted(filter(None, roots), key=len, reverse=True):
        text = re.sub(re.escape(root.rstrip("/")) + r"(?![\w.-])", lambda _, r=root: roots[r], text)  # type: ignore[misc]
    for day in today:
        text = text.replace(day, "<today>")
    for rule in NORMALISERS:
        text = rule.pattern.sub(rule.to, text)
    return text


def outcome_text(outcome: Outcome) -> str:
    """An outcome as plain text, everything that an agent could see of it and nothing of any client's form. Two
    outcomes are the same result when their texts are equal after normalising."""
    match outcome:
        case Listing(paths, truncated):
            return "\n".join(paths) + ("\n(more)" if truncated else "")
        case FileText(text):
            return text
        case Matches(hits, total):
            lines = [f"{total} hits"]
            for hit in hits:
                lines += [f"{hit.path}:{hit.line_no}", *hit.before, f"> {hit.line}", *hit.after]
            return "\n".join(lines)
        case Outline(files):
            return "\n".join(f"{path}:{no}: {line}" for path, defs in files for no, line in defs)
        case Edited(path, _, after, created):
            return f"{'created' if created else 'edited'} {path}\n{after}"
        case EditFailed(path, block, text):
            return f"block {block} not found in {path}\n{text}"
        case Ran(exit_code, output, timed_out):
            return f"exit {exit_code}{' (timed out)' if timed_out else ''}\n{output}"
        case Refused(reason):
            return f"refused: {reason}"
        case Finished():
            return "done"
        case Heard(text):
            return text
        case Reports(reports):
            return "\n\n".join(report.text for report in reports)


def comparable(text: str) -> str:
    """What a real outcome and a recorded one are compared by; text: outcome_text's, whose paths are shown ones
    already."""
    return normalise(text, roots={})


def first_difference(a: str, b: str, *, width: int = 80) -> str:
    """Where `b` first departs from `a`, e.g. "line 3: 'total 12' instead of 'total 11'"; "" when equal. Each side is
    shortened to `width` characters around the first differing column."""
    if a == b:
        return ""
    left, right = a.split("\n"), b.split("\n")
    for no, (x, y) in enumerate(zip(left, right, strict=False), 1):
        if x != y:
            return f"line {no}: {_around(y, x, width)} instead of {_around(x, y, width)}"
    no = min(len(left), len(right)) + 1
    if len(right) > len(left):
        return f"line {no}: {_around(right[no - 1], '', width)} instead of the end"
    return f"line {no}: ends instead of {_around(left[no - 1], '', width)}"


def _around(line: str, other: str, width: int) -> str:
    if len(line) <= width:
        return repr(line)
    at = next((i for i, (x, y) in enumerate(zip(line, other, strict=False)) if x != y), min(len(line), len(other)))
    start = max(0, min(at - width // 2, len(line) - width))
    piece = repr(line[start : start + width])
    return ("..." if start else "") + piece + ("..." if start + width < len(line) else "")
