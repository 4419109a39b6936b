"""Trace files: written a line at a time, read a session at a time."""

from __future__ import annotations

import difflib
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import orjson
from pydantic import BaseModel, ValidationError

from simulator.core.wording import counted
from simulator.errors import UsageError
from simulator.trace.format import MODELS, VERSION, End, Header, Line, SessionLine, TurnLine
from simulator.trace.messages import checked, checked_body
from simulator.trace.text import MAX_ITEM_BYTES, Bad, json_lines, parsed

AGAIN = "import it again from its source"


@dataclass(frozen=True, slots=True)
class TracedSession:
    """turns: in the file's order; those of branch 0 are at least one."""

    line: SessionLine
    turns: tuple[TurnLine, ...]

    def branch(self, number: int) -> tuple[TurnLine, ...]:
        return tuple(turn for turn in self.turns if turn.branch == number)

    @property
    def branches(self) -> int:
        """How many sub-agents it has."""
        return max((turn.branch for turn in self.turns), default=0)


class Writer:
    """Takes the place of `path` when it is closed without a fault; until then nothing is there."""

    def __init__(self, path: Path, header: Header) -> None:
        self._path = path
        try:
            handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        except OSError as error:
            raise UsageError(f"-o {path}: {error.strerror}; give a file in a folder that exists") from None
        self._beside, self._file = Path(name), os.fdopen(handle, "wb")
        self.sessions = self.turns = 0
        self._write(header)

    def _write(self, line: BaseModel) -> None:
        whole = line.model_dump()
        first = {key: whole[key] for key in ("kind", "version") if key in whole}
        self._file.write(orjson.dumps(first | line.model_dump(exclude_defaults=True)) + b"\n")

    def session(self, line: SessionLine, turns: Iterable[TurnLine]) -> None:
        self._write(line)
        self.sessions += 1
        for turn in turns:
            self._write(turn)
            self.turns += 1

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and not self._file.closed:
            self._write(End(sessions=self.sessions, turns=self.turns))
            self._file.close()
            os.chmod(self._beside, 0o666 & ~_umask())
            os.replace(self._beside, self._path)
        else:
            self.discard()

    def discard(self) -> None:
        """Nothing is written after all."""
        self._file.close()
        with suppress(OSError):
            self._beside.unlink()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def header(path: Path) -> Header:
    """The first line. UsageError when it is none of ours."""
    with _open(path) as file:
        return _header(path, file.readline(MAX_ITEM_BYTES))


def sessions(path: Path) -> Iterator[TracedSession]:
    """All sessions of a trace, one in memory at a time. UsageError names the line of whatever is wrong."""
    for session, _, _ in located(path):
        yield session


def located(path: Path) -> Iterator[tuple[TracedSession, int, int]]:
    """The same, with the offset and the length of each session's lines."""
    with _open(path) as file:
        _header(path, file.readline(MAX_ITEM_BYTES))
        seen: set[str] = set()
        current: SessionLine | None = None
        turns: list[TurnLine] = []
        end: End | None = None
        count = start = at = 0
        for number, raw in json_lines(file, start=2):
            where, at = f"{path}:{number}", file.tell() - (0 if isinstance(raw, Bad) else len(raw))
            if end is not None:
                raise UsageError(f"{where}: something follows the trace's last line; {AGAIN}")
            line = _line(raw, where)
            if isinstance(line, TurnLine):
                if current is None or line.session != current.session:
                    raise UsageError(f"{where}: a turn of {line.session!r} does not follow its session's line")
                turns.append(line)
                count += 1
                continue
            if current is not None:
                yield _whole(current, turns, where), start, at - start
            if isinstance(line, SessionLine):
                if line.session in seen:
                    raise UsageError(f"{where}: session {line.session!r} comes twice; its lines must be together")
                seen.add(line.session)
                current, turns, start = line, [], at
            elif isinstance(line, End):
                current, end = None, line
            else:
                raise UsageError(f"{where}: a second first line; give one trace a file")
    if end is None:
        raise UsageError(f"{path} ends early, its last line is missing; {AGAIN}")
    if (end.sessions, end.turns) != (len(seen), count):
        said = f"{counted(end.sessions, 'session')} and {counted(end.turns, 'turn')}"
        raise UsageError(f"{path}: its last line counts {said}, the file has {len(seen)} and {count}; {AGAIN}")


