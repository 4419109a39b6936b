"""Cline's classic client (and Roo): a task folder with api_conversation_history.json and its neighbours.

System prompt and tools are not stored and come from the profile. The client's way of answering native calls is applied
again: a `tool` message that says nothing, and the results in the user's message. Times: a user message is stored right
before its request is sent, an assistant's right after its stream has ended.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulator import tokenizer
from simulator.cline.classic.client import MISSING
from simulator.trace import messages as wire
from simulator.trace import standin
from simulator.trace.asked import Asked
from simulator.trace.draft import Draft, Figures
from simulator.trace.format import Call, Totals
from simulator.trace.messages import Message
from simulator.trace.text import Bad, members, parsed
from simulator.trace.when import added, count, lasted, millis

FILE = "api_conversation_history.json"
UI, METADATA, HISTORY, ITEM = "ui_messages.json", "task_metadata.json", "taskHistory.json", "history_item.json"
#: lists of all tasks, which stand beside their folders
LISTS = (HISTORY, "_index.json", "settings.json")
#: files of a task folder that hold nothing to import
BESIDE = re.compile(
    r"(ui_messages|task_metadata|taskHistory|history_item|context_history|settings|_index)\.json|focus_chain_.*\.md"
)
#: of these providers, cached tokens are not part of the prompt tokens that they report
_CACHED_APART = ("anthropic", "bedrock", "vertex", "claude-code")
_XML_CALL = re.compile(
    r"<(execute_command|read_file|write_to_file|replace_in_file|search_files|list_files|list_code_definition_names|"
    r"browser_action|use_mcp_tool|access_mcp_resource|ask_followup_question|attempt_completion|new_task|apply_diff|"
    r"plan_mode_respond|load_mcp_documentation|web_fetch|web_search|use_subagents|condense|summarize_task)>"
)
#: what a reply's first output is shown as
_FIRST = ("reasoning", "text", "tool", "command")
#: how the client heads a result: in the text itself, or as a text of its own before it
_LABEL = re.compile(r"\[[a-z_]+(?: for .*?)?\] Result:", re.DOTALL)
_ENVIRONMENT = "<environment_details>"
TOOK = "time until the next request, in equal parts for a reply's calls; approvals are in it"


@dataclass(slots=True)
class _Told:
    """What ui_messages.json says of one request."""

    sent_s: float | None = None
    first_s: float | None = None
    spent: dict[str, Any] = field(default_factory=dict)
    deleted: tuple[int, int] | None = None


def read(path: Path, asked: Asked) -> Iterator[Draft]:
    stored: list[dict[str, Any]] = []
    for _, message in members(path):
        if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
            raise Bad("a message of it is neither a user's nor an assistant's")
        stored.append(message)
    folder = path.parent
    item = _item(folder, asked)
    ui = _told(folder / UI, asked)
    model, provider = _model(stored, item, folder, asked)
    native = any(block.get("type") == "tool_use" for m in stored for block in wire.blocks(m))
    profile = standin.classic_profile(model, provider, native=native)
    cwd = str(item.get("cwdOnTaskInitialization") or item.get("workspace") or "")
    system, body = standin.frame(profile, model, cwd)
    draft = Draft(
        format="cline-classic", session=str(item.get("id") or folder.name), origin=str(item.get("ulid") or ""),
        client="cline-classic", profile=profile, model=model, cwd=cwd, clock="unix", body=body, totals=_totals(item),
        estimated={"body": f"profile {profile}", "system prompt": f"profile {profile}", "calls.took_s": TOOK},
    )  # fmt: skip
    _Task(stored, ui, native, provider, draft, system).run()
    yield draft


class _Task:
    def __init__(
        self, stored: list[dict[str, Any]], ui: dict[int, _Told], native: bool, provider: str, draft: Draft,
        system: Message,
    ) -> None:  # fmt: skip
        self._stored, self._ui, self._native, self._draft = stored, ui, native, draft
        self._apart = provider.lower() in _CACHED_APART
        self._system = system
        self._wire = [self._sent(n) for n in range(len(stored))]

    def run(self) -> None:
        deleted: tuple[int, int] | None = None
        for n, message in enumerate(self._stored):
            if message["role"] != "assistant":
                continue
            told = self._ui.get(n, _Told())
            deleted = told.deleted or deleted
            kept = [k for k in range(n) if deleted is None or not deleted[0] <= k <= deleted[1]]
            prompt = [self._system, *(each for k in kept for each in self._wire[k])]
            calls = self._calls(n)
            self._draft.turn(prompt, self._wire[n][-1], self._figures(n, told), calls=calls)

    def _sent(self, n: int) -> list[Message]:
        """A stored message as the client sends it."""
        message = self._stored[n]
        given = list(wire.blocks(message))
        if message["role"] == "assistant":
            return [wire.said(given, reasoning=False)]
        out = wire.heard(given)
        answered = {m["tool_call_id"] for m in out if m["role"] == "tool"}
        asked_for = [b for b in wire.blocks(self._stored[n - 1]) if b.get("type") == "tool_use"] if n else []
        idents = [str(b.get("id") or "") for b in asked_for]
        return [*(wire.tool_result(i, MISSING) for i in idents if i not in answered), *_as_parts(out)]

    def _figures(self, n: int, told: _Told) -> Figures:
        message = self._stored[n]
        tokens = wire.mapping(wire.mapping(message.get("metrics")).get("tokens"))
        spent = told.spent
        prompt = count(tokens.get("prompt", spent.get("tokensIn")))
        cached = count(tokens.get("cached", spent.get("cacheReads")))
        if prompt is not None and (self._apart or (cached or 0) > prompt):
            prompt = added(prompt, cached, spent.get("cacheWrites"))
        before = millis(self._stored[n - 1].get("ts")) if n and self._stored[n - 1]["role"] == "user" else None
        sent = before if before is not None else told.sent_s
        return Figures(
            sent_s=sent,
            first_s=told.first_s if told.first_s is None or sent is None else max(sent, told.first_s),
            end_s=millis(message.get("ts")),
            prompt_tok=prompt or None,
            cached_tok=cached if prompt else None,
            output_tok=count(tokens.get("completion", spent.get("tokensOut"))) or None,
        )

    def _calls(self, n: int) -> list[Call]:
        message = self._stored[n]
        if self._native:
            made = wire.made_calls(self._wire[n][-1])
        else:
            made = [("", name) for name in _XML_CALL.findall(wire.text_of(self._wire[n][-1].get("content")))]
        after = self._stored[n + 1] if n + 1 < len(self._stored) else None
        results: Sequence[Sequence[str]] = ()
        took = None
        if after is not None and after["role"] == "user":
            results = _results(text for text in map(_text, wire.blocks(after)) if text and _ENVIRONMENT not in text)
            start, end = millis(message.get("ts")), millis(after.get("ts"))
            if made and start is not None and end is not None:
                took = lasted((end - start) / len(made))
        each = results if len(results) == len(made) else results[: len(made)]
        sizes = [sum(map(tokenizer.count, parts)) for parts in each] + [None] * (len(made) - len(each))
        return [
            Call(tool=name or "unknown", id=i, took_s=took, result_tok=size)
            for (i, name), size in zip(made, sizes, strict=True)
        ]


def _results(texts: Iterable[str]) -> list[list[str]]:
    """The texts of a user's message by the result that they are part of: a label that stands alone is followed by what
    it names. What follows a result that is whole is a remark of the client's, unless nothing has a label."""
    found: list[list[str]] = []
    labelled = False
    for text in texts:
        if found and len(found[-1]) == 1 and _LABEL.fullmatch(found[-1][0].strip()):
            found[-1].append(text)
        elif _LABEL.match(text.lstrip()):
            found, labelled = [*(found if labelled else []), [text]], True
        elif not labelled:
            found.append([text])
    return found


