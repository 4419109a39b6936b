"""What docs/gpu.md tells people to type on a machine that is paid for by the hour: every command can be typed so."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from simulator.cli.ladder_asked import Asked, levels, rungs, scenario_of
from simulator.cli.main import app
from simulator.core.scenario_file import parse
from simulator.engine.serving.config import load_config
from simulator.engine.serving.ladder_file import load_ladder

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "gpu.md").read_text().replace("\\\n", " ")
BLOCKS = "\n".join(re.findall(r"^```\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE))
LINES = [line.partition("  #")[0].removesuffix("&").strip() for line in BLOCKS.splitlines()]
COMMANDS = [line for line in LINES if line.startswith("sim ")]


def given(command: str) -> tuple[str, dict[str, Any]]:
    """The verb, and its parameters as the command line's own parser has them."""
    verb, *words = shlex.split(command)[1:]
    group: Any = typer.main.get_command(app)
    chosen = group.get_command(group.make_context("sim", [], resilient_parsing=True), verb)
    assert chosen is not None, verb
    return verb, chosen.make_context(verb, words).params


def test_the_page_has_its_commands() -> None:
    verbs = [command.split()[1] for command in COMMANDS]
    assert verbs.count("ladder") >= 5 and {"serve", "run", "plan", "agree", "report", "compare-traffic"} <= set(verbs)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_can_be_typed_as_it_stands(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    verb, told = given(command)
    asked_of = ("a", "b") if verb == "agree" else ("engine", "config")
    engines = [told[name] for name in asked_of if told.get(name)]
    for name in engines:
        assert load_config(name, {}).why, name
    if verb == "ladder":
        asked = Asked(told["file"], told["scenario"], only=told["only"], overrides=tuple(told["set_"] or ()))
        ladder = load_ladder(asked.file, {})
        chosen = rungs(ladder, asked.only)
        assert len(chosen) == (len(asked.only.split(",")) if asked.only else len(ladder.rungs))
        levels(told["concurrency"], scenario_of(asked, ladder)[1])
    elif told.get("scenario"):
        path = Path(told["scenario"])
        parse(path.read_text(), str(path), tuple(told.get("set_") or ()))


def test_the_strangers_options_are_known() -> None:
    (line,) = (each for each in BLOCKS.splitlines() if each.startswith("python tests/"))
    program = [sys.executable, str(ROOT / line.split()[1]), "--help"]
    said = subprocess.run(program, capture_output=True, text=True, timeout=60)
    assert set(re.findall(r"--[a-z]+", line)) <= set(re.findall(r"--[a-z]+", said.stdout)), said.stderr
