"""`sim`: one module a verb. Errors end in one sentence and an exit code, never in a traceback.

Exit codes: 0 ok, 1 failed check or regression, 2 usage, 3 engine failed, 4 incomparable, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Annotated

import typer

from simulator.errors import SimError, UsageError

app = typer.Typer(
    name="sim",
    help="Cline-style coding agents, many at once, against an OpenAI-compatible engine.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:
    if asked:
        from simulator.cli.describe import versions

        found = versions()
        commit = f" ({found['commit']})" if found["commit"] else ""
        print(f"agent-sim {found.get('agent-sim', 'not installed')}{commit}, Python {found['python']}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version this is.")
    ] = False,
) -> None:
    """What stands before a verb."""


@app.command()
def run(
    scenario: Annotated[Path, typer.Argument(help="Scenario file, for example scenarios/32_agents.yaml.")],
    endpoint: Annotated[str | None, typer.Option(help="Base URL of an OpenAI-compatible server.")] = None,
    model: Annotated[str | None, typer.Option(help="Model name there; default: the only one served.")] = None,
    engine: Annotated[str | None, typer.Option(help="'embedded': the emulated engine, the default.")] = None,
    out: Annotated[Path | None, typer.Option(help="Run folder; default: a new one under reports/runs/.")] = None,
    seed: Annotated[int | None, typer.Option(help="Overrides the scenario's seed.")] = None,
    label: Annotated[str, typer.Option(help="A name for this configuration, shown in reports.")] = "",
    plain: Annotated[
        bool, typer.Option("--plain", help="One progress line every few seconds instead of the TUI.")
    ] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the sessions' workspaces in the run folder.")] = False,
    set_: Annotated[list[str] | None, typer.Option("--set", help="key=value, e.g. synthetic.requests=512.")] = None,
    procs: Annotated[int | None, typer.Option(help="Client processes; default: by an estimate of the load.")] = None,
    virtual: Annotated[bool, typer.Option("--virtual", help="Virtual time: emulated, no HTTP, no waiting.")] = False,
    engine_params: Annotated[
        str | None, typer.Option(help="The emulated engine's settings: a file, or a shipped name such as top.")
    ] = None,
    replicas: Annotated[int | None, typer.Option(help="With --virtual: engines that share the sessions.")] = None,
    faults: Annotated[Path | None, typer.Option(help="Fault schedule for the embedded engine, YAML.")] = None,
) -> None:
    """Run a scenario: agents, then synthetic traffic, live view and report."""
    from simulator.cli.run import Options, Virtual
    from simulator.cli.run import main as run_main

    if not virtual and replicas is not None:
        raise UsageError("--replicas belongs to --virtual; give that too")
    settings = _settings_file(engine_params)
    chosen = Virtual(settings, 1 if replicas is None else replicas) if virtual else None
    raise typer.Exit(
        run_main(
            Options(
                scenario=scenario,
                endpoint=endpoint,
                model=model,
                engine=engine,
                out=out,
                seed=seed,
                label=label,
                plain=plain,
                keep=keep,
                overrides=tuple(set_ or ()),
                virtual=chosen,
                faults=faults,
                procs=procs,
                settings=settings,
            )
        )
    )


def _settings_file(named: str | None) -> Path | None:
    from simulator.engine.embedded.config import find_settings

    return None if named is None else find_settings(named, "--engine-params")


@app.command()
def saturate(
    scenario: Annotated[Path, typer.Argument(help="Scenario of agents, for example scenarios/saturate_demo.yaml.")],
    slo: Annotated[
        str, typer.Option(help="What must hold, e.g. 'ttft_p95<2s,tpot_p95<50ms'; default: the scenario's slo.")
    ] = "",
    low: Annotated[float | None, typer.Option(help="Smallest load to try; default: 1 agent, or 0.05/s.")] = None,
    high: Annotated[float | None, typer.Option(help="Largest load to try; default: 512 agents, or 20/s.")] = None,
    rate: Annotated[bool, typer.Option("--rate", help="Search sessions a second (open loop), not agents.")] = False,
    window: Annotated[float | None, typer.Option(min=0.1, help="Seconds that a probe measures.")] = None,
    endpoint: Annotated[str | None, typer.Option(help="Base URL of an OpenAI-compatible server.")] = None,
    model: Annotated[str | None, typer.Option(help="Model name there; default: the only one served.")] = None,
    engine: Annotated[str | None, typer.Option(help="'embedded': the emulated engine, the default.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the search; one that is there is gone on with.")] = None,
    seed: Annotated[int | None, typer.Option(help="Overrides the scenario's seed.")] = None,
    label: Annotated[str, typer.Option(help="A name for this configuration, shown in reports.")] = "",
    set_: Annotated[list[str] | None, typer.Option("--set", help="key=value, e.g. start=beginning.")] = None,
    procs: Annotated[int | None, typer.Option(help="Client processes; default: by an estimate of each load.")] = None,
    virtual: Annotated[bool, typer.Option("--virtual", help="Virtual time: emulated, no HTTP, no waiting.")] = False,
    engine_params: Annotated[
        str | None, typer.Option(help="The emulated engine's settings: a file, or a shipped name such as top.")
    ] = None,
) -> None:
    """Find the largest number of agents (or sessions a second) that meets objectives."""
    from simulator.cli.run import Options, Virtual
    from simulator.cli.saturate import Search
    from simulator.cli.saturate import main as saturate_main

    settings = _settings_file(engine_params)
    options = Options(
        scenario=scenario,
        endpoint=endpoint,
        model=model,
        engine=engine,
        out=out,
        seed=seed,
        label=label,
        plain=True,
        keep=False,
        overrides=tuple(set_ or ()),
        virtual=Virtual(settings, 1) if virtual else None,
        procs=procs,
        settings=settings,
    )
    raise typer.Exit(saturate_main(options, Search(slo, low, high, rate, window)))


@app.command()
def watch(
    folder: Annotated[Path, typer.Argument(help="Run folder, growing or finished.")],
    plain: Annotated[bool, typer.Option("--plain", help="Lines instead of the full screen.")] = False,
) -> None:
    """Show a run, while it grows or after it ended."""
    from simulator.view.live import watch as watch_run

    try:
        watch_run(folder, plain=plain)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
        raise UsageError(f"{folder} cannot be shown: {type(error).__name__}: {error!s:.120}") from None


@app.command()
def plan(
    scenario: Annotated[Path, typer.Argument(help="Scenario file.")],
    seed: Annotated[int | None, typer.Option(help="Overrides the scenario's seed.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="key=value, e.g. subagents=0.5.")] = None,
) -> None:
    """Show the shape of the traffic that a scenario would send."""
    from simulator.cli.plan import main as plan_main
    from simulator.cli.run import read_scenario

    overrides = (*(set_ or ()), *(() if seed is None else (f"seed={seed}",)))
    raise typer.Exit(plan_main(read_scenario(scenario), scenario, overrides))


@app.command()
def report(folder: Annotated[Path, typer.Argument(help="Run folder, also of a run that was killed.")]) -> None:
    """Fold a run's records again: writes summary.json and report.md, prints the headline."""
    from simulator.cli.report import main as report_main

    raise typer.Exit(report_main(folder))


