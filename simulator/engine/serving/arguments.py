"""Flags as a file has them, made into a command line; pure but for the environment that it is given."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from simulator.engine.serving.settings import Value
from simulator.errors import UsageError

_NAMED = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)
#: names that match _SECRET and hold none
_PLAIN = {"TOKENIZERS_PARALLELISM", "VLLM_TOKENIZER"}
#: of the environment that a server inherits, what may change how it works
_TELLING = re.compile(
    r"^(VLLM|OMP|MKL|CUDA|NVIDIA|NCCL|TORCH|TORCHINDUCTOR|PYTORCH|HF|TRANSFORMERS|FLASHINFER|TRITON|TOKENIZERS|LD|PYTHON)_"
    r"|^(PYTHONPATH|PYTHONHASHSEED)$"
)


def words(args: Mapping[str, Value]) -> tuple[str, ...]:
    """The command line of flags, in their order: `--x 1`, `--x`, `--no-x`, `--x '{"json": 1}'`."""
    return tuple(word for name, value in args.items() for word in _words(name, value))


def _words(name: str, value: Value) -> Iterator[str]:
    if value is None:
        return
    yield f"--no-{name}" if value is False else f"--{name}"
    if isinstance(value, list):
        yield from map(str, value)
    elif isinstance(value, dict):
        yield orjson.dumps(value).decode()
    elif not isinstance(value, bool):
        yield str(value)


def filled(value: Any, known: Mapping[str, str], where: str) -> Any:
    """With `${NAME}` and `${NAME:-else}` put in, in every text of a value. UsageError names what is not set."""
    if isinstance(value, dict):
        return {key: filled(each, known, where) for key, each in value.items()}
    if isinstance(value, list):
        return [filled(each, known, where) for each in value]
    if not isinstance(value, str):
        return value

    def put(found: re.Match[str]) -> str:
        text = known.get(found[1]) or found[2]
        if text is None:
            raise UsageError(f"{where}: the environment variable {found[1]} is not set; set it, or write the value out")
        return text

    return _NAMED.sub(put, value)


def without_secrets(env: Mapping[str, str]) -> dict[str, str]:
    """Values of names that look like a secret's are hidden; that they are set is told."""
    return {name: "***" if _SECRET.search(name) and name not in _PLAIN else value for name, value in env.items()}


def telling(environ: Mapping[str, str], stated: Mapping[str, str]) -> dict[str, str]:
    """What a manifest says of a server's environment: all that its configuration states, and of what it inherits the
    names that may change how it works; secrets hidden, in order."""
    inherited = {name: value for name, value in environ.items() if _TELLING.match(name)}
    return without_secrets(dict(sorted({**inherited, **stated}.items())))
