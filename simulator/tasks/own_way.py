"""A way to the solution of a task of one's own, out of the files that solve it: look, write each, run the command,
done. An oracle plays it; as nobody worked like this it is no recorded way."""

from __future__ import annotations

from collections.abc import Mapping

from simulator.core.action import Command, Complete, ListFiles, Step, Write


def steps(files: Mapping[str, bytes | None], command: str) -> tuple[Step, ...]:
    """files: path -> content; command: of the check, run once as an agent would. () without files, or where one of them
    is no text, which no client's tool could write."""
    try:
        texts = {path: (content or b"").decode("utf-8") for path, content in sorted(files.items())}
    except UnicodeDecodeError:
        return ()
    if not texts:
        return ()
    writes = [Step(f"Now {path} gets what it needs.", (Write(path, text),)) for path, text in texts.items()]
    return (
        Step("First I look at what is here.", (ListFiles("."),)),
        *writes,
        Step("I run the command that decides, as far as it can be run here.", (Command(command),)),
        Step("", (Complete(f"What was asked for is done; it is in {', '.join(texts)}."),)),
    )
