"""Requests that carry their whole history, brought back to the sessions that they came from.

One whose messages continue those of an earlier request is that session's next; so is one that begins as a session did,
up to the first user message, and goes on differently: its history was cut. A name in the record decides where there is
one. Only hashes are kept here, so that a log may be of any length.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import orjson

from simulator.trace.asked import Asked
from simulator.trace.draft import Draft, Figures
from simulator.trace.format import Call
from simulator.trace.messages import Message, checked, checked_body
from simulator.trace.openai_reply import Answer, answer
from simulator.trace.text import Bad
from simulator.trace.when import iso, lasted, number
from simulator.trace.xml_calls import calls_of

HOW = "by messages that continue an earlier request's, or begin as it did"
#: how a request without a conversation is told: warm-ups and probes are such
COMPLETIONS = "requests on /completions, which hold a prompt and no conversation"
TOOK = "the next request less the reply's end"
W = TypeVar("W")


@dataclass(frozen=True, slots=True)
class About:
    """What a record says of a request's session."""

    session: str = ""
    how: str = ""
    parent: str = ""

    @classmethod
    def of(cls, data: dict[str, Any]) -> About:
        name, by, parent = (data.get(key) for key in ("session", "session_by", "parent"))
        if not isinstance(name, str) or not name:
            return cls()
        how = f"by what it continues ({by})" if isinstance(by, str) and by != "header" else ""
        return cls(name, how, parent if isinstance(parent, str) else "")


@dataclass(slots=True)
class Chain(Generic[W]):
    """Requests of one session. where: by which each is read again. how: by which its requests were found to belong
    together, "" where a client said so. parent: name of the session whose sub-agent it is, "" for none."""

    name: str
    how: str
    where: list[W] = field(default_factory=list)
    parent: str = ""


class Links(Generic[W]):
    """`add` requests in the order in which they were sent; `chains` in the order of their first ones."""

    def __init__(self, stem: str) -> None:
        self.chains: list[Chain[W]] = []
        self._stem = stem
        self._named: dict[str, Chain[W]] = {}
        self._ends: dict[bytes, Chain[W]] = {}  # hash of a request's messages -> the chain that it is the last of
        self._last: dict[int, bytes] = {}
        self._starts: dict[bytes, Chain[W]] = {}  # hash up to the first user message -> the last chain that began so

    def add(self, messages: list[Any], about: About, where: W) -> None:
        """Bad when the messages cannot be hashed."""
        if about.session:
            chain = self._named.get(about.session) or self._new(about.session, about.how)
            self._named[about.session] = chain
            chain.parent = chain.parent or about.parent
        else:
            chain = self._found(messages)
        chain.where.append(where)

    def _found(self, messages: list[Any]) -> Chain[W]:
        prefixes = _prefixes(messages)
        begun = next((n for n, m in enumerate(messages, 1) if m["role"] == "user"), len(messages))
        chain = next((self._ends[p] for p in reversed(prefixes[:-1]) if p in self._ends), None)
        if chain is None and begun < len(prefixes):
            chain = self._starts.get(prefixes[begun - 1])
        if chain is None:
            chain = self._new(f"{self._stem}-{len(self.chains) + 1}", HOW)
        self._ends.pop(self._last.pop(id(chain), b""), None)
        self._ends[prefixes[-1]] = self._starts[prefixes[begun - 1]] = chain
        self._last[id(chain)] = prefixes[-1]
        return chain

    def _new(self, name: str, how: str) -> Chain[W]:
        self.chains.append(Chain(name, how))
        return self.chains[-1]

    def families(self) -> list[tuple[Chain[W], list[Chain[W]]]]:
        """Sessions, each with those that are its sub-agents, or theirs."""
        by_name = {chain.name: chain for chain in self.chains}
        out: dict[int, tuple[Chain[W], list[Chain[W]]]] = {}
        for chain in self.chains:
            root, seen = chain, {chain.name}
            while root.parent in by_name and root.parent not in seen:
                root = by_name[root.parent]
                seen.add(root.name)
            family = out.setdefault(id(root), (root, []))
            if root is not chain:
                family[1].append(chain)
        return list(out.values())


def _prefixes(messages: list[Any]) -> list[bytes]:
    """A hash of each leading part of the messages."""
    digest = hashlib.blake2b(digest_size=16)
    out = []
    for message in messages:
        try:
            digest.update(orjson.dumps(message))
        except TypeError:
            raise Bad("a message of it is nested deeper than 250 levels") from None
        out.append(digest.digest())
    return out


def request_of(data: Any) -> dict[str, Any]:
    """The request of a record. Bad when it has none that can be read."""
    request = data.get("request") if isinstance(data, dict) else None
    if not isinstance(request, dict) or not isinstance(request.get("messages"), list) or not request["messages"]:
        raise Bad("there is no request with messages")
    for message in request["messages"]:
        checked(message)
    checked_body(request)
    return request