def _text(block: dict[str, Any]) -> str:
    return wire.text_of(block.get("text") if block.get("type") == "text" else block.get("content"))


def _as_parts(sent: list[Message]) -> list[Message]:
    """The client sends a user's content as a list of parts, also where it is one text."""
    return [
        m | {"content": [{"type": "text", "text": m["content"]}]}
        if m["role"] == "user" and isinstance(m["content"], str) else m
        for m in sent
    ]  # fmt: skip


def _told(path: Path, asked: Asked) -> dict[int, _Told]:
    """By the index of the assistant message that answered. A repeated request counts as it was sent last."""
    out: dict[int, _Told] = {}
    if not path.is_file():
        return out
    asked.used.add(path)
    try:
        for _, entry in members(path):
            if not isinstance(entry, dict) or not isinstance(entry.get("conversationHistoryIndex"), int):
                continue
            at, ts = entry["conversationHistoryIndex"], millis(entry.get("ts"))
            if entry.get("say") == "api_req_started":
                spent = _json(entry.get("text"))
                out[at + 2] = _Told(ts, None, spent, _range(entry.get("conversationHistoryDeletedRange")))
            elif (
                at + 1 in out
                and out[at + 1].first_s is None
                and entry.get("say") in ("reasoning", "text", "tool", "command")
            ):
                out[at + 1].first_s = ts
    except Bad as why:
        asked.leave(path, f"{why}; its task was imported without it")
    return out


