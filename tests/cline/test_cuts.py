"""When a history is cut, and what is left: truncation, notes for old copies, stale reads, compaction."""

from __future__ import annotations

import orjson
import pytest
from cline_cases import SETUP, SOURCE, body, messages, start, turn
from hypothesis import given
from hypothesis import strategies as st

from simulator.cline.classic import window as classic
from simulator.cline.conversation import Conversation
from simulator.cline.profiles import PROFILES
from simulator.cline.sdk import window as sdk
from simulator.core import action as act
from simulator.errors import UsageError

BIG = "\n".join(f"line {i} of a long text, with words in it" for i in range(400))


@pytest.mark.parametrize(
    ("window", "allowed"),
    [(64_000, 37_000), (128_000, 98_000), (200_000, 160_000), (131_072, 104_857), (1_000_000, 960_000)],
)
def test_classic_threshold(window, allowed):
    assert classic.max_allowed_tok(window) == allowed


@pytest.mark.parametrize(
    ("messages", "removed_to", "quarter", "last"),
    [
        (3, None, False, None),  # one pair and the next question: nothing to drop
        (6, None, False, 3),
        (41, None, False, 19),  # 39 after the first pair: 18 go
        (41, None, True, 29),  # 28 go
        (61, 19, False, 39),  # counted from where the last cut ended
    ],
)
def test_classic_half_and_quarter(messages, removed_to, quarter, last):
    assert classic.last_removed(messages, removed_to, keep_quarter=quarter) == last


@given(st.integers(3, 400), st.booleans())
def test_classic_cut_ends_with_an_assistants_message(n, quarter):
    last = classic.last_removed(n, None, keep_quarter=quarter)
    if last is not None:
        assert last % 2 == 1 and last < n - 1
        kept, rest = n - 1 - last, n - 2
        assert kept >= rest * (0.25 if quarter else 0.5)


def play_until_cut(talk, action, outcome, limit=400):
    before = None
    for k in range(limit):
        drafts = talk.requests()
        if drafts[-1].cut:
            return before, drafts
        before = turn(talk, action(k), outcome(k))[-1]
    raise AssertionError("no cut came")


