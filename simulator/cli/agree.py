"""`sim agree`: the same prompts to two engines at temperature 0, and how far they say the same."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import uvloop

from simulator import tokenizer
from simulator.cli.agree_prompts import prompts_of
from simulator.cli.arrivals import with_traces
from simulator.cli.live import replay_only
from simulator.cli.outputs import Outputs
from simulator.cli.run import read_scenario
from simulator.cli.target import EMBEDDED, Target, check_engine, mask_url, normal_url, open_target
from simulator.cline.live.normal_calls import normal_calls
from simulator.core.agreement import Answer, agreement
from simulator.core.scenario import Scenario
from simulator.core.scenario_file import parse
from simulator.core.wording import counted
from simulator.drive.endpoint import Endpoint
from simulator.drive.greedy import Greedy, Prompt, Told
from simulator.errors import EngineError, Incomparable, Interrupted, UsageError
from simulator.store.agreement import ANSWER_JSON, ANSWER_MD, AgreementFolder
from simulator.store.manifest import write_json, write_whole
from simulator.view.agreement import document
from simulator.view.sheet import markdown

FOLDER = Path("reports/agree")
A, B, AGAIN = "A", "B", "A again"


@dataclass(frozen=True, slots=True)
class Side:
    """What the command line said of one engine: an address, or a configuration to start. model: None, the only one."""

    named: str
    model: str | None = None

    @property
    def url(self) -> str | None:
        here = "://" in self.named or re.fullmatch(r"[\w.-]+:\d+(/\S*)?", self.named)
        return normal_url(self.named) if here and not Path(self.named.partition(":")[0]).exists() else None


@dataclass(frozen=True, slots=True)
class Asked:
    a: Side
    b: Side
    scenario: Path
    turns: int = 64
    max_tok: int = 512
    concurrency: int = 1
    seed: int | None = None
    twice: bool = False
    out: Path | None = None
    overrides: tuple[str, ...] = ()


def main(asked: Asked, outputs: Outputs) -> int:
    """0. Raises Incomparable when the engines do not count the same prompts, SimError before anything was asked."""
    outputs.check()
    text = read_scenario(asked.scenario)
    scenario = with_traces(parse(text, str(asked.scenario), asked.overrides), asked.scenario)
    replay_only(scenario, "sim agree")
    if not scenario.sessions:
        raise UsageError(f"{asked.scenario} has no agents whose prompts could be asked: its `sessions` is 0")
    if asked.seed is not None:
        scenario = scenario.model_copy(update={"seed": asked.seed})
    for side in (asked.a, asked.b):
        if side.url is None and side.named != EMBEDDED:
            check_engine(scenario, side.named, None, None)
    folder = AgreementFolder.create(asked.out or FOLDER / f"{time.strftime('%Y%m%d-%H%M%S')}-{scenario.name}")
    prompts = prompts_of(scenario, asked.turns, asked.max_tok)
    try:
        uvloop.run(_ask(asked, scenario, prompts, folder))
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted; {folder.path} holds the replies that came, which are not compared") from None
    return show(folder.path, outputs)


async def _ask(asked: Asked, scenario: Scenario, prompts: list[Prompt], folder: AgreementFolder) -> None:
    told: dict[str, Any] = {
        "scenario": scenario.name, "seed": scenario.seed, "prompts": len(prompts), "max_tok": asked.max_tok,
        "concurrency": asked.concurrency, "twice": asked.twice, "forgot": {},
        "prompts_sha256": hashlib.sha256(b"\n".join(prompt.body for prompt in prompts)).hexdigest(),
    }  # fmt: skip
    for key, side, names in (("a", asked.a, (A, AGAIN)[: 1 + asked.twice]), ("b", asked.b, (B,))):
        log = folder.path / f"engine_{key}.log"
        engine = None if side.url else side.named
        async with open_target(scenario, side.url, side.model, engine, log) as opened:
            target = opened.target
            told[key] = _described(side, target)
            key_sent = target.api_key or "none"
            endpoint = Endpoint(target.base_url, key_sent, time.monotonic, timeout_s=target.timeout_s)
            try:
                for name in names:
                    print(f"{name}: {counted(len(prompts), 'prompt')} to {target.model}", flush=True)
                    greedy = Greedy(endpoint, target.model, asked.max_tok)
                    told["forgot"][name] = await greedy.forget(target.root)
                    await _one_side(name, greedy, asked, prompts, folder)
            finally:
                await endpoint.close()
            if changed := await opened.changed():
                raise EngineError(f"{mask_url(side.named)} is not the engine it was at the start: {'; '.join(changed)}")
    folder.write_asked(told)


def _described(side: Side, target: Target) -> dict[str, Any]:
    return {
        "named": str(target.identity.get("config") or mask_url(side.named)),
        "model": target.model,
        "emulated": target.kind == "emulated",
        "random_weights": bool(target.identity.get("random_weights")),
        "engine": {**target.identity, "kind": target.kind, "base_url": mask_url(target.base_url)},
    }


async def _one_side(name: str, greedy: Greedy, asked: Asked, prompts: list[Prompt], folder: AgreementFolder) -> None:
    try:
        await greedy.ask_all(prompts, asked.concurrency, lambda told: folder.add({"side": name, **asdict(told)}))
    except* EngineError as group:
        raise group.exceptions[0] from None


def show(path: Path, outputs: Outputs) -> int:
    """Folds the replies in a folder, also of an older run, and tells."""
    folder = AgreementFolder.open(path)
    answer = fold(folder)
    write_json(path / ANSWER_JSON, answer)
    seen = document(answer)
    write_whole(path / ANSWER_MD, markdown(seen).encode())
    outputs.give(seen, answer)
    if outputs.json is None:
        print(f"replies and figures: {path}")
    return 0


def fold(folder: AgreementFolder) -> dict[str, Any]:
    """{schema, scenario, seed, prompts, max_tok, concurrency, a, b, tokens, compared}: from the replies alone, and what
    was asked. tokens: "ids" or "text"."""
    asked = folder.asked()
    sides: dict[str, dict[tuple[str, int], Told]] = {A: {}, B: {}, AGAIN: {}}
    for line in folder.replies():
        try:
            side, told = sides[line.pop("side")], Told(**line)
        except (KeyError, TypeError):
            raise UsageError(f"{folder.path} holds replies that no `sim agree` writes; run it again") from None
        side[told.session, told.turn] = told
    _same_prompts(sides[A], sides[B])
    ids = all(told.token_ids is not None or told.error for side in sides.values() for told in side.values())
    compared = {"ab": _compared(sides[A], sides[B], ids=ids)}
    if sides[AGAIN]:
        compared["aa"] = _compared(sides[A], sides[AGAIN], ids=ids)
    return {**asked, "tokens": "ids" if ids else "text", "compared": compared}


def _compared(a: Mapping[Any, Told], b: Mapping[Any, Told], *, ids: bool) -> dict[str, Any]:
    none = Answer(error="not asked")
    return agreement([(_answer(a[key], ids=ids), _answer(b[key], ids=ids) if key in b else none) for key in a])


def _answer(told: Told, *, ids: bool) -> Answer:
    if told.error:
        return Answer(error=told.error)
    said = "".join(f"\n{call['name']}{call['arguments']}" for call in told.calls)
    tokens = (
        told.token_ids if ids and told.token_ids is not None else tokenizer.encode(told.reasoning + told.text + said)
    )
    return Answer(tuple(tokens), normal_calls(told.profile, told.text, told.calls))


def _same_prompts(a: Mapping[Any, Told], b: Mapping[Any, Told]) -> None:
    """Raises Incomparable when they do not read the same, EngineError when one of them answered nothing."""
    for name, side in ((A, a), (B, b)):
        if all(told.error for told in side.values()):
            first = next((told.error for told in side.values()), "nothing was asked")
            raise EngineError(f"{name} answered none of {counted(len(side), 'prompt')}, the first time: {first}")
    for key in a.keys() & b.keys():
        counts = a[key].prompt_tok, b[key].prompt_tok
        if None not in counts and counts[0] != counts[1]:
            raise Incomparable(
                f"A counts {counts[0]:,} tokens in turn {key[1]} of {key[0]} and B {counts[1]:,}: another model or "
                "chat template reads other prompts; serve the same model on both sides"
            )