@app.command()
def whatif(
    scenario: Annotated[Path, typer.Argument(help="Scenario file; its agents are asked about.")],
    more: Annotated[list[str] | None, typer.Argument(metavar="[ENGINE]...", help="Further engines.")] = None,
    engines: Annotated[
        list[str] | None, typer.Option(help="Engine settings: a shipped name, such as top or baseline, or a file.")
    ] = None,
    agents: Annotated[str, typer.Option(help="Numbers of agents.")] = "8,32,128,512",
    slo: Annotated[str | None, typer.Option(help="ttft_p95<5s or ttft_s=5; default: the scenario's.")] = None,
    minutes: Annotated[float, typer.Option(help="Simulated minutes that are measured, in each cell.")] = 5.0,
    out: Annotated[Path | None, typer.Option(help="New folder for whatif.md and whatif.json.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="key=value, e.g. seed=8.")] = None,
) -> None:
    """Compare emulated engines in virtual time: agents by engines, with what fits and which wins."""
    from simulator.cli.run import read_scenario
    from simulator.cli.whatif import Question
    from simulator.cli.whatif import main as whatif_main

    named = [name for part in [*(engines or []), *(more or [])] for name in part.split(",") if name]
    question = Question(scenario, tuple(named or ["baseline", "top"]), agents, slo, minutes, out, tuple(set_ or ()))
    raise typer.Exit(whatif_main(question, read_scenario(scenario)))


def _printable(text: str) -> str:
    """Whatever a file or a server said, without what could steer a terminal, and not endless."""
    clean = "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
    return clean if len(clean) <= 2_000 else clean[:2_000] + "..."


def main() -> None:
    try:
        app()
    except SimError as error:
        print(f"sim: {_printable(str(error))}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("sim: interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(0)  # the reader of our output has left
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        print(f"sim: {_printable(what)}; check the path, its permissions and the space left", file=sys.stderr)
        sys.exit(2)
    except Exception as error:
        handle, name = tempfile.mkstemp(prefix="sim-fault-", suffix=".txt")
        with os.fdopen(handle, "w") as file:
            traceback.print_exc(file=file)
        print(f"sim: a fault of ours, {type(error).__name__}: {error}; please report it with {name}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
