"""Each row of what clients do about failures, on a clock that is driven: which request is sent again when, what the
history then holds, and how it ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import OK, Met, Played, always, plan, play, then_ok
from virtual_time import run

from simulator.cline import texts
from simulator.core.plan import SessionPlan
from simulator.core.record import ERRORS
from simulator.drive.session import PARTS

CLASSIC, NATIVE, SDK = "classic-xml", "classic-native", "sdk"
NO_TOOL, CUT_OFF = texts.load("classic/no_tool.md"), texts.load("sdk/cut_off.md")


def played(profile: str, script: object, turns: int = 3, **more: object) -> Played:
    return run(play(plan(profile, turns, **more), script))  # type: ignore[arg-type]


def sends(*gaps_s: float, took_s: float = 1.0) -> list[float]:
    """Times of sends that each take `took_s`, with these gaps between them."""
    times = [0.0]
    for gap in gaps_s:
        times.append(round(times[-1] + took_s + gap, 6))
    return times


LIBRARY, APP = (0.45, 0.95), (2.0, 4.0, 8.0)
STATUS = (*LIBRARY, 2.0, *LIBRARY, 4.0, *LIBRARY, 8.0, *LIBRARY)
LIMITED = (*LIBRARY, 1.0, *LIBRARY, 2.0, *LIBRARY)
SDK_LIBRARY = (2.5, 4.0, 8.0, 16.0, 32.0)


@pytest.mark.parametrize(
    ("profile", "met", "gaps_s", "why"),
    [
        (CLASSIC, Met("timeout", took_s=300), (4.7, 4.7, 2, 4.7, 4.7, 4, 4.7, 4.7, 8, 4.7, 4.7), "timeout"),
        (SDK, Met("timeout", took_s=300), (), "timeout"),
        (CLASSIC, Met("rate_limited"), (*LIMITED, 2, *LIMITED, 4, *LIMITED, 8, *LIMITED), "rate_limited"),
        (SDK, Met("rate_limited"), SDK_LIBRARY, "rate_limited"),
        (CLASSIC, Met("server_error"), STATUS, "server_error"),
        (SDK, Met("server_error"), SDK_LIBRARY, "server_error"),
        (CLASSIC, Met("refused", took_s=0), STATUS, "refused"),
        (SDK, Met("refused", took_s=0), SDK_LIBRARY, "refused"),
        (CLASSIC, Met("context_overflow"), (0, 2, 0, 4, 0, 8, 0), "context_overflow"),
        (SDK, Met("context_overflow"), (0,), "context_overflow"),
        (CLASSIC, Met("empty"), APP, "empty"),
        (SDK, Met("empty"), (0.25, 0.25), "empty"),
        (CLASSIC, Met("cut", spoke=False), APP, "cut"),
        (SDK, Met("cut", spoke=False), (), "cut"),
        (CLASSIC, Met("cut"), (0, 0), "cut: it was cut"),
        (SDK, Met("cut"), (), "cut"),
        (CLASSIC, Met("malformed"), APP, "malformed"),
        (SDK, Met("malformed"), (), "malformed"),
        (CLASSIC, Met("bad_request"), APP, "bad_request"),
        (SDK, Met("bad_request"), (), "bad_request"),
        (CLASSIC, Met("auth"), (), "auth"),
        (SDK, Met("auth"), (), "auth"),
        (CLASSIC, Met(defect="length"), (0, 0), "length: 3 mistakes in a row"),
        (SDK, Met(defect="length"), (0, 0, 0, 0), "length: the reply was cut off again after 3 complaints"),
        (CLASSIC, Met(defect="reasoning_only"), APP, "reasoning_only"),
        (SDK, Met(defect="reasoning_only"), (), "took a reply without a tool call for the end of the task"),
        (CLASSIC, Met(defect="call_in_text"), (0, 0), "3 mistakes in a row"),
        (SDK, Met(defect="call_in_text"), (), "took a reply without a tool call for the end of the task"),
        (CLASSIC, Met(defect="bad_arguments", calls=(("read_file", '{"p'),)), (0, 0), "3 mistakes in a row"),
        (CLASSIC, Met(defect="unknown_tool", calls=(("fly", "{}"),)), (0, 0), "3 mistakes in a row"),
        (SDK, Met(defect="unknown_tool", calls=(("fly", "{}"),)), (0, 0, 0, 0), "the same call 5 times in a row"),
    ],
)
def test_a_failure_that_stays(profile: str, met: Met, gaps_s: Sequence[float], why: str) -> None:
    done = played(profile, always(met), turns=8)
    assert done.times_s == sends(*gaps_s, took_s=met.took_s)
    assert done.retries == list(range(len(gaps_s) + 1))
    assert done.session.outcome == "failed" and why in done.session.error
    assert done.session.end_turn == 0 and done.session.tool_calls == 0
    assert done.session.model_s == pytest.approx((len(gaps_s) + 1) * met.took_s)
    assert done.session.backoff_s == pytest.approx(sum(gaps_s))


def test_different_unknown_tools_end_an_sdk_run_at_the_sixth() -> None:
    done = played(SDK, lambda job, n: Met(defect="unknown_tool", calls=((f"fly{n}", "{}"),)))
    assert len(done.times_s) == 6 and "6 mistakes in a row" in done.session.error


@pytest.mark.parametrize("profile", [CLASSIC, SDK])
@pytest.mark.parametrize("met", [Met("server_error"), Met("rate_limited", retry_after_s=0.1), Met("empty")])
def test_the_same_body_goes_again_and_nothing_else_changes(profile: str, met: Met) -> None:
    done, good = played(profile, then_ok(OK, met, met)), played(profile, always(OK))
    bodies = [job.body for _, job in done.sender.sent]
    assert bodies[1] == bodies[2] == bodies[3]
    assert [bodies[0], *bodies[3:]] == [job.body for _, job in good.sender.sent]
    assert [(job.turn, job.retry) for _, job in done.sender.sent] == [(0, 0), (1, 0), (1, 1), (1, 2), (2, 0)]
    assert done.session.outcome == "completed" and done.session.verified


@pytest.mark.parametrize(("asked_s", "waited_s"), [(None, 2.5), (1.0, 2.5), (20.0, 20.0), (3600.0, 2.5)])
def test_retry_after_is_heeded_up_to_a_minute(asked_s: float | None, waited_s: float) -> None:
    done = played(SDK, then_ok(Met("rate_limited", retry_after_s=asked_s)))
    assert done.times_s[1] == 1.0 + waited_s


def test_classic_keeps_a_broken_reply_and_its_complaint_for_good() -> None:
    done = played(CLASSIC, then_ok(OK, Met("cut", text="Let me re")), turns=4)
    assert [(job.turn, job.retry) for _, job in done.sender.sent] == [(0, 0), (1, 0), (1, 1), (2, 0), (3, 0)]
    before, after = done.messages(1), done.messages(2)
    assert after[: len(before)] == before
    said, complaint = after[len(before) :]
    assert said == {"role": "assistant", "content": "Let me re"}
    assert [part["text"] for part in complaint["content"]] == [NO_TOOL, "<environment_details>0</environment_details>"]
    for n in (3, 4):
        assert done.messages(n)[: len(after)] == after
        assert [m["role"] for m in done.messages(n)[1:]] == ["user", "assistant"] * (n) + ["user"]
    planned = plan(CLASSIC, 4)
    assert len(done.messages(4)) == len(planned.turns[3].view) + 2
    assert done.sender.sent[2][1].prompt_tok > planned.turns[1].prompt_tok
    assert done.session.outcome == "completed"


def test_mistakes_count_in_a_row_only() -> None:
    bad = Met(defect="length")
    done = played(CLASSIC, lambda job, n: OK if n % 3 == 2 else bad, turns=4)
    assert done.session.outcome == "completed" and len(done.times_s) == 12


def test_classic_overflow_drops_pairs_after_the_first_and_later_requests_stay_short() -> None:
    done = played(CLASSIC, then_ok(Met("context_overflow")), turns=12, start=10)
    long, short, later = (done.messages(n) for n in range(3))
    assert short[:2] == long[:2] and short[2]["content"] == texts.load("classic/truncated.md")
    assert 4 <= len(short) < len(long) / 2 + 1 and short[3:] == long[-len(short) + 3 :]
    assert [m["role"] for m in short[1:]] == ["user", "assistant"] * (len(short[1:]) // 2) + ["user"]
    assert later[: len(short)] == short and len(later) == len(short) + 2


def test_sdk_overflow_puts_a_notice_in_place_of_what_is_old() -> None:
    done = played(SDK, then_ok(Met("context_overflow")), turns=12, start=10, words=2000)
    long, short, later = (done.messages(n) for n in range(3))
    assert short[0] == long[0] and short[1]["role"] == "user" and "Do the task." in short[1]["content"]
    assert 3 < len(short) < len(long) and short[2:] == long[-len(short) + 2 :] and short[2]["role"] == "assistant"
    assert later[: len(short)] == short and len(later) == len(short) + 2


def test_sdk_answers_a_reply_cut_by_its_length_limit_by_a_compaction_then_by_words() -> None:
    done = played(
        SDK, then_ok(*[Met(defect="length", text=f"part {n}") for n in range(4)]), turns=12, start=10, words=2000
    )
    long, short, first, second, third, later = (done.messages(n) for n in range(6))
    assert len(short) < len(long) and not any(m["content"] == CUT_OFF for m in short)
    assert first == [*short, {"role": "assistant", "content": "part 1"}, {"role": "user", "content": CUT_OFF}]
    assert len(second) == len(first) + 2 and third[: len(second)] == second
    assert later[: len(third)] == third and done.session.outcome == "completed"


def test_sdk_executes_broken_arguments_and_answers_an_unknown_tool() -> None:
    done = played(SDK, then_ok(Met(defect="bad_arguments", calls=(("read_file", '{"p'),))))
    assert len(done.times_s) == 3 and done.session.outcome == "completed"
    done = played(SDK, then_ok(Met(defect="unknown_tool", text="", calls=(("fly", '{"to":"moon"}'),))))
    call, result = done.messages(1)[2:]
    assert call["tool_calls"][0]["function"] == {"name": "fly", "arguments": '{"to":"moon"}'}
    assert result["role"] == "tool" and result["tool_call_id"] == "c0" and "fly" in result["content"]
    assert done.messages(2)[:4] == done.messages(1)


def test_classic_with_native_calls_answers_them_first_and_complains_in_a_message_of_its_own() -> None:
    done = played(NATIVE, then_ok(Met(defect="unknown_tool", text="", calls=(("fly", "{}"),)), Met("cut", text="so")))
    call, missing, complaint = done.messages(1)[2:]
    assert call["content"] is None and call["tool_calls"][0]["id"] == missing["tool_call_id"] == "c0"
    assert "fly" in complaint["content"][0]["text"]
    assert [m["role"] for m in done.messages(2)[5:]] == ["assistant", "user"]
    assert done.messages(2)[-1]["content"][0]["text"] == texts.load("classic/no_tool_native.md")


def _cut_later(one: SessionPlan, view: tuple[int, ...]) -> SessionPlan:
    """The same plan, but its last turn's view is another."""
    return replace(one, turns=(*one.turns[:-1], replace(one.turns[-1], view=view)))


