"""Which importer reads a file: by its name where that is sure, else by what its beginning says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from simulator.trace.importers import cline_classic, cline_sdk, kv_cache_tester
from simulator.trace.text import MAX_ITEM_BYTES, Bad, encoding_fault, members, parsed

_HEAD = 65_536
#: lines that are looked at, and how many bytes of them together
_ROWS, _LOOKED = 30, 8 << 20
#: by which `sim record` marks each line, whatever the request was
RECORDER = ("log", "openai-requests")
_UNKNOWN = "it is JSON of no known format that its beginning would show; --format NAME says which it is"


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
    faults: list[str] = []
    found = next(filter(None, map(_row_format, _first_rows(path, faults))), "") or _document_format(path, head)
    if not found:
        raise Bad(faults[0] if faults and path.suffix == ".jsonl" else _UNKNOWN)
    return found


def _first_rows(path: Path, faults: list[str]) -> Iterator[dict[str, Any]]:
    """The objects of its first lines, none when it is no JSON Lines. faults: takes what is wrong with lines that are
    none. Of a line that is too long to be looked at its outermost keys are told, as far as its beginning shows them."""
    left = _LOOKED
    with path.open("rb") as file:
        for number in range(_ROWS):
            raw = file.readline(left)
            left -= len(raw)
            if not left and not raw.endswith(b"\n"):
                if len(raw) >= _HEAD:
                    yield from _long_row(path, raw[:_HEAD], alone=not number)
                return
            if not raw:
                return
            raw = raw if number else raw.removeprefix(b"\xef\xbb\xbf")
            if not raw.strip():
                continue
            try:
                row = parsed(raw)
            except Bad as why:
                faults.append(str(why))
                continue
            if isinstance(row, dict):
                yield row


def _long_row(path: Path, head: bytes, *, alone: bool) -> Iterator[dict[str, Any]]:
    """Nothing when the line is the whole of a document. alone: it is the first line."""
    if alone and path.suffix == ".json":
        with path.open("rb") as file:
            file.readline(MAX_ITEM_BYTES)
            if not file.read(64).strip():
                return
    keys = set(re.findall(rb'"(request|conversations|hash_ids|messages|response|sessionId|payload)"\s*:', head))
    marked = re.search(rb'^\s*{\s*"log"\s*:\s*"%s"' % RECORDER[1].encode(), head)
    yield {key.decode(): {"messages": []} if key == b"request" else None for key in keys} | (
        {RECORDER[0]: RECORDER[1]} if marked else {}
    )


def _row_format(row: dict[str, Any]) -> str:
    keys = row.keys()
    if row.get("kind") == "trace" and "version" in keys:
        return "trace"
    if row.get(RECORDER[0]) == RECORDER[1]:
        return "openai-log"
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
    return "kv-cache-tester" if keys >= kv_cache_tester.KEYS else ""


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
