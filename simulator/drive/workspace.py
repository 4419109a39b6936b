"""Git workspaces: a bare repository for each task, and for each session a cheap clone of it on a branch of its own.

Processes are started for what only git does well (import, clone, final diff). The commit after an editing turn, of
which a run makes hundreds, goes through GitPython's index and object classes and starts none.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import struct
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import git
from git.index.fun import stat_mode_to_index_mode
from git.index.typ import IndexEntry
from gitdb.base import IStream
from gitdb.db.loose import LooseObjectDB
from gitdb.util import hex_to_bin

from simulator.core.task import Commit
from simulator.drive.gitenv import git_environment, refuse_steering, steers
from simulator.drive.ignore import walk
from simulator.drive.removal import remove_tree
from simulator.errors import UsageError

MAIN = "main"
AGENT = git.Actor("dev", "dev@example.com")
Key = tuple[str | os.PathLike[str], int]


@dataclass(frozen=True, slots=True)
class Repository:
    """A bare repository at `path`; `head` is the commit (40 hex digits) that workspaces start from."""

    path: Path
    head: str

    @classmethod
    def create(cls, path: Path, history: Sequence[Commit]) -> Repository:
        """Make the repository with `history` (oldest first) on branch main. Hashes depend on `history` alone.

        UsageError: `path` is there already, `history` is empty, or git cannot be run or refuses the history.
        """
        if not history:
            raise UsageError(f"The repository for {path} has no commits: a task's history needs at least one.")
        for name in sorted({name for commit in history for name in commit.files}):
            if any(part.lower() in ("", ".", "..", ".git") for part in name.split("/")):
                raise UsageError(f"{name!r} is no path for a file of {path}: use a relative path with single slashes.")
        if path.exists():
            raise UsageError(f"{path} exists already: choose a new folder or remove it.")
        path.mkdir(parents=True)
        command = _git(path)
        with _told_as_usage_error(path), tempfile.TemporaryFile() as stream:
            command.init("--bare", "--quiet", "--object-format=sha1", f"--initial-branch={MAIN}", ".")
            for part in _fast_import(history):
                stream.write(part)
            stream.seek(0)
            command.fast_import("--quiet", "--date-format=raw", istream=stream)
            return cls(path, str(command.rev_parse(f"refs/heads/{MAIN}")))

    def checkout(self, path: Path, branch: str, *, apart: Path | None = None) -> Workspace:
        """Clone into `path`, sharing this repository's objects, with a new branch at `head` for the session's commits.

        The branch is not checked out: HEAD and the index stay as an agent left them, so that its own `git status` and
        `git diff` show its work in progress, as they do beside a client that keeps its checkpoints apart.

        apart: a second git folder, made there, for all that we do with git ourselves: what an agent that nobody vouches
        for writes into its own (filters, a common folder, another repository in its place) then steers nothing of ours.
        """
        refuse_steering()
        path.parent.mkdir(parents=True, exist_ok=True)
        with _told_as_usage_error(path):
            repo = git.Repo.clone_from(
                str(self.path),
                str(path),
                env=git_environment(path),
                multi_options=["--shared", "--quiet", "--no-tags", f"--branch={MAIN}", "--single-branch"],
            )
            git.Head.create(repo, branch, commit=git.Commit(repo, hex_to_bin(self.head)))
            repo.close()
        if apart is not None:
            shutil.copytree(path / ".git", apart)
        workspace = Workspace(path, self.head, branch, apart)
        shutil.copy2(path / ".git" / "index", workspace.index)
        return workspace


@dataclass(frozen=True, slots=True)
class Workspace:
    """A checked-out folder. `start`: the commit it was made at, which diffs compare with. `branch`: where commit()
    puts what the session has done. `apart`: see Repository.checkout."""

    path: Path
    start: str
    branch: str
    apart: Path | None = None

    @property
    def git(self) -> Path:
        """The git folder that we work with."""
        return self.apart or self.path / ".git"

    @property
    def index(self) -> Path:
        """The branch's own index, so that the agent's is left alone."""
        return self.git / "session-index"

    def commit(self, message: str, when_s: int) -> str | None:
        """Commit every change that is not ignored -> the new hash, or None when there is none.

        Author and committer are fixed and dated `when_s` (Unix seconds, UTC), so that equal work gives equal hashes.
        """
        refuse_steering()
        repo = git.Repo(self.git, odbt=LooseObjectDB)  # written to only, so no git process is needed
        try:
            index = git.IndexFile(repo, str(self.index))
            branch = git.Head(repo, f"refs/heads/{self.branch}")
            if not _stage(repo, index, self.path):
                return None
            index.write(ignore_extension_data=True)  # the cached tree in the extensions is stale now
            tree = index.write_tree()
            parent = git.Commit(repo, hex_to_bin(git.SymbolicReference.dereference_recursive(repo, branch.path)))
            made = git.Commit(
                repo, git.Commit.NULL_BIN_SHA, tree, AGENT, when_s, 0, AGENT, when_s, 0, message, [parent], "UTF-8"
            )
            payload = BytesIO()
            made._serialize(payload)
            size = payload.tell()
            payload.seek(0)
            made.binsha = repo.odb.store(IStream(git.Commit.type, size, payload)).binsha
            branch.set_object(made)
            return made.hexsha
        finally:
            repo.close()

    def diff(self) -> str:
        """Patch from `start` to the files as they are, new files included."""
        return self.compare()[0]

    def diff_stat(self) -> str:
        """The same as "N files +added -removed"; binary files count as files only."""
        return self.compare()[1]

    def compare(self) -> tuple[str, str]:
        """(patch, stat) in one go. The workspace's own index is left alone."""
        command = _git(self.path)
        with _told_as_usage_error(self.path), tempfile.TemporaryDirectory(prefix="sim-index-") as scratch:
            index = Path(scratch) / "index"
            shutil.copy2(self.git / "index", index)  # its age tells git what it may trust
            command.update_environment(GIT_INDEX_FILE=str(index))
            if self.apart is not None:
                command.update_environment(GIT_DIR=str(self.apart), GIT_WORK_TREE=str(self.path))
            cached = () if self._added(command) else self._staged(index)
            # a repository inside the workspace would be asked for its state, by a git that obeys its configuration
            options = ["--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--ignore-submodules=all"]
            options += [*cached, self.start]
            numbers = command.diff("--numstat", *options)
            patch = command.diff(*options, strip_newline_in_stdout=False, stdout_as_string=False) if numbers else b""
        return patch.decode(errors="replace"), _stat_of(numbers)

    def _added(self, command: git.Git) -> bool:
        """False: git cannot say what is here (a name that it refuses, a pipe in the place of a file)."""
        try:
            command.add("--all", "--intent-to-add")
            return not any(_special(self.path / name) for name in command.ls_files("-z").split("\0") if name)
        except (git.GitCommandError, UnicodeError):
            return False

    def _staged(self, index: Path) -> list[str]:
        """Brings a copy of the index in line with the files by our own rules -> the option that compares with it."""
        shutil.copy2(self.index, index)
        repo = git.Repo(self.git, odbt=LooseObjectDB)
        try:
            staged = git.IndexFile(repo, str(index))
            _stage(repo, staged, self.path)
            staged.write(ignore_extension_data=True)
        finally:
            repo.close()
        return ["--cached"]

    def remove(self) -> None:
        for folder in filter(None, (self.path, self.apart)):
            remove_tree(folder)


