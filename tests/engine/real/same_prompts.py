"""Prompts for `vllm bench serve --dataset-name sharegpt` that have exactly so many tokens in the served tokenizer.

Its own random prompts are random ids said as text; where the tokenizer knows other spellings of that text, they come
back as more tokens (512 became 1,020 once). Words that are one token each, blank included, come back as what they were.
"""

from __future__ import annotations

import json
import random
import re
import urllib.request
from pathlib import Path

#: short common words; which of them are one token is asked of the server
WORDS = re.findall(
    r"\w+",
    """
the of and to in is that for it as was with be by on not he his but at are this have from or had an they which
one you were all her she there would their we him been has when who will no more if out so up said what its
about than into them can only other time new some could these two may first then do any like my now over such
our man me even most made after also did many off before must well back through years much where your way down
should because long each just state people those too mr how little good world make very year still see own
work men day get here old life both between being under three never know same last another while us might
great go come since against right came take used himself few house use during without again place around high
home small end off part number line name group set value test file data list table point order water food city
road book door hand side kind head paper money
""",
)


def count(url: str, model: str, text: str) -> int:
    """Tokens of a prompt, as the server counts them."""
    body = json.dumps({"model": model, "prompt": text}).encode()
    request = urllib.request.Request(f"{url}/tokenize", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        tokens: int = json.load(answer)["count"]
    return tokens


def plain_words(url: str, model: str) -> list[str]:
    """Words of which one more is one token more."""
    few = count(url, model, "so so")
    found = [word for word in dict.fromkeys(WORDS) if count(url, model, f"so so {word}") == few + 1]
    if len(found) < 20:
        raise SystemExit(
            f"only {len(found)} of {len(WORDS)} words are one token in this tokenizer; too few for prompts"
        )
    return found


def write(path: Path, url: str, model: str, words: list[str], *, requests: int, tok: int, seed: int) -> Path:
    """A conversation a prompt, all of `tok` tokens, other ones for every seed."""
    draw = random.Random(seed)
    first = count(url, model, words[0])  # what a prompt begins with has its part in it
    texts = [" ".join([words[0], *draw.choices(words, k=tok - first)]) for _ in range(requests)]
    for text in texts[:3]:
        if (told := count(url, model, text)) != tok:
            raise SystemExit(f"a prompt of {tok} tokens has {told} in this tokenizer; no equal work")
    talks = [{"conversations": [{"from": "human", "value": text}, {"from": "gpt", "value": "so"}]} for text in texts]
    path.write_text(json.dumps(talks))
    return path
