"""Ctrl-C reaches a terminal's whole group of processes; workers leave it to their parent, also while they start."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unheard() -> Iterator[None]:
    """Around the start of workers: they begin with Ctrl-C held back, until `ignore` in them. This thread hears it at
    the end of the block."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore(*others: signal.Signals) -> None:
    """In a worker, first of all: leaves Ctrl-C, and the other signals, to its parent."""
    for name in (signal.SIGINT, *others):
        signal.signal(name, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def end_with_parent() -> None:
    """In a worker: it waits on a pipe that it holds open itself, so it would not notice that its parent was killed."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
