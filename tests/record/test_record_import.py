"""From the wire to a plan: two agents, one with a sub-agent and a summary, recorded, imported and planned again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from recorder import recording

from simulator.trace import importing
from simulator.trace.replay import DECIDED, Casting, plan
from simulator.trace.trace_file import TracedSession, sessions

SYSTEM = {"role": "system", "content": "You work in a folder and answer with calls."}
TASK = "Look through the whole folder and list each place where a figure is rounded twice"


def call(name: str, **arguments: str) -> dict[str, Any]:
    made = {"id": f"call-{name}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return {"role": "assistant", "content": None, "tool_calls": [made]}


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


class Upstream:
    """Answers with what the request's own field says."""

    def __init__(self) -> None:
        self.came: list[bytes] = []

    async def handle(self, request: web.Request) -> web.Response:
        raw = await request.read()
        self.came.append(raw)
        reply = json.loads(bytes.fromhex(request.headers["X-Answer"]))
        usage = {"prompt_tokens": len(raw) // 4, "completion_tokens": 9}
        choice = {"index": 0, "message": reply, "finish_reason": "stop"}
        return web.json_response({"id": "r", "model": "m", "choices": [choice], "usage": usage})


class Agent:
    def __init__(self, http: aiohttp.ClientSession, url: str, task: str, system: dict[str, Any] = SYSTEM) -> None:
        self.http, self.url = http, url
        self.messages: list[dict[str, Any]] = [system, {"role": "user", "content": task}]

    async def ask(self, reply: dict[str, Any], result: str = "") -> None:
        body = {"model": "m", "temperature": 0, "messages": self.messages, "user": "someone"}
        headers = {"X-Answer": json.dumps(reply).encode().hex(), "Authorization": "Bearer sk-1234567890"}
        async with self.http.post(f"{self.url}/v1/chat/completions", json=body, headers=headers) as answer:
            assert answer.status == 200
        self.messages = [*self.messages, reply]
        if "tool_calls" in reply:
            made = reply["tool_calls"][0]["id"]
            self.messages = [*self.messages, {"role": "tool", "tool_call_id": made, "content": result}]
        else:
            self.messages = [*self.messages, {"role": "user", "content": result or "Go on."}]


async def act(url: str) -> None:
    async with aiohttp.ClientSession() as http:
        one = Agent(http, url, "Round every figure once, and only at the end")
        two = Agent(http, url, "Sort the ledger by date and by amount")
        await one.ask(said("I shall begin with the folder and then look at the figures in it"))
        await two.ask(call("read", path="ledger.csv"), "1;2;3")
        await one.ask(call("spawn", task=TASK, systemPrompt="Help."), "There are two.")
        child = Agent(http, url, TASK, {"role": "system", "content": "Help."})
        await child.ask(call("search", regex="round"), "a.py, b.py")
        await child.ask(said("In a.py and b.py"))
        await one.ask(call("edit", path="a.py"), "done")
        past = json.dumps([m.get("content") for m in one.messages[1:5]])
        summing = Agent(http, url, f"<past>{past}</past>", {"role": "system", "content": "Sum up."})
        await summing.ask(said("So far, well"))
        one.messages = [SYSTEM, {"role": "user", "content": "Summary: So far, well"}, *one.messages[-2:]]
        await one.ask(said("All figures are rounded once now"))
        await two.ask(said("The ledger is sorted"))


def bodies(traced: TracedSession) -> list[dict[str, Any]]:
    cast = Casting("s0000", 0, frozenset(), "m", 1_000_000, 0.0, None, lambda s: s, lambda s: s)
    made = plan(traced, cast)
    turns = [*made.turns, *(turn for branch in made.branches for turn in branch.turns)]
    return [json.loads(made.body(turn, forced=False)) for turn in turns]


def fixed(body: dict[str, Any]) -> str:
    return json.dumps({name: value for name, value in body.items() if name not in DECIDED})


async def test_what_agents_send_is_what_a_replay_of_their_record_sends(tmp_path: Path) -> None:
    upstream, app = Upstream(), web.Application()
    app.router.add_post("/v1/chat/completions", upstream.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    with recording(f"http://127.0.0.1:{runner.addresses[0][1]}", tmp_path / "log.jsonl") as recorder:
        await act(recorder.url)
        await recorder.lines(9)
    await runner.cleanup()
    result = importing.run([tmp_path / "log.jsonl"], tmp_path / "trace.jsonl", "", "")
    assert result.exit_code == 0, result.left
    one, two = sessions(tmp_path / "trace.jsonl")
    assert [t.purpose for t in one.branch(0)] == ["agent", "agent", "agent", "compaction", "agent"]
    assert one.branches == 1 and len(one.branch(1)) == 2 and one.branch(0)[1].spawns == (1,)
    assert len(two.turns) == 2 and two.branches == 0
    assert [t.output_tok for t in one.turns] == [9] * 7, "the engine's own figures"
    sent = [fixed(body) for traced in (one, two) for body in bodies(traced)]
    assert sorted(sent) == sorted(fixed(json.loads(raw)) for raw in upstream.came)
