"""Which importer reads a file: by its name where that is sure, else by what its beginning says."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import Any

from simulator.trace.importers import cline_classic, cline_sdk, kv_cache_tester
from simulator.trace.text import MAX_ITEM_BYTES, Bad, encoding_fault, members, parsed

_HEAD = 65_536
_ROWS = 30


def detect(path: Path) -> str:
    """Name of the format, "beside" for a file that only accompanies others. Bad when no format fits."""
    name = path.name
    if name == cline_classic.FILE:
        return "cline-classic"
    if cline_classic.BESIDE.fullmatch(name):
        return "beside"
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if not head.strip():
        raise Bad("it is empty")
    fault = encoding_fault(head)
    if fault:
        raise Bad(fault)
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if head[:13].upper() == b"TIMESTAMP,CON":
        return "azure"
    if head[:1] not in (b"{", b"["):
        raise Bad("no known format begins so")
    row, why = _first_rows(head, path)
    found = _rows_format(row) if row else ""
    found = found or _document_format(path, head)
    if not found:
        raise Bad(why if why and path.suffix == ".jsonl" else "it is JSON of no known format")
    return found


def _first_rows(head: bytes, path: Path) -> tuple[list[dict[str, Any]], str]:
    """The objects of its first lines, none when it is no JSON Lines; and what is wrong with the first that is none."""
    whole = head.split(b"\n")
    if len(head) >= _HEAD and len(whole) > 1:
        whole.pop()  # cut off
    out: list[dict[str, Any]] = []
    fault = ""
    for raw in whole[:_ROWS]:
        if not raw.strip():
            continue
        try:
            row = parsed(raw)
        except Bad as why:
            fault = fault or str(why)
            continue
        if isinstance(row, dict):
            out.append(row)
    if not out and len(head) >= _HEAD and b"\n" not in head:
        out = _long_row(path, head)
    return out, fault


def _long_row(path: Path, head: bytes) -> list[dict[str, Any]]:
    """A first line longer than the head, as far as its outermost keys go; none when it is the whole file."""
    keys = set(re.findall(rb'"(request|conversations|hash_ids|messages|response|sessionId|payload)"\s*:', head))
    with path.open("rb") as file:
        file.readline(MAX_ITEM_BYTES)
        more = bool(file.read(64).strip())
    if not more and path.suffix == ".json":
        return []
    return [{key.decode(): {"messages": []} if key == b"request" else None for key in keys}]


def _rows_format(rows: list[dict[str, Any]]) -> str:
    for row in rows:
        keys = row.keys()
        if row.get("kind") == "trace" and "version" in keys:
            return "trace"
        if {"timestamp", "type", "payload"} <= keys:
            return "codex"
        if {"input_length", "output_length"} <= keys:
            return "bailian" if "chat_id" in keys else "mooncake"
        if isinstance(row.get("request"), dict) and "messages" in row["request"]:
            return "openai-log"
        if isinstance(row.get("conversations"), list):
            return "sharegpt"
        if isinstance(row.get("messages"), list) and isinstance(row.get("response"), dict):
            return "openhands-log"
        if (
            isinstance(row.get("message"), dict)
            and {"sessionId", "uuid"} & keys
            and row.get("type") in ("user", "assistant")
        ):
            return "claude-code"
        if str(row.get("kind", "")).endswith(("Event", "Observation", "Condensation")) and "source" in keys:
            return "openhands-events"
        if keys >= kv_cache_tester.KEYS:
            return "kv-cache-tester"
    return ""


def _document_format(path: Path, head: bytes) -> str:
    """Of a whole JSON document, by its first members."""
    name = path.name
    if head[:1] == b"[":
        first = _first_element(path)
        if isinstance(first, dict) and "conversations" in first:
            return "sharegpt"
        if isinstance(first, dict) and first.get("role") in ("system", "user") and "content" in first:
            return "mini-swe-agent"
        return ""
    keys = {key.decode() for key in re.findall(rb'"([A-Za-z_]{1,40})"\s*:', head)}
    if name.endswith(cline_sdk.ENDING) or (
        {"sessionId", "messages", "version"} <= keys and '"updated_at"' in head.decode(errors="replace")
    ):
        return "cline-sdk"
    if {"session_id", "messages_path"} <= keys or {"session_id", "workspace_root"} <= keys:
        return "beside"
    if keys >= kv_cache_tester.KEYS:
        return "kv-cache-tester"
    if "trajectory_format" in keys or name.endswith(".traj.json"):
        return "mini-swe-agent"
    if name.endswith(".traj") or "trajectory" in keys:
        return "swe-agent"
    if {"messages", "latency_sec"} <= keys or {"messages", "kwargs"} <= keys:
        return "openhands-log"
    if "kind" in keys and "source" in keys and "timestamp" in keys:
        return "openhands-events"
    if {"model_stats", "messages"} <= keys:
        return "mini-swe-agent"
    return ""


def _first_element(path: Path) -> Any:
    with closing(members(path)) as found:
        return next((value for _, value in found), None)
