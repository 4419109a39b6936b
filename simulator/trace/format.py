"""The trace format, version 1: one JSON object a line. docs/trace_format.md says the same in words.

    {"kind":"trace","version":1,...}                  first
    {"kind":"session",...} {"kind":"turn",...} ...    a session's line, then its turns, those of sub-agents among them
    {"kind":"end","sessions":n,"turns":n}             last: without it the file is a part of a trace

A turn's prompt is what is kept of the conversation before it plus what is new: `keep` leading messages of the previous
prompt and its reply in the same branch, then `add`. Shape-only traces carry block names in place of messages.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

VERSION = 1
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]
Seconds = Annotated[float, Field(ge=0, le=1e12)]
Name = Annotated[str, Field(min_length=1, max_length=400)]
#: field -> how it was estimated; a field that is not named was in the source
Estimated = dict[str, str]
Clock = Literal["unix", "relative", "session", ""]
Scope = Literal["trace", "session", "none"]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Header(_Line):
    """tokenizer: by which whatever is counted here was counted."""

    kind: Literal["trace"] = "trace"
    version: Literal[1] = 1
    made_by: str = ""
    tokenizer: str = ""


class Totals(_Line):
    """As the source adds them up itself, whatever its turns add up to. None: it does not say."""

    prompt_tok: Count | None = None
    output_tok: Count | None = None
    cached_tok: Count | None = None
    calls: Count | None = None


class SessionLine(_Line):
    """session: unique in the file. format: what it was imported from; origin: its name there. client: the agent.
    profile: of cline/profiles that speaks for it, "" for none. clock: "unix", start_s are seconds since 1970;
    "relative", since something that all sessions of the source share; "session", when it began is not known, only the
    times within it; "", no times are known.
    body: the request's fields in the client's order, `messages` null where they stand; a turn may change it.
    block_tok: tokens a block, 0 where there are messages. block_scope: "trace", equal names are equal blocks in all
    sessions of this format; "session", in this one only; "none", nothing is known to be shared.
    unstored_tok: leading prompt tokens (system prompt, tools) of which nothing is known but their number; sessions of
    one `client` share them."""

    kind: Literal["session"] = "session"
    session: Name
    format: Name
    origin: str = ""
    client: str = ""
    profile: str = ""
    model: str = ""
    cwd: str = ""
    clock: Clock = ""
    start_s: Seconds | None = None
    body: dict[str, Any] | None = None
    block_tok: Count = 0
    block_scope: Scope = "none"
    unstored_tok: Count = 0
    totals: Totals = Totals()
    estimated: Estimated = {}
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _clocked(self) -> SessionLine:
        if (self.clock in ("unix", "relative")) != (self.start_s is not None):
            raise ValueError("`start_s` goes with the clocks `unix` and `relative`, and with no other")
        return self


class Call(_Line):
    """A tool call of a reply. took_s: until its result was there; None, not known. result_tok: tokens of its result,
    which the next turn's `add` holds; result: the text itself, where no turn follows that would."""

    tool: str
    id: str = ""
    took_s: Seconds | None = None
    result_tok: Count | None = None
    ok: bool | None = None
    result: str | None = None


class TurnLine(_Line):
    """One request and its reply. branch: 0 the session's own conversation; n, its n-th sub-agent. turn: counts from 0
    in its branch. t_s: when it was sent, seconds after the session's start; first_s, took_s: from there to the first
    output and to the end. prompt_tok, cached_tok (part of it), output_tok, reasoning_tok (part of it): tokens.
    recount_tok: of the prompt, counted here, where the model's tokenizer is ours. spawns: branches that its calls
    start. body: replaces the session's from here on in this branch."""

    kind: Literal["turn"] = "turn"
    session: Name
    branch: Count = 0
    turn: Count
    purpose: Literal["agent", "subagent", "compaction"] = "agent"
    t_s: Seconds | None = None
    first_s: Seconds | None = None
    took_s: Seconds | None = None
    prompt_tok: Count
    cached_tok: Count | None = None
    output_tok: Count
    reasoning_tok: Count | None = None
    recount_tok: Count | None = None
    finish: str = ""
    keep: Count = 0
    add: tuple[dict[str, Any], ...] | None = None
    reply: dict[str, Any] | None = None
    keep_blocks: Count = 0
    add_blocks: tuple[int, ...] | None = None
    calls: tuple[Call, ...] = ()
    spawns: tuple[Annotated[int, Field(ge=1)], ...] = ()
    body: dict[str, Any] | None = None
    estimated: Estimated = {}

    @model_validator(mode="after")
    def _one_form(self) -> TurnLine:
        if self.add is not None and self.add_blocks is not None:
            raise ValueError("a turn has messages (`add`) or blocks (`add_blocks`), not both")
        if self.cached_tok is not None and self.cached_tok > self.prompt_tok:
            raise ValueError(f"cached_tok ({self.cached_tok}) is more than prompt_tok ({self.prompt_tok})")
        if self.branch and self.spawns:
            raise ValueError("a sub-agent's turn starts no branches: all of a session's branches are its own turns'")
        return self


class End(_Line):
    kind: Literal["end"] = "end"
    sessions: Count
    turns: Count


Line = Header | SessionLine | TurnLine | End
MODELS: dict[str, type[_Line]] = {"trace": Header, "session": SessionLine, "turn": TurnLine, "end": End}


def schema() -> dict[str, Any]:
    """The JSON Schema of a line, which schema.json holds."""
    from pydantic import TypeAdapter

    made = TypeAdapter(Annotated[Line, Field(discriminator="kind")]).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "agent-sim trace, a line", **made}


if __name__ == "__main__":
    import json

    print(json.dumps(schema(), indent=1))
