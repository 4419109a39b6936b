"""OpenHands' event stream: a line, or a file of an `events` folder, for each thing that happened.

Actions of one `llm_response_id` are one reply. Token counts are differences of the running totals that the state events
carry. A condensation takes events out of the history and puts a summary in their place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulator.trace import messages as wire
from simulator.trace.asked import Asked
from simulator.trace.draft import Draft, Figures
from simulator.trace.format import Call
from simulator.trace.messages import Message
from simulator.trace.text import Bad, members, rows
from simulator.trace.when import count, iso

#: usage ids that are not the agent's own calls
_OTHERS = ("condenser", "title", "summary")
_RESULTS = ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation")
Numbers = tuple[int, int, int]


@dataclass(slots=True)
class _Entry:
    """A message of the history; event: ids that it came from."""

    message: Message
    events: set[str]


@dataclass(slots=True)
class _State:
    history: list[_Entry] = field(default_factory=list)
    tools: list[Any] = field(default_factory=list)
    total: Numbers = (0, 0, 0)
    spent: Numbers | None = None  # of the last call that nothing claimed yet
    model: str = ""
    heard_s: float | None = None  # when the last thing came that a model is asked about
    reply_id: str = ""
    reply: list[dict[str, Any]] = field(default_factory=list)
    row: int | None = None


def read(path: Path, asked: Asked) -> Iterator[Draft]:
    single = path.suffix == ".json"
    name = path.parent.parent.name if single and path.parent.name == "events" else path.stem
    draft = Draft(
        format="openhands-events", session=name, client="openhands", clock="unix",
        estimated={"body": "as an OpenAI-compatible client would send it"},
    )  # fmt: skip
    reading = _Reading(draft)
    for where, line, event in _events(path, asked, single=single):
        if isinstance(event, dict):
            reading.event(event)
        else:
            asked.leave(where, event if isinstance(event, Bad) else "it is no object", line)
    reading.close()
    draft.model = reading.state.model
    draft.body = {"model": draft.model, "messages": None, "stream": True}
    if reading.state.tools:
        draft.body["tools"] = reading.state.tools
    yield draft


def _events(path: Path, asked: Asked, *, single: bool) -> Iterator[tuple[Path, int, Any]]:
    if not single:
        for number, row in rows(path):
            yield path, number, row
        return
    for each in sorted(path.parent.glob("*.json")):
        asked.used.add(each)
        try:
            yield each, 0, _document(each)
        except Bad as why:
            yield each, 0, why


def _document(path: Path) -> dict[str, Any]:
    """An event's file; members that are lists come element by element."""
    out: dict[str, Any] = {}
    for key, value in members(path):
        if key in out:
            out[key] = [*(out[key] if isinstance(out[key], list) else [out[key]]), value]
        else:
            out[key] = [value] if key in ("thought", "tools", "forgotten_event_ids") else value
    return out


