"""A user's repository, or plain folder, as the commits that an agent's workspace begins with."""

from __future__ import annotations

import functools
import hashlib
import os
from pathlib import Path

import git

from simulator.core.task import Commit
from simulator.errors import UsageError

MAX_FILES, MAX_BYTES = 20_000, 64_000_000
#: never part of a plain folder, which has nothing to say what belongs to it
SKIPPED = frozenset({"__pycache__", "node_modules", "venv", ".venv", "dist", "build", "target"})
#: of a plain folder's one commit, so that it is the same on every machine
WHEN_S = 1_767_225_600
_PLAIN, _EXECUTABLE = 0o100644, 0o100755


def history(path: Path, commit: str, count: int) -> tuple[Commit, ...]:
    """The last `count` commits on the first line of descent, oldest first, with all that came before in the oldest.
    Symbolic links and submodules are left out. UsageError."""
    if not path.is_dir():
        raise UsageError(f"{path}: no such folder; `repo` is a git repository or a folder, counted from task.yaml")
    if not _is_repository(path):
        return (_folder(path),)
    return _history(path, _commit(path, commit).hexsha, count)


def state(path: Path, commit: str) -> str:
    """Changes when what `history` gives does."""
    if _is_repository(path):
        return _commit(path, commit).hexsha
    return hashlib.sha256(repr(sorted(_folder(path).files.items())).encode()).hexdigest()


def _is_repository(path: Path) -> bool:
    return (path / ".git").exists() or ((path / "HEAD").is_file() and (path / "objects").is_dir())


def _commit(path: Path, name: str) -> git.Commit:
    try:
        return git.Repo(path).commit(name)
    except (git.BadName, git.GitError, ValueError, IndexError, OSError) as error:
        why = " ".join(str(error).split())[:160]
        raise UsageError(f"{path}: no commit `{name}` there ({why}); name one with `commit`") from None


@functools.lru_cache(maxsize=8)
def _history(path: Path, sha: str, count: int) -> tuple[Commit, ...]:
    repo = git.Repo(path)
    chain = [repo.commit(sha)]
    while len(chain) < count and chain[-1].parents:
        chain.append(chain[-1].parents[0])
    found: list[Commit] = []
    before: dict[str, tuple[str, int]] = {}
    for one in reversed(chain):
        tree = {str(b.path): b for b in one.tree.traverse() if b.type == "blob" and b.mode in (_PLAIN, _EXECUTABLE)}
        now = {name: (b.hexsha, b.mode) for name, b in tree.items()}
        _bearable(path, now, sum(b.size for b in tree.values()) if not before else 0)
        files: dict[str, bytes | None] = dict.fromkeys(before.keys() - now.keys())
        files |= {name: tree[name].data_stream.read() for name in now if before.get(name) != now[name]}
        runs = frozenset(name for name in files if name in now and now[name][1] == _EXECUTABLE)
        who = one.author
        author = (who.name or "somebody", who.email or "somebody@example.com")
        message = one.message if isinstance(one.message, str) else one.message.decode(errors="replace")
        found.append(
            Commit(message.strip() or "no message", *map(_clean, author), int(one.committed_date), files, runs)
        )
        before = now
    return tuple(found)


def _clean(text: str) -> str:
    """Without what a git identity must not hold."""
    return "".join(c for c in text if c not in "<>\n\0").strip() or "somebody"


def _bearable(path: Path, names: dict[str, tuple[str, int]], size: int) -> None:
    if not names:
        raise UsageError(f"{path}: there is no file in that commit")
    if len(names) > MAX_FILES or size > MAX_BYTES:
        raise UsageError(
            f"{path}: {len(names):,} files of {size:,} bytes; a task's repository may have {MAX_FILES:,} and "
            f"{MAX_BYTES:,} together, for each session gets a copy"
        )


def _folder(path: Path) -> Commit:
    files: dict[str, bytes | None] = {}
    runs, total = set(), 0
    for where, folders, names in os.walk(path):
        folders[:] = sorted(f for f in folders if f not in SKIPPED and not f.startswith("."))
        for name in sorted(names):
            file = Path(where, name)
            if file.is_symlink() or not file.is_file():
                continue
            key = file.relative_to(path).as_posix()
            files[key] = file.read_bytes()
            total += file.stat().st_size
            if os.access(file, os.X_OK):
                runs.add(key)
    _bearable(path, {name: ("", 0) for name in files}, total)
    return Commit("As it was found", "dev", "dev@example.com", WHEN_S, files, frozenset(runs))
