"""A signal ends a simulation that looks, and one that does not; what is being written is left to its end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest

from simulator.cli.virtual import interruptible
from simulator.errors import Interrupted

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)


def send(number: int) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", SIGNALS[:3])
def test_a_signal_is_answered_when_it_is_asked_for(number: int) -> None:
    before = [signal.getsignal(each) for each in SIGNALS]
    with interruptible(patience_s=0.1) as asked:
        assert not asked()
        send(number)
        assert asked()
        time.sleep(0.2)  # what comes after it takes its time
    assert [signal.getsignal(each) for each in SIGNALS] == before
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_a_simulation_that_never_looks_is_broken_off() -> None:
    began_s = time.monotonic()
    with pytest.raises(Interrupted, match=r"was not heard of for 0.1 s and was broken off"), interruptible(0.1):
        send(signal.SIGTERM)
        time.sleep(90)
    assert time.monotonic() - began_s < 60


def test_writing_is_not_broken_off() -> None:
    with interruptible(patience_s=0.1) as asked:
        asked.over()
        send(signal.SIGTERM)
        time.sleep(0.2)


def test_a_second_signal_ends_at_once() -> None:
    script = (
        "import os, signal; from simulator.cli.virtual import interruptible\n"
        "with interruptible(): [os.kill(os.getpid(), signal.SIGTERM) for _ in range(2)]; print('never reached')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=200)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_a_kind_kill_of_parallel_simulations_leaves_no_worker() -> None:
    script = (
        "import os, time\nfrom simulator.cli.workers import pool\nfrom simulator.errors import Interrupted\n"
        "if __name__ == '__main__':\n"
        "    try:\n"
        "        with pool(1) as workers:\n"
        "            print(workers.submit(os.getpid).result(), flush=True)\n"
        "            workers.submit(time.sleep, 300).result()\n"
        "    except Interrupted as error:\n        print(error)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        parent.terminate()
        assert parent.communicate(timeout=60)[0] == "interrupted; nothing was written\n"
    end_s = time.monotonic() + 60
    while time.monotonic() < end_s:
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, 0)
            time.sleep(0.05)
            continue
        return
    raise AssertionError("the worker lives on")