def test_a_planned_cut_takes_the_insertions_of_what_it_drops_and_leaves_the_others() -> None:
    one = _cut_later(plan(CLASSIC, 8), (0, 1, 2, *range(11, 16)))
    done = run(play(one, then_ok(OK, Met("cut", text="early"), OK, OK, OK, OK, OK, Met("cut", text="late"))))
    said = [m["content"] for m in done.messages(len(done.times_s) - 1)]
    assert "early" in [m["content"] for m in done.messages(2)] and "early" not in said
    assert "late" in said and len(said) == 8 + 2


def test_a_planned_summary_makes_an_earlier_cut_obsolete() -> None:
    one = plan(SDK, 12, start=9, words=2000)
    one = replace(one, pool=(*one.pool, b'{"role":"user","content":"Context summary"}'))
    one = _cut_later(one, (0, len(one.pool) - 1, *range(20, 24)))
    done = run(play(one, then_ok(Met("context_overflow"))))
    last = done.messages(len(done.times_s) - 1)
    assert last[1]["content"] == "Context summary" and len(last) == 6


def test_a_run_that_stops_in_a_back_off_ends_the_session_there() -> None:
    done = run(play(plan(SDK), always(Met("server_error")), stop_at_s=2.0))
    assert done.times_s == [0.0] and done.session.outcome == "stopped" and "server_error" in done.session.error
    assert done.session.t_end_s == pytest.approx(2.0) and done.session.backoff_s == pytest.approx(1.0)


