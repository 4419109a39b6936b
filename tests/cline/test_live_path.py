"""How far a live session keeps to the recorded way, and the names of its failures."""

from __future__ import annotations

import pytest

from simulator.cline.live.path import Divergence, keys
from simulator.cline.live.verdict import Ending, failure_class
from simulator.core.action import Action, Command, Complete, Declined, Edit, Insert, ListFiles, ReadFile, Search, Write
from simulator.core.record import FAILURES

STEPS: tuple[tuple[Action, ...], ...] = (
    (ListFiles(".", recursive=True),),
    (ReadFile("a.py"), ReadFile("b.py")),
    (Edit("a.py", (("x\n", "y\n"), ("p\n", "q\n"))),),
    (Complete("done"),),
)


def walk(profile: str, *turns: tuple[Action, ...]) -> tuple[int | None, float | None]:
    found = Divergence(profile, STEPS)
    for actions in turns:
        found.add(actions)
    return found.first, found.share


@pytest.mark.parametrize("profile", ["classic-xml", "sdk"])
def test_the_same_calls_are_the_recorded_way(profile: str) -> None:
    assert walk(profile, *STEPS) == (None, 1.0)
    split = (Edit("a.py", (("x\n", "y\n"),)), Edit("a.py", (("p\n", "q"),)))
    assert walk(profile, *STEPS[:2], split, (Complete("in other words"),)) == (None, 1.0)


def test_an_sdk_listing_is_its_command() -> None:
    listed = Command("find . -mindepth 1 -not -path '*/.*' \\( -type d -printf '%P/\\n' -o -printf '%P\\n' \\)")
    assert walk("sdk", (listed,), *STEPS[1:]) == (None, 1.0)
    assert walk("classic-xml", (listed,), *STEPS[1:])[0] == 0


@pytest.mark.parametrize(
    ("turns", "first", "share"),
    [
        ((), 0, 0.0),
        (STEPS[:2], 2, 3 / 5),  # it ended too soon
        ((STEPS[0], (Search("x"),), *STEPS[1:]), 1, 1.0),  # one more: all that follows is late, and all was made
        ((*STEPS, STEPS[0]), 4, 1.0),
        (((Declined("read_file", "{}", "why"),), *STEPS), 0, 1.0),
        ((STEPS[1],), 0, 2 / 5),
        ((STEPS[0], STEPS[0], STEPS[0]), 1, 1 / 5),  # made three times, recorded once
        (STEPS[3:], 0, 0.0),  # to end is no part of the way
    ],
)
def test_where_it_is_left_and_what_was_made(turns: tuple[tuple[Action, ...], ...], first: int, share: float) -> None:
    got = walk("classic-xml", *turns)
    assert got[0] == first and got[1] == pytest.approx(share)


def test_without_a_recording_nothing_is_known() -> None:
    found = Divergence("sdk", ())
    found.add((ReadFile("a"),))
    assert (found.first, found.share) == (None, None)


def test_other_calls_have_other_keys() -> None:
    several = [
        ReadFile("a"), ReadFile("a", 1, 2), ReadFile("b"), Write("a", "x"), Write("a", "y"), Insert("a", 1, "x"),
        Command("ls"), Command("ls -l"), Edit("a", (("x\n", "y\n"),)),
    ]  # fmt: skip
    for profile in ("classic-xml", "sdk"):
        assert len({keys(profile, [action]) for action in several}) == len(several)


@pytest.mark.parametrize(
    ("ending", "found"),
    [
        (Ending("done"), "wrong_answer"),
        (Ending("done", malformed=True), "malformed_calls"),
        (Ending("silent"), "gave_up"),
        (Ending("silent", malformed=True), "malformed_calls"),
        (Ending("no_tool"), "gave_up"),
        (Ending("no_tool", malformed=True), "malformed_calls"),
        (Ending("mistakes", malformed=True), "malformed_calls"),
        (Ending("loop_guard", same=5), "loop"),
        (Ending("limit"), "time_out"),
        (Ending("limit", same=3), "loop"),
        (Ending("cut_off"), "time_out"),
        (Ending("overflow"), "context_overflow"),
        (Ending("engine"), "engine_error"),
    ],
)
def test_failure_classes(ending: Ending, found: str) -> None:
    assert failure_class(ending, solved=False) == found and found in FAILURES
    assert failure_class(ending, solved=True) == ""
