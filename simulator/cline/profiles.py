"""The clients that this package speaks for, each a small object in one dict literal.

A profile is data: which client's loop it follows, which text files make its system prompt, where a tool call travels.
The two loops live in classic/ and sdk/; a variant of either (native calls, a shorter prompt, plan mode) is one more
entry here and, at most, one more text file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from simulator.core.task import CLASSIC_STYLE, SDK_STYLE, Style
from simulator.errors import UsageError


@dataclass(frozen=True, slots=True)
class Profile:
    """client: whose loop (growth, cuts, results) is followed.
    style: what a task's recorded solution must heed.
    sections: text files under text/, joined by a ruler, that make the system prompt.
    tools: tool file under text/, "" when tools are described in the prompt only.
    calls: "xml", calls are part of the reply's text; "native", they travel as `tool_calls`.
    one_call_per_reply: the client stops reading a reply after its first call.
    sends_reasoning: hidden thinking goes back to the model as `reasoning_content`.
    temperature: sent when the user set none; None, the field is left out.
    """

    name: str
    client: Literal["classic", "sdk"]
    style: Style
    sections: tuple[str, ...]
    tools: str
    calls: Literal["xml", "native"]
    one_call_per_reply: bool
    sends_reasoning: bool
    temperature: float | None


PROFILES: dict[str, Profile] = {
    "classic-xml": Profile(
        name="classic-xml",
        client="classic",
        style=CLASSIC_STYLE,
        sections=(
            "classic/tools_xml.md",
            "classic/progress.md",
            "classic/editing.md",
            "classic/modes.md",
            "classic/capabilities.md",
            "classic/rules.md",
            "classic/system.md",
            "classic/objective.md",
        ),
        tools="",
        calls="xml",
        one_call_per_reply=True,
        sends_reasoning=False,
        temperature=0.0,
    ),
    "sdk": Profile(
        name="sdk",
        client="sdk",
        style=SDK_STYLE,
        sections=("sdk/system.md",),
        tools="sdk/tools.yaml",
        calls="native",
        one_call_per_reply=False,
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