def _is_completion(data: Any) -> bool:
    request = data.get("request") if isinstance(data, dict) else None
    return isinstance(request, dict) and "prompt" in request and "messages" not in request


Load = Callable[[W], tuple[dict[str, Any], Path, int]]


def session(form: str, family: tuple[Chain[W], list[Chain[W]]], load: Load[W], asked: Asked) -> Draft | None:
    """A family's requests as a session, each read again by `load` (record, file, line); None when none was answered."""
    own, side = family
    draft: Draft | None = None
    rows: list[tuple[int, float | None]] = []
    for chain in (own, *side):
        branch = draft.branches + 1 if draft is not None and chain is not own else 0
        begun: float | None = None
        told = False
        last: _Asked | None = None
        for where in chain.where:
            data, path, line = load(where)
            try:
                answered = answer(data)
            except Bad as why:
                asked.leave(path, why, line)
                continue
            figures, request = _figures(data, answered), data["request"]
            body = {key: None if key == "messages" else value for key, value in request.items()}
            if draft is None:
                draft = _draft(form, own, request, data, body)
            if last is not None and figures.purpose == "agent":
                _answered(draft, last, request["messages"], figures.sent_s)
            row = draft.turn(request["messages"], answered.reply, figures, branch=branch, body=body)
            if not branch:
                rows.append((row, figures.sent_s))
            begun, told = (begun if told else figures.sent_s), True
            last = _Asked(row, request["messages"], figures)
        if branch and told and draft is not None:
            earlier = [row for row, sent in rows if sent is None or begun is None or sent <= begun]
            draft.spawn(earlier[-1] if earlier else rows[0][0], branch)
    return draft


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request that became a row of the draft."""

    row: int
    messages: list[Message]
    figures: Figures


def _answered(draft: Draft, before: _Asked, messages: list[Message], next_s: float | None) -> None:
    """What the next request of its session says of a row: which calls the client took the reply for, where the reply
    itself shows none (a replay's engine may have said anything), and that they were answered by then, each in an equal
    part of the time."""
    made = draft.calls(before.row) or tuple(
        Call(tool=name, id=ident) for ident, name in calls_of(messages, _kept_reply(before.messages, messages))
    )
    if not made:
        return
    end_s = before.figures.end_s
    took = None if end_s is None or next_s is None else lasted((next_s - end_s) / len(made))
    draft.replace_calls(before.row, [call.model_copy(update={"took_s": took}) for call in made])
    if took is not None:
        draft.estimated["calls.took_s"] = TOOK


def _kept_reply(before: list[Message], messages: list[Message]) -> Message | None:
    """The reply to the messages before as it stands in the next request's history."""
    was, now = (next((m for m in reversed(each) if m["role"] == "assistant"), None) for each in (before, messages))
    return now if len(messages) > len(before) or now != was else None


def _draft(form: str, chain: Chain[W], request: dict[str, Any], data: dict[str, Any], body: dict[str, Any]) -> Draft:
    return Draft(
        format=form, session=chain.name, model=str(request.get("model") or ""), clock="unix",
        client=str(data.get("client") or ""), body=body, stored=True,
        estimated={"session": chain.how} if chain.how else {},
    )  # fmt: skip


def _figures(data: dict[str, Any], told: Answer) -> Figures:
    sent_s = iso(data.get("ts"))
    if sent_s is None:
        sent_s = number(data.get("ts"))
        if sent_s is not None and sent_s > 1e11:
            sent_s /= 1000.0
    first, end = number(data.get("t_first_s")), number(data.get("t_end_s"))
    end = end if end is not None else number(data.get("latency_s"))
    return Figures(
        sent_s=sent_s,
        first_s=None if sent_s is None or first is None else sent_s + first,
        end_s=None if sent_s is None or end is None else sent_s + end,
        prompt_tok=told.prompt_tok,
        cached_tok=told.cached_tok,
        output_tok=told.output_tok,
        reasoning_tok=told.reasoning_tok,
        finish=told.finish,
        purpose="compaction" if data.get("purpose") == "compaction" else "agent",
    )


def linked(records: Iterable[tuple[W, Any]], stem: str, asked: Asked, at: Callable[[W], tuple[Path, int]]) -> Links[W]:
    """Links of (where, record) pairs; those that cannot be read are left out,
    those without a conversation set aside. at: file and line of a place."""
    links: Links[W] = Links(stem)
    for where, data in records:
        try:
            if isinstance(data, Bad):
                raise data
            if _is_completion(data):
                asked.aside[COMPLETIONS] += 1
                continue
            request = request_of(data)
            links.add(request["messages"], About.of(data), where)
        except Bad as why:
            asked.leave(at(where)[0], why, at(where)[1])
    return links