def _range(value: Any) -> tuple[int, int] | None:
    if isinstance(value, list) and len(value) == 2 and all(isinstance(v, int) for v in value):
        return value[0], value[1]
    return None


def _json(text: Any) -> dict[str, Any]:
    try:
        found = parsed(text.encode()) if isinstance(text, str) else None
    except (Bad, UnicodeEncodeError):
        return {}
    return found if isinstance(found, dict) else {}


def _item(folder: Path, asked: Asked) -> dict[str, Any]:
    """The task's entry in the client's list of tasks; {} when it has none."""
    for path in (folder / ITEM, folder / HISTORY, folder.parent.parent / "state" / HISTORY):
        if not path.is_file():
            continue
        asked.used.add(path)
        try:
            found = (
                [v for _, v in members(path) if isinstance(v, dict)] if path.name == HISTORY else [dict(members(path))]
            )
        except Bad as why:
            asked.leave(path, f"{why}; its tasks were imported without it")
            continue
        own = [v for v in found if folder.name in (str(v.get("id")), str(v.get("ulid")))]
        if own or (len(found) == 1 and path.parent == folder):
            return (own or found)[0]
    return {}


def _entries(path: Path) -> list[dict[str, Any]]:
    if path.name == HISTORY:
        return [value for _, value in members(path) if isinstance(value, dict)]
    return [dict(members(path))]


def _model(stored: list[dict[str, Any]], item: dict[str, Any], folder: Path, asked: Asked) -> tuple[str, str]:
    """Model and provider, as the messages, the metadata or the list of tasks name them."""
    for message in stored:
        info = message.get("modelInfo")
        if isinstance(info, dict) and info.get("modelId"):
            return str(info["modelId"]), str(info.get("providerId") or "")
    path = folder / METADATA
    if path.is_file():
        asked.used.add(path)
        try:
            for key, value in members(path):
                if key == "model_usage" and isinstance(value, dict):
                    return str(value.get("model_id") or ""), str(value.get("model_provider_id") or "")
        except Bad as why:
            asked.leave(path, f"{why}; its task was imported without it")
    return str(item.get("modelId") or ""), ""


def _totals(item: dict[str, Any]) -> Totals:
    return Totals(
        prompt_tok=count(item.get("tokensIn")), output_tok=count(item.get("tokensOut")),
        cached_tok=count(item.get("cacheReads")),
    )  # fmt: skip
