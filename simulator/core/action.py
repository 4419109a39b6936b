"""What an agent does, and what came of it, free of any client's syntax.

A task's recorded solution is a list of Steps; each holds Actions. The toolbox (drive/) turns an Action into an Outcome
by doing it in a real workspace; a profile (cline/) turns an Action into the tool call its client's model would emit and
an Outcome into the text its client would send back. Paths are POSIX and relative to the workspace root.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ListFiles:
    path: str = "."
    recursive: bool = False


@dataclass(frozen=True, slots=True)
class ReadFile:
    """Lines are 1-based and inclusive; None means from the first / to the last that the profile shows."""

    path: str
    start_line: int | None = None
    end_line: int | None = None


@dataclass(frozen=True, slots=True)
class Search:
    """`regex` in ripgrep's syntax (see drive.dialect); `file_pattern` is a glob on the file name."""

    regex: str
    path: str = "."
    file_pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Definitions:
    """Top-level definitions of the source files directly in `path` (a folder) or of one file."""

    path: str


@dataclass(frozen=True, slots=True)
class Edit:
    """SEARCH/REPLACE blocks, applied in file order; each `search` is found exact, line-trimmed or block-anchored."""

    path: str
    blocks: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Write:
    path: str
    content: str


@dataclass(frozen=True, slots=True)
class Command:
    """A shell command run at the workspace root. `effects`: it leaves files behind that later steps need, so a slot
    that starts in mid-session must run it again. timeout_s: what the model asks for; None: the client's own rule."""

    command: str
    effects: bool = False
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class Complete:
    """The agent says it is done (classic: attempt_completion; sdk: a reply without a tool call)."""

    result: str


@dataclass(frozen=True, slots=True)
class Propose:
    """In plan mode: a plan is put before the user, who is recorded to answer `answer` (classic: plan_mode_respond, and
    the user then switches to act mode; sdk: a reply without a tool call, and the user's next message)."""

    plan: str
    answer: str


@dataclass(frozen=True, slots=True)
class SwitchToAct:
    """The agent leaves plan mode itself, as only the sdk client lets it (switch_to_act_mode)."""


@dataclass(frozen=True, slots=True)
class Delegate:
    """Sub-agents are sent out, one a prompt, all at once (classic: use_subagents, at most five; sdk: a spawn_agent call
    each). What they do is no action of this conversation: see core.plan.Branch."""

    prompts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Insert:
    """`text` goes in before 1-based `line`; past the last line, at the end."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Declined:
    """A live model's call that its client answers with words alone. tool: as the model named it; arguments: as they
    came; reason: what the client says; mistake: the model's own fault, which clients count."""

    tool: str
    arguments: str
    reason: str
    mistake: bool = True


@dataclass(frozen=True, slots=True)
class Recorded:
    """A call of another program's agent (`sim import`): it is never done, only answered as it was. tool: its name."""

    tool: str


Action = (
    ListFiles
    | ReadFile
    | Search
    | Definitions
    | Edit
    | Insert
    | Write
    | Command
    | Complete
    | Propose
    | SwitchToAct
    | Delegate
    | Declined
    | Recorded
)
#: look at the workspace and change nothing
LOOKS = (ListFiles, ReadFile, Search, Definitions)


@dataclass(frozen=True, slots=True)
class Listing:
    """Sorted folders first; a folder ends in '/'. `truncated`: more existed than the cap."""

    paths: tuple[str, ...]
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class FileText:
    """The whole text of a file (documents: extracted text when `extracted`, else bytes decoded with replacement)."""

    text: str
    extracted: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """One matching line with its context lines; `line_no` is 1-based and belongs to `line`, as does `column`, where
    the match begins."""

    path: str
    line_no: int
    line: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    column: int = 1


@dataclass(frozen=True, slots=True)
class Matches:
    """Hits in path order, then line order. `total` counts all hits, also those past the cap."""

    hits: tuple[Hit, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Outline:
    """(path, ((line_no, definition line), ...)) a file."""

    files: tuple[tuple[str, tuple[tuple[int, str], ...]], ...]


@dataclass(frozen=True, slots=True)
class Edited:
    """A file was written; `created` when it did not exist. `before` is "" then."""

    path: str
    before: str
    after: str
    created: bool = False


@dataclass(frozen=True, slots=True)
class EditFailed:
    """A SEARCH block was not found; the file is untouched. `block` is its 0-based index."""

    path: str
    block: int
    text: str


@dataclass(frozen=True, slots=True)
class Ran:
    """stdout and stderr interleaved as they came. exit_code None: killed at its time or output limit."""

    exit_code: int | None
    output: str
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """The tool was not run: the path leaves the workspace, does not exist, is too large..."""

    reason: str


@dataclass(frozen=True, slots=True)
class Finished:
    """Outcome of Complete and SwitchToAct."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What the user answered to a Propose."""

    text: str


@dataclass(frozen=True, slots=True)
class Report:
    """What one sub-agent gave back, and what it took: its replies, its tool calls, and the prompt and output tokens
    summed over its requests."""

    prompt: str
    text: str
    replies: int
    tool_calls: int
    prompt_tok: int
    output_tok: int


@dataclass(frozen=True, slots=True)
class Reports:
    """Outcome of Delegate, in the order of its prompts."""

    reports: tuple[Report, ...]


Outcome = Listing | FileText | Matches | Outline | Edited | EditFailed | Ran | Refused | Finished | Heard | Reports


@dataclass(frozen=True, slots=True)
class Step:
    """One reply of the recorded assistant: what it says, then what it does.

    actions: one for the XML profiles (their client takes one tool a reply); native calls may be several.
    reasoning: hidden thinking text, sent back only by profiles whose client does so; "" for none.
    progress: the focus-chain checklist in Markdown ("- [x] ..." lines) when the reply updates it, else "".
    unread: what the model goes on to write after its first call, to a client that closes the stream there; "" for
        nothing. It is generated as far as the engine gets with it, and is part of no history.
    """

    say: str
    actions: tuple[Action, ...]
    reasoning: str = ""
    progress: str = ""
    unread: str = ""