def test_classic_truncation_keeps_the_task_and_the_latest_half():
    talk = start("classic-xml")
    before, (draft,) = play_until_cut(talk, lambda k: act.Command(f"cat {k}"), lambda k: act.Ran(0, f"{k}\n{SOURCE}"))
    assert draft.cut == "truncated"
    assert before.prompt_tok < 128_000 and before.prompt_tok > 90_000
    assert 0.4 < draft.prompt_tok / before.prompt_tok < 0.65
    assert draft.view[:2] == before.view[:2], "system prompt and first message stay in the cache"
    assert draft.view[2] != before.view[2] and draft.view[-1] > before.view[-1]
    said = messages(talk, draft)
    assert said[2]["role"] == "assistant" and said[2]["content"].startswith("[NOTE]")
    assert [m["role"] for m in said[1:]] == ["user", "assistant"] * ((len(said) - 2) // 2) + ["user"]
    follow = turn(talk, act.ReadFile("z"), act.FileText("z"))[-1]
    assert talk.requests()[-1].view[: len(follow.view)] == follow.view, "append-only again after the cut"


def test_classic_prefers_notes_for_old_copies_when_they_save_enough():
    talk = start("classic-xml")
    before, (draft,) = play_until_cut(
        talk, lambda k: act.ReadFile(f"{k % 2}.py"), lambda k: act.FileText(f"version {k}\n{BIG}")
    )
    assert draft.cut == "truncated"
    assert len(draft.view) == len(before.view) + 2, "no message was dropped"
    assert draft.prompt_tok < 0.7 * before.prompt_tok
    held = [m for m in messages(talk, draft) if "line 7 of a long text" in orjson.dumps(m).decode()]
    assert len(held) == 2, "the newest copy of each file stays"


def test_cached_tokens_counted_twice_halve_the_window():
    def at(double: bool) -> int:
        talk = start("classic-xml", cached_double_count=double)
        before, _ = play_until_cut(talk, lambda k: act.Command(f"cat {k}"), lambda k: act.Ran(0, f"{k}\n{BIG}"))
        return before.prompt_tok

    assert 0.4 < at(True) / at(False) < 0.65


@pytest.mark.parametrize("name", ["classic-xml", "sdk"])
def test_a_request_that_cannot_fit_is_a_clear_error(name):
    talk = start(name, task_prompt=BIG * 40)
    with pytest.raises(UsageError, match="context_window_tok 128,000"):
        talk.requests()


@pytest.mark.parametrize("name", ["classic-xml", "sdk"])
def test_a_prompt_above_the_window_is_cut_before_it_is_sent(name):
    # one result takes the history from below every trigger past the window; sdk's estimate does not see numbers
    talk = start(name, context_window_tok=24_000, max_input_tok=10**9)
    for k in range(12):
        action = act.ReadFile(f"{k}.py") if name == "sdk" else act.Command(f"cat {k}")
        outcome = act.FileText(BIG) if name == "sdk" else act.Ran(0, BIG)
        for draft in turn(talk, action, outcome):
            assert draft.prompt_tok <= 21_000
    assert talk.requests()


@pytest.mark.parametrize(
    ("window", "max_input", "trigger"), [(0, None, 115_200), (128_000, None, 103_680), (128_000, 100_000, 90_000)]
)
def test_sdk_trigger(window, max_input, trigger):
    assert sdk.trigger_tok(window, max_input) == trigger


def test_sdk_compaction_is_a_request_of_its_own_then_a_summary():
    talk = start("sdk")
    before, drafts = play_until_cut(talk, lambda k: act.Command(f"cat {k}"), lambda k: act.Ran(0, f"{k}\n{SOURCE}"))
    ask, draft = drafts
    assert (ask.purpose, ask.max_tok) == ("compaction", 8_192) and ask.output_tok > 100
    sent = orjson.loads(body(talk, ask))
    assert "tools" not in sent and [m["role"] for m in sent["messages"]] == ["system", "user"]
    assert "$ cat" not in sent["messages"][1]["content"] and "cat 3" in sent["messages"][1]["content"]
    assert not set(ask.view) & set(before.view), "a full miss in the prefix cache"
    assert draft.cut == "compacted" and draft.view[0] == before.view[0]
    said = messages(talk, draft)
    assert said[1]["content"].startswith("Context summary:\n\n") and SETUP.task_prompt in said[1]["content"]
    assert said[2]["role"] == "assistant", "no tool result loses its call"
    kept_chars = sum(len(talk.pool[i]) for i in draft.view[2:])
    assert 50_000 < kept_chars <= 60_000, "the last 20,000 tokens at three characters each"
    sent = [turn(talk, act.Command(f"echo {number}"), act.Ran(0, "x"))[-1] for number in range(3)]
    assert [d.cut for d in sent] == ["compacted", "", ""] and sent[0] == draft


def test_sdk_compacts_again_and_remembers_the_first_steps():
    talk = start("sdk")
    play_until_cut(talk, lambda k: act.Write(f"first{k}.py", SOURCE), lambda k: act.Edited("f", "", SOURCE, True))
    turn(talk, act.Command("ls"), act.Ran(0, "x"))
    _, drafts = play_until_cut(talk, lambda k: act.Command(f"cat {k}"), lambda k: act.Ran(0, SOURCE))
    assert "first30.py" in messages(talk, drafts[-1])[1]["content"]


def test_sdk_number_heavy_histories_outgrow_the_estimate():
    def at(text: str) -> int:
        # two characters a token, as tables of numbers have
        talk = Conversation(PROFILES["sdk"], SETUP, lambda text: -(-len(text) // 2))
        before, _ = play_until_cut(talk, lambda k: act.Command(f"cat {k}"), lambda k: act.Ran(0, text))
        return before.prompt_tok

    assert at("1.25,3.75\n" * 500) > 103_680


def test_sdk_stale_reads_wait_for_64_kib_and_go_in_one_batch():
    talk = start("sdk")
    text = "\n".join(f"row {i} " + "x" * 60 for i in range(100))
    before, (draft,) = play_until_cut(talk, lambda k: act.ReadFile("a.py", 1, 100 + k), lambda k: act.FileText(text))
    assert draft.cut == "stale_reads"
    tools = [m["content"] for m in messages(talk, draft) if m["role"] == "tool"]
    full = [t for t in tools if "row 7 " in t]
    assert len(full) == 1 and tools[-1] == full[0], "only the newest read keeps its text"
    won = sum(len(talk.pool[i]) for i in before.view) - sum(len(talk.pool[i]) for i in draft.view[: len(before.view)])
    assert 65_536 <= won < 65_536 + len(full[0]), "no read earlier and no read later"
    assert draft.view[:3] == before.view[:3], "the prefix up to the first stale read stays"


@pytest.mark.parametrize(
    ("new", "old", "covered"),
    [
        ((None, None), (3, 9), True),
        ((None, None), (None, None), True),
        ((1, 50), (3, 9), True),
        ((4, 50), (3, 9), False),
        ((1, 50), (1, None), False),
    ],
)
def test_sdk_a_read_makes_stale_only_what_it_shows(new, old, covered):
    assert sdk.covers(new, old) is covered


@given(st.lists(st.integers(1, 40_000), min_size=1, max_size=40), st.data())
def test_sdk_kept_part_starts_at_an_assistant_and_fits(sizes, data):
    heads = [False] + [data.draw(st.booleans()) for _ in sizes[1:]]
    at = sdk.first_kept(sizes, heads, 20_000)
    assert at == 0 or heads[at]
    if at and sum(sizes[at:]) > 60_000:
        assert not any(heads[at + 1 :]), "larger than wanted only when there is no later place to cut"
