"""How many client processes are chosen, and what is said about it."""

from __future__ import annotations

import pytest

from simulator.cli.procs import choose
from simulator.core.scenario import Scenario
from simulator.errors import UsageError


def scenario(agents: int = 0, streams: int = 0, requests: int = 4096, output_tok: int = 512) -> Scenario:
    block = {"concurrency": streams, "requests": requests, "output_tok": output_tok} if streams else None
    return Scenario.model_validate({"name": "x", "sessions": agents, "refill": False, "synthetic": block})


@pytest.mark.parametrize(
    ("load", "cores", "embedded", "expected"),
    [
        ({"agents": 32}, 64, False, 1),
        ({"agents": 32, "streams": 256}, 64, False, 1),
        ({"agents": 512, "streams": 256}, 64, False, 3),
        ({"streams": 1024}, 64, False, 3),
        ({"streams": 1024}, 2, False, 2),
        ({"streams": 1024}, 3, True, 2),
        ({"streams": 1024}, 1, True, 1),
        ({"agents": 2}, 64, False, 1),
    ],
)
def test_an_estimate_of_the_load_decides(load: dict[str, int], cores: int, embedded: bool, expected: int) -> None:
    assert choose(scenario(**load), None, embedded=embedded, cores=cores).count == expected


def test_short_replies_cost_more_requests() -> None:
    short = choose(scenario(streams=1024, output_tok=16), None, embedded=False, cores=64)
    assert short.count > choose(scenario(streams=1024), None, embedded=False, cores=64).count


def test_what_was_chosen_is_said_with_its_reason() -> None:
    assert str(choose(scenario(agents=32), None, embedded=True, cores=2)).startswith("1 client process: 32 agents")
    few = choose(scenario(streams=2048), None, embedded=True, cores=2)
    assert "there are 2 cores, one of them the engine's" in few.why
    assert str(choose(scenario(agents=4), 2, embedded=True, cores=1)) == "2 client processes: as asked"


def test_there_are_no_more_processes_than_places() -> None:
    few = choose(scenario(agents=3), 5, embedded=False, cores=8)
    assert few.count == 3 and "only 3 requests are open at once" in few.why


@pytest.mark.parametrize("asked", [0, -1, 65])
def test_a_senseless_number_is_refused(asked: int) -> None:
    with pytest.raises(UsageError, match=rf"--procs {asked}: a run takes 1 to 64"):
        choose(scenario(agents=3), asked, embedded=False)
