"""A model that says what a script tells it to, behind a real socket, and live sessions that are played against it in a
real workspace."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web

from simulator.core.action import Action, Listing
from simulator.core.live import Limits, LiveStart
from simulator.core.plan import SessionPlan
from simulator.core.record import Request, Session, ToolRun
from simulator.core.task import Check
from simulator.drive.checking import run_check
from simulator.drive.clock import RunClock
from simulator.drive.commands import ShellRunner
from simulator.drive.endpoint import Endpoint
from simulator.drive.meter import Meter
from simulator.drive.runner import runner
from simulator.drive.sender import Sender
from simulator.drive.stage import Stage
from simulator.drive.toolbox import Toolbox
from simulator.drive.tools import Done, RecordedTools

CWD = "/home/dev/n"
BUG, MENDED = "def double(x):\n    return x + x + 1\n", "def double(x):\n    return x + x\n"
CHECK = Check(
    "import sys\nsys.path.insert(0, '.')\nfrom calc import double\n"
    "if double(2) != 4:\n    print('double(2) is', double(2))\n    sys.exit(1)\n",
    "{}",
)


@dataclass(frozen=True)
class Says:
    """A reply. calls: (name, arguments). piece: characters a chunk. gap_s: between chunks. status, error: an error
    instead. cut: the connection is lost after the text. counting: every chunk has a usage."""

    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    reasoning: str = ""
    finish: str = ""
    prompt_tok: int = 1_000
    output_tok: int = 50
    piece: int = 7
    gap_s: float = 0.0
    status: int = 200
    error: str = ""
    cut: bool = False
    counting: bool = False


#: (the request's body, how many came before it) -> reply
Script = Callable[[dict[str, Any], int], Says]


@dataclass
class Model:
    script: Script
    bodies: list[dict[str, Any]] = field(default_factory=list)
    finished: list[bool] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = orjson.loads(await request.read())
        says = self.script(body, len(self.bodies))
        number = len(self.bodies)
        self.bodies.append(body)
        self.finished.append(False)
        if says.status != 200:
            return web.json_response({"error": {"message": says.error}}, status=says.status)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        try:
            for number_of, delta in enumerate(_deltas(says), 1):
                used = {"usage": {"prompt_tokens": says.prompt_tok, "completion_tokens": number_of}}
                chunk = {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
                await response.write(_event(chunk | used if says.counting else chunk))
                if says.gap_s:
                    await asyncio.sleep(says.gap_s)
            if says.cut:
                assert request.transport is not None
                request.transport.abort()
                return response
            finish = says.finish or ("tool_calls" if says.calls else "stop")
            await response.write(_event({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}))
            usage = {"prompt_tokens": says.prompt_tok, "completion_tokens": says.output_tok}
            await response.write(_event({"choices": [], "usage": usage}) + b"data: [DONE]\n\n")
            self.finished[number] = True
        except ConnectionError:
            pass
        return response


def _event(data: dict[str, Any]) -> bytes:
    return b"data: " + orjson.dumps(data) + b"\n\n"


def _deltas(says: Says) -> list[dict[str, Any]]:
    def pieces(text: str) -> list[str]:
        return [text[at : at + says.piece] for at in range(0, len(text), says.piece)]

    out: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    out += [{"reasoning_content": each} for each in pieces(says.reasoning)]
    out += [{"content": each} for each in pieces(says.text)]
    for index, (name, arguments) in enumerate(says.calls):
        out.append({"tool_calls": [{"index": index, "id": f"call-{index}", "type": "function",
                                    "function": {"name": name, "arguments": ""}}]})  # fmt: skip
        out += [{"tool_calls": [{"index": index, "function": {"arguments": each}}]} for each in pieces(arguments)]
    return out


@asynccontextmanager
async def talking(model: Model) -> AsyncIterator[str]:
    """Its base URL."""
    app = web.Application(client_max_size=1 << 28)
    app.router.add_post("/v1/chat/completions", model.handle)
    site_runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
    await site_runner.setup()
    site = web.TCPSite(site_runner, "127.0.0.1", 0)
    await site.start()
    assert site._server is not None
    try:
        yield f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}/v1"  # type: ignore[attr-defined]
    finally:
        await site_runner.cleanup()


class BoxTools(RecordedTools):
    """Tools in a folder of the test, in this process."""

    def __init__(self, root: Path, documents: str) -> None:
        root.mkdir(parents=True)
        (root / "calc.py").write_text(BUG)
        (root / "README.md").write_text("# n\n")
        self.root, self._runner = root, ShellRunner()
        self._box = Toolbox(root, CWD, self._runner, documents)
        self.commits = 0

    async def do(self, session: str, action: Action) -> Done:
        clock = asyncio.get_running_loop().time
        began = clock()
        outcome = await asyncio.to_thread(self._box.do, action)
        return Done(outcome, began, clock())

    async def commit(self, session: str, message: str) -> bool:
        self.commits += 1
        return True

    async def check(self, session: str, check: Check) -> list[str]:
        return await asyncio.to_thread(run_check, self.root, check, self._runner)


@dataclass
class Lines:
    requests: list[Request] = field(default_factory=list)
    tools: list[ToolRun] = field(default_factory=list)
    sessions: list[Session] = field(default_factory=list)
    transcript: list[dict[str, Any]] = field(default_factory=list)

    def request(self, record: Request, deltas_us: object, tokens: object) -> None:
        self.requests.append(record)

    def tool(self, record: ToolRun) -> None:
        self.tools.append(record)

    def session(self, record: Session) -> None:
        self.sessions.append(record)

    def diff(self, session: str, patch: str) -> None: ...

    def said(self, session: str, line: bytes) -> None:
        self.transcript.append(orjson.loads(line))


@dataclass
class Played:
    session: Session
    model: Model
    lines: Lines
    tools: BoxTools

    def messages(self, n: int) -> list[dict[str, Any]]:
        """Of the n-th request."""
        found: list[dict[str, Any]] = self.model.bodies[n]["messages"]
        return found

    def last(self, n: int) -> str:
        """The text of the last message of the n-th request."""
        content = self.messages(n)[-1]["content"]
        return content if isinstance(content, str) else "\n".join(part["text"] for part in content)


def plan(
    profile: str, *, path: tuple[tuple[Action, ...], ...] = (), limits: Limits | None = None, **more: Any
) -> SessionPlan:
    given: dict[str, Any] = {"context_window_tok": 128_000, "path": path, **more}
    start = LiveStart(
        prompt="Mend double() in calc.py.",
        model="m",
        repo_name="n",
        listing=Listing(("README.md", "calc.py")),
        latest_commit="4f0c" * 10,
        start_unix_s=1_772_438_400.0,
        limits=limits or Limits(20, 30.0, 100_000),
        **given,
    )
    return SessionPlan("s0000", "t", "coding", "medium", 1, "n", profile, CWD, (), (), b"", (), CHECK, live=start)


async def play(one: SessionPlan, script: Script, folder: Path, *, stop_at_s: float | None = None) -> Played:
    model, lines, clock, stopping = Model(script), Lines(), RunClock(), asyncio.Event()
    documents = "raw" if one.profile == "sdk" else "extracted"
    tools, meter = BoxTools(folder / "work", documents), Meter(clock.now)
    async with talking(model) as url:
        endpoint = Endpoint(url, "none", clock.now, timeout_s=10)
        sender = Sender(endpoint, lines, meter, clock.now, "r", lambda text: len(text) // 4)  # type: ignore[arg-type]
        stage = Stage(sender, tools, lines, meter, clock.now, clock.at, stopping, False, False)  # type: ignore[arg-type]
        if stop_at_s is not None:
            asyncio.get_running_loop().call_later(stop_at_s, stopping.set)
        try:
            session = await runner(stage, one, 0).run()
        finally:
            await endpoint.close()
    return Played(session, model, lines, tools)