def _git(path: Path) -> git.Git:
    refuse_steering()
    command = git.Git(path)
    command.update_environment(**git_environment(path))
    return command


@contextlib.contextmanager
def _told_as_usage_error(path: Path) -> Iterator[None]:
    """What git says when it fails becomes one sentence."""
    try:
        yield
    except git.GitCommandNotFound as error:
        raise UsageError("The program git was not found: install git 2.28 or newer.") from error
    except git.GitCommandError as error:
        said = " ".join(str(error.stderr).replace("stderr:", "").strip(" \n'").split()) or str(error.status)
        raise UsageError(f"git failed in {path}: {said[:300]}") from error


def _fast_import(history: Sequence[Commit]) -> Iterator[bytes]:
    for commit in history:
        who = f"{commit.author} <{commit.email}> {commit.when_s} +0000\n".encode()
        message = commit.message.encode()
        yield b"commit refs/heads/%s\nauthor %scommitter %s" % (MAIN.encode(), who, who)
        yield b"data %d\n%s\n" % (len(message), message)
        yield from _file_changes(commit.files, commit.executable)
    yield b"done\n"


def _file_changes(files: Mapping[str, bytes | None], executable: frozenset[str]) -> Iterator[bytes]:
    for path in sorted(files):
        content = files[path]
        quoted = b'"%s"' % path.encode().replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
        if content is None:
            yield b"D %s\n" % quoted
        else:
            mode = b"100755" if path in executable else b"100644"
            yield b"M %s inline %s\ndata %d\n%s\n" % (mode, quoted, len(content), content)


