"""Files as other programs write them, made up here: their forms are real, their texts are ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

T0_MS = 1_790_000_000_000


def rows(path: Path, values: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(v) + "\n" for v in values))
    return path


def classic_task(folder: Path, turns: int = 3, *, native: bool = True, metrics: bool = True, cut_at: int = 0) -> Path:
    """A task folder: every reply reads one file. cut_at: from this request on, messages 2 and 3 are deleted."""
    folder.mkdir(parents=True)
    history: list[dict[str, Any]] = []
    ui: list[dict[str, Any]] = [
        {"ts": T0_MS, "type": "say", "say": "task", "text": "t", "conversationHistoryIndex": -1}
    ]
    ms, prompt = T0_MS, 6_000
    for n in range(turns):
        said = "<task>\nTidy the ledger\n</task>" if n == 0 else f"[read_file for 'f{n - 1}.py'] Result:\nline {n}"
        parts = [{"type": "text", "text": said}, {"type": "text", "text": f"<environment_details>\nround {n}"}]
        spent = {"request": said, "tokensIn": prompt, "tokensOut": 40, "cacheWrites": 0, "cacheReads": prompt // 2}
        asked = {"ts": ms, "type": "say", "say": "api_req_started", "text": json.dumps(spent)}
        asked["conversationHistoryIndex"] = 2 * n - 1
        if cut_at and n >= cut_at:
            asked["conversationHistoryDeletedRange"] = [2, 3]
        history.append({"role": "user", "content": parts, "ts": ms + 100})
        ui += [asked, {"ts": ms + 900, "type": "say", "say": "text", "text": "x", "conversationHistoryIndex": 2 * n}]
        reply: dict[str, Any] = {"role": "assistant", "ts": ms + 2_100, "content": _reads(n, native)}
        reply["modelInfo"] = {
            "modelId": "gpt-oss-120b" if native else "qwen3-coder",
            "providerId": "openai",
            "mode": "act",
        }
        if metrics:
            reply["metrics"] = {"tokens": {"prompt": prompt, "completion": 40, "cached": prompt // 2}}
        history.append(reply)
        ms, prompt = ms + 3_000, prompt + 200
    (folder / "api_conversation_history.json").write_text(json.dumps(history))
    (folder / "ui_messages.json").write_text(json.dumps(ui))
    item = {"id": folder.name, "ulid": "u", "task": "Tidy", "tokensIn": 7, "tokensOut": 8, "cacheReads": 9}
    item["cwdOnTaskInitialization"] = "/home/someone/ledger"
    (folder / "taskHistory.json").write_text(json.dumps([item]))
    (folder / "task_metadata.json").write_text("{}")
    return folder


def _reads(n: int, native: bool) -> list[dict[str, Any]]:
    if native:
        call = {"type": "tool_use", "id": f"call-{n}", "name": "read_file", "input": {"path": f"f{n}.py"}}
        return [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Reading."}, call]
    return [{"type": "text", "text": f"Reading.\n<read_file>\n<path>f{n}.py</path>\n</read_file>"}]


def sdk_session(folder: Path, result: Any = "short", *, system: str = "Be brief.") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    spent = {"inputTokens": 900, "outputTokens": 30, "cacheReadTokens": 100, "cacheWriteTokens": 0}
    call = {"type": "tool_use", "id": "c1", "name": "read_files", "input": {"files": [{"path": "a"}]}}
    asked = '<user_input mode="act">Do it</user_input>'
    answer = {"type": "tool_result", "tool_use_id": "c1", "name": "read_files", "content": result}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": asked}], "ts": T0_MS},
        {"role": "assistant", "content": [call], "ts": T0_MS + 500, "metrics": spent, "modelInfo": {"id": "m"}},
        {"role": "user", "content": [answer], "ts": T0_MS + 700},
        {"role": "assistant", "content": [{"type": "text", "text": "Done"}], "ts": T0_MS + 1_500, "metrics": spent},
    ]  # fmt: skip
    about = {"version": 1, "updated_at": "2026-09-21", "agent": "lead", "sessionId": "s1", "system_prompt": system}
    path = folder / "s1.messages.json"
    path.write_text(json.dumps({**about, "messages": messages}))
    usage = {"inputTokens": 1800, "outputTokens": 60, "cacheReadTokens": 200}
    session = {
        "version": 1,
        "session_id": "s1",
        "model": "m",
        "cwd": "/srv/a",
        "messages_path": "x",
        "metadata": {"usage": usage},
    }
    (folder / "s1.json").write_text(json.dumps(session))
    return path


def claude_line(n: int, parent: int | None, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    """uuid "u<n>", one second a line."""
    message: dict[str, Any] = {"role": kind, "content": content}
    for key in ("id", "usage", "model", "stop_reason"):
        if key in more:
            message[key] = more.pop(key)
    return {
        "type": kind, "uuid": f"u{n}", "parentUuid": None if parent is None else f"u{parent}", "sessionId": "cc1",
        "isSidechain": False, "cwd": "/srv/a", "version": "2.0", "timestamp": f"2026-09-21T10:00:{n:02d}.000Z",
        "message": message, **more,
    }  # fmt: skip


def claude_usage(new: int, read: int, out: int) -> dict[str, int]:
    return {
        "input_tokens": 3,
        "cache_creation_input_tokens": new,
        "cache_read_input_tokens": read,
        "output_tokens": out,
    }


def claude_session() -> list[dict[str, Any]]:
    """Two model calls of its own; the first reply lies on two lines; a sub-agent of one call between them."""
    task = {"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "look"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "It is there"}]}
    first = {"id": "m1", "model": "claude-x", "usage": claude_usage(15_000, 0, 50)}
    side = {"isSidechain": True, "agentId": "a1"}
    return [
        {"type": "summary", "summary": "x", "leafUuid": "u5"},
        claude_line(1, None, "user", "Find the fault"),
        claude_line(2, 1, "assistant", [{"type": "text", "text": "I send somebody."}], **first),
        claude_line(3, 2, "assistant", [task], stop_reason="tool_use", **first),
        claude_line(4, None, "user", "look", **side),
        claude_line(6, 4, "assistant", [{"type": "text", "text": "There"}], id="m2", model="claude-x",
                    usage=claude_usage(4_000, 0, 9), **side),
        claude_line(7, 3, "user", [result]),
        claude_line(9, 7, "assistant", [{"type": "text", "text": "Found."}], id="m3", model="claude-x",
                    stop_reason="end_turn", usage=claude_usage(200, 15_003, 20)),
    ]  # fmt: skip


def log_line(ts: float, messages: list[dict[str, Any]], text: str = "Good", **more: Any) -> dict[str, Any]:
    request = {"model": "embedded-30b-a3b", "messages": messages, "temperature": 0, "stream": True}
    usage = {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 64}}
    message = {"role": "assistant", "content": text}
    response = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}
    return {"ts": ts, "request": request, "response": response, "t_first_s": 0.2, "t_end_s": 1.5, **more}


def chat(*texts: str) -> list[dict[str, str]]:
    """A system message, then the user and the assistant by turns."""
    roles = ("system", "user", "assistant")
    return [{"role": roles[0 if n == 0 else 1 + (n - 1) % 2], "content": text} for n, text in enumerate(texts)]
