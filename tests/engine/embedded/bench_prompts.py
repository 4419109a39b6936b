"""CPU of turning a long chat into block hashes: `python tests/engine/embedded/bench_prompts.py`."""

from __future__ import annotations

import statistics
import time

import numpy as np
import orjson

from simulator.engine.embedded.config import load_params
from simulator.engine.embedded.prompts import Prompts
from simulator.engine.embedded.protocol import parse_ask, parse_body
from simulator.engine.embedded.replies import Limits, Replies, join_text


def main() -> None:
    params = load_params()
    prompts, replies = Prompts(params.block_size), Replies(params.reply, seed=0)

    def words(seed: int, n: int) -> str:
        reply = replies.draw(b"%d" % seed, Limits(n, forced=True))
        return join_text(reply.pieces)

    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": words(n, 300)} for n in range(330)]
    started_s = time.process_time()
    first = prompts.chat(messages)
    print(f"{first.n_tok} tokens from nothing: {(time.process_time() - started_s) * 1e3:.1f} ms CPU")
    turns_s = []
    for turn in range(20):
        messages += [{"role": role, "content": words(1000 + 2 * turn + n, 300)} for n, role in enumerate(roles)]
        body = orjson.dumps({"model": params.model, "messages": messages})
        started_s = time.process_time()
        ask = parse_ask(parse_body(body), chat=True)
        prompt = prompts.chat(ask.messages, ask.tools)
        turns_s.append(time.process_time() - started_s)
    print(f"600 more, {prompt.n_tok} tokens, {len(body)} bytes: {statistics.median(turns_s) * 1e3:.2f} ms CPU")
    fresh = Prompts(params.block_size).chat(messages)
    assert np.array_equal(fresh.hashes, prompt.hashes)


if __name__ == "__main__":
    main()
