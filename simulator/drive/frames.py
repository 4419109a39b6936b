"""What processes of one run say to each other: eight bytes of length, big-endian, then a pickle. All ends are ours."""

from __future__ import annotations

import pickle

LENGTH = 8


def frame(message: object) -> bytes:
    payload = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(payload).to_bytes(LENGTH, "big") + payload
