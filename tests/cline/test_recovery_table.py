"""The state machine alone: it always comes to an end, and only a reply that stands clears what went before."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.cline.profiles import PROFILES
from simulator.cline.recovery import CUT_OFFS, MISTAKES, ON, RETRY_AFTER_LIMIT_S, Event, Move, Recovery
from simulator.core.outcome import DEFECTS
from simulator.core.record import ERRORS

BAD = st.one_of(
    st.builds(
        Event, error=st.sampled_from(ERRORS), spoke=st.booleans(), retry_after_s=st.sampled_from([None, 1.0, 1e9])
    ),
    st.builds(Event, defect=st.sampled_from(DEFECTS), call=st.sampled_from(["a {}", "b {}"])),
)


def moves(profile: str, events: list[Event]) -> list[Move]:
    """Up to the first that ends the session."""
    recovery, made = Recovery(profile), []
    for event in events:
        recovery, move = recovery.after(event)
        made.append(move)
        if not move.go_on:
            break
    return made


@given(st.sampled_from(sorted(PROFILES)), st.lists(BAD, min_size=1, max_size=6))
def test_whatever_is_repeated_it_ends(profile: str, events: list[Event]) -> None:
    made = moves(profile, (events * 400)[:400])
    if not any(move == ON for move in made):  # sdk repairs broken arguments, which is a reply that stands
        assert not made[-1].go_on and len(made) < 150
        assert made[-1].why or any(event.error for event in events)
    assert all(0 <= move.delay_s <= RETRY_AFTER_LIMIT_S for move in made)
    assert all(move.go_on or not move.again for move in made)


@pytest.mark.parametrize("profile", sorted(PROFILES))
@pytest.mark.parametrize("bad", [Event("server_error"), Event("empty"), Event("rate_limited")])
def test_a_reply_that_stands_starts_the_count_again(profile: str, bad: Event) -> None:
    recovery, first = Recovery(profile).after(bad)
    recovery, on = recovery.after(Event())
    assert on == ON and recovery == Recovery(profile)
    assert recovery.after(bad)[1] == first


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_variants_of_a_client_behave_as_it_does(profile: str) -> None:
    same = "sdk" if PROFILES[profile].client == "sdk" else "classic-xml"
    for event in (*(Event(error) for error in ERRORS), *(Event(defect=defect) for defect in DEFECTS)):
        assert moves(profile, [event] * 60) == moves(same, [event] * 60)


def test_the_limits_of_each_client() -> None:
    assert len(moves("classic-xml", [Event("cut")] * 9)) == MISTAKES["classic"]
    words = [move.complaint for move in moves("sdk", [Event(defect="length")] * 9)]
    assert words == ["", *["cut_off"] * CUT_OFFS, ""]
    calls = [Event(defect="unknown_tool", call=f"{n}") for n in range(9)]
    assert len(moves("sdk", calls)) == MISTAKES["sdk"]


def test_troubles_of_several_kinds_in_one_turn_add_up() -> None:
    made = moves("classic-xml", [Event("server_error"), Event("server_error"), Event("cut"), Event("server_error")])
    assert [move.delay_s for move in made] == [0.45, 0.95, 0.0, 0.45], "the request after a complaint is a new one"
