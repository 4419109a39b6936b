"""`python -m simulator.engine.embedded.calibrate [HARDWARE.yaml ...]`: the model beside every measured figure it knows.

A hardware file's `calibration` lists what real engines gave. Each is played again in virtual time through the front end
and the scheduler (loop.py): a closed loop of requests of one size, or what agents sent, turn by turn.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from simulator.engine.embedded.config import PARAMS_DIR, EngineParams, Hardware, beside, finish, load_hardware
from simulator.engine.embedded.config import read_extended as read
from simulator.engine.embedded.loop import Heard, Loop
from simulator.engine.embedded.settings import Measured
from simulator.engine.embedded.traffic import read_turns, waves
from simulator.errors import SimError

#: figures beside output tokens a second: name, heading, times what, unit
FIGURES = (
    ("ttft_s", "TTFT p50", 1e3, "ms"),
    ("tpot_s", "TPOT p50", 1e3, "ms"),
    ("turn_s", "turn p50", 1e3, "ms"),
    ("front_end_s", "front end p50", 1e3, "ms"),
    ("later_cached_share", "cached, later turns", 1e2, "%"),
    ("histories_s", "all histories read", 1.0, "s"),
)


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one play; fields as in settings.Measured. later_cached_share: None where no turn follows another; histories_s:
    None where the window does not begin with the first tokens."""

    output_tok_s: float
    ttft_s: float
    tpot_s: float
    turn_s: float
    front_end_s: float
    later_cached_share: float | None
    histories_s: float | None = None

    @classmethod
    def of(cls, heard: Heard, start_s: float, end_s: float, histories_s: float | None = None) -> Figures:
        """Of the requests that were sent from start_s on and before end_s, and the tokens that came then."""
        sent = [each for each in heard.done if start_s <= each.sent_s < end_s]
        later = [each for each in sent if each.later]
        return cls(
            output_tok_s=sum(n for at_s, n in heard.out if start_s <= at_s <= end_s) / (end_s - start_s),
            ttft_s=_median(each.ttft_s for each in sent),
            tpot_s=_median(each.tpot_s for each in sent if each.tpot_s is not None),
            turn_s=_median(each.turn_s for each in sent),
            front_end_s=_median(each.front_end_s for each in sent),
            later_cached_share=sum(max(0, each.cached_tok) for each in later) / sum(each.prompt_tok for each in later)
            if later
            else None,
            histories_s=histories_s,
        )


def _median(values: Iterable[float]) -> float:
    return statistics.median(list(values) or [float("nan")])


@dataclass(frozen=True)
class Compared:
    """A measured figure with all that was measured beside it, and the model's."""

    measured: Measured
    figures: Figures

    @property
    def traffic(self) -> str:
        """In words, after the settings' name."""
        return f"{self.measured.name}, {self.shape}"

    @property
    def shape(self) -> str:
        """Of the traffic alone: of figures with one shape, ratios say what the settings do."""
        return _shape(self.measured)

    @property
    def modelled_tok_s(self) -> float:
        return self.figures.output_tok_s

    @property
    def error(self) -> float:
        """Of output tokens a second: the model's share above the measurement, or below (< 0)."""
        return self.modelled_tok_s / self.measured.output_tok_s - 1

    @cached_property
    def errors(self) -> dict[str, float]:
        """Of the other figures that were measured, by name; of a share in points of a hundred, not as a share of it."""
        found = {}
        for name, *_how in FIGURES:
            real, model = getattr(self.measured, name), getattr(self.figures, name)
            if real is not None and model is not None:
                found[name] = model - real if name == "later_cached_share" else model / real - 1
        return found


def compare(hardware: Hardware, folder: Path = PARAMS_DIR) -> list[Compared]:
    """One for each entry of the hardware's calibration; `folder`: where its settings and traffic files are, else the
    shipped."""
    found = []
    for each in hardware.calibration:
        found.append(Compared(each, modelled(each, settings(each, hardware, folder), folder)))
    return found


def settings(measured: Measured, hardware: Hardware, folder: Path = PARAMS_DIR) -> EngineParams:
    """The engine that gave the figure, on this hardware."""
    path = beside(folder / "hardware.yaml", measured.engine)
    return finish({**read(path), **measured.changes, "hardware": hardware}, path)


def modelled(measured: Measured, params: EngineParams, folder: Path = PARAMS_DIR) -> Figures:
    """Of agents: the window. Else from the first request to the last token."""
    loop = Loop(params)
    if measured.agents is not None:
        turns = read_turns(beside(folder / "hardware.yaml", measured.agents))
        by_tokens = measured.window_from == "first tokens"
        heard = loop.play(turns, window_s=measured.window_s, from_first_token=by_tokens)
        assert measured.window_s is not None
        return Figures.of(heard, heard.from_s, heard.from_s + measured.window_s, heard.from_s if by_tokens else None)
    assert measured.prompt_tok and measured.output_tok and measured.at_once
    known_tok = int(measured.prompt_tok * measured.cached_share)
    known, slots = waves(measured.prompt_tok, measured.output_tok, measured.at_once, known_tok)
    if known:
        loop.play(known)
    start_s = loop.now_s
    return Figures.of(loop.play(slots), start_s, loop.now_s)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="simulator.engine.embedded.calibrate", description="Model and measurement.")
    parser.add_argument("hardware", nargs="*", type=Path, help="hardware files; none: all shipped ones")
    paths = parser.parse_args(arguments).hardware or shipped()
    try:
        for path in paths:
            sys.stdout.write("\n".join(table(load_hardware(path), path)) + "\n\n")
    except SimError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


def shipped() -> list[Path]:
    return [path for path in sorted(PARAMS_DIR.glob("*.yaml")) if "gpu" in read(path)]


def table(hardware: Hardware, path: Path) -> list[str]:
    """Markdown."""
    rows = [f"{hardware.name}: EMULATED beside measured", ""]
    if not hardware.calibration:
        return [rows[0], "", "no measured figure: nothing of this file has been held against a GPU"]
    rows += ["| traffic | settings | figure | measured | modelled | error | |", "|---|---|---|---|---|---|---|"]
    for each in compare(hardware, path.parent):
        m = each.measured
        note = f"{'fitted to' if m.fitted else 'not fitted'}; {m.source}"
        told = f"{m.output_tok_s:,.0f} | {each.modelled_tok_s:,.0f} | {each.error:+.1%}"
        rows.append(f"| {_shape(m)} | {m.name} | output tok/s | {told} | {note} |")
        rows += [f"| | | {line} | |" for line in _beside(each)]
    return rows


def _shape(measured: Measured) -> str:
    if measured.agents is not None:
        return Path(measured.agents).stem.replace("_", " ")
    known = f", {measured.cached_share:.0%} cached" if measured.cached_share else ""
    return f"{measured.prompt_tok:,}/{measured.output_tok} at {measured.at_once}{known}"


def _beside(compared: Compared) -> list[str]:
    rows = []
    for name, heading, times, unit in FIGURES:
        if name in compared.errors:
            real, model = (times * getattr(each, name) for each in (compared.measured, compared.figures))
            error = compared.errors[name]
            told = f"{100 * error:+.1f} points" if unit == "%" else f"{error:+.1%}"
            rows.append(f"{heading} | {real:,.1f} {unit} | {model:,.1f} {unit} | {told}")
    return rows


if __name__ == "__main__":
    sys.exit(main())
