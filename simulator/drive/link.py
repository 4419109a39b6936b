"""Messages between two processes of one run over a socket, in frames."""

from __future__ import annotations

import asyncio
import pickle
import socket
from typing import Any

from simulator.drive.frames import LENGTH, frame


class Link:
    """One end. Messages are small and seldom, so sending never waits."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, sock: socket.socket) -> Link:
        return cls(*await asyncio.open_unix_connection(sock=sock))

    def send(self, message: object) -> None:
        """Lost without a word when the other side is gone; who listens there is told by `receive`."""
        data = frame(message)
        if not self._writer.is_closing():
            self._writer.write(data)

    async def receive(self) -> Any:
        """The next message; EOFError when the other side is gone."""
        try:
            size = int.from_bytes(await self._reader.readexactly(LENGTH), "big")
            return pickle.loads(await self._reader.readexactly(size))
        except (asyncio.IncompleteReadError, ConnectionError):
            raise EOFError from None

    async def flush(self) -> None:
        try:
            await self._writer.drain()
        except ConnectionError:
            return

    def close(self) -> None:
        self._writer.close()
