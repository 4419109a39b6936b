"""Commands that a model made up, held in by bubblewrap: no network, nothing of the machine but its programs to read,
nothing but the workspace and a home of its own to write, and limits on time, memory, processes, files and disk.

What the file tools do themselves stays inside the workspace by toolbox.py's own rules; here it is about what runs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from simulator.core.action import Ran
from simulator.drive.commands import OUTPUT_LIMIT, Home, Scratch, command_input, environment, home_of, outcome
from simulator.drive.gitenv import CONFIG
from simulator.drive.processes import drain, kill_group, kill_marked
from simulator.drive.usage import Growth, folder_bytes, members, memory_used, share, tasks, unprivilege
from simulator.errors import UsageError

PROGRAM = "bwrap"
#: what programs need to start; links among them (/bin -> usr/bin) stay links
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store")
#: of /etc: looking up names, time, fonts and types; no host's keys, accounts' secrets or services
ETC = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "mime.types", "fonts", "nsswitch.conf",
       "passwd", "group", "ssl/certs", "ssl/openssl.cnf", "ca-certificates", "protocols", "services")  # fmt: skip
#: of a workspace's .git: what makes git run programs or look elsewhere
GIT_STEERS = ("config", "hooks", "info")
#: more than the tool process has, so that whoever watches a flood of processes still gets to run
NICE = 10
#: how often a command's share is counted exactly though the machine's figures show nothing
COUNT_EVERY_S = 1.0
INSTALL = "install bubblewrap (Debian, Ubuntu: apt install bubblewrap)"


@dataclass(frozen=True, slots=True)
class Limits:
    """Per command, on top of its own time limit. data_bytes: memory that one process may write to; address_bytes: its
    addresses, of which node reserves 10 GB unused; file_bytes: of one file. processes: of the whole command, threads
    included. memory_bytes: of all its processes together, what they share counted once. disk_bytes: by
    which workspace and home may grow, files that are removed and still open included."""

    cpu_s: int = 330
    data_bytes: int = 4 << 30
    address_bytes: int = 64 << 30
    file_bytes: int = 512 << 20
    open_files: int = 1_024
    processes: int = 256
    memory_bytes: int = 8 << 30
    disk_bytes: int = 1 << 30
    output_bytes: int = OUTPUT_LIMIT


def arguments(program: str, cwd: Path, home: Home, readable: Sequence[Path]) -> list[str]:
    """bubblewrap's command line up to the command. readable: folders outside of the system's that it may read."""
    made = [program, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "box"]
    for path in SYSTEM:
        if os.path.islink(path):
            made += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            made += ["--ro-bind", path, path]
    for name in ETC:
        made += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    made += ["--proc", "/proc", *_kernel(), "--dev", "/dev", "--size", str(64 << 20), "--tmpfs", "/dev/shm"]
    made += ["--bind", str(home.tmp), "/tmp"]
    for folder in readable:
        made += ["--ro-bind", str(folder), str(folder)]
    made += ["--ro-bind", str(CONFIG), str(CONFIG)]
    made += ["--bind", str(home.path), str(home.path), "--bind", str(cwd), str(cwd), *_git(cwd)]
    return [*made, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", str(cwd), "--"]


def _kernel() -> list[str]:
    """What of /proc is no process but the machine's own (sys, sysrq-trigger, irq, bus ...) is read-only. Root's files
    stay root's in a user namespace, whatever number a command sees for its user, so ownership alone guards nothing."""
    made: list[str] = []
    with os.scandir("/proc") as entries:
        for entry in sorted(entries, key=lambda e: e.name):
            if entry.name.isdigit() or entry.is_symlink():
                continue
            if entry.is_dir() or entry.stat().st_mode & 0o222:
                made += ["--ro-bind-try", entry.path, entry.path]
    return made


def _git(cwd: Path) -> list[str]:
    """.git is a mount of its own, so that it cannot be moved away, and what steers git in it cannot be changed."""
    git = cwd / ".git"
    if not git.is_dir() or git.is_symlink():
        return []
    made = ["--bind", str(git), str(git)]
    for name in GIT_STEERS:
        path = git / name
        if path.exists() and not path.is_symlink():
            made += ["--ro-bind", str(path), str(path)]
    return made


def interpreter_folders() -> tuple[Path, ...]:
    """Where the running Python lives, as far as that is not below /usr."""
    found = (Path(os.path.realpath(p)) for p in (sys.prefix, sys.base_prefix, sys.exec_prefix))
    return tuple(dict.fromkeys(p for p in found if not p.is_relative_to("/usr")))


