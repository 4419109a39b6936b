"""A small terminal: enough of a VT to see what a full-screen program leaves on its screen, and a pty to run it on."""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).parents[1]
# an escape that another one cuts short is dropped, as terminals do
_TOKEN = re.compile(r"\x1b(?=\x1b)|\x1b\[([?0-9;]*)([A-Za-z])|(\x1b.?)|([\r\n])|([^\x1b\r\n]+)", re.S)


class Screen:
    """Applies output as a terminal with automatic margins does. `wraps` counts lines that ran over the right margin,
    `unknown` keeps every escape sequence that a program of ours has no business to send."""

    def __init__(self, width: int, height: int) -> None:
        self.alternate, self.cursor_shown = False, True
        self.entered = self.wraps = 0
        self.unknown: list[str] = []
        self.styles: set[str] = set()
        self._rest = ""
        self.resize(width, height)

    def resize(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.cells = [[" "] * width for _ in range(height)]
        self.x = self.y = 0

    @property
    def lines(self) -> list[str]:
        return ["".join(row).rstrip() for row in self.cells]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def feed(self, data: str) -> None:
        data = self._rest + data
        cut = data.rfind("\x1b")
        whole = len(data) if cut < 0 or re.match(r"\x1b(\[[?0-9;]*[A-Za-z]|[^\[])", data[cut:], re.S) else cut
        self._rest = data[whole:]
        for match in _TOKEN.finditer(data[:whole]):
            arguments, command, other, move, text = match.groups()
            if command:
                self._command(arguments, command)
            elif other:
                self.unknown.append(other)
            elif move:
                self.x, self.y = (0, self.y) if move == "\r" else (self.x, min(self.y + 1, self.height - 1))
            elif text:
                self._print(text)

    def _command(self, arguments: str, command: str) -> None:
        match command, arguments:
            case "m", _:
                self.styles.add(arguments)
            case "H", "" | "1;1":
                self.x = self.y = 0
            case (("h" | "l"), "?1049"):
                self.alternate = command == "h"
                self.entered += command == "h"
                self.resize(self.width, self.height)
            case (("h" | "l"), "?25"):
                self.cursor_shown = command == "h"
            case _:
                self.unknown.append(f"{arguments}{command}")

    def _print(self, text: str) -> None:
        for char in text:
            if ord(char) < 32 or 127 <= ord(char) < 160:
                self.unknown.append(char)
                continue
            if self.x >= self.width:
                self.wraps += self.alternate
                self.x, self.y = 0, min(self.y + 1, self.height - 1)
            self.cells[self.y][self.x] = char
            self.x += 1


class Watching:
    """`python -m MODULE ARGUMENTS`, by default the live view, on a pseudo-terminal of a given size."""

    def __init__(
        self, *arguments: object, width: int = 80, height: int = 24, module: str = "simulator.view.live", **env: str
    ) -> None:
        self.screen = Screen(width, height)
        self.raw = b""
        self._master, self._slave = os.openpty()
        self._set_size(width, height)
        self.mode: Any = termios.tcgetattr(self._slave)
        clean = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, *map(str, arguments)],
            cwd=ROOT,
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            env=clean | {"TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"} | env,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )

    def __enter__(self) -> Watching:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._master)
        os.close(self._slave)

    def resize(self, width: int, height: int) -> None:
        self.screen.resize(width, height)
        self._set_size(width, height)
        self.process.send_signal(signal.SIGWINCH)

    def type(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def until(self, seen: Callable[[Screen], bool], limit_s: float = 60.0) -> Screen:
        """Reads until `seen(screen)`; fails with the screen when it does not come."""
        end = time.monotonic() + limit_s
        while not seen(self.screen):
            assert time.monotonic() < end, f"not seen; on the screen:\n{self.screen.text}"
            self._read(0.05)
        return self.screen

    def ended(self, limit_s: float = 60.0) -> int:
        """The exit code, once the process is gone and all it wrote has been read."""
        end = time.monotonic() + limit_s
        while self.process.poll() is None:
            assert time.monotonic() < end, f"still running; on the screen:\n{self.screen.text}"
            self._read(0.05)
        while self._read(0):
            pass
        return self.process.returncode

    @property
    def terminal_as_before(self) -> bool:
        """Cursor shown, main screen, and the terminal's modes are those from before."""
        same = termios.tcgetattr(self._slave) == self.mode
        return same and self.screen.cursor_shown and not self.screen.alternate

    def _read(self, wait_s: float) -> bool:
        if not select.select([self._master], [], [], wait_s)[0]:
            return False
        data = os.read(self._master, 1 << 16)
        self.raw += data
        self.screen.feed(data.decode("utf-8", "ignore"))
        return True

    def _set_size(self, width: int, height: int) -> None:
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
