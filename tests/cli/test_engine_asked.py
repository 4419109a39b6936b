"""What `--engine` goes with, told before anything is started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simulator.cli.run import Options, Virtual, with_options
from simulator.core.scenario import Scenario
from simulator.core.scenario_file import parse
from simulator.errors import UsageError

SHORT = "engine: vllm\nmodel: {path: m}\nargs: {max-model-len: 4096}\n"


def asked(sessions: int = 0) -> Scenario:
    size = "synthetic: {input_tok: 8, output_tok: 8, concurrency: 1, requests: 1}\n" if not sessions else ""
    return parse(f"name: s\nsessions: {sessions}\nrefill: false\n{size}", "s.yaml")


@pytest.mark.parametrize(
    ("engine", "sessions", "more", "words"),
    [
        ("short.yaml", 0, {}, None),
        ("short.yaml", 2, {}, "short.yaml takes 4,096 tokens and the scenario's agents believe in 128,000"),
        ("embedded:top", 2, {}, None),
        ("short.yaml", 0, {"faults": Path("f.yaml")}, "--faults is for the embedded engine, and .* is vLLM"),
        ("embedded:top", 0, {"faults": Path("f.yaml")}, None),
        ("embedded:top", 0, {"settings": Path("top.yaml")}, "--engine-params and --engine embedded:top exclude"),
        (
            "embedded:top",
            0,
            {"virtual": Virtual(None, 1)},
            "--virtual and --engine exclude each other; say",
        ),
        ("embedded:top", 0, {"endpoint": "http://x"}, "--endpoint and --engine exclude each other"),
        ("embedded", 0, {"settings": Path("top.yaml")}, None),
        ("embeded:top", 0, {}, "embeded: no such engine configuration; did you mean embedded?"),
    ],
)
def test_what_goes_with_an_engine(
    tmp_path: Path, engine: str, sessions: int, more: dict[str, Any], words: str | None
) -> None:
    (tmp_path / "short.yaml").write_text(SHORT)
    named = str(tmp_path / engine) if engine.endswith(".yaml") else engine
    options = Options(Path("s.yaml"), engine=named, **more)
    if words is None:
        assert with_options(asked(sessions), options) == asked(sessions)
        return
    with pytest.raises(UsageError, match=words):
        with_options(asked(sessions), options)
