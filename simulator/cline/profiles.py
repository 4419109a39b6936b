"""The clients that this package speaks for, each a small object in one dict literal.

A profile is data: which client's loop it follows, which text files make its system prompt, where a tool call travels.
The two loops live in classic/ and sdk/; a variant of either (native calls, a shorter prompt) is one more entry here
and, at most, a few more text files. docs/agents.md shows how to write one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from simulator.core.task import CLASSIC_STYLE, SDK_STYLE, Style
from simulator.errors import UsageError


@dataclass(frozen=True, slots=True)
class Profile:
    """client: whose loop (growth, cuts, results) is followed.
    style: what a task's recorded solution must heed.
    sections: text files under text/, joined by a ruler, that make the system prompt.
    plan_sections: the same in plan mode; () where the prompt does not change with the mode.
    tools: tool file under text/, "" when tools are described in the prompt only.
    tool_set: which of the file's tools are sent; "" where the setup says it.
    missing: actions by name for which its client has no tool, so that they are done by commands.
    calls: "xml", calls are part of the reply's text and one is taken a reply; "native", they travel as `tool_calls`.
    environment: what ends each user message of classic: "full" environment_details, "short" ones, "" none.
    checklist: classic's reminders to keep a checklist.
    sends_reasoning: hidden thinking goes back to the model as `reasoning_content`.
    temperature: sent when the user set none; None, the field is left out.
    """

    name: str
    client: Literal["classic", "sdk"]
    style: Style
    sections: tuple[str, ...]
    tools: str
    calls: Literal["xml", "native"]
    sends_reasoning: bool
    temperature: float | None
    plan_sections: tuple[str, ...] = ()
    tool_set: str = ""
    missing: tuple[str, ...] = ()
    environment: Literal["full", "short", ""] = ""
    checklist: bool = False


def _classic(name: str, *sections: str, tool_set: str = "", **changes: object) -> Profile:
    """tool_set: of its native tools; "" for calls in XML."""
    base = Profile(
        name=name,
        client="classic",
        style=CLASSIC_STYLE,
        sections=sections,
        tools="classic/tools_native.yaml" if tool_set else "",
        calls="native" if tool_set else "xml",
        sends_reasoning=False,
        temperature=0.0,
        tool_set=tool_set,
        environment="full",
        checklist=True,
    )
    return replace(base, **changes)  # type: ignore[arg-type]


PROFILES: dict[str, Profile] = {
    "classic-xml": _classic(
        "classic-xml",
        "classic/tools_xml.md",
        "classic/progress.md",
        "classic/editing.md",
        "classic/modes.md",
        "classic/capabilities.md",
        "classic/rules.md",
        "classic/system.md",
        "classic/objective.md",
    ),
    "classic-glm": _classic(
        "classic-glm",
        "glm/tools.md",
        "classic/progress.md",
        "classic/modes.md",
        "classic/rules_short.md",
        "classic/system.md",
        "classic/objective.md",
    ),
    "classic-native": _classic(
        "classic-native",
        "native/opening.md",
        "classic/progress.md",
        "classic/rules_short.md",
        "classic/system.md",
        "classic/objective.md",
        tool_set="native",
    ),
    "compact": _classic(
        "compact",
        "compact/system.md",
        tool_set="compact",
        missing=("ListFiles", "Definitions"),
        environment="short",
    ),
    "sdk": Profile(
        name="sdk",
        client="sdk",
        style=SDK_STYLE,
        sections=("sdk/system.md",),
        plan_sections=("sdk/system_plan.md",),
        tools="sdk/tools.yaml",
        calls="native",
        sends_reasoning=True,
        temperature=None,
    ),
}


def profile(name: str) -> Profile:
    """The profile of that name; UsageError naming the choices when there is none."""
    try:
        return PROFILES[name]
    except KeyError:
        raise UsageError(f"profile {name!r} is unknown; choose one of: {', '.join(PROFILES)}") from None


def subagent(parent: Profile) -> Profile:
    """The client as which a parent's sub-agents run: the parent's loop with a prompt of their own, tools for reading,
    and neither environment_details nor checklist."""
    if parent.client == "sdk":
        return replace(parent, sections=("sdk/subagent.md", "sdk/subagent_env.md"), plan_sections=(), tool_set="agent")
    text = "classic/subagent_xml.md" if parent.calls == "xml" else "classic/subagent_native.md"
    tool_set = "" if parent.calls == "xml" else "explorer"
    return replace(parent, sections=(text,), tool_set=tool_set, missing=(), environment="", checklist=False)
