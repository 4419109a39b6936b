"""What a session is told at its start, and what it asks to send."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from simulator.core.action import Listing

Cut = Literal["", "truncated", "compacted", "stale_reads", "switched"]
Mode = Literal["act", "plan"]
#: the length fields belong to core.plan.SessionPlan.body, the others would break the plan
RESERVED = ("model", "messages", "max_tokens", "max_completion_tokens", "min_tokens", "ignore_eos", "tools")


@dataclass(frozen=True, slots=True)
class Setup:
    """One session's circumstances; everything a client would look up on its machine.

    cwd: absolute folder shown to the model; its place in the prompt decides how much prefix two sessions share.
    listing: the repository's files, recursive. latest_commit: full hash. start_unix_s: when the first request is made.
    tz_name: IANA name for the times in the prompts. temperature: None, the profile's default.
    cached_double_count: the engine reports cached prompt tokens and the classic client counts them twice, so that it
        truncates a warm session at about half its window.
    max_input_tok: what the user stored as the model's input limit; sdk compaction prefers it to the window.
    thinking: sdk's reasoning effort ("low" | "medium" | "high"), "" for none.
    tool_set: sdk only: "cli", 25 tools; "editor", the 6 that the editor extension offers.
    parallel_tool_calls: native classic calls: several may be taken from one reply; false, the client closes the stream
        after the first.
    subagents: the client offers its tool for sub-agents (sdk's command line always does).
    mode: in which the session begins.
    remote_url: of the repository's origin, "" when it has none (classic shows it in the first message).
    must_fit: a recorded request that is above the window after every cut is refused; false, it stands as it is, for a
        recording of which nothing is sent.
    extra_body: merged into the body's tail; a mapping inside (`stream_options`) is merged key by key.
    """

    task_prompt: str
    cwd: str
    repo_name: str
    model: str
    context_window_tok: int
    listing: Listing
    latest_commit: str
    start_unix_s: float
    tz_name: str = "UTC"
    temperature: float | None = None
    cached_double_count: bool = False
    max_input_tok: int | None = None
    thinking: str = ""
    tool_set: Literal["cli", "editor"] = "cli"
    parallel_tool_calls: bool = True
    subagents: bool = False
    mode: Mode = "act"
    platform: str = "linux"
    shell: str = "/bin/bash"
    home: str = "/home/dev"
    remote_url: str = ""
    must_fit: bool = True
    extra_body: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Draft:
    """One request as the client decides it; fields as in core.plan.Turn.

    output_tok: planned here only for purpose "compaction" (the reply's text enters the history); else 0.
    max_tok: the client's own limit on the reply, sent when lengths are not forced; None, it sets none.
    """

    purpose: Literal["agent", "compaction"]
    view: tuple[int, ...]
    cut: Cut
    head: int
    prompt_tok: int
    output_tok: int = 0
    max_tok: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What a recorded reply takes. output_tok: tokens generated, thinking and end mark included. stop_after_tok: after
    so many the client has what it wants and closes the stream; None, it reads to the end."""

    output_tok: int
    stop_after_tok: int | None = None
