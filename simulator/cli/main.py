"""`sim`: one module a verb. Errors end in one sentence and an exit code, never in a traceback.

Exit codes: 0 ok, 1 failed check or regression, 2 usage, 3 engine failed, 4 incomparable, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from contextlib import suppress
from typing import Annotated

import typer

from simulator.cli.verbs import (
    agree,
    anonymise,
    compare_traffic,
    cost,
    diff,
    export,
    failures,
    history,
    import_trace,
    ladder,
    plan,
    record,
    report,
    run,
    saturate,
    serve,
    shape,
    watch,
    whatif,
    why,
)
from simulator.cli.verbs import map as map_verb
from simulator.cli.verbs import tasks as tasks_verb
from simulator.errors import SimError

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


#: in the order of --help
VERBS = (
    run.run,
    watch.watch,
    report.report,
    history.history,
    export.export,
    plan.plan,
    saturate.saturate,
    serve.serve,
    record.record,
    failures.failures,
    ladder.ladder,
    whatif.whatif,
    cost.cost,
    diff.diff,
    why.why,
    agree.agree,
    compare_traffic.compare_traffic,
    map_verb.map,
    import_trace.import_trace,
    shape.shape,
    anonymise.anonymise,
)
#: of verbs whose name Python keeps for itself
NAMES = {"import_trace": "import"}
for _verb in VERBS:
    app.command(name=NAMES.get(_verb.__name__))(_verb)
app.add_typer(tasks_verb.app)


def _printable(text: str) -> str:
    """Whatever a file or a server said, without what could steer a terminal, and not endless."""
    clean = "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
    return clean if len(clean) <= 2_000 else clean[:2_000] + "..."


def _say(what: str) -> None:
    """Last of all, also where both streams go into one pipe or file and Python holds back what was printed before."""
    with suppress(OSError, ValueError):  # its reader has left
        sys.stdout.flush()
    print(f"sim: {what}", file=sys.stderr)


def main() -> None:
    try:
        app()
    except SimError as error:
        _say(_printable(str(error)))
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        _say("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(0)  # the reader of our output has left
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        _say(f"{_printable(what)}; check the path, its permissions and the space left")
        sys.exit(2)
    except Exception as error:
        handle, name = tempfile.mkstemp(prefix="sim-fault-", suffix=".txt")
        with os.fdopen(handle, "w") as file:
            traceback.print_exc(file=file)
        _say(f"a fault of ours, {type(error).__name__}: {error}; please report it with {name}")
        sys.exit(1)


if __name__ == "__main__":
    main()
