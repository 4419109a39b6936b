"""`sim watch`: a run as it goes, in a process of its own that only reads the run folder.

Drawing must not disturb the clocks of the load generator beside it: the view steps back (nice 10), reads each line
once, and leaves out frames in which nothing changed. Measured on one of two busy cores, pulses twice a second, with
`python -m simulator.view.live DIR` on a pseudo-terminal beside `tests/view/growing_run.py`: 1.2 % of a core for 32
sessions at 80x24, 3.6 % at 200x60, and 3.6 % for 256 sessions at 200x60; 24 to 31 MB of memory.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.live import Live

from simulator.core.judgement import judged_again
from simulator.errors import SimError, UsageError
from simulator.store.manifest import MANIFEST, read_manifest
from simulator.view.cells import ASCII, UNICODE, Glyphs, ascii_text, clock
from simulator.view.feed import Feed, process_gone
from simulator.view.final import final
from simulator.view.plain import progress_line
from simulator.view.screen import Frame, Lines, final_frame, frame
from simulator.view.state import LiveState
from simulator.view.terminal import Terminal

FPS = 4.0
NICE = 10
PLAIN_EVERY_S = 5.0
APPEAR_S = 10.0
SILENT_S = 5.0
#: without a process id in the manifest, only a long silence says that a run is dead
SILENT_UNKNOWN_S = 60.0


class Watched:
    """A run folder and what is known about it. verdict: "" while it goes on, then "ended" or "killed"."""

    def __init__(self, run_dir: Path) -> None:
        self.run_dir = run_dir
        self.state = LiveState()
        self.verdict = ""
        self._feed = Feed(run_dir)
        self._alive_at = time.monotonic() - self._feed.silent_s()
        self._judged_at = float("-inf")
        first = self._feed.poll(self.state)
        assert first, "read_manifest has seen a manifest"
        self._judge()

    def poll(self) -> None:
        pulse = self.state.pulse
        self._feed.poll(self.state)
        if self.state.pulse is not pulse:
            self._alive_at = time.monotonic()
        self._judge()

    @property
    def silent_s(self) -> float:
        return time.monotonic() - self._alive_at

    @property
    def now_s(self) -> float:
        """Run time: the last pulse's and what has passed since, unless it is over."""
        t_s = float(self.state.pulse.get("t_s", 0.0))
        return t_s if self.verdict else t_s + self.silent_s

    @property
    def notice(self) -> str:
        if self.verdict == "ended":
            return f"ended after {clock(self.now_s)}"
        if self.verdict == "killed":
            return f"killed after {clock(self.now_s)}"
        if self.silent_s > SILENT_S:
            return f"no news from the run for {clock(self.silent_s)}"
        return ""

    def farewell(self) -> str:
        """What stays on the terminal when the view has gone."""
        if self.verdict == "killed":
            pid = self.state.manifest.get("pid")
            who = f"its process ({pid}) is gone" if pid else "nothing has been written for a minute"
            return (
                f"the run in {self.run_dir} was killed {clock(self.now_s)} after its start: {who} and {MANIFEST} "
                f"has no end; `sim report {self.run_dir}` shows what was measured until then"
            )
        line = progress_line(self.state, self.now_s, self.notice)
        return f"{line}\n`sim report {self.run_dir}` shows the result" if self.verdict else line

    def _judge(self) -> None:
        if self.state.ended:
            self.verdict = "ended"
        if self.verdict or self.silent_s < SILENT_S or time.monotonic() - self._judged_at < 1:
            return
        self._judged_at = time.monotonic()
        gone = process_gone(self.state.manifest)
        if gone or (gone is None and self.silent_s > SILENT_UNKNOWN_S):
            self.verdict = "ended" if self.state.stage == "done" else "killed"


