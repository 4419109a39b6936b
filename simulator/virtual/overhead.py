"""What client and HTTP add to the engine's own time, and virtual time therefore adds too. Measured; only here."""

from __future__ import annotations

#: a request handed to the socket until the scheduler has it: loopback, HTTP and JSON on both sides
REQUEST_S = 0.0020
#: a step's end until the client has its chunk: the server's write, loopback, the client's read
CHUNK_S = 0.0008
