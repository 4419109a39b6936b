"""`sim import`: other programs' sessions into one trace, and a word about each thing that stayed behind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from simulator.cli.describe import versions
from simulator.core.wording import counted
from simulator.errors import UsageError
from simulator.trace.asked import Left
from simulator.trace.importing import Imported, run

SHOWN = 20


def main(paths: Sequence[Path], out: Path, form: str, *, every: bool, force: bool) -> int:
    """every: list all that was left out, not the first ones. force: a file that is there is replaced."""
    if out.is_dir():
        raise UsageError(f"-o {out}: is a folder; give a file in it, for example {out / 'trace.jsonl'}")
    if out.exists() and not force:
        raise UsageError(f"-o {out}: is there already; give another file, or --force to replace it")
    result = run(paths, out, form, f"agent-sim {versions().get('agent-sim', '')}".strip())
    console = Console()
    if result.sessions:
        _say_imported(console, result, out)
    for what, number in result.aside.items():
        console.print(f"passed over: {number:,} {what}", highlight=False, markup=False, soft_wrap=True)
    _say_left(console, result.left, None if every else SHOWN)
    if not result.sessions:
        console.print(f"nothing was imported; {out} was not written", highlight=False)
    return result.exit_code


def _say_imported(console: Console, result: Imported, out: Path) -> None:
    table = Table("format", "sessions", "model calls", title=f"{out}", title_justify="left")
    for name in sorted(result.sessions):
        table.add_row(name, f"{result.sessions[name]:,}", f"{result.turns[name]:,}")
    console.print(table)
    total = sum(result.sessions.values())
    if result.estimated:
        fields = ", ".join(f"{field} ({n:,})" for field, n in sorted(result.estimated.items()))
        console.print(f"estimated, in so many of {counted(total, 'session')}: {fields}", highlight=False, markup=False)
    if result.recounted:
        console.print(
            f"recounted {counted(result.recounted, 'prompt')} of a known tokenizer: "
            f"at most {result.worst_recount:.2%} off",
            highlight=False,
        )


def _say_left(console: Console, left: Sequence[Left], limit: int | None) -> None:
    if not left:
        return
    console.print(f"left out: {len(left):,}", highlight=False)
    for each in left[:limit]:
        where = f"{each.path}:{each.line}" if each.line else str(each.path)
        console.print(f"  {_printable(where)}: {_printable(each.why)}", highlight=False, markup=False, soft_wrap=True)
    if limit is not None and len(left) > limit:
        console.print(f"  and {len(left) - limit:,} more; --all lists them", highlight=False)


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)[:600]
