"""How far the model is from figures that real engines gave: what the hardware files list, simulated again."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from simulator.engine.embedded.calibrate import compare
from simulator.engine.embedded.config import EngineParams


@dataclass(frozen=True, slots=True)
class Checked:
    """One measured figure and the model's, output tokens a second. fitted: the hardware file's values were chosen so
    that it comes out, so its error proves little. agents: of agents' traffic, as what-if's cells are. shape: of the
    traffic; figures with the same one can be set against each other."""

    hardware: str
    traffic: str
    measured_tok_s: float
    modelled_tok_s: float
    fitted: bool
    agents: bool = False
    shape: str = ""

    @property
    def error(self) -> float:
        """The model's share above (or, negative, below) the measurement."""
        return self.modelled_tok_s / self.measured_tok_s - 1


def checked(engines: Iterable[EngineParams]) -> list[Checked]:
    """The figures that are known of these engines' hardware; seconds of CPU time."""
    hardware = {params.hardware.name: params.hardware for params in engines}
    return [
        Checked(
            hardware=name,
            traffic=each.traffic,
            measured_tok_s=each.measured.output_tok_s,
            modelled_tok_s=each.modelled_tok_s,
            fitted=each.measured.fitted,
            agents=each.measured.agents is not None,
            shape=each.shape,
        )
        for name, one in hardware.items()
        for each in compare(one)
    ]


@dataclass(frozen=True, slots=True)
class Errors:
    """The largest errors as shares, None where there is no such figure. ratios: of how two engines compare under one
    traffic, where at least one of them was held out from fitting; of agents' traffic where that was measured. all: of
    every figure by itself."""

    ratios: float | None
    all: float | None

    @classmethod
    def of(cls, checks: Sequence[Checked], engines: Iterable[EngineParams]) -> Errors:
        """None of both when nothing was measured of the hardware of one of the engines, so that nobody knows."""
        known = {each.hardware for each in checks}
        if any(params.hardware.name not in known for params in engines):
            return cls(None, None)
        pairs = [pair for pair in itertools.combinations(checks, 2) if _comparable(*pair)]
        pairs = [pair for pair in pairs if pair[0].agents] or pairs
        off = [_ratio_error(*pair) for pair in pairs]
        return cls(max(off, default=None), max((abs(each.error) for each in checks), default=None))


def _comparable(one: Checked, other: Checked) -> bool:
    same = (one.hardware, one.shape) == (other.hardware, other.shape)
    return same and not (one.fitted and other.fitted)


def _ratio_error(one: Checked, other: Checked) -> float:
    """How far the modelled ratio of the two is from the measured one, whichever of them stands above."""
    off = (1 + one.error) / (1 + other.error)
    return max(off, 1 / off) - 1
