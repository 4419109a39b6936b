"""`python -m simulator.cli.ladder_life JOB`: one life of a ladder. Starts a server, measures one rung in it once or
several times, and stops it. A process of its own, so that nothing of it outlives it and no fault of it ends the ladder.

Says what happens as JSON lines on standard output; everything else that is printed goes to standard error. Ends when
standard input closes: then the ladder is gone.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from simulator.cli.ladder_job import FAULT, LifeJob

Tell = Callable[..., None]


def main(path: Path) -> int:
    job = LifeJob.read(path)
    if job.cores is not None:
        os.sched_setaffinity(0, job.cores)  # before any library makes threads; server and tools inherit it
    tell = _voice()
    import traceback

    import uvloop

    from simulator.cli.ladder_server import Life
    from simulator.errors import SimError

    try:
        uvloop.run(Life(job, tell).run())
    except SimError as error:
        tell(FAULT, text=str(error), code=error.exit_code)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        traceback.print_exc()
        tell(FAULT, text=f"a fault of ours, {type(error).__name__}: {error}; lives/ has its log", code=1)
        return 1
    return 0


def _voice() -> Tell:
    """Keeps standard output for words of ours."""
    import orjson

    words = os.dup(1)
    os.dup2(2, 1)

    def tell(word: str, **more: Any) -> None:
        with contextlib.suppress(OSError):  # nobody listens any more; standard input says so, too
            os.write(words, orjson.dumps({"word": word, "unix_s": time.time(), **more}) + b"\n")

    return tell


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
