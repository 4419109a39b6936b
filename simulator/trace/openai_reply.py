"""What a server answered, from a whole response or from the chunks of a stream."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from simulator.trace.messages import Message, assistant, checked, mapping
from simulator.trace.text import Bad, parsed
from simulator.trace.when import count


@dataclass(frozen=True, slots=True)
class Answer:
    reply: Message | None
    prompt_tok: int | None
    cached_tok: int | None
    output_tok: int | None
    reasoning_tok: int | None
    finish: str


def answer(data: dict[str, Any]) -> Answer:
    """Of a log's line. Bad when it holds neither a response nor chunks that say anything."""
    response = data.get("response")
    if isinstance(response, dict) and response.get("choices"):
        return _whole(response, data)
    chunks = data.get("chunks")
    if isinstance(chunks, list) and chunks:
        return _streamed([_chunk(each) for each in chunks], data)
    error = response.get("error") if isinstance(response, dict) else None
    said = error.get("message") if isinstance(error, dict) else error
    raise Bad(f"the request has no reply{f': {said!s:.120}' if said else ''}")


def _whole(response: dict[str, Any], data: dict[str, Any]) -> Answer:
    choice = response["choices"][0] if isinstance(response["choices"], list) else None
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        raise Bad("the response's first choice has no message")
    said = choice["message"]
    message: Message = {"role": "assistant", "content": said.get("content")}
    for key in ("reasoning_content", "reasoning", "tool_calls"):
        if said.get(key):
            message[key] = said[key]
    usage = response.get("usage") or data.get("usage")
    return _answer(checked(message), usage, str(choice.get("finish_reason") or ""))


def _chunk(given: Any) -> dict[str, Any]:
    """A chunk as an object, or as the text of an event."""
    if isinstance(given, str):
        text = given.removeprefix("data:").strip()
        given = {} if text in ("", "[DONE]") else parsed(text.encode())
    if isinstance(given, dict):
        return given
    raise Bad("a chunk of the reply is no object")


def _streamed(chunks: Iterable[dict[str, Any]], data: dict[str, Any]) -> Answer:
    text: list[str] = []
    thoughts: list[str] = []
    calls: dict[int, dict[str, Any]] = {}
    usage, finish = data.get("usage"), ""
    for chunk in chunks:
        usage = chunk.get("usage") or usage
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else {}
        if not isinstance(choice, dict):
            raise Bad("a chunk's choice is no object")
        delta = mapping(choice.get("delta"))
        text.append(_text(delta.get("content")))
        thoughts += [_text(delta.get(key)) for key in ("reasoning_content", "reasoning")]
        for piece in delta.get("tool_calls") or ():
            _add(calls, piece)
        finish = str(choice.get("finish_reason") or finish)
    message = assistant("".join(text), [calls[n] for n in sorted(calls)], "".join(thoughts))
    return _answer(checked(message), usage, finish)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _add(calls: dict[int, dict[str, Any]], piece: Any) -> None:
    if not isinstance(piece, dict) or not isinstance(piece.get("index", 0), int):
        raise Bad("a piece of a tool call is no object with an index")
    call = calls.setdefault(
        piece.get("index", 0), {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
    )
    call["id"] = piece.get("id") or call["id"]
    function = mapping(piece.get("function"))
    call["function"]["name"] += str(function.get("name") or "")
    call["function"]["arguments"] += str(function.get("arguments") or "")


def _answer(reply: Message, usage: Any, finish: str) -> Answer:
    usage = mapping(usage)
    prompt, output = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    return Answer(
        reply=reply,
        prompt_tok=count(usage.get("prompt_tokens")) or None,
        cached_tok=count(prompt.get("cached_tokens")) if isinstance(prompt, dict) else None,
        output_tok=count(usage.get("completion_tokens")),
        reasoning_tok=count(output.get("reasoning_tokens")) if isinstance(output, dict) else None,
        finish=finish,
    )
