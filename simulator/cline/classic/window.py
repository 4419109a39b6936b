"""When the classic client shortens its history, and what it drops.

The limit is compared with the *last* request's tokens (prompt + reply, and cached ones again where the client counts
them twice). First, older copies of files are replaced by a note; unless that saves 30 % of the characters, half of the
message pairs after the first pair go, three quarters when even half the total is above the limit.
"""

from __future__ import annotations

ENOUGH_SAVED = 0.30
_ALLOWED = {64_000: 37_000, 128_000: 98_000, 200_000: 160_000}


def max_allowed_tok(window_tok: int) -> int:
    """Tokens of the last request at which the history is shortened before the next."""
    return _ALLOWED.get(window_tok, max(window_tok - 40_000, int(window_tok * 0.8)))


def last_removed(messages: int, removed_to: int | None, *, keep_quarter: bool) -> int | None:
    """Index of the last message to leave out; the first left out is always 2.

    messages: length of the whole history, system prompt not counted (user first, then in turns). removed_to: what the
    previous truncation gave. The result is an assistant's message, so that a user's follows the first pair.
    None: nothing is left that could go.
    """
    start = 2 if removed_to is None else removed_to + 1
    rest = messages - start
    number = (rest * 3 // 4 // 2 if keep_quarter else rest // 4) * 2
    end = start + number - 1
    return end if number > 0 else None
