"""What live sessions said and heard, a file a session: lines wait in memory until the run's writer is flushed."""

from __future__ import annotations

from pathlib import Path

from simulator.errors import UsageError

TRANSCRIPTS = "transcripts"


class Transcripts:
    """folder: made with the first line that is written. mark: what each line has last (writer.mark_of)."""

    def __init__(self, folder: Path, mark: bytes = b"") -> None:
        self._folder, self._mark = folder, mark
        self._waiting: dict[str, list[bytes]] = {}

    def add(self, session: str, line: bytes) -> None:
        """line: a JSON object, without its line end."""
        self._waiting.setdefault(session, []).append(line[:-1] + self._mark + b"}\n")

    def flush(self) -> None:
        """UsageError when it cannot be written; what was not is kept."""
        if self._waiting:
            self._folder.mkdir(exist_ok=True)
        for session in list(self._waiting):
            path = self._folder / f"{session}.jsonl"
            try:
                with path.open("ab") as file:
                    file.write(b"".join(self._waiting[session]))
            except OSError as why:
                raise UsageError(f"cannot write {path}: {why.strerror}; free some space and run again") from why
            del self._waiting[session]
