from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from virtual import prompt_of

from simulator import tokenizer
from simulator.engine.embedded.config import Reply as ReplyParams
from simulator.engine.embedded.prompts import Prompts
from simulator.engine.embedded.replies import Limits, Replies, join_text

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
messages = st.builds(lambda role, text: {"role": role, "content": text}, st.sampled_from(["user", "assistant"]), texts)


@pytest.fixture(scope="module")
def replies() -> Replies:
    return Replies(ReplyParams(median_tok=100, sigma=0.5, max_tok=300), seed=1)


@settings(max_examples=60, deadline=None)
@given(st.lists(messages, min_size=1, max_size=8), st.data())
def test_memory_never_changes_a_prompt(chat, data) -> None:
    """Grown, cut and repeated histories give what a fresh computation over all token ids gives."""
    prompts = Prompts(8)
    for _ in range(4):
        start = data.draw(st.integers(0, len(chat) - 1))
        view = chat[start : data.draw(st.integers(start + 1, len(chat)))]
        tools = data.draw(st.sampled_from([None, [{"type": "function", "function": {"name": "read"}}]]))
        ids = prompts.chat_ids(view, tools)
        expected = prompt_of(ids, 8)
        got = prompts.chat(view, tools)
        assert (got.n_tok, got.hashes, got.tail) == (len(ids), expected.hashes, expected.tail)


def test_only_new_messages_are_tokenised() -> None:
    prompts = Prompts(16)
    chat = [{"role": "user", "content": f"message {n}"} for n in range(6)]
    prompts.chat(chat[:4])
    assert len(prompts.open(chat).todo) == 2
    assert len(prompts.open([chat[0], *chat[3:]]).todo) == 2, "a cut history is tokenised no more than a grown one"
    assert prompts.open(chat[:3]).known == 3


def test_whatever_a_message_carries_counts() -> None:
    prompts = Prompts(16)
    call = {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a.py"}'}}
    plain = {"role": "assistant", "content": "I read it."}
    sizes = [
        prompts.chat([message]).n_tok
        for message in (
            plain,
            {**plain, "tool_calls": [call]},
            {**plain, "tool_calls": [call], "reasoning": "First the file, then the rest."},
        )
    ]
    assert sizes == sorted(set(sizes))
    parts = {"role": "assistant", "content": [{"type": "text", "text": "I"}, {"type": "text", "text": "read it."}]}
    assert prompts.chat([parts]) == prompts.chat([{**plain, "content": "I\nread it."}])
    result = {"role": "tool", "content": "x = 1"}
    assert prompts.chat([{**result, "tool_call_id": "c1"}]).n_tok == prompts.chat([result]).n_tok, "ids are not shown"


@given(st.integers(1, 600), st.binary(max_size=8))
@settings(max_examples=40, deadline=None)
def test_forced_replies_tokenise_to_exactly_their_length(replies: Replies, n: int, fingerprint: bytes) -> None:
    reply = replies.draw(fingerprint, Limits(n, forced=True))
    ids = np.frombuffer(reply.ids, np.int32).tolist()
    assert tokenizer.encode(join_text(reply.pieces)) == ids
    assert (reply.n_tok, reply.finish) == (n, "length")


def test_replies_of_their_own_length_vary_within_limits_and_repeat_by_seed(replies: Replies) -> None:
    drawn = [replies.draw(b"%d" % n, Limits(1000, min_tok=20)) for n in range(60)]
    lengths = [reply.n_tok for reply in drawn]
    assert len(set(lengths)) > 20 and min(lengths) >= 20 and max(lengths) <= 300
    assert all(reply.finish == "stop" for reply in drawn)
    assert replies.draw(b"7", Limits(1000, min_tok=20)) == drawn[7]
    assert replies.draw(b"7", Limits(1000, min_tok=20), request_seed=5) != drawn[7]
    cut = replies.draw(b"7", Limits(lengths[7] - 1))
    assert (cut.finish, cut.n_tok) == ("length", lengths[7] - 1)


@given(st.integers(0, 40), st.booleans(), st.binary(max_size=4))
@settings(max_examples=40, deadline=None)
def test_a_stop_string_ends_the_text_before_it(replies: Replies, min_tok: int, keep: bool, key: bytes) -> None:
    whole = replies.draw(key, Limits(200, forced=True))
    words = join_text(whole.pieces).split(" ")
    stop = words[len(words) // 2][-3:] + " "
    reply = replies.draw(key, Limits(200, min_tok, forced=True, stop=(stop,), keep_stop=keep))
    text, all_text = join_text(reply.pieces), join_text(whole.pieces)
    assert all_text.startswith(text)
    if reply.finish == "stop":
        assert reply.stop_reason == stop and reply.n_tok > min_tok
        assert text.endswith(stop) if keep else all_text[len(text) :].startswith(stop)
    if min_tok == 0:
        assert reply.finish == "stop" and stop not in text.removesuffix(stop)


@given(texts)
@settings(max_examples=60, deadline=None)
def test_a_forced_text_comes_out_as_it_is(replies: Replies, text: str) -> None:
    reply = replies.exact(text, Limits(10_000))
    assert join_text(reply.pieces) == text
    assert reply.n_tok == tokenizer.count(text) + 1
