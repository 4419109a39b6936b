"""Processes for simulations that know nothing of each other, gone when the work or the user has ended."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context

from simulator.errors import Interrupted
from simulator.virtual.children import ignore


@contextmanager
def pool(size: int, kept: str = "nothing was written") -> Iterator[ProcessPoolExecutor]:
    """kept: what an interrupt leaves, for its sentence. A worker is started with a task: submit under `unheard`."""
    workers = ProcessPoolExecutor(size, get_context("spawn"), ignore)
    try:
        yield workers
        workers.shutdown()
    except BaseException as error:
        workers.shutdown(wait=False, cancel_futures=True)
        for worker in active_children():
            worker.kill()
        if isinstance(error, KeyboardInterrupt):
            raise Interrupted(f"interrupted; {kept}") from None
        raise
