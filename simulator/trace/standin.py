"""System prompt and tools that a source did not store, from the profile of the client that sent them."""

from __future__ import annotations

import functools
from typing import Any, Literal

import orjson

from simulator import tokenizer
from simulator.cline.conversation import Conversation
from simulator.cline.profiles import PROFILES
from simulator.cline.setup import Setup
from simulator.core.action import Listing
from simulator.trace.messages import Message

UNKNOWN_DIR = "/home/dev/projects/workspace"


@functools.lru_cache(maxsize=256)
def _frame(profile: str, model: str, cwd: str, tool_set: Literal["cli", "editor"], plan: bool) -> tuple[bytes, bytes]:
    setup = Setup(
        task_prompt="", cwd=cwd or UNKNOWN_DIR, repo_name=(cwd or UNKNOWN_DIR).rsplit("/", 1)[-1], model=model,
        context_window_tok=1_000_000, listing=Listing(()), latest_commit="0" * 40, start_unix_s=0.0,
        tool_set=tool_set, mode="plan" if plan else "act",
    )  # fmt: skip
    talk = Conversation(PROFILES[profile], setup, tokenizer.count)
    head = 2 if plan and len(talk.heads) > 2 else 0
    return talk.pool[0], talk.heads[head] + talk.tails[head] + b"}"


def frame(
    profile: str, model: str, cwd: str, tool_set: Literal["cli", "editor"] = "cli", *, plan: bool = False
) -> tuple[Message, dict[str, Any]]:
    """The system message, and the body's other fields with `messages` null in its place."""
    system, whole = _frame(profile, model or "unknown", cwd, tool_set, plan)
    body: dict[str, Any] = orjson.loads(whole)
    return orjson.loads(system), {key: None if key == "messages" else value for key, value in body.items()}


def classic_profile(model: str, provider: str, *, native: bool) -> str:
    """By what the client's own choice goes: native calls, a local server, the model's family."""
    if provider in ("lmstudio", "ollama"):
        return "compact"
    if native:
        return "classic-native"
    return "classic-glm" if "glm" in model.lower() else "classic-xml"
