"""`sim tasks list|show|check|new`: what the command line takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simulator.cli.verbs.given import TasksDir

app = typer.Typer(
    name="tasks", help="The tasks that agents work on: which there are, what they ask, whether they are sound.",
    no_args_is_help=True,
)  # fmt: skip

Size = Annotated[str, typer.Option(help="small, medium or long.")]
OneSeed = Annotated[int, typer.Option(help="Which instance.")]


@app.command("list")
def list_(
    tasks_dir: TasksDir = None,
    measure: Annotated[
        bool, typer.Option("--measure", help="Carry one medium instance of each out, for its tokens; a minute or two.")
    ] = False,
) -> None:
    """Kinds, templates, turns and tokens of one instance, and what a template needs."""
    from simulator.cli.tasks import listed

    raise typer.Exit(listed(tasks_dir, measure))


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A template, or a folder with a task of one's own.")],
    seed: OneSeed = 1,
    size: Size = "medium",
    tasks_dir: TasksDir = None,
) -> None:
    """One instance: its request, its repository, the recorded path in short, its check."""
    from simulator.cli.tasks import shown

    raise typer.Exit(shown(name, seed, size, tasks_dir))


@app.command()
def check(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME|FOLDER]...", help="Templates or folders; default: all templates."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, max=1_000, help="Instances of each, from seed 1 on.")] = 1,
    size: Annotated[
        list[str] | None, typer.Option(help="small (the default), medium or long; may be given again.")
    ] = None,
    profile: Annotated[str, typer.Option(help="Client profile that carries the path out.")] = "classic-xml",
    tasks_dir: TasksDir = None,
) -> None:
    """Carry recorded paths out: checks must pass after them, and fail before and for broken results."""
    from simulator.cli.tasks import checked

    raise typer.Exit(checked(tuple(names or ()), seeds, tuple(size or ("small",)), profile, tasks_dir))


@app.command()
def new(
    folder: Annotated[Path, typer.Argument(help="Folder to make; its name is the task's.")],
    recipe: Annotated[
        bool, typer.Option("--recipe", help="A recipe in Python, with a recorded path, in place of a task file.")
    ] = False,
    repo: Annotated[Path | None, typer.Option(help="Your git repository, in place of the sample.")] = None,
) -> None:
    """A task of one's own to start from, which works as it is."""
    from simulator.cli.tasks_new import made

    raise typer.Exit(made(folder, recipe, repo))
