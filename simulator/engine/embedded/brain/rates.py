"""How often the oracle does what, as the settings file or the command line says."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, ValidationError, model_validator

from simulator.engine.embedded.filemodel import FileModel
from simulator.errors import UsageError

Rate = Annotated[float, Field(ge=0, le=1)]
#: mistakes of one reply, after which the oracle does that step right; the order in which luck is divided among them
OF_A_TURN = ("malformed", "unfit_edit", "no_tool", "unknown_tool", "call_in_content", "call_in_reasoning", "talks_on")
#: what becomes of a whole session
OF_A_SESSION = ("loop", "early_stop", "wrong_edit")


class Rates(FileModel):
    """Probabilities. Of a reply with a tool call, where it can have the mistake (an edit that does not fit needs an
    edit): malformed, unfit_edit, no_tool, unknown_tool, call_in_content, call_in_reasoning, talks_on. Of a session:
    loop, early_stop, wrong_edit. At most one of each group happens, so that either group adds up to 1 at most."""

    malformed: Rate = 0.0
    unfit_edit: Rate = 0.0
    no_tool: Rate = 0.0
    unknown_tool: Rate = 0.0
    call_in_content: Rate = 0.0
    call_in_reasoning: Rate = 0.0
    talks_on: Rate = 0.0
    loop: Rate = 0.0
    early_stop: Rate = 0.0
    wrong_edit: Rate = 0.0

    @model_validator(mode="after")
    def _add_up(self) -> Rates:
        for what, names in (("a reply", OF_A_TURN), ("a session", OF_A_SESSION)):
            total = sum(getattr(self, name) for name in names)
            if total > 1 + 1e-9:
                raise ValueError(f"the rates of {what} ({', '.join(names)}) add up to {total:g}, more than 1")
        return self

    def of_a_turn(self) -> dict[str, float]:
        return {name: getattr(self, name) for name in OF_A_TURN}

    def of_a_session(self) -> dict[str, float]:
        return {name: getattr(self, name) for name in OF_A_SESSION}


def parse_rates(text: str, option: str) -> dict[str, float]:
    """`malformed=0.05,loop=0.1` as a mapping of rates; the values' ranges are checked where they are used. UsageError
    that names the option."""
    found: dict[str, float] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        name, mark, value = (each.strip() for each in part.partition("="))
        if name not in Rates.model_fields:
            near = difflib.get_close_matches(name, Rates.model_fields, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(Rates.model_fields)}"
            raise UsageError(f"{option}: `{name}` is no mistake of the oracle; {hint}")
        try:
            found[name] = float(value)
        except ValueError:
            given = value if mark else "nothing"
            raise UsageError(f"{option}: {name} is {given}; write a rate from 0 to 1, as {name}=0.05") from None
    checked(found, option)
    return found


def checked(rates: Mapping[str, float], option: str) -> Rates:
    """UsageError that names the option when they are no rates."""
    try:
        return Rates(**rates)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(str(part) for part in fault["loc"])
        raise UsageError(f"{option}: {where + ': ' if where else ''}{fault['msg']}") from None
