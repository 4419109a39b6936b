"""What `sim import` does: finds files, lets their importers read them, writes one trace, lists what was left out."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from simulator import tokenizer
from simulator.errors import UsageError
from simulator.trace import own
from simulator.trace.asked import Asked, Importer, Left
from simulator.trace.detect import detect
from simulator.trace.draft import Made
from simulator.trace.format import Header, SessionLine, TurnLine
from simulator.trace.importers import (
    azure,
    bailian,
    claude_code,
    cline_classic,
    cline_sdk,
    codex,
    kv_cache_tester,
    mini_swe,
    mooncake,
    openai_log,
    openhands_events,
    openhands_log,
    sharegpt,
    sweagent,
)
from simulator.trace.text import Bad
from simulator.trace.trace_file import Writer

IMPORTERS: dict[str, Importer] = {
    "cline-classic": cline_classic.read,
    "cline-sdk": cline_sdk.read,
    "claude-code": claude_code.read,
    "codex": codex.read,
    "openhands-events": openhands_events.read,
    "openhands-log": openhands_log.read,
    "swe-agent": sweagent.read,
    "mini-swe-agent": mini_swe.read,
    "openai-log": openai_log.read,
    "sharegpt": sharegpt.read,
    "kv-cache-tester": kv_cache_tester.read,
    "mooncake": mooncake.read,
    "bailian": bailian.read,
    "azure": azure.read,
}
#: faults of content that an importer did not expect: the file is left out, and said to be
_UNEXPECTED = (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, OverflowError)


@dataclass(slots=True)
class Imported:
    """sessions, turns: by format. recounted: turns of a known tokenizer; worst_recount: the largest deviation from the
    source's own count, a share. estimated: sessions by field that was estimated. aside: as in Asked."""

    sessions: Counter[str] = field(default_factory=Counter)
    turns: Counter[str] = field(default_factory=Counter)
    estimated: Counter[str] = field(default_factory=Counter)
    recounted: int = 0
    worst_recount: float = 0.0
    left: list[Left] = field(default_factory=list)
    aside: Counter[str] = field(default_factory=Counter)

    @property
    def exit_code(self) -> int:
        """0: all of it; 1: a part; 2: nothing."""
        return 2 if not self.sessions else 1 if self.left else 0


def run(paths: Sequence[Path], out: Path, form: str, made_by: str) -> Imported:
    """form: a format's name when it is not to be detected, else "". UsageError when nothing can be begun."""
    if form and form not in IMPORTERS and form != own.FORMAT:
        near = difflib.get_close_matches(form, IMPORTERS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known formats are {', '.join(IMPORTERS)}"
        raise UsageError(f"--format {form}: no such format; {hint}")
    found = files(paths, out)
    result, asked = Imported(), Asked()
    seen: dict[str, object] = {}
    with Writer(out, Header(made_by=made_by, tokenizer=tokenizer.NAME)) as writer:
        for path, kind in _kinds(found, form, asked):
            for made in _read(path, kind, asked):
                kept = _unique(*made, seen)
                if kept is None:
                    asked.leave(path, f"session {made[0].session:.80} is there a second time")
                    continue
                writer.session(*kept)
                _note(result, *kept)
        result.left, result.aside = asked.left, asked.aside
        if not result.sessions:
            writer.discard()
    return result


def files(paths: Sequence[Path], out: Path) -> list[Path]:
    """All regular files of the paths, folders walked in order of names; links to folders are not followed."""
    made: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            for folder, folders, names in os.walk(path):
                folders[:] = sorted(f for f in folders if f not in (".git", "checkpoints", "node_modules"))
                made.update(dict.fromkeys(Path(folder) / name for name in sorted(names)))
        elif path.exists():
            made[path] = None
        else:
            raise UsageError(f"{path}: no such file or folder; give what is to be imported")
    own_file = out.resolve()
    return [path for path in made if path.resolve() != own_file]


def _kinds(found: Sequence[Path], form: str, asked: Asked) -> Iterator[tuple[Path, str]]:
    """Files with their formats. Those that only accompany others come to nothing, unless nothing used them."""
    beside: list[Path] = []
    for path in found:
        if path in asked.used:
            continue
        try:
            if not path.is_file():
                raise Bad("it is no regular file")
            kind = form or detect(path)
        except Bad as why:
            asked.leave(path, why)
            continue
        except OSError as error:
            asked.leave(path, error.strerror or "it cannot be read")
            continue
        if kind == "beside":
            beside.append(path)
        else:
            yield path, kind
    tasks = {path.parent for path in found if path.name == cline_classic.FILE}
    for path in beside:
        near = _tasks_near(path) if path.name in cline_classic.LISTS else set()
        if path not in asked.used and not (tasks & {path.parent, *near}):
            asked.leave(path, "it belongs to a session whose messages are not there")


def _tasks_near(path: Path) -> set[Path]:
    """Task folders that the client's list of tasks stands beside."""
    beside = path.parent.parent / "tasks"
    return {p for p in beside.iterdir() if p.is_dir()} if beside.is_dir() else set()


def _read(path: Path, kind: str, asked: Asked) -> Iterator[Made]:
    if kind == own.FORMAT:
        yield from own.read(path, asked)
        return
    told = len(asked.left)
    try:
        found = False
        for draft in IMPORTERS[kind](path, asked):
            found = True
            try:
                yield draft.made()
            except Bad as why:
                asked.leave(path, f"session {draft.session:.80}: {why}")
        if not found and len(asked.left) == told:
            asked.leave(path, "it holds no session")
    except Bad as why:
        asked.leave(path, why)
    except OSError as error:
        asked.leave(path, error.strerror or "it cannot be read")
    except _UNEXPECTED as error:
        asked.leave(path, f"its content is not as {kind} has it ({type(error).__name__}: {error!s:.120})")


def _unique(line: SessionLine, turns: list[TurnLine], seen: dict[str, object]) -> Made | None:
    """The session under a name that no other one has; None when the very same was there before."""
    same = (line.format, line.start_s, len(turns), sum(t.prompt_tok for t in turns), sum(t.output_tok for t in turns))
    name, n = line.session, 1
    while name in seen:
        if seen[name] == same:
            return None
        n += 1
        name = f"{line.session[:390]}~{n}"
    seen[name] = same
    if n == 1:
        return line, turns
    note = f"another session is called {line.session!r}, too"
    renamed = line.model_copy(update={"session": name, "notes": (*line.notes, note)})
    return renamed, [turn.model_copy(update={"session": name}) for turn in turns]


def _note(result: Imported, line: SessionLine, turns: list[TurnLine]) -> None:
    result.sessions[line.format] += 1
    result.turns[line.format] += len(turns)
    fields = {*line.estimated, *(f"turn.{key}" for turn in turns for key in turn.estimated)}
    result.estimated.update(fields)
    for turn in turns:
        if turn.recount_tok is not None and turn.prompt_tok:
            result.recounted += 1
            off = abs(turn.recount_tok - turn.prompt_tok) / turn.prompt_tok
            result.worst_recount = max(result.worst_recount, off)
