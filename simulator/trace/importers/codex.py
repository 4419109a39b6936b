"""Codex: a rollout, one JSON Lines file a session, {timestamp, type, payload}.

A model call is a run of items that the model wrote; the token counts that follow are its. The instructions are stored,
the tools are not. What was sent went over the Responses API; here it is told as chat messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulator.trace import messages as wire
from simulator.trace.asked import Asked
from simulator.trace.draft import Draft, Figures
from simulator.trace.format import Totals
from simulator.trace.messages import Message
from simulator.trace.text import Bad, rows
from simulator.trace.when import count, iso


@dataclass(slots=True)
class _Call:
    """A model call. prompt: its messages. texts, calls: the reply. usage: its own; {} when it was not told."""

    prompt: list[Message]
    sent_s: float | None
    texts: list[str] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    end_s: float | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    results: dict[str, float | None] = field(default_factory=dict)

    @property
    def reply(self) -> Message:
        return wire.assistant("\n".join(self.texts), self.calls)


def read(path: Path, asked: Asked) -> Iterator[Draft]:
    reading = _Reading()
    for number, row in rows(path):
        payload = row.get("payload") if isinstance(row, dict) else None
        if isinstance(row, Bad) or not isinstance(payload, dict):
            asked.leave(path, row if isinstance(row, Bad) else "the line has no payload", number)
            continue
        reading.line(str(row.get("type")), payload, iso(row.get("timestamp")))
    yield reading.draft(path)


class _Reading:
    def __init__(self) -> None:
        self._meta: dict[str, Any] = {}
        self._model = ""
        self._history: list[Message] = []
        self._made: list[_Call] = []
        self._open = False  # the last call's reply goes on
        self._clock_s: float | None = None
        self._total: dict[str, Any] = {}

    def line(self, kind: str, payload: dict[str, Any], ts: float | None) -> None:
        match kind:
            case "session_meta":
                if not self._meta:
                    self._meta = payload
                    self._instructions(payload)
            case "turn_context":
                self._model = self._model or str(payload.get("model") or "")
            case "response_item":
                self._item(payload, ts)
                self._clock_s = ts if ts is not None else self._clock_s
            case "compacted":
                self._compact(payload)
            case "event_msg" if payload.get("type") == "token_count":
                self._usage(payload.get("info"), ts)

    def _instructions(self, payload: dict[str, Any]) -> None:
        given = payload.get("base_instructions") or payload.get("instructions")
        text = given.get("text") if isinstance(given, dict) else given
        if isinstance(text, str) and text:
            self._history.append({"role": "system", "content": text})

    def _item(self, item: dict[str, Any], ts: float | None) -> None:
        kind = item.get("type")
        if kind == "message" and item.get("role") == "assistant":
            self._reply(ts).texts.append(wire.text_of(item.get("content")))
        elif kind == "message":
            self._hear({"role": "user", "content": wire.text_of(item.get("content"))})
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            arguments = item.get("arguments", item.get("input", item.get("action")))
            ident = str(item.get("call_id") or item.get("id") or "")
            name = str(item.get("name") or "local_shell")
            self._reply(ts).calls.append(wire.call(ident, name, arguments if arguments is not None else "{}"))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            output = item.get("output")
            text = output.get("content", output) if isinstance(output, dict) else output
            ident = str(item.get("call_id") or "")
            if self._made:
                self._made[-1].results[ident] = ts
            self._hear(wire.tool_result(ident, wire.text_of(text)))
        elif kind == "reasoning":
            self._reply(ts)

    def _reply(self, ts: float | None) -> _Call:
        """The call that the model is answering; a new one when something was heard since."""
        if not self._open:
            self._made.append(_Call(list(self._history), self._clock_s))
            self._open = True
        self._made[-1].end_s = ts
        return self._made[-1]

    def _hear(self, message: Message) -> None:
        if self._open:
            self._history.append(self._made[-1].reply)
            self._open = False
        self._history.append(message)

    def _compact(self, payload: dict[str, Any]) -> None:
        if self._open:
            self._open = False
        kept = self._history[:1] if self._history and self._history[0]["role"] == "system" else []
        replaced = payload.get("replacement_history")
        items = (
            [i for i in replaced if isinstance(i, dict) and i.get("type") == "message"]
            if isinstance(replaced, list)
            else []
        )
        told = [{"role": "user", "content": wire.text_of(i.get("content"))} for i in items]
        self._history = [*kept, *(told or [{"role": "user", "content": str(payload.get("message") or "")}])]

    def _usage(self, info: Any, ts: float | None) -> None:
        """Said again without a new call, it is no news."""
        last = info.get("last_token_usage") if isinstance(info, dict) else None
        total = info.get("total_token_usage") if isinstance(info, dict) else None
        if not isinstance(last, dict) or (total == self._total and total):
            return
        self._total = total if isinstance(total, dict) else {}
        if self._made and not self._made[-1].usage:
            self._made[-1].usage = last
            if self._open and ts is not None:
                self._made[-1].end_s = ts

    def draft(self, path: Path) -> Draft:
        meta = self._meta
        draft = Draft(
            format="codex", session=str(meta.get("id") or path.stem), client=str(meta.get("originator") or "codex"),
            model=self._model, cwd=str(meta.get("cwd") or ""), clock="unix",
            body={"model": self._model, "messages": None, "stream": True},
            totals=Totals(
                prompt_tok=count(self._total.get("input_tokens")), output_tok=count(self._total.get("output_tokens")),
                cached_tok=count(self._total.get("cached_input_tokens")),
            ),
            estimated={"body": "as an OpenAI-compatible client would send it"},
        )  # fmt: skip
        for call in self._made:
            row = draft.turn(call.prompt, call.reply, _figures(call))
            for ident, at in call.results.items():
                draft.took(row, ident, None if at is None or call.end_s is None else at - call.end_s)
        return draft


def _figures(call: _Call) -> Figures:
    usage = call.usage
    return Figures(
        sent_s=call.sent_s,
        end_s=call.end_s,
        prompt_tok=count(usage.get("input_tokens")) or None,
        cached_tok=count(usage.get("cached_input_tokens")),
        output_tok=count(usage.get("output_tokens")),
        reasoning_tok=count(usage.get("reasoning_output_tokens")),
    )
