"""The published command-line clients, as npm has them, on a task of ours: told where the engine is, and run.

Everything of theirs (settings, sessions, caches) lies in a temporary home, and the network is closed to them but for
loopback. `make clients` installs them below CLIENTS.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from simulator import tokenizer
from simulator.cli.planner import ScratchBench
from simulator.cline.profiles import profile
from simulator.core.scenario import Scenario
from simulator.core.task import Task
from simulator.drive.commands import ShellRunner
from simulator.drive.workspace import Repository
from simulator.tasks import catalog
from simulator.tasks.mix import SessionSpec
from simulator.tasks.recording import Terms, record, shown_dir
from simulator.tasks.solutions import solutions_of

CLIENTS = Path(os.environ.get("CLIENTS", Path(__file__).resolve().parents[2] / ".clients"))
KEY = "sk-loopback-0123456789"
NOWHERE = "http://127.0.0.1:9"
AUTH_S, RUN_S = 120.0, 600.0


@dataclass(frozen=True)
class Published:
    """folder: below CLIENTS. profile: which of ours speaks as it does with this model's name."""

    folder: str
    package: str
    profile: str
    model: str

    @property
    def binary(self) -> Path:
        return CLIENTS / self.folder / "node_modules" / ".bin" / "cline"

    def missing(self) -> str:
        """Why it cannot be run; "" when it can."""
        if shutil.which("node") is None:
            return "node is not installed"
        return "" if self.binary.exists() else f"{self.package} is not installed; `make clients` does that"

    def run(self, url: str, model: str, folder: Path, prompt: str, home: Path) -> str:
        """What it printed. It works on `prompt` in `folder` until it says that it is done."""
        home.mkdir(parents=True, exist_ok=True)
        places = ["--config", str(home / "cfg")] if self.folder == "cline2" else ["--data-dir", str(home / "data")]
        provider = "openai" if self.folder == "cline2" else "openai-compatible"
        auth = ["auth", "-p", provider, "-k", KEY, "-m", model, "-b", url, *places]
        self._started(auth, folder, home, AUTH_S)
        if self.folder == "cline2":
            ask = ["-y", "-a", "--json", *places, "-c", str(folder), prompt]
        else:
            ask = [*places, "-P", provider, "-m", model, "--auto-approve", "true", "--json", "-c", str(folder), prompt]
        return self._started(ask, folder, home, RUN_S)

    def _started(self, arguments: Sequence[str], folder: Path, home: Path, limit_s: float) -> str:
        done = subprocess.run(
            [str(self.binary), *arguments], cwd=folder, env=self._environment(home), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=limit_s,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-2_000:]
        return done.stdout

    def _environment(self, home: Path) -> Mapping[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        proxies = {name: NOWHERE for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")}
        return {**kept, **proxies, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1", "HOME": str(home), "NO_COLOR": "1"}


CLASSIC = Published("cline2", "cline@2", "classic-xml", "embedded-30b-a3b")
#: a name by which it takes the model for one that is good at native calls
NATIVE = Published("cline2", "cline@2", "classic-native", "kimi-k2-embedded")
SDK = Published("cline3", "cline@3", "sdk", "embedded-30b-a3b")


def set_task(folder: Path, solutions: Path, profile_name: str, template: str, seed: int) -> Task:
    """A workspace of a small task in `folder`, and its recorded solution, as a client that works there would say it, in
    `solutions`. The request is one line: cline@2 takes it apart into words."""
    task = catalog.make(template, seed, "small", profile(profile_name).style)
    runner = ShellRunner()
    scratch = folder.with_name(f"{folder.name}-scratch")
    repository = Repository.create(scratch / "task.git", task.history)
    repository.checkout(folder, "agent")
    repository.checkout(scratch / task.name, "scratch")
    spec = SessionSpec("s0000", 0, task.kind, "small", seed, profile_name, 0.0, False)
    style = profile(profile_name).style
    shown = shown_dir(spec, task.name)
    bench = ScratchBench(scratch / task.name, shown, repository.head, style.documents, runner)
    scenario = Scenario.model_validate({"name": "clients", "sessions": 1, "refill": False})
    plan = record(spec, task, bench, Terms(scenario, "embedded-30b-a3b", tokenizer.count))
    known = [replace(each, request=one_line(each.request)) for each in solutions_of(plan, str(folder))]
    solutions.write_bytes(b"".join(each.line() for each in known))
    return replace(task, prompt=one_line(task.prompt))


def one_line(text: str) -> str:
    return " ".join(text.split())
