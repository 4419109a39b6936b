"""How far the model is from figures that real engines gave: the same synthetic traffic in virtual time."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.engine.embedded.config import PARAMS_DIR, EngineParams, load_params
from simulator.virtual.agenda import Agenda
from simulator.virtual.fixed import Fixed
from simulator.virtual.log import Log
from simulator.virtual.replica import Replica

#: as they were measured with vLLM on one H200: 512 in, 512 out, 256 at once, max_model_len 8,192
MEASURED_TOK_S = {"baseline": 7_700.0, "top": 13_500.0}
TOK, AT_ONCE, MAX_MODEL_LEN = 512, 256, 8_192


@dataclass(frozen=True, slots=True)
class Checked:
    """One measured figure and the model's, output tokens a second."""

    engine: str
    measured_tok_s: float
    modelled_tok_s: float

    @property
    def error(self) -> float:
        """The model's share above (or, negative, below) the measurement."""
        return self.modelled_tok_s / self.measured_tok_s - 1


def checked() -> list[Checked]:
    """Each measured figure, simulated again; seconds of CPU time."""
    return [
        Checked(name, tok_s, output_tok_s(_measured_with(name), TOK, TOK, AT_ONCE))
        for name, tok_s in MEASURED_TOK_S.items()
    ]


def worst(checks: list[Checked]) -> float:
    """The largest error, as a share; what two modelled figures must differ by to be told apart."""
    return max(abs(each.error) for each in checks)


def output_tok_s(params: EngineParams, prompt_tok: int, output_tok: int, at_once: int) -> float:
    """Two waves of a closed loop: output tokens a second over the whole of it."""
    agenda, log = Agenda(), Log()
    traffic = Fixed(
        agenda, log, Replica(agenda, params, 0), input_tok=prompt_tok, output_tok=output_tok, requests=2 * at_once,
        at_once=at_once, first=0, place=0,
    )  # fmt: skip
    agenda.run(float("inf"), lambda: not traffic.over, lambda: False)
    return sum(record.output_tok or 0 for record, _gaps, _tokens in log.requests) / agenda.now_s


def _measured_with(name: str) -> EngineParams:
    return load_params(PARAMS_DIR / f"{name}.yaml").model_copy(update={"max_model_len": MAX_MODEL_LEN})