METS = st.one_of(
    st.just(OK),
    st.builds(
        Met,
        st.sampled_from([e for e in ERRORS if e != "cancelled"]),
        took_s=st.floats(0, 10),
        spoke=st.booleans(),
        retry_after_s=st.sampled_from([None, 0.0, 5.0]),
    ),
    st.builds(Met, defect=st.sampled_from(["length", "reasoning_only", "call_in_text"])),
    st.builds(Met, defect=st.sampled_from(["bad_arguments", "unknown_tool"]), calls=st.just((("fly", "{"),))),
)


@settings(max_examples=60)
@given(st.sampled_from([CLASSIC, NATIVE, SDK]), st.lists(METS, max_size=40), st.sampled_from([None, 3.0, 30.0]))
def test_whatever_comes_nothing_is_lost_and_the_wall_adds_up(
    profile: str, script: list[Met], stop_at_s: float | None
) -> None:
    done = run(play(plan(profile, 4), then_ok(*script), stop_at_s=stop_at_s))
    session, jobs = done.session, [job for _, job in done.sender.sent]
    parts = sum(getattr(session, f"{part}_s") for part in PARTS)
    assert parts == pytest.approx(session.t_end_s - session.t_ready_s, abs=1e-6)
    assert len(done.sender.records) == len(jobs)
    for turn in range(4):
        mine = [job.retry for job in jobs if job.turn == turn]
        assert mine == list(range(len(mine)))
        stood = [r for r in done.sender.records if r.turn == turn][-1:]
        if turn < session.end_turn:
            assert stood and not stood[0].error
    for n in range(len(jobs)):
        roles = [m["role"] for m in done.messages(n)]
        assert roles[0] == "system" and roles[1] == "user" and roles[-1] in ("user", "tool")
        if profile != SDK:
            plain = [role for role in roles[1:] if role != "tool"]
            assert plain == (["user", "assistant"] * len(roles))[: len(plain)] and roles[-1] == "user"
        for before, role in pairwise(roles):
            assert role != "tool" or before in ("assistant", "tool"), roles
    assert session.outcome in ("completed", "failed", "stopped")
    assert (session.outcome == "completed") == (session.end_turn == 4)
