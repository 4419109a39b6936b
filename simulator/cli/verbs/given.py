"""Options that several verbs share, and what the command line said as `Options` of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ScenarioFile = Annotated[Path, typer.Argument(help="Scenario file, for example scenarios/32_agents.yaml.")]
Endpoint = Annotated[str | None, typer.Option(help="Base URL of an OpenAI-compatible server.")]
Model = Annotated[str | None, typer.Option(help="Model name there; default: the only one served.")]
Engine = Annotated[
    str | None,
    typer.Option(help="'embedded' (the default), or a configuration to start: top, serving/ladder.yaml:mtp1, a file."),
]
Seed = Annotated[int | None, typer.Option(help="Overrides the scenario's seed.")]
Label = Annotated[str, typer.Option(help="A name for this configuration, shown in reports.")]
Sets = Annotated[list[str] | None, typer.Option("--set", help="key=value, e.g. synthetic.requests=512.")]
Procs = Annotated[int | None, typer.Option(help="Client processes; default: by an estimate of the load.")]
InVirtualTime = Annotated[bool, typer.Option("--virtual", help="Virtual time: emulated, no HTTP, no waiting.")]
TasksDir = Annotated[
    Path | None, typer.Option("--tasks-dir", help="A folder with tasks of one's own; see docs/tasks.md.")
]
MarkdownFile = Annotated[Path | None, typer.Option("--md", help="Write the answer as Markdown to this file.")]
HtmlFile = Annotated[Path | None, typer.Option("--html", help="Write it as one self-contained page to this file.")]
JsonFile = Annotated[Path | None, typer.Option("--json", help="Write it as JSON to this file; - is standard output.")]
EngineParams = Annotated[
    str | None, typer.Option(help="The emulated engine's settings: a file, or a shipped name such as top.")
]


def settings_file(named: str | None) -> Path | None:
    from simulator.engine.embedded.config import find_settings

    return None if named is None else find_settings(named, "--engine-params")


def from_tasks(tasks_dir: Path | None) -> tuple[str, ...]:
    """As an override of the scenario."""
    import json

    return () if tasks_dir is None else (f"tasks_dir={json.dumps(str(tasks_dir.resolve()))}",)