class _Reading:
    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self.state = _State()

    def event(self, event: dict[str, Any]) -> None:
        state, kind, ident = self.state, str(event.get("kind")), str(event.get("id"))
        ts = iso(event.get("timestamp"))
        match kind:
            case "SystemPromptEvent":
                self._hear({"role": "system", "content": wire.text_of(event.get("system_prompt"))}, ident, ts)
                state.tools = [t for t in wire.items(event.get("tools")) if isinstance(t, dict) and "function" in t]
            case "MessageEvent":
                self._message(event, ident, ts)
            case "ActionEvent":
                self._action(event, ident, ts)
            case "Condensation":
                self.close()
                self._condense(event, ident)
            case "ConversationStateUpdateEvent":
                self._usage(event)
            case _ if kind in _RESULTS:
                self._result(event, ident, ts)

    def close(self) -> None:
        """The reply in hand is complete."""
        self.state.reply_id = ""

    def _hear(self, message: Message, ident: str, ts: float | None) -> None:
        self.close()
        self.state.history.append(_Entry(message, {ident}))
        self.state.heard_s = ts if ts is not None else self.state.heard_s

    def _message(self, event: dict[str, Any], ident: str, ts: float | None) -> None:
        given = event.get("llm_message")
        if not isinstance(given, dict):
            return
        text = wire.text_of(given.get("content"))
        if given.get("role") == "assistant":
            self.close()
            self._say(wire.assistant(text, []), ident, ts)
        else:
            self._hear({"role": "user", "content": text}, ident, ts)

    def _action(self, event: dict[str, Any], ident: str, ts: float | None) -> None:
        state, reply_id = self.state, str(event.get("llm_response_id") or ident)
        call = wire.mapping(event.get("tool_call"))
        name = str(call.get("name") or event.get("tool_name") or "unknown")
        made = wire.call(str(event.get("tool_call_id") or call.get("id") or ""), name, call.get("arguments") or "{}")
        if reply_id == state.reply_id and state.row is not None:  # one more call of the same reply
            message = state.history[-1].message
            message.setdefault("tool_calls", []).append(made)
            state.history[-1].events.add(ident)
            self._draft.call(state.row, Call(tool=name, id=made["id"]))
            return
        self._say(wire.assistant(wire.text_of(event.get("thought")), [made]), ident, ts)
        state.reply_id = reply_id

    def _say(self, message: Message, ident: str, ts: float | None) -> None:
        state = self.state
        spent = state.spent or (None, None, None)
        state.spent = None
        prompt = [entry.message for entry in state.history]
        state.row = self._draft.turn(
            prompt, message, Figures(state.heard_s, None, ts, spent[0] or None, spent[2], spent[1])
        )  # fmt: skip
        state.history.append(_Entry(message, {ident}))
        state.heard_s = ts if ts is not None else state.heard_s

    def _result(self, event: dict[str, Any], ident: str, ts: float | None) -> None:
        state, call_id = self.state, str(event.get("tool_call_id") or "")
        seen = wire.mapping(event.get("observation"))
        text = (
            wire.text_of(seen.get("content"))
            if seen
            else str(event.get("error") or event.get("rejection_reason") or "")
        )
        if state.row is not None:
            began = state.heard_s
            took = None if ts is None or began is None else ts - began
            failed = bool(seen.get("is_error")) or "error" in event
            self._draft.took(state.row, call_id, took, not failed)
        state.history.append(_Entry(wire.tool_result(call_id, text), {ident}))
        state.reply_id = ""
        state.heard_s = ts if ts is not None else state.heard_s

    def _condense(self, event: dict[str, Any], ident: str) -> None:
        gone = {str(each) for each in wire.items(event.get("forgotten_event_ids"))}
        kept = [entry for entry in self.state.history if not entry.events & gone]
        if event.get("summary"):
            at = count(event.get("summary_offset"))
            at = min(len(kept), at if at is not None else 1)
            kept.insert(at, _Entry({"role": "user", "content": str(event["summary"])}, {ident}))
        self.state.history = kept

    def _usage(self, event: dict[str, Any]) -> None:
        value = event.get("value")
        if event.get("key") == "full_state" and isinstance(value, dict):
            value = value.get("stats")
        usage = value.get("usage_to_metrics") if isinstance(value, dict) else None
        if not isinstance(usage, dict):
            return
        total = [0, 0, 0]
        for name, metrics in usage.items():
            spent = metrics.get("accumulated_token_usage") if isinstance(metrics, dict) else None
            if not isinstance(spent, dict) or any(other in name for other in _OTHERS):
                continue
            self.state.model = str(metrics.get("model_name") or self.state.model)
            for n, key in enumerate(("prompt_tokens", "completion_tokens", "cache_read_tokens")):
                total[n] += count(spent.get(key)) or 0
        before = self.state.total
        if total[0] > before[0]:
            self.state.spent = (total[0] - before[0], max(0, total[1] - before[1]), max(0, total[2] - before[2]))
        self.state.total = (total[0], total[1], total[2])
