"""Other words for a text: as many tokens, and as many leading ones in common with any other text as before.

Each token becomes a word of one token, chosen by a keyed hash of all tokens up to it. Who does not have the key learns
how long texts are and how far they begin alike; who has it can try guesses, so a key is kept as a secret is.
"""

from __future__ import annotations

import functools
import hashlib
import re
import string
from collections.abc import Sequence

from simulator import tokenizer

#: of a chained state: two that differ do not meet by chance in one trace
_STATE_BYTES = 12
#: characters of texts that are remembered
MOST_CHARS = 16 << 20
_LETTERS, _DIGITS = string.ascii_lowercase, string.digits


@functools.cache
def vocabulary() -> tuple[str, ...]:
    """Words with the blank before them, each a token that no neighbour changes."""
    plain = re.compile(rb" [a-z]{3,9}")
    return tuple(sorted(word.decode() for word in tokenizer.load().token_byte_values() if plain.fullmatch(word)))


class Words:
    """key: what chooses. Texts that were replaced are remembered, as histories repeat themselves."""

    def __init__(self, key: bytes) -> None:
        self._key = hashlib.blake2b(key, digest_size=32).digest()
        self._words = vocabulary()
        self._known: dict[str, str] = {}
        self._chars = 0

    def text(self, text: str) -> str:
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = "".join(self.chain(tokenizer.encode(text)))
            self._chars += len(text) + len(found)
            if self._chars > MOST_CHARS:
                self._known.clear()
                self._chars = 0
        return found

    def chain(self, ids: Sequence[int]) -> list[str]:
        """A word for each token."""
        words, key, state = self._words, self._key, b""
        found = []
        for each in ids:
            state = hashlib.blake2b(state + each.to_bytes(4, "big"), digest_size=_STATE_BYTES, key=key).digest()
            found.append(words[int.from_bytes(state[:6], "big") % len(words)])
        return found

    def more(self, text: str, count: int) -> str:
        """The text with so many words behind it; fewer for a negative count, of a text of words."""
        if count < 0:
            return "".join(re.findall(r" [a-z]+", text)[:count])
        drawn = hashlib.shake_128(self._key + text.encode()).digest(4 * count)
        picked = (int.from_bytes(drawn[4 * n : 4 * n + 4], "big") for n in range(count))
        return text + "".join(self._words[n % len(self._words)] for n in picked)

    def name(self, kind: str, name: str) -> str:
        """One word of letters for a name, the same for the same name of a kind."""
        return hashlib.blake2b(name.encode(), digest_size=6, key=self._key, person=kind.encode()[:16]).hexdigest()

    def shaped(self, text: str) -> str:
        """An identifier or number in the same form: letters for letters, digits for digits, the rest as it is."""
        drawn = hashlib.shake_128(self._key + b"shape" + text.encode("utf-8", "replace")).digest(len(text))
        out = []
        for n, (char, draw) in enumerate(zip(text, drawn, strict=True)):
            if char.isdigit():
                # a number does not begin with 0 where it did not
                out.append(_DIGITS[draw % 10] if n or char == "0" else _DIGITS[1 + draw % 9])
            elif char.isalpha():
                letter = _LETTERS[draw % 26]
                out.append(letter.upper() if char.isupper() else letter)
            else:
                out.append(char if char in "-_.:+" else "-")
        return "".join(out)
