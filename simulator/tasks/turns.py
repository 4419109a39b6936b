"""From what a client sends, gets and does in one step to the plan's turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.cline.setup import Draft, Reply
from simulator.core.action import Outcome
from simulator.core.plan import PlannedCall, Turn


@dataclass(frozen=True, slots=True)
class Done:
    """What carrying a step's actions out gave. took_s: until the client could go on."""

    outcomes: tuple[Outcome, ...]
    calls: tuple[PlannedCall, ...]
    spawns: tuple[int, ...]
    took_s: float


def turns_of(
    index: int, drafts: Sequence[Draft], reply: Reply, done: Done, think_s: float = 0.0, *, purpose: str = ""
) -> list[Turn]:
    """A summary call comes before the agent's own request, which alone has calls. index: of the first; purpose: of the
    last, "" for the draft's."""
    made = []
    for number, draft in enumerate(drafts):
        last = number == len(drafts) - 1
        made.append(
            Turn(
                index=index + number,
                purpose=(last and purpose) or draft.purpose,
                view=draft.view,
                cut=draft.cut,
                head=draft.head,
                prompt_tok=draft.prompt_tok,
                output_tok=reply.output_tok if last else draft.output_tok,
                think_s=think_s if number == 0 else 0.0,
                calls=done.calls if last else (),
                max_tok=draft.max_tok,
                spawns=done.spawns if last else (),
                stop_after_tok=reply.stop_after_tok if last else None,
            )
        )
    return made
