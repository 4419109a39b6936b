"""A server in front of a real one that holds the model to tool calls: what stands in them stays the model's, and the
smallest models, which never call by themselves, get as far as the tools."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

LIMIT_S = 300.0
PASSED = ("Content-Type", "Accept", "Authorization")


@contextmanager
def holding(upstream: str) -> Iterator[str]:
    """The address, without /v1, of a server that passes everything on and asks for a call in each chat request that
    offers tools."""
    target = urlsplit(upstream)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._pass_on(None)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.path.endswith("/chat/completions"):
                asked = json.loads(body)
                body = json.dumps(asked | ({"tool_choice": "required"} if asked.get("tools") else {})).encode()
            self._pass_on(body)

        def _pass_on(self, body: bytes | None) -> None:
            link = http.client.HTTPConnection(target.hostname or "", target.port, timeout=LIMIT_S)
            try:
                headers = {name: value for name, value in self.headers.items() if name.title() in PASSED}
                link.request(self.command, self.path, body, headers)
                answer = link.getresponse()
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.headers.get("Content-Type", ""))
                self.end_headers()
                while data := answer.read1(65_536):
                    self.wfile.write(data)
            finally:
                link.close()

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
