"""From an exchange to a line of the log. docs/record.md describes each field."""

from __future__ import annotations

from typing import Any

import orjson

from simulator.record import bodykeys
from simulator.record.chains import Chains, Placed
from simulator.record.exchange import MAX_BYTES, Exchange
from simulator.record.known import Known
from simulator.record.replies import Told, decoded, read_reply

LOG, VERSION = "openai-requests", 1
#: characters of names and notes, and of a reply that is no JSON; counted when no secret is left in them, as half a key
#: would not be found
MOST_NAME, MOST_TEXT = 200, 4096


class Lines:
    """Exchanges in the order of their ends become lines. chunks: a stream's events are kept, too."""

    def __init__(self, *, chunks: bool) -> None:
        self._chunks = chunks
        self._chains = Chains()
        self._known = Known()

    def line(self, exchange: Exchange) -> bytes:
        """One JSON object and its line end; no secret of this request or of one before is in it."""
        self._known.learn(exchange.secrets)
        request, notes = self._request(exchange)
        told = read_reply(exchange.pieces, exchange.times_s, exchange.kind, exchange.encoding)
        if told.unread:
            notes.append(self._short(f"reply: {told.unread}"))
        if exchange.dropped:
            notes.append(f"{exchange.dropped} bytes past {MAX_BYTES >> 20} MiB were passed on and not written")
        placed = self._place(exchange, request, told) if isinstance(request, dict) else Placed("", "unread", 0)
        self._clean_reply(told, notes)
        said = _said(exchange, placed, request, told, notes, self._chunks)
        said["client"] = self._short(exchange.agent) or None
        # the names of a line's fields are ours
        clean = {name: self._known.clean(value) for name, value in said.items() if value is not None}
        return orjson.dumps(clean, option=orjson.OPT_NON_STR_KEYS) + b"\n"

    def _short(self, text: str) -> str:
        return str(self._known.clean(text))[:MOST_NAME]

    def _clean_reply(self, told: Told, notes: list[str]) -> None:
        """What is said in pieces cannot be found in them: events and single tokens of a reply that says a key go."""
        clean = self._known.clean(told.response)
        if clean != told.response:
            gone = ["its events"] if told.chunks else []
            told.chunks = []
            gone += ["the single tokens"] if _without_tokens(clean) else []
            if gone:
                notes.append(f"reply: {' and '.join(gone)} are left out, as they said a key")
        told.response = clean[:MOST_TEXT] if isinstance(clean, str) else clean

    def lost(self, exchange: Exchange, why: Exception) -> bytes:
        """The line of an exchange that no line could be made of."""
        said = {
            "log": LOG, "version": VERSION, "ts": round(exchange.ts, 6), "number": exchange.number, "session": "",
            "session_by": "unread", "status": exchange.status, "notes": [f"a fault of ours: {type(why).__name__}"],
        }  # fmt: skip
        return orjson.dumps(said) + b"\n"

    def _place(self, exchange: Exchange, request: dict[str, Any], told: Told) -> Placed:
        messages = request.get("messages")
        if not isinstance(messages, list):
            prompt = request.get("prompt")
            messages = [{"role": "user", "content": prompt if isinstance(prompt, str) else str(prompt)}]
        message = _message(told.response)
        good = exchange.status == 200 and _has_output(message)
        end_s = exchange.t_end_s if exchange.t_end_s is not None else exchange.t_s
        group = self._short(_group(exchange, request))
        return self._chains.place(messages, group=group, t_s=exchange.t_s, t_end_s=end_s, good=good, reply=message)

    def _request(self, exchange: Exchange) -> tuple[Any, list[str]]:
        """The body as the client sent it, without fields for keys, which are learned; None when it is no JSON."""
        try:
            body = b"".join(decoded(exchange.body, exchange.request_encoding.lower()))
            request, gone, found = bodykeys.without(orjson.loads(body))
        except (ValueError, RecursionError) as error:
            return None, [self._short(f"request: {error}")]
        self._known.learn(found)
        return request, [f"request: {', '.join(gone)} left out"] if gone else []


def _group(exchange: Exchange, request: dict[str, Any]) -> str:
    """What names the session: a header, else a field of the body that clients use so."""
    meta = request.get("metadata")
    told = (
        exchange.session,
        request.get("prompt_cache_key"),
        request.get("session_id"),
        meta.get("session_id") if isinstance(meta, dict) else None,
    )
    return next((each for each in told if isinstance(each, str) and each.strip()), "")


def _without_tokens(response: Any) -> bool:
    """Takes `logprobs` out of a reply's choices; whether there were any."""
    choices = response.get("choices") if isinstance(response, dict) else None
    held = [each for each in choices or () if isinstance(each, dict) and each.get("logprobs")]
    for each in held:
        del each["logprobs"]
    return bool(held)


def _message(response: Any) -> Any:
    """The first choice's; None where there is none."""
    try:
        choice = response["choices"][0]
        return choice["message"] if "message" in choice else {"role": "assistant", "content": choice["text"]}
    except (TypeError, KeyError, IndexError):
        return None


def _has_output(message: Any) -> bool:
    return isinstance(message, dict) and bool(message.get("content") or message.get("tool_calls"))


def _since(exchange: Exchange, time_s: float | None) -> float | None:
    return None if time_s is None else round(time_s - exchange.t_s, 6)


def _said(
    exchange: Exchange, placed: Placed, request: Any, told: Told, notes: list[str], chunks: bool
) -> dict[str, Any]:
    arrivals = [_since(exchange, time_s) for time_s in told.arrivals_s]
    return {
        "log": LOG,
        "version": VERSION,
        "ts": round(exchange.ts, 6),
        "t_s": round(exchange.t_s, 6),
        "number": exchange.number,
        "session": placed.session,
        "session_by": placed.by,
        "turn": placed.turn,
        "kept_messages": placed.kept,
        "again": placed.again or None,
        "purpose": "compaction" if placed.aside else None,
        "parent": placed.parent or None,
        "client": None,
        "client_retry": exchange.retry,
        "path": exchange.path,
        "status": exchange.status,
        "ended": exchange.ended or "whole",
        "streamed": told.streamed,
        "t_request_s": _since(exchange, exchange.t_request_s),
        "t_head_s": _since(exchange, exchange.t_head_s),
        "t_first_s": arrivals[0] if arrivals else None,
        "t_end_s": _since(exchange, exchange.t_end_s),
        "arrivals_s": arrivals or None,
        "notes": notes or None,
        "request": request,
        "response": told.response,
        "chunks": told.chunks if chunks and told.chunks else None,
    }
