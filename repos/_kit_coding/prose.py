"""The agent's words: sentence pools filled with what was really read, changed or run, each as rarely as possible."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

from . import facts

READ = (
    "Next I open `{path}`{why}.",
    "I will read `{path}` now{why}.",
    "The next thing to look at is `{path}`{why}.",
    "Reading `{path}` comes first{why}.",
    "Before going on I want the text of `{path}` in front of me{why}.",
    "Let me open `{path}`{why}.",
    "`{path}` should answer that, so I read it{why}.",
    "On to `{path}`{why}.",
    "I need to see `{path}` itself{why}, not what I assume it says.",
    "To be certain I go through `{path}`{why}.",
    "That makes `{path}` the file to read next{why}.",
    "Time to look into `{path}`{why}.",
)
RUN = (
    "I run {what} to see where things stand.",
    "Running {what} now.",
    "The quickest confirmation is to run {what}.",
    "Now {what}, and I expect {expect}.",
    "Let me run {what}; it should show {expect}.",
    "Next comes {what}. If I am right, the outcome is {expect}.",
    "To check this I run {what}, expecting {expect}.",
    "I would rather see it than believe it, so I run {what}; it ought to give {expect}.",
    "A run of {what} will tell; I am counting on {expect}.",
    "Executing {what} gives me {expect} if the reasoning holds.",
    "With that in place I run {what} and look for {expect}.",
)
SEARCH = (
    "I search {where} for `{regex}` to find every place that depends on it.",
    "Who else uses this? A search for `{regex}` in {where} will say.",
    "Let me look for `{regex}` in {where} before I touch anything.",
    "A search for `{regex}` below {where} shows how far a change would reach.",
    "To avoid surprises I look up `{regex}` across {where}.",
    "I want all mentions of `{regex}` in {where}, callers as well as documents.",
    "Grepping {where} for `{regex}` tells me whether the name is used elsewhere.",
    "Now I check {where} for `{regex}`, because a second copy of the rule would be a trap.",
)
SAW_MODULE = (
    "`{path}` has {lines} lines with {n_defs} definitions, of which `{fn}` (line {line}) matters most here.",
    "The module `{path}` is {lines} lines long; `{fn}` sits at line {line} and `{fn2}` at line {line2}.",
    "So `{path}` is where this lives: `{fn}` begins in line {line}, {size} lines in all.",
    "I have read the {lines} lines of `{path}`. The relevant piece is `{fn}` from line {line} on.",
    "In `{path}` the work is done by `{fn}` (line {line}), with `{fn2}` (line {line2}) next to it.",
    "`{path}` turns out compact: {n_defs} definitions in {lines} lines, and `{fn}` at line {line} is the core.",
    "Line {line} of `{path}` starts `{fn}`; with `{fn2}` in line {line2} it carries the behaviour in question.",
    "That was `{path}`, {lines} lines. I keep `{fn}` (line {line}) and `{fn2}` (line {line2}) in mind.",
)
SAW_TEST = (
    "`{path}` holds {n} cases in {k} classes; the last one is `{last}`, and nothing there covers this report.",
    "The {n} existing cases in `{path}` go from `{first}` to `{last}`.",
    "There are {n} test methods in `{path}`. They start with `{first}`; the border in question is not among them.",
    "`{path}` ({lines} lines, {n} cases) builds its data inline, so new cases can follow the style of `{first}`.",
    "In `{path}` I count {n} cases, grouped as {classes}.",
    "The classes in `{path}` are {classes}; with {n} cases they cover the ordinary path well.",
)
SAW_DOC = (
    "The document `{path}` has the sections {heads} and states the rule in plain words.",
    "`{path}` ({lines} lines) is written for users: {heads}. Code has to agree with it.",
    "According to `{path}` the intended behaviour is clear; its headings are {heads}.",
    "`{path}` confirms what the request says. It is organised as {heads}.",
    "I take `{path}` as the reference from here on; it covers {heads}.",
)
SAW_HITS = (
    "The search finds {total} lines in {k} files: {files}.",
    "{total} matching lines, spread over {files}.",
    "So the name occurs in {files}, {total} lines altogether.",
    "Matches are in {files}; nothing unexpected among the {total} lines.",
    "{k} files mention it ({files}), which keeps the change local.",
)
SAW_PASS = (
    "{what} passes, all {n} cases.",
    "Green: {n} cases in {what}, none skipped.",
    "All {n} cases of {what} succeed.",
    "{what} is fine, {n} cases ran without a failure.",
    "The {n} cases in {what} pass, which is what I expected.",
    "No failures in {what} ({n} cases).",
    "That run of {what} came back clean with {n} cases.",
    "{what}: {n} cases, all passing.",
)
SAW_FAIL = (
    "{what} fails, and it fails in the right place.",
    "As expected, {what} does not pass yet.",
    "The run of {what} ends in a failure.",
    "{what} is red, so the new cases do bite.",
    "There is the failure in {what}.",
)
SAW_LOG = (
    'The log of `{path}` shows "{subject}" by {author} as its latest change.',
    '{author} touched `{path}` last, in "{subject}".',
    'History helps here: "{subject}" ({author}) was the last commit to `{path}`.',
    'Most recently `{path}` was changed by {author} under the title "{subject}".',
)
SAW_EDIT = (
    "The change to `{path}` is in; the file has {lines} lines now.",
    "`{path}` is saved with {lines} lines.",
    "The edit went through, `{path}` counts {lines} lines after it.",
    "`{path}` now reads as intended ({lines} lines, {delta} compared with before).",
    "Saved `{path}`; {delta} lines against the previous state.",
    "The new text of `{path}` is in place, {delta} lines of difference.",
)
DETAIL = (
    "`{fn}` in line {line} of `{file}` promises: {doc}.",
    "Worth noting is `{fn}` (line {line} of `{file}`): {doc}.",
    'The docstring of `{fn}` in `{file}` reads "{doc}", {size} lines including the body.',
    'In `{file}` I also see `{fn}` at line {line}, described as "{doc}".',
    "`{fn}` ({size} lines from line {line} of `{file}`) says of itself: {doc}.",
    "`{file}`, line {line}, has `{fn}`: {doc}.",
    "For later: `{fn}` in `{file}`, line {line}. {doc}.",
    'Then there is `{fn}` in `{file}`, whose job is put as "{doc}".',
    "One more thing from `{file}`, `{fn}` (line {line}): {doc}.",
    'Around line {line} of `{file}` I find `{fn}` with the contract "{doc}".',
    "`{fn}`, {size} lines of `{file}`, must go on doing what it says: {doc}.",
    "Callers of `{fn}` (`{file}`, line {line}) were promised this: {doc}.",
)
TEST_DETAIL = (
    "`{test}` in line {line} is a good model for the shape of a case.",
    "I notice `{test}` (line {line}), which already covers the neighbouring behaviour.",
    "The case `{test}` at line {line} must keep passing whatever I change.",
    "`{test}`, line {line}, shows how the fixture is meant to be used.",
    "Especially `{test}` (line {line}) would notice if I relaxed the rule too far.",
    "What `{test}` asserts from line {line} on is untouched by this.",
    "Line {line} of `{file}` begins `{test}`, the closest relative of what I need.",
    "In `{file}` the case `{test}` (line {line}) fixes part of the contract already.",
    "`{test}` in `{file}` pins the ordinary case, so I do not have to repeat it.",
    "I read `{test}` (line {line}) twice, since it states the expectation most directly.",
)
_CODE = re.compile(r"`(\w+)`")


class Voice:
    """Chooses sentences; every pool's least used one first, so that a session does not repeat itself."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._used: Counter[str] = Counter()
        self._said: set[str] = set()

    def say(self, pool: tuple[str, ...], *, once: bool = False, **values: object) -> str:
        """The least used sentence of a pool, filled. once: a sentence filled alike before gives "" instead."""
        if once:
            pool = tuple(s for s in pool if s.format(**values) not in self._said)
            if not pool:
                return ""
        least = min(self._used[s] for s in pool)
        chosen = self._rng.choice([s for s in pool if self._used[s] == least])
        self._said.add(chosen.format(**values))
        self._used[chosen] += 1
        text = chosen.format(**values)
        return text[0].upper() + text[1:] if text[0].isalpha() else text

    def saw(self, path: str, text: str) -> str:
        """What reading a file has shown at first sight."""
        lines = len(text.splitlines())
        if path.endswith(".md"):
            heads = ", ".join(f'"{h}"' for h in facts.headings(text)[:3])
            return self.say(SAW_DOC, path=path, lines=lines, heads=heads)
        if path.startswith(("tests/", "test/")):
            tests, classes = facts.tests(text), facts.test_classes(text)
            if not tests:
                return f"`{path}` has {lines} lines and serves the other tests."
            if not classes:
                return f'`{path}` has {len(tests)} cases in {lines} lines, from "{tests[0]}" to "{tests[-1]}".'
            return self.say(
                SAW_TEST, path=path, lines=lines, n=len(tests), k=len(classes), first=tests[0],
                last=tests[-1], classes=", ".join(f"`{c}`" for c in classes),
            )  # fmt: skip
        defs = [d for d in facts.outline(text) if d.doc and not d.is_class]
        defs = defs if len(defs) > 1 else list(facts.outline(text))
        if not defs:
            return f"`{path}` is short, {lines} lines, and holds no surprises."
        one, two = (defs[0], defs[0]) if len(defs) == 1 else self._rng.sample(defs, 2)
        return self.say(
            SAW_MODULE, path=path, lines=lines, n_defs=len(facts.outline(text)), fn=one.name, line=one.line,
            size=one.size, fn2=two.name, line2=two.line,
        )  # fmt: skip

    def once(self, sentences: list[str]) -> str:
        """A sentence that was not used so far, or ""."""
        fresh = [s for s in sentences if not self._used[s]]
        if not fresh:
            return ""
        chosen = self._rng.choice(fresh)
        self._used[chosen] += 1
        return chosen

    def detail(self, path: str, text: str) -> str:
        """An unused remark about something in this file, or ""."""
        if path.startswith("tests/"):
            options = [(t, d) for t in facts.outline(text) if (d := t.name).startswith("test_")]
            keys = [f"{path}:{name}" for _, name in options]
        else:
            defs = [d for d in facts.outline(text) if d.doc]
            options, keys = [(d, d.doc) for d in defs], [f"{path}:{d.name}" for d in defs]
        fresh = [o for o, k in zip(options, keys, strict=True) if not self._used[k]]
        if not fresh:
            return ""
        d, doc = self._rng.choice(fresh)
        self._used[f"{path}:{d.name}"] += 1
        if path.startswith("tests/"):
            return self.say(TEST_DETAIL, test=d.name, line=d.line, file=path.rpartition("/")[2])
        return self.say(DETAIL, fn=d.name, line=d.line, doc=doc, size=d.size, file=path.rpartition("/")[2])

    def note(self, notes: list[str], text: str) -> str:
        """An unused note of the template, with the line of the definition that it mentions."""
        chosen = self.once(notes)
        if not chosen or self._rng.random() < 0.4:
            return chosen
        lines = {d.name: d.line for d in facts.outline(text)}
        named = next((m for m in _CODE.finditer(chosen) if m[1] in lines), None)
        return chosen if named is None else f"{chosen[: named.end()]} (line {lines[named[1]]}){chosen[named.end() :]}"
