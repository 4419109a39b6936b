"""Where an answer goes: the terminal always, files where they were asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from simulator.cli.screen import whole_lines
from simulator.errors import UsageError
from simulator.store.manifest import write_json, write_whole
from simulator.view.sheet import Document, markdown, terminal

STDOUT = Path("-")


@dataclass(frozen=True, slots=True)
class Outputs:
    """Files to write; None, not wanted. json may be "-": then nothing else goes to standard output."""

    md: Path | None = None
    html: Path | None = None
    json: Path | None = None

    def check(self) -> None:
        """UsageError for a file that cannot be written, before any work is done."""
        for option, path in (("--md", self.md), ("--html", self.html), ("--json", self.json)):
            if path is None or path == STDOUT:
                continue
            if path.is_dir() or not path.absolute().parent.is_dir():
                why = "is a folder" if path.is_dir() else "lies in no folder that exists"
                raise UsageError(f"{option} {path} {why}; give a file in a folder that exists")

    def give(self, document: Document, value: Mapping[str, Any], page: Callable[[Document], str] | None = None) -> None:
        """value: the answer for programs. page: makes the HTML, by default of the document alone."""
        if self.json == STDOUT:
            sys.stdout.write(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() + "\n")
        else:
            whole_lines().print(terminal(document))
            if self.json is not None:
                write_json(self.json, value)
        if self.md is not None:
            write_whole(self.md, markdown(document).encode())
        if self.html is not None:
            from simulator.view.sheet_page import as_page

            write_whole(self.html, (page or as_page)(document).encode())
        for path in (self.md, self.html, self.json):
            if path is not None and STDOUT not in (path, self.json):
                print(f"written: {path}")