def one(raw: bytes, where: str) -> TracedSession:
    """A session from its lines, which `located` told the place of."""
    lines = [_line(each, where) for each in raw.splitlines() if each.strip()]
    turns = [line for line in lines[1:] if isinstance(line, TurnLine)]
    if not isinstance(lines[0], SessionLine) or len(turns) != len(lines) - 1:
        raise UsageError(f"{where}: the file was changed meanwhile; start again")
    return _whole(lines[0], turns, where)


def _open(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except IsADirectoryError:
        raise UsageError(f"{path} is a folder; give a trace file, for example from `sim import {path}`") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; give a trace file made by `sim import`") from None


def _header(path: Path, raw: bytes) -> Header:
    try:
        data = parsed(raw)
    except Bad:
        data = None
    if not isinstance(data, dict) or data.get("kind") != "trace":
        raise UsageError(f"{path} is no trace of ours; make one with `sim import {path} -o trace.jsonl`")
    version = data.get("version")
    if version != VERSION:
        raise UsageError(f"{path} is a trace of version {version!r} and this one reads {VERSION}; upgrade agent-sim")
    return _checked(Header, data, f"{path}:1")  # type: ignore[return-value]


def _line(raw: bytes | Bad, where: str) -> Line:
    if isinstance(raw, Bad):
        raise UsageError(f"{where}: {raw}; {AGAIN}")
    try:
        data = parsed(raw)
    except Bad as why:
        raise UsageError(f"{where}: {why}; {AGAIN}") from None
    model = MODELS.get(str(data.get("kind"))) if isinstance(data, dict) else None
    if model is None:
        raise UsageError(f"{where}: a line is of kind {', '.join(MODELS)}; this one is none of them")
    return _checked(model, data, where)


def _checked(model: type[BaseModel], data: dict[str, object], where: str) -> Line:
    try:
        return model.model_validate(data)  # type: ignore[return-value]
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in fault["loc"])
        if fault["type"] == "extra_forbidden":
            near = difflib.get_close_matches(str(fault["loc"][-1]), list(model.model_fields), n=1)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            raise UsageError(f"{where}: unknown key `{key}`{hint}") from None
        what = str(fault.get("ctx", {}).get("error", fault["msg"]))
        raise UsageError(f"{where}: {f'`{key}`: ' if key else ''}{what}") from None


def _whole(line: SessionLine, turns: list[TurnLine], where: str) -> TracedSession:
    """A session whose turns fit together: numbered, in order of time, every branch started once."""
    at = f"{where}: session {line.session!r}"
    try:
        checked_body(line.body)
    except Bad as why:
        raise UsageError(f"{at}: {why}") from None
    next_turn = dict[int, int]()
    clock_s, held = dict[int, float](), dict[int, int]()
    started: list[int] = []
    for turn in turns:
        n = turn.branch
        if turn.turn != next_turn.get(n, 0):
            raise UsageError(f"{at}: turn {turn.turn} of branch {n} follows turn {next_turn.get(n, 0) - 1}")
        next_turn[n] = turn.turn + 1
        if turn.t_s is not None and turn.t_s < clock_s.get(n, 0.0):
            raise UsageError(f"{at}: turn {turn.turn} of branch {n} was sent before the one that it follows")
        clock_s[n] = clock_s.get(n, 0.0) if turn.t_s is None else turn.t_s
        _sendable(turn, f"{at}: turn {turn.turn} of branch {n}")
        new = turn.add if turn.add is not None else turn.add_blocks
        kept = turn.keep if turn.add is not None else turn.keep_blocks
        if new is not None:
            if kept > held.get(n, 0):
                raise UsageError(f"{at}: turn {turn.turn} of branch {n} keeps {kept} of {held.get(n, 0)}")
            held[n] = kept + len(new) + (turn.reply is not None)
        started += turn.spawns
    if not next_turn.get(0):
        raise UsageError(f"{at} has no turn of its own")
    branches = sorted(n for n in next_turn if n)
    if branches != list(range(1, len(branches) + 1)):
        raise UsageError(f"{at}: its branches are {branches}; they count from 1 without a gap")
    if sorted(started) != branches:
        raise UsageError(f"{at}: each branch is started by one turn; started are {sorted(started)} of {branches}")
    return TracedSession(line, tuple(turns))


def _sendable(turn: TurnLine, at: str) -> None:
    """UsageError for messages and bodies that no client sends."""
    try:
        for message in (*(turn.add or ()), *([turn.reply] if turn.reply is not None else ())):
            checked(message)
        checked_body(turn.body)
    except Bad as why:
        raise UsageError(f"{at}: {why}") from None
