"""Processes for simulations that know nothing of each other, gone when the work or the user has ended."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context

from simulator.errors import Interrupted
from simulator.virtual.children import end_with_parent, ignore


@contextmanager
def pool(size: int, kept: str = "nothing was written") -> Iterator[ProcessPoolExecutor]:
    """kept: what an interrupt, by Ctrl-C or a kind kill, leaves, for its sentence. A worker is started with a task:
    submit under `unheard`."""
    workers = ProcessPoolExecutor(size, get_context("spawn"), _begin)
    try:
        with _kills_heard():
            yield workers
            workers.shutdown()
    except BaseException as error:
        workers.shutdown(wait=False, cancel_futures=True)
        for worker in active_children():
            worker.kill()
        if isinstance(error, KeyboardInterrupt):
            raise Interrupted(f"interrupted; {kept}") from None
        raise


def _begin() -> None:
    ignore()
    end_with_parent()


@contextmanager
def _kills_heard() -> Iterator[None]:
    """A kind kill is an interrupt, instead of an end that leaves the workers."""
    main = threading.current_thread() is threading.main_thread()
    names = (signal.SIGTERM, signal.SIGHUP) if main else ()
    before = {name: signal.signal(name, signal.default_int_handler) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