def watch(
    run_dir: Path,
    *,
    plain: bool,
    console: Console | None = None,
    every_s: float = PLAIN_EVERY_S,
    appear_s: float = APPEAR_S,
) -> None:
    """Shows the run until it ends, is found dead, or the reader leaves (q, Ctrl-C). Draws on the alternate screen of a
    terminal; elsewhere, or with `plain`, prints a line every `every_s` seconds. A run that was over before is shown
    until q where there is a keyboard. UsageError: no run folder appeared there within `appear_s`."""
    console = console or Console()
    drawn = not plain and console.is_terminal and console.file.isatty() and not console.is_dumb_terminal
    _yield_to_others()
    with Terminal(keys=drawn) as terminal:
        if not _appeared(run_dir, terminal, appear_s):
            watched = None
        else:
            watched = Watched(run_dir)
            if drawn:
                _draw(watched, console, terminal)
            else:
                _print(watched, console, terminal, every_s)
    if watched is not None and watched.verdict:
        _say(console, watched.farewell())
    if terminal.died_of is not None:
        signal.raise_signal(terminal.died_of)


def _yield_to_others() -> None:
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    if nice < NICE:
        os.setpriority(os.PRIO_PROCESS, 0, NICE)


def _appeared(run_dir: Path, terminal: Terminal, appear_s: float) -> bool:
    """Waits for the manifest. False when the reader left meanwhile."""
    until = time.monotonic() + appear_s
    while not (run_dir / MANIFEST).exists() and time.monotonic() < until:
        if terminal.wait(0.2) in ("quit", "terminate"):
            return False
    read_manifest(run_dir)
    return True


def _draw(watched: Watched, console: Console, terminal: Terminal) -> None:
    was_over = bool(watched.verdict == "ended") and terminal.interactive
    event = "suspend"
    while event == "suspend":
        with Live(
            Frame(), console=console, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
        ) as live:
            event = _frames(watched, live, terminal, stay=was_over)
        if event == "suspend":
            terminal.suspend()


def _frames(watched: Watched, live: Live, terminal: Terminal, *, stay: bool) -> str:
    console = live.console
    shown: list[object] = []
    due = time.monotonic()
    while True:
        watched.poll()
        lines = _lines(watched, console, result=stay)
        if lines != shown:
            live.update(Frame(lines), refresh=True)
            shown = list(lines)
        if watched.verdict and not stay:
            return "over"
        due = max(due + 1 / FPS, time.monotonic())
        event = terminal.wait(due - time.monotonic())
        if event and event != "resize":
            return event


def _lines(watched: Watched, console: Console, *, result: bool) -> Lines:
    """The screen now. result: of a run that is over, show the summary instead of the last state, if there is one."""
    width, height = console.size
    state, glyphs = watched.state, _glyphs(console)
    if result and state.summary:
        options = console.options.update(width=width, height=None)
        rendered = console.render_lines(final(judged_again(state.summary), state.manifest), options, pad=False)
        return final_frame(rendered, width=width, height=height, notice=watched.notice, glyphs=glyphs)
    return frame(state, width=width, height=height, now_s=watched.now_s, glyphs=glyphs, notice=watched.notice)


def _say(console: Console, line: str) -> None:
    text = line if _glyphs(console) is UNICODE else ascii_text(line)
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def _glyphs(console: Console) -> Glyphs:
    return UNICODE if console.encoding.lower().startswith("utf") else ASCII


def _print(watched: Watched, console: Console, terminal: Terminal, every_s: float) -> None:
    due, stage = time.monotonic(), ""
    while not watched.verdict:
        if time.monotonic() >= due or watched.state.stage != stage:
            stage = watched.state.stage
            line = progress_line(watched.state, watched.now_s, watched.notice)
            _say(console, line)
            due = time.monotonic() + every_s
        if terminal.wait(min(0.5, every_s)) in ("quit", "terminate"):
            return
        watched.poll()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m simulator.view.live", description="Show a run as it goes.")
    parser.add_argument("run_dir", type=Path, help="the run folder, which may still be about to appear")
    parser.add_argument("--plain", action="store_true", help="print lines instead of drawing a screen")
    parser.add_argument("--every", type=float, default=PLAIN_EVERY_S, metavar="S", help="seconds between such lines")
    parser.add_argument("--appear", type=float, default=APPEAR_S, metavar="S", help="seconds to wait for the folder")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.every <= 0:
            raise UsageError(f"--every {chosen.every:g} must be above 0; leave it out for {PLAIN_EVERY_S:g} seconds")
        watch(chosen.run_dir, plain=chosen.plain, every_s=chosen.every, appear_s=chosen.appear)
    except SimError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError, OSError) as error:
        print(f"{chosen.run_dir} cannot be shown: {type(error).__name__}: {error}"[:300], file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
