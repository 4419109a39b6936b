"""A live conversation word for word, for people who ask why a session solved nothing: a line a request, with what it
sent that no request before it had, and what came back as far as it came."""

from __future__ import annotations

from typing import Any

import orjson

from simulator.cline.live.conversation import LiveClient
from simulator.cline.setup import Draft
from simulator.core.event import Reading
from simulator.core.record import Request
from simulator.drive.recorder import Recorder


class Transcript:
    """client: whose messages they are. One for each conversation of a session; their lines share a file."""

    def __init__(self, recorder: Recorder, client: LiveClient) -> None:
        self._recorder, self._client = recorder, client
        self._shown: set[int] = set()

    def add(self, draft: Draft, record: Request, reading: Reading) -> None:
        """{turn, branch, retry, request, purpose, cut, messages, sent, said, outcome, error, detail, prompt_tok,
        output_tok, finish}. messages: how many the request had; sent: those of them that are new; said: {text,
        reasoning, calls}."""
        new = [index for index in draft.view if index not in self._shown]
        self._shown.update(new)
        head: dict[str, Any] = {
            "turn": record.turn, "branch": record.branch, "retry": record.retry, "request": record.request,
            "purpose": record.purpose, "cut": draft.cut, "messages": len(draft.view),
        }  # fmt: skip
        said = {"text": reading.text, "reasoning": reading.reasoning, "calls": reading.tool_calls}
        came: dict[str, Any] = {
            "said": said, "outcome": record.outcome, "error": record.error, "detail": record.detail,
            "prompt_tok": record.prompt_tok, "output_tok": record.output_tok, "finish": record.finish,
        }  # fmt: skip
        sent = b",".join(self._client.pool.messages[index] for index in new)
        line = b"".join((orjson.dumps(head)[:-1], b',"sent":[', sent, b"],", orjson.dumps(came)[1:]))
        self._recorder.said(record.session, line)
