"""A task: a repository state, a request in words, the recorded way to the solution, and a check of the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simulator.core.action import Step

KINDS = ("coding", "documents", "finance")
SIZES = ("small", "medium", "long")


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of the repository's history. `files`: path -> content as of this commit (only those it changes);
    None deletes. executable: those of them that may be run. when_s: author and committer time, Unix seconds, UTC, so
    that hashes repeat on every machine."""

    message: str
    author: str
    email: str
    when_s: int
    files: Mapping[str, bytes | None]
    executable: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Check:
    """`program`: Python source run as `python -I -c program` at the workspace root after the last step, with the JSON
    `truth` on standard input. It prints what is wrong, a line a fault, and exits 0 (right) or 1 (wrong). It needs only
    the standard library and never reads anything that the agent could have written as a check of itself."""

    program: str
    truth: str


@dataclass(frozen=True, slots=True)
class Task:
    """template: folder name under repos/; name: repository name, a plausible folder name, distinct by seed.
    history: oldest first, the last one is HEAD. steps: the recorded solution, ends with a Complete. recorded: False
    where the steps only lay a solution's files down, which is nobody's way: they solve the task, and no replay has
    them."""

    template: str
    kind: str
    size: str
    seed: int
    name: str
    prompt: str
    history: tuple[Commit, ...]
    steps: tuple[Step, ...]
    check: Check
    recorded: bool = True


@dataclass(frozen=True, slots=True)
class Style:
    """How the client that will carry out a task differs in ways that change the way to the solution.

    documents: "extracted", reading a pdf/docx/xlsx gives its text (classic); "raw", it gives mangled bytes, so the
        agent reads documents with Python in commands (sdk).
    echo_after_edit: an edit sends the whole file back (classic), so re-reading it would be silly.
    max_result_chars: longer result strings lose their middle (sdk: 8,000), so large files are read in ranges.
    """

    documents: str = "extracted"
    echo_after_edit: bool = True
    max_result_chars: int | None = None


CLASSIC_STYLE = Style()
SDK_STYLE = Style(documents="raw", echo_after_edit=False, max_result_chars=8_000)