class SandboxRunner:
    """A CommandRunner. readable: more folders that commands may read, such as the repository that a workspace shares
    its objects with. Make one with `sandbox`, which finds out first whether it works here."""

    def __init__(self, scratch: Scratch, readable: Sequence[Path] = (), limits: Limits | None = None) -> None:
        self.scratch, self.limits = scratch, limits or Limits()
        self._program = shutil.which(PROGRAM) or PROGRAM
        self._readable = (*interpreter_folders(), scratch.python_bin, *(Path(os.path.realpath(p)) for p in readable))
        self._shell = shutil.which("bash", path="/usr/local/bin:/usr/bin:/bin") or "/bin/sh"

    def run(self, command: str, cwd: Path, timeout_s: float, stdin: bytes = b"") -> Ran:
        cwd = Path(os.path.realpath(cwd))
        home = home_of(self.scratch.path, cwd)
        deadline = time.monotonic() + timeout_s
        watch = Watch(self.limits, (cwd, home.path.parent))
        with command_input(stdin) as source:
            try:
                process = subprocess.Popen(
                    [*arguments(self._program, cwd, home, self._readable), *self._limited(command)],
                    cwd="/",
                    env=environment(home, cwd, self.scratch.python_bin) | {"TMPDIR": "/tmp"},
                    stdin=source,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:  # too long a command, a NUL in it
                return Ran(126, f"{Path(self._shell).name}: {error}\n")
        assert process.stdout is not None
        with process.stdout:
            over = watch.over(process)
            got = drain(process.stdout.fileno(), over, deadline, self.limits.output_bytes)
            kill_group(process.pid)  # with bubblewrap goes the first process of its namespace, and with that all others
            process.wait()
        kill_marked(home.mark, newer_than=process.pid)
        unprivilege((cwd, home.path.parent))
        if watch.tripped:
            return Ran(None, got.data.decode(errors="replace") + f"\n[killed: {watch.tripped}]\n")
        return outcome(got, process.returncode)

    def _limited(self, command: str) -> list[str]:
        """The command under its limits. They are set inside, where nothing can raise them again."""
        most = self.limits
        limits = (
            f"ulimit -c 0; ulimit -t {most.cpu_s}; ulimit -d {most.data_bytes >> 10}; "
            f"ulimit -v {most.address_bytes >> 10}; "
            f"ulimit -f {most.file_bytes >> 10}; ulimit -n {most.open_files}; ulimit -u {most.processes}"
        )
        bash = self._shell.endswith("bash")  # other shells count files in 512 bytes and may lack -u
        run = f'{limits if bash else ""}\nexec nice -n {NICE} "$0" -c "$1"'
        return [self._shell, "-c", run, self._shell, command]


class Watch:
    """What no limit of the kernel's covers for every user: processes (root's are not counted), memory and disk.

    All are looked for where it costs one call, over the whole machine, and counted exactly when that is past the limit;
    and now and then without it, since what others give back meanwhile hides as much of the command's. tripped: why the
    command was ended, "" while it was not.
    """

    def __init__(self, limits: Limits, folders: Sequence[Path]) -> None:
        self._limits, self._folders = limits, folders
        self._tasks, self._disk, self._memory = Growth(tasks()), Growth(_used(folders)), Growth(memory_used())
        self._before = folder_bytes(folders) if limits.disk_bytes else 0
        self._again_s, self._anyway_s = 0.0, time.monotonic() + COUNT_EVERY_S
        self.tripped = ""

    def over(self, process: subprocess.Popen[bytes]) -> Callable[[], bool]:
        """Whether the command ended, or has to."""

        def ended() -> bool:
            if process.poll() is not None:
                return True
            self.tripped = self.tripped or self._look(process.pid)
            return bool(self.tripped)

        return ended

    def _look(self, pid: int) -> str:
        most, now_s = self._limits, time.monotonic()
        anyway = now_s >= self._anyway_s
        many = self._tasks.past(tasks(), most.processes) or anyway
        if many and members(pid) > most.processes:
            return f"it started more than {most.processes} processes"
        stored = self._disk.past(_used(self._folders), most.disk_bytes) or anyway
        held_much = self._memory.past(memory_used(), most.memory_bytes) or anyway
        if now_s < self._again_s or not (stored or held_much):
            return ""
        held = share(pid)
        wrote = folder_bytes(self._folders) - self._before + held.removed_bytes if stored else 0
        took_s = time.monotonic() - now_s
        self._again_s = now_s + 6 * took_s  # counting is a sixth of the time at most, and seldom that
        if anyway:
            self._anyway_s = now_s + max(COUNT_EVERY_S, 40 * took_s)
        if held.memory_bytes > most.memory_bytes:
            return f"its processes used more than {most.memory_bytes / 1e6:.0f} MB of memory"
        if wrote > most.disk_bytes:
            return f"it wrote more than {most.disk_bytes / 1e6:.0f} MB"
        return ""


def _used(folders: Sequence[Path]) -> int:
    """Bytes in use on the file system of the first folder."""
    try:
        found = os.statvfs(folders[0])
    except OSError:
        return 0
    return (found.f_blocks - found.f_bfree) * found.f_frsize


def why_not() -> str:
    """Why no sandbox can be had on this machine, with the cure; "" when one can."""
    program = shutil.which(PROGRAM)
    if sys.platform != "linux":
        return f"{PROGRAM} runs on Linux only"
    if program is None:
        return f"{PROGRAM} is not installed: {INSTALL}"
    with tempfile.TemporaryDirectory(prefix="sim-sandbox-") as folder:
        runner = SandboxRunner(Scratch(Path(folder) / "scratch"))
        runner.scratch.path.mkdir(exist_ok=True)
        ran = runner.run("echo inside", Path(folder), 20)
    if ran.exit_code == 0 and ran.output == "inside\n":
        return ""
    said = " ".join(ran.output.split())[:200] or f"exit code {ran.exit_code}"
    return f"{PROGRAM} does not work here ({said}): allow user namespaces, or {INSTALL} from your distribution"


def refuse_without(allow_unsandboxed: bool) -> bool:
    """Whether commands of a model go into the sandbox. UsageError when they must and cannot."""
    if allow_unsandboxed:
        return False
    reason = why_not()
    if reason:
        raise UsageError(
            f"commands of a live or imported session need a sandbox, and {reason}; or say --allow-unsandboxed on a "
            "machine that you can lose"
        )
    return True
