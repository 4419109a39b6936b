"""A task of one's own: a folder with a task.yaml that names a repository, a request and a command that decides.

The command runs in a copy of the workspace over which the task's hidden files are laid, so an agent neither sees nor
edits them. Such a task has no recorded way: agents can work on it live, and a replay needs a recipe.py instead. Where
its solution is given, an oracle answers with that (own_way.py).
"""

from __future__ import annotations

import base64
import difflib
import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from simulator.core.scenario import KindName
from simulator.core.task import Check, Style, Task
from simulator.core.yaml_text import load_text, refuse_duplicates
from simulator.errors import UsageError
from simulator.tasks import own_repo, own_way

_PROGRAM = Path(__file__).with_name("own_check.txt")
#: in the place of what only the user knows, in a file that `sim tasks new --repo` made
TO_WRITE = "TO BE WRITTEN"
#: all hidden files together
MAX_HIDDEN_BYTES = 4_000_000


class _Block(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Decides(_Block):
    """command: run by a shell at the root; exit code 0 means solved. hidden: folder whose files are laid over a copy of
    the workspace first."""

    command: Annotated[str, Field(min_length=1)]
    hidden: str | None = None
    timeout_s: Annotated[float, Field(gt=0, le=50)] = 50.0


class TaskFile(_Block):
    """repo: a git repository or a plain folder; commit: what of it, for a repository. history: how many commits of the
    first line of descent the agent finds, the oldest with all that came before. needs: programs that commands call.
    solution: folder whose files, laid over the workspace, solve the task; broken: folder with a folder for each wrong
    result, laid over it as well. Paths count from the file."""

    kind: KindName = "coding"
    repo: Annotated[str, Field(min_length=1)]
    commit: Annotated[str, Field(pattern=r"^[^-].*$")] = "HEAD"
    history: Annotated[int, Field(ge=1, le=200)] = 20
    request: Annotated[str, Field(min_length=1)]
    check: Decides
    needs: tuple[Annotated[str, Field(pattern=r"^[\w.+-]+$")], ...] = ()
    solution: str | None = None
    broken: str | None = None


@dataclass(frozen=True, slots=True)
class OwnTask:
    """Stands where a recipe's module stands."""

    folder: Path
    file: TaskFile
    RECORDED: bool = False

    @property
    def KIND(self) -> str:
        return self.file.kind

    @property
    def NEEDS(self) -> tuple[str, ...]:
        return self.file.needs

    def make(self, seed: int, size: str, style: Style) -> Task:
        """The same work for every seed and size; only the folder's name differs, so that agents work apart."""
        asked = self.file.check
        return Task(
            template=self.folder.name,
            kind=self.file.kind,
            size=size,
            seed=seed,
            name=f"{self.folder.name}-{seed % 10_000:04d}",
            prompt=self.file.request.strip(),
            history=own_repo.history(self._repo(), self.file.commit, self.file.history),
            steps=own_way.steps(self.solution_files(), asked.command),
            check=check(asked.command, self._laid(asked.hidden, "check.hidden"), asked.timeout_s),
            recorded=False,
        )

    def solution(self, task: Task) -> Mapping[str, bytes | None] | None:
        return self.solution_files() or None

    def solution_files(self) -> dict[str, bytes | None]:
        return self._laid(self.file.solution, "solution")

    def broken(self, task: Task) -> Iterator[tuple[str, Mapping[str, bytes | None]]]:
        if self.file.broken is None:
            return
        root = self._inside(self.file.broken, "broken")
        for folder in sorted(p for p in root.iterdir() if p.is_dir()):
            yield folder.name, _files(folder, f"broken/{folder.name}")

    def state(self) -> str:
        """Changes when the repository does."""
        return own_repo.state(self._repo(), self.file.commit)

    def _repo(self) -> Path:
        return (self.folder / self.file.repo).resolve()

    def _laid(self, name: str | None, key: str) -> dict[str, bytes | None]:
        return _files(self._inside(name, key), key) if name else {}

    def _inside(self, name: str, key: str) -> Path:
        path = (self.folder / name).resolve()
        if not path.is_dir():
            raise UsageError(f"{self.folder / 'task.yaml'}: `{key}` is `{name}`, and {path} is no folder")
        return path


def check(command: str, hidden: Mapping[str, bytes | None], timeout_s: float) -> Check:
    """Runs a command in a copy of the workspace, with these files in their places."""
    files = {path: base64.b64encode(content or b"").decode() for path, content in hidden.items()}
    truth = {"command": command, "timeout_s": timeout_s, "files": files}
    return Check(_PROGRAM.read_text(encoding="utf-8"), json.dumps(truth))


@functools.cache
def read(folder: Path) -> OwnTask:
    """The task file of a folder, checked. UsageError names file, line and key."""
    path = folder / "task.yaml"
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise UsageError(f"{path}: {why}") from None
    root, data = load_text(text, str(path), "task file")
    if not isinstance(data, dict):
        raise UsageError(f"{path}: a task file is a mapping of keys to values; `sim tasks new` writes one")
    refuse_duplicates(root, str(path))
    try:
        file = TaskFile.model_validate(data)
    except ValidationError as error:
        raise UsageError(
            "\n".join(dict.fromkeys(_told(path, dict(f)) for f in error.errors(include_url=False)))
        ) from None
    for key, text in (("request", file.request), ("check.command", file.check.command)):
        if TO_WRITE in text:
            raise UsageError(f"{path}: `{key}` still says {TO_WRITE}; write it, then `sim tasks check {folder}`")
    return OwnTask(folder, file)


def _told(path: Path, fault: dict[str, object]) -> str:
    place = [str(part) for part in fault["loc"]]  # type: ignore[attr-defined]
    key = ".".join(place)
    if fault["type"] == "missing":
        return f"{path}: key `{key}` is missing"
    if fault["type"] == "extra_forbidden":
        known = list((Decides if place[:-1] == ["check"] else TaskFile).model_fields)
        near = difflib.get_close_matches(place[-1], known, n=1, cutoff=0.5)
        return f"{path}: unknown key `{key}`; " + (
            f"did you mean `{near[0]}`?" if near else f"known keys here: {', '.join(known)}"
        )
    return f"{path}: `{key}` is `{fault['input']!s:.80}`; {str(fault['msg'])[:1].lower()}{str(fault['msg'])[1:]}"


def _files(folder: Path, key: str) -> dict[str, bytes | None]:
    found: dict[str, bytes | None] = {}
    total = 0
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts):
        found[path.relative_to(folder).as_posix()] = content = path.read_bytes()
        total += len(content)
    if not found:
        raise UsageError(f"{folder}: `{key}` is an empty folder")
    if total > MAX_HIDDEN_BYTES:
        raise UsageError(f"{folder}: {total:,} bytes; the files of `{key}` may have {MAX_HIDDEN_BYTES:,} together")
    return found
