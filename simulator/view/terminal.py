"""The keyboard and the signals of a full-screen program, and the promise to put both back as they were."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import termios
import threading
import tty
from types import TracebackType
from typing import Any

_EVENTS = {
    signal.SIGINT: "quit",
    signal.SIGTERM: "terminate",
    signal.SIGHUP: "terminate",
    signal.SIGTSTP: "suspend",
    signal.SIGWINCH: "resize",
}


class Terminal:
    """A context in which signals and keys become events that `wait` returns, so that nothing is interrupted half-way
    through a frame or through its own tidying up.

    keys: whether to take single keys from standard input; they are, if it is a terminal and we are in its foreground.
    `died_of` is the number of the signal that ended the wait, for a caller that wants to die of it once all is tidy.
    """

    def __init__(self, *, keys: bool) -> None:
        self._keys = keys
        self._stdin: int | None = None
        self._mode: list[Any] = []
        self._handlers: dict[signal.Signals, Any] = {}
        self.died_of: signal.Signals | None = None

    @property
    def interactive(self) -> bool:
        return self._stdin is not None

    def __enter__(self) -> Terminal:
        self._wake, self._waker = socket.socketpair()
        self._wake.setblocking(False)
        self._waker.setblocking(False)
        if threading.current_thread() is threading.main_thread():
            self._old_wakeup = signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
            for number in _EVENTS:
                self._handlers[number] = signal.signal(number, lambda *_: None)
            # a run starts its view with Ctrl-C held back, as nothing would listen while it imports
            self._held = signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        self._take_keys()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._return_keys()
        if self._handlers:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._held)
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(self._old_wakeup)
        self._wake.close()
        self._waker.close()

    def wait(self, timeout_s: float) -> str:
        """The next of "quit", "terminate", "suspend", "resize", or "" when the time is over."""
        watched = [self._wake.fileno(), *([] if self._stdin is None else [self._stdin])]
        ready, _, _ = select.select(watched, [], [], max(0.0, timeout_s))
        if self._wake.fileno() in ready:
            numbers = [signal.Signals(n) for n in self._wake.recv(256)]
            events = [(_EVENTS[n], n) for n in numbers if n in _EVENTS]
            for event in ("terminate", "quit", "suspend", "resize"):
                for said, number in events:
                    if said == event:
                        self.died_of = number if event == "terminate" else None
                        return event
        if self._stdin in ready and self._stdin is not None:
            try:
                pressed = os.read(self._stdin, 64)
            except OSError:  # the terminal has gone
                pressed = b""
            if not pressed:
                self._stdin = None
            return "quit" if b"q" in pressed.lower() else ""
        return ""

    def suspend(self) -> None:
        """Stops this process as Ctrl-Z would have; returns when it is continued."""
        self._return_keys()
        signal.raise_signal(signal.SIGSTOP)
        self._take_keys()

    def _take_keys(self) -> None:
        try:
            stdin = sys.stdin.fileno()
            if self._keys and os.isatty(stdin) and os.tcgetpgrp(stdin) == os.getpgrp():
                self._mode = termios.tcgetattr(stdin)
                tty.setcbreak(stdin, termios.TCSANOW)
                self._stdin = stdin
        except (AttributeError, ValueError, OSError, termios.error):
            self._stdin = None

    def _return_keys(self) -> None:
        if self._mode:
            with contextlib.suppress(OSError, termios.error):  # a terminal that is gone needs nothing back
                termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, self._mode)
            self._mode = []