def _stage(repo: git.Repo, index: git.IndexFile, root: Path) -> bool:
    """Bring the index in line with the files -> whether any content, mode or name differs from before."""
    entries: dict[Key, IndexEntry] = index.entries
    changed = False
    for key, entry in list(entries.items()):
        try:
            found = os.lstat(root / str(entry.path))
        except (FileNotFoundError, NotADirectoryError):
            found = None
        if found is None or not (stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)):
            del entries[key]
            changed = True
        elif _times(found) != entry[4:6] or found.st_size != entry.size or _racy(index, found):
            entries[key] = new = _entry(repo, root, str(entry.path), found, entry.binsha)
            changed |= new.binsha != entry.binsha or new.mode != entry.mode
    known = {str(path) for path, _stage_no in entries}
    for name in walk(root, hidden=True):
        if name not in known and fit(name):
            with contextlib.suppress(OSError):
                entries[(name, 0)] = _entry(repo, root, name, os.lstat(root / name))
                changed = True
    return changed


def fit(name: str) -> bool:
    """Whether git takes a file of this name: it is UTF-8, and no part of it is .git on any file system."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return not any(steers(part) for part in name.split("/"))


def _special(path: Path) -> bool:
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode))


def _racy(index: git.IndexFile, found: os.stat_result) -> bool:
    """Written so close to the index that an equal time proves nothing (git's own "racily clean" rule)."""
    return found.st_mtime_ns >= os.stat(index.path).st_mtime_ns


def _times(found: os.stat_result) -> tuple[bytes, bytes]:
    ctime, mtime = found.st_ctime_ns, found.st_mtime_ns
    pack = struct.Struct(">LL").pack
    return pack(ctime // 10**9 & 0xFFFFFFFF, ctime % 10**9), pack(mtime // 10**9 & 0xFFFFFFFF, mtime % 10**9)


def _entry(repo: git.Repo, root: Path, name: str, found: os.stat_result, known: bytes = b"") -> IndexEntry:
    """The file's index entry; its content is stored as a blob unless that is `known` already."""
    path = root / name
    content = os.fsencode(os.readlink(path)) if stat.S_ISLNK(found.st_mode) else path.read_bytes()
    sha = hashlib.sha1(b"blob %d\0" % len(content) + content).digest()
    if sha != known:
        repo.odb.store(IStream("blob", len(content), BytesIO(content)))
    low = (found.st_dev & 0xFFFFFFFF, found.st_ino & 0xFFFFFFFF, found.st_uid, found.st_gid, len(content))
    return IndexEntry((stat_mode_to_index_mode(found.st_mode), sha, 0, name, *_times(found), *low))


def _stat_of(numbers: str) -> str:
    rows = [line.split("\t")[:2] for line in numbers.splitlines()]
    added, removed = (sum(int(row[i]) for row in rows if row[i] != "-") for i in (0, 1))
    return f"{len(rows)} files +{added} -{removed}"
