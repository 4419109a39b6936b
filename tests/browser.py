"""Opens a file in headless Chromium and tells what happened there: no node, only the DevTools protocol.

seen = look(path, [View(390), View(1280, dark=True)], "document.title")
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
START_S, DRAW_S = 60.0, 30.0
#: true when the page is loaded and each of its charts was drawn or given up
READY = """document.readyState === 'complete' && [...document.querySelectorAll('div.vega')].every(
    (each) => each.classList.contains('drawn') || each.textContent.includes('could not be drawn'))"""


def chromium() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@dataclass(frozen=True, slots=True)
class View:
    width: int
    dark: bool = False
    height: int = 900


@dataclass(slots=True)
class Seen:
    """errors: what the console or the page complained of. requests: addresses asked for besides the file itself, but
    for those that the page's own policy stopped. value: of the expression. shot: the whole page as PNG, if wanted."""

    view: View
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    value: Any = None
    shot: bytes = b""


def look(
    path: Path | Sequence[Path], views: Sequence[View], expression: str = "null", *, shots: bool = False
) -> list[Seen]:
    """Opens each file once a view, in one browser; `expression` may be a promise."""
    urls = [each.resolve().as_uri() for each in ([path] if isinstance(path, Path) else path)]
    with _chromium() as address:
        return asyncio.run(_look(address, urls, views, expression, shots))


@contextlib.contextmanager
def _chromium() -> Iterator[str]:
    """The address of a browser's DevTools."""
    program = chromium()
    assert program is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        options = [
            "--headless=new", "--remote-debugging-port=0", f"--user-data-dir={home}", "--disable-gpu", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
            "--hide-scrollbars", *["--no-sandbox"] * (os.geteuid() == 0),
        ]  # fmt: skip
        process = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield _address(Path(home) / "DevToolsActivePort")
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _address(told: Path) -> str:
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        lines = told.read_text().splitlines() if told.exists() else []
        if len(lines) >= 2:
            return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        time.sleep(0.05)
    raise AssertionError(f"Chromium did not start within {START_S:.0f} s")


async def _look(address: str, urls: Sequence[str], views: Sequence[View], expression: str, shots: bool) -> list[Seen]:
    async with aiohttp.ClientSession() as http, http.ws_connect(address, max_msg_size=0) as socket:
        wire = _Wire(socket)
        return [await _visit(wire, url, view, expression, shots) for url in urls for view in views]


class _Wire:
    """Commands and their answers; events that come between are kept in `events`."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket, self._sent = socket, 0
        self.events: list[dict[str, Any]] = []

    async def call(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        self._sent += 1
        about = {} if session is None else {"sessionId": session}
        await self._socket.send_json({"id": self._sent, "method": method, "params": params, **about})
        while True:
            message = await self._socket.receive_json(timeout=DRAW_S)
            if message.get("id") == self._sent:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return dict(message["result"])
            self.events.append(message)


async def _visit(wire: _Wire, url: str, view: View, expression: str, shot: bool) -> Seen:
    target = (await wire.call("Target.createTarget", url="about:blank"))["targetId"]
    session = (await wire.call("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
    wire.events.clear()
    for name in ("Page", "Runtime", "Log", "Network"):
        await wire.call(f"{name}.enable", session)
    size = {"width": view.width, "height": view.height, "deviceScaleFactor": 1, "mobile": view.width < 600}
    await wire.call("Emulation.setDeviceMetricsOverride", session, **size)
    theme = {"name": "prefers-color-scheme", "value": "dark" if view.dark else "light"}
    await wire.call("Emulation.setEmulatedMedia", session, features=[theme])
    await wire.call("Page.navigate", session, url=url)
    seen = Seen(view)
    until = time.monotonic() + DRAW_S
    while not await _value(wire, session, f"location.href !== 'about:blank' && {READY}"):
        if time.monotonic() > until:
            _events(wire.events, url, seen)
            raise AssertionError(f"{url} was not drawn in {DRAW_S:.0f} s: {seen.errors}")
        await _value(wire, session, "new Promise((done) => setTimeout(done, 50))")
    seen.value = await _value(wire, session, expression)
    if shot:
        picture = await wire.call("Page.captureScreenshot", session, captureBeyondViewport=True)
        seen.shot = base64.b64decode(picture["data"])
    _events(wire.events, url, seen)
    await wire.call("Target.closeTarget", targetId=target)
    return seen


async def _value(wire: _Wire, session: str, expression: str) -> Any:
    told = await wire.call("Runtime.evaluate", session, expression=expression, returnByValue=True, awaitPromise=True)
    if "exceptionDetails" in told:
        raise RuntimeError(f"{expression[:80]}: {told['exceptionDetails']}")
    return told["result"].get("value")


def _events(events: Sequence[dict[str, Any]], url: str, seen: Seen) -> None:
    asked: dict[str, str] = {}
    for event in events:
        method, params = event.get("method", ""), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            seen.errors.append(str(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            seen.errors.append(str([each.get("value", each.get("description")) for each in params["args"]]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            seen.errors.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            asked[params["requestId"]] = params["request"]["url"]
        elif method == "Network.loadingFailed" and params.get("blockedReason") == "csp":
            asked.pop(params["requestId"], None)
    seen.requests += [each for each in asked.values() if each.split("#")[0] != url and not each.startswith("data:")]
