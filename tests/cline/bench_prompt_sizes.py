"""What each profile's first request is made of, in o200k_base tokens: `python tests/cline/bench_prompt_sizes.py`.

The repository is the six files of cline_cases.py. The last column is the same request as the embedded engine counts it.
"""

from __future__ import annotations

import json
from dataclasses import replace

import orjson
import quicktok
from cline_cases import SETUP, body, messages

from simulator import tokenizer
from simulator.cline.conversation import Conversation
from simulator.cline.profiles import PROFILES, Profile, subagent

o200k = quicktok.get_encoding("o200k_base")


def size(text: str) -> int:
    return len(o200k.encode(text))


def row(name: str, profile: Profile, mode: str = "act") -> str:
    talk = Conversation(profile, replace(SETUP, mode=mode), tokenizer.count)  # type: ignore[arg-type]
    (draft,) = talk.requests()
    system, user = messages(talk, draft)
    tools = orjson.loads(body(talk, draft)).get("tools", [])
    told = user["content"] if isinstance(user["content"], str) else "\n".join(p["text"] for p in user["content"])
    shown = size(json.dumps(tools, separators=(",", ":"))) if tools else 0
    parts = size(system["content"]), shown, size(told)
    numbers = (parts[0], f"{shown:,} ({len(tools)})" if tools else "0", parts[2], sum(parts), draft.prompt_tok)
    cells = [f"{n:,}" if isinstance(n, int) else n for n in numbers]
    return f"| {name} | " + " | ".join(cells) + " |"


def main() -> None:
    print("| profile | system | tools (n) | first user message | first request | engine's count |")
    print("|---|---|---|---|---|---|")
    for name, profile in PROFILES.items():
        print(row(f"`{name}`", profile))
        print(row(f"`{name}`, plan mode", profile, "plan"))
        print(row(f"`{name}`, its sub-agents", subagent(profile)))


if __name__ == "__main__":
    main()
