"""The live view as people meet it: a process on a real pseudo-terminal, beside a process that writes the run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from growing_run import manifest, pulse, slot
from vt import ROOT, Screen, Watching

from simulator.store.folder import RunFolder


@contextmanager
def writer(folder: Path, *arguments: object) -> Iterator[subprocess.Popen[bytes]]:
    """A run that another process writes, a pulse every tenth of a second."""
    command = [sys.executable, "tests/view/growing_run.py", folder, "--pulse-s", "0.1", *arguments]
    process = subprocess.Popen([str(part) for part in command], cwd=ROOT)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def rows(screen: Screen) -> int:
    return sum(bool(re.match(r" +\d+ .*\d+/34 ", text)) for text in screen.lines)


def finished_run(folder: Path) -> None:
    run = RunFolder.create(folder, manifest(pid=1 << 22))
    for i in range(20):
        run.pulse(pulse(0.5 * i, [slot(n, "done") for n in range(4)], output_tok=1000 * i, requests_done=i))
    run.pulse(pulse(10.0, [slot(n, "done") for n in range(4)], stage="done", ends_s=None, output_tok=20_000))
    run.finish()


@pytest.mark.parametrize(("width", "height", "shown"), [(80, 24, 13), (160, 50, 32)])
def test_a_run_from_its_first_line_to_its_last(tmp_path: Path, width: int, height: int, shown: int) -> None:
    run = tmp_path / "run"
    with Watching(run, width=width, height=height) as view, writer(run, "--seconds", 3):
        screen = view.until(lambda s: rows(s) == shown and "window" in s.text and "running" in s.text)
        assert screen.alternate
        assert not screen.cursor_shown
        assert "EMULATED" in screen.lines[0]
        assert view.ended() == 0
        assert view.terminal_as_before
        assert "[EMULATED]" in screen.text
        assert "ended after 0:03" in screen.text
        assert f"sim report {run}" in screen.text.replace("\n", "")
        assert (screen.wraps, screen.unknown, screen.entered) == (0, [], 1)


def test_a_resized_terminal_is_filled_again(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with writer(run, "--seconds", 60), Watching(run, width=120, height=40) as view:
        view.until(lambda s: rows(s) >= 25)
        for width, height, shown in ((60, 15, 7), (150, 50, 32)):
            view.resize(width, height)
            screen = view.until(lambda s, shown=shown: rows(s) == shown and "q quit" in s.lines[-1])
            assert screen.lines[-1].endswith("q quit")
            assert len(screen.lines[-1]) == width - 1
        view.type(b"q")
        assert view.ended() == 0
        assert view.terminal_as_before


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 0)])
def test_signals_leave_the_terminal_as_it_was(tmp_path: Path, number: signal.Signals, code: int) -> None:
    run = tmp_path / "run"
    with writer(run, "--seconds", 60), Watching(run) as view:
        view.until(lambda s: rows(s) > 0)
        view.process.send_signal(number)
        assert view.ended() == code
        assert view.terminal_as_before
        assert "Traceback" not in view.screen.text


def test_suspended_and_continued(tmp_path: Path) -> None:
    """Ctrl-Z gives the shell its terminal back; `fg` brings the screen up again."""
    run = tmp_path / "run"
    with writer(run, "--seconds", 60), Watching(run) as view:
        view.until(lambda s: rows(s) > 0)
        view.type(b"\x1a")
        view.until(lambda s: not s.alternate)
        assert os.waitpid(view.process.pid, os.WUNTRACED)[1] >> 8 == signal.SIGSTOP
        assert view.terminal_as_before
        view.process.send_signal(signal.SIGCONT)
        view.until(lambda s: s.alternate and rows(s) > 0)
        view.type(b"q")
        assert view.ended() == 0
        assert view.terminal_as_before


@pytest.mark.parametrize("options", [[], ["--plain"]])
def test_a_killed_run_is_called_killed(tmp_path: Path, options: list[str]) -> None:
    run = tmp_path / "run"
    with writer(run, "--seconds", 60) as process:
        with Watching(run, width=100) as early:
            early.until(lambda s: rows(s) > 0)
        process.kill()
        process.wait()
    past = time.time() - 60
    for file in run.iterdir():
        os.utime(file, (past, past))
    with Watching(run, *options, width=300) as view:
        assert view.ended() == 0
        assert view.terminal_as_before
        assert "was killed 0:0" in view.screen.text
        assert f"its process ({process.pid}) is gone" in view.screen.text


def test_a_silent_run_whose_process_lives_is_not_called_dead(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path / "run", manifest(pid=os.getpid()))
    run.pulse(pulse(1.0, [slot(0)]))
    run.flush()
    past = time.time() - 60
    for file in run.path.iterdir():
        os.utime(file, (past, past))
    with Watching(run.path) as view:
        view.until(lambda s: "no news from the run for 1:0" in s.text)
        assert view.process.poll() is None
    run.finish()


def test_a_finished_run_stays_until_q(tmp_path: Path) -> None:
    finished_run(tmp_path / "run")
    with Watching(tmp_path / "run") as view:
        view.until(lambda s: "ended after 0:10" in s.text and rows(s) == 4)
        assert view.process.poll() is None
        view.type(b"q")
        assert view.ended() == 0
        assert view.terminal_as_before


def test_a_finished_run_shows_its_summary(tmp_path: Path) -> None:
    from fixtures_run import write_run

    from simulator.cli.report import write_report

    run = write_run(tmp_path / "run")
    write_report(run, show=False)
    with Watching(run, height=40) as view:
        screen = view.until(lambda s: "TTFT p50" in s.text and "q quit" in s.text)
        assert "turn latency" in screen.text
        assert (screen.wraps, screen.unknown) == (0, [])
        view.type(b"q")
        assert view.ended() == 0


def piped(*arguments: object, **env: str) -> subprocess.Popen[str]:
    """The view without a terminal, not waited for."""
    return subprocess.Popen(
        [sys.executable, "-m", "simulator.view.live", *map(str, arguments)],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | env,
    )


def test_without_a_terminal_it_prints_lines(tmp_path: Path) -> None:
    run = tmp_path / "run"
    view = piped(run, "--every", 0.5, FORCE_COLOR="1")
    with writer(run, "--seconds", 3):
        out, errors = view.communicate(timeout=200)
    lines = out.splitlines()
    assert (view.returncode, errors) == (0, "")
    assert "\x1b" not in out
    assert all(text.startswith("[EMULATED] 00:0") for text in lines[:-1])
    assert any("window" in text and "/32 busy" in text and "tok/s" in text and " left" in text for text in lines)
    assert "ended after 0:03" in lines[-2]
    assert lines[-1].startswith("`sim report ")


def test_a_finished_run_is_told_at_once_when_nobody_can_type(tmp_path: Path) -> None:
    finished_run(tmp_path / "run")
    view = piped(tmp_path / "run")
    assert "ended after 0:10" in view.communicate(timeout=200)[0]
    assert view.returncode == 0


def test_a_folder_that_never_appears_is_one_sentence(tmp_path: Path) -> None:
    view = piped(tmp_path / "none", "--appear", 0.3)
    out, errors = view.communicate(timeout=200)
    assert (view.returncode, out) == (2, "")
    assert errors.count("\n") == 1
    assert f"{tmp_path / 'none'} does not exist" in errors


def test_ascii_terminals_get_ascii(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with writer(run, "--seconds", 60), Watching(run, PYTHONIOENCODING="ascii") as view:
        view.until(lambda s: rows(s) > 0)
        assert view.raw.isascii()
