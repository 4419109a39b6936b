"""Ways of working that templates put together: look round, examine, reproduce, mend, extend, review, close."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from . import facts, prose, runs, thoughts
from .history import CHANGELOG, NOTHING, UNRELEASED
from .package import Item, is_test
from .render import NEW, SLIP
from .walk import Walk

_LOGS = ("git log --oneline -n 14", "git log --format='%h %an: %s' -n 20", "git log --stat --format='%h %an: %s' -n 4",
         "git log --format='%h %ad %s' --date=short -n 16")  # fmt: skip
_FILE_LOGS = (
    "git log -p -n 2 --format='%h %an: %s' -- {p}",
    "git log -p -U8 -n 1 --format='%an: %s' -- {p}",
    "git log --stat --format='%h %ad %s' --date=short -- {p}",
    "git log -p --format='%h %s' -n 3 -- {p}",
)


def orient(walk: Walk, first: str, reads: Sequence[str], *, brief: bool, red: str = "", after: str = "") -> None:
    """Files, README, what `reads` names, the history, and a first full run. red: what it says when it fails; after:
    what it says else."""
    rng, world = walk.rng, walk.world
    walk.list_files(".", f"{first} I begin with the layout of the repository.", recursive=True)
    if not (brief and reads):
        walk.read("README.md", why="for the conventions here")
    for path in reads:
        walk.read(path, why="because the request points to it" if path.endswith(".md") else "as much depends on it")
    if not brief:
        walk.run(rng.choice(_LOGS), "The history often says why something is as it is, so I look at the last commits.",
                 "The commits are small, each with a subject that says what it is for.")  # fmt: skip
    total = runs.total(walk.files)
    walk.run(runs.whole(world)[rng.randrange(2)], "Before I change anything I want to see the suite as it stands.",
             red or after or f"All {total} cases pass, so nothing that was reported is covered by a test yet.",
             fails=bool(red))  # fmt: skip


def examine(walk: Walk, item: Item, *, brief: bool, docs: bool = True) -> None:
    """Read what the item is about; what was read earlier is not read again."""
    rng = walk.rng
    walk.item = item
    walk.saw(f"Now to {item.title}: `{item.code[0]}` is where I look first.")
    if not brief and rng.random() < 0.8 and (words := item.lines("search")):
        walk.search(rf"\b{rng.choice(words)}\b")
    about = item.text("about").split("\n\n")
    walk.read(item.code[0], why="the code that this is about")
    walk.saw(about[0])
    rest = item.code[1:3] if brief else item.code[1:]
    walk.read(*rest, why="which take part in it", insight=about[-1] if len(about) > 1 else "")
    if docs:
        walk.read(*item.docs[:1], why="as the written rule decides what is right")
    walk.read(*item.tests[: 1 if brief else 3], why="to see what is covered so far")
    for path in item.lines("read")[: 0 if brief else 4]:
        walk.read(path, why="which it leans on")


def probe(walk: Walk, item: Item, intent: str, after: str, section: str = "probe", tail: str = "") -> None:
    """The item's few lines that show its behaviour. tail: more code, so that a second run is another command."""
    code = item.text(section) + tail
    if walk.world.script:
        command = "node --no-warnings --experimental-strip-types --input-type=module -e " + shlex.quote(f"\n{code}\n")
    else:
        command = f"python -c {shlex.quote(chr(10) + code + chr(10))}"
    walk.run(command, intent, after)


def again(walk: Walk, item: Item) -> None:
    tail = "\nconsole.log();" if walk.world.script else "\nprint()"
    probe(walk, item, "The lines from before once more, on the changed code.", "That is what was asked for.", tail=tail)


def test(walk: Walk, item: Item, *, fails: str = "", group: bool = False, insight: str = "") -> None:
    """Runs the item's tests in a form not used so far. fails: what to say about the expected failure."""
    if not fails and not group and any(walk.unfinished(p) for p in item.tests):
        return
    name = item.lines("group")[0] if group else ""
    paths = item.tests if fails and not group else item.tests[:1] if group else [walk.rng.choice(item.tests)]
    options = [runs.several(walk.world, paths)] if len(paths) > 1 else runs.of(walk.world, paths[0], name)
    commands = [c for c in options if c not in walk.commands] or options
    command = commands[0] if fails else walk.rng.choice(commands)
    label = f"`{name}`" if name else " and ".join(f"`{p}`" for p in paths)
    expect = "a failure that shows the fault" if fails else f"{label} without failures"
    intent = walk.voice.say(prose.RUN, what=f"`{command}`", expect=expect)
    walk.run(command, intent, insight=insight, fails=bool(fails))
    if fails:
        walk.saw(walk.voice.say(prose.SAW_FAIL, what=label), fails)
    else:
        n = sum(runs.cases(walk.files[p], name) for p in paths)
        walk.saw(walk.voice.say(prose.SAW_PASS, what=label, n=n))


def change(walk: Walk, item: Item, intent: str, *, insight: str = "", slip: bool = False) -> None:
    """Brings the item's code to its solution, or to the first, wrong try, one file after the other."""
    for number, path in enumerate(item.code):
        stage = SLIP if slip and path in walk.world.slips(item) else NEW
        told = intent if number == 0 else f"`{path}` has to follow."
        before = walk.files.get(path, "")
        walk.bring(path, {item.key: stage}, told, insight=insight if number == 0 else "")
        if path in walk.files and walk.files[path] != before and walk.rng.random() < 0.6:
            mark = next((d.name for d in facts.outline(walk.files[path]) if d.name not in before), item.key)
            walk.look_again(path, mark, f"The tool only gave a diff, so I re-read `{path}` around the change.")


def add_tests(walk: Walk, item: Item, intent: str) -> None:
    for number, path in enumerate(item.tests):
        insight = item.text("tests") if number == 0 else ""
        walk.bring(path, {item.key: NEW}, intent if number == 0 else f"And the cases for `{path}`.", insight=insight)


def mend(walk: Walk, item: Item, *, brief: bool, slip: bool, first_tests: bool = True) -> None:
    """Tests, the change (after a wrong try where `slip` and there is one), tests."""
    slip = slip and bool(walk.world.slips(item))
    if first_tests and not _tested(walk, item):
        add_tests(walk, item, "I write the tests first.")
        test(walk, item, fails="That is the state before the change.", group=True)
    if slip:
        change(walk, item, f"The change goes into `{item.code[0]}`.", insight=item.text("cause"), slip=True)
        if not _tested(walk, item):
            add_tests(walk, item, f"The new cases go into `{item.tests[0]}`.")
        test(walk, item, fails=item.text("slip"))
        for path in walk.world.slips(item):
            walk.bring(path, {item.key: NEW}, "Corrected accordingly.", insight=item.text("fix"))
    else:
        walk.saw(item.text("cause"))
        change(walk, item, f"So this is the change to `{item.code[0]}`.", insight=item.text("fix"))
    if not first_tests and not _tested(walk, item):
        test(walk, item)
        add_tests(walk, item, f"The new cases go into `{item.tests[0]}`.")
    test(walk, item, group=True)
    if not brief:
        test(walk, item)
    document(walk, item)


def _tested(walk: Walk, item: Item) -> bool:
    return all(walk.stages[p][item.key] == NEW for p in item.tests)


def document(walk: Walk, item: Item) -> None:
    for path in item.docs:
        if walk.stages[path][item.key] != NEW:
            walk.read(path, why="to find where this belongs")
            walk.bring(path, {item.key: NEW}, f"`{path}` says it, too.")


def note(walk: Walk, items: Sequence[Item]) -> None:
    """Lines for these items under Unreleased in the changelog."""
    walk.item = None
    walk.read(CHANGELOG, why="to see how entries are worded")
    first = walk.files[CHANGELOG].split(UNRELEASED, 1)[1].splitlines()[0] + "\n"
    lines = "".join(f"* {i.text('change')}\n" for i in items)
    what = "One entry" if len(items) == 1 else f"{len(items)} entries"
    kept = "" if first == NOTHING else first
    walk.replace(CHANGELOG, UNRELEASED + first, UNRELEASED + lines + kept, f"{what} under Unreleased.")


def review(walk: Walk, item: Item) -> None:
    """What the item has changed so far."""
    options = f"git diff {walk.rng.choice(('', '-U1 ', '-U5 ', '--stat -p '))}-- {' '.join(item.files[:4])}"
    walk.run(options, f"Let me review what {item.title} has changed so far.", "The diff is limited to this point.")


def finish(walk: Walk, items: Sequence[Item], summary: str, *, brief: bool) -> None:
    """The complete suite, the state of the work tree, the diff, and the report."""
    world, rng = walk.world, walk.rng
    walk.item, walk.ended = None, True
    total = runs.total(walk.files)
    command = next(c for c in reversed(runs.whole(world)) if c not in walk.commands)
    intent = walk.voice.say(prose.RUN, what="the complete suite", expect=f"{total} passing cases")
    walk.run(command, intent, f"All {total} cases pass.")
    if not brief:
        walk.run(rng.choice(("git status --short", "git status --porcelain --untracked-files=all")),
                 "Which files did I touch in the end?", "Only what belongs to the points of the request.")  # fmt: skip
    paths = " ".join(sorted({p for i in items for p in i.code if p in walk.files}))
    walk.run(f"git diff {rng.choice(('', '-U2 ', '--stat -p '))}-- {paths}",
             "A last look at my own diff, as a reviewer would see it.",
             "The diff holds what I described and nothing else.")  # fmt: skip
    changes = "\n".join(f"- {i.text('change')} (`{i.code[0]}`)" for i in items)
    walk.complete(
        f"{summary}\n\n{changes}\n\nThe suite of {total} cases passes; {CHANGELOG} has a line for each point."
    )


def wander(walk: Walk, until: int) -> None:
    """Looks at what surrounds the work until there are `until` replies, as long as something is left to look at."""
    idle = 0
    while len(walk.steps) < until and idle < 25:
        before = len(walk.steps)
        _LOOKS[walk.rng.choices(range(len(_LOOKS)), _WEIGHTS)[0]](walk)
        idle = 0 if len(walk.steps) > before else idle + 1


def _say(walk: Walk) -> str:
    title = walk.item.title if walk.item else "the request"
    return walk.voice.say(thoughts.LOOK, pkg=walk.world.package, title=title)


def _unread(walk: Walk) -> None:
    left = [p for p in sorted(walk.files) if p not in walk.seen and p != CHANGELOG and walk.files[p].count("\n") > 12]
    near = [p for p in left if p.endswith((".py", ".ts"))] or left
    if near:
        walk.read(walk.rng.choice(near), insight=_say(walk))


def _history(walk: Walk) -> None:
    path = walk.rng.choice(sorted(p for p in walk.seen if p in walk.world.sources and p in walk.files))
    command = walk.rng.choice(_FILE_LOGS).format(p=path)
    if not walk.used(command) and not walk.used(f"log {path}"):
        walk.run(command, walk.voice.say(thoughts.HISTORY, path=path), walk.voice.say(thoughts.SAW_HISTORY, path=path))


def _search(walk: Walk) -> None:
    path = walk.rng.choice(sorted(p for p in walk.seen if p in walk.files and not p.endswith(".md")) or ["README.md"])
    names = [
        d.name for d in facts.outline(walk.files[path]) if not d.name.startswith(("test_", "_")) and len(d.name) > 3
    ]
    if names:
        folder = walk.rng.choice((".", ".", "docs", path.split("/")[0]))
        walk.search(rf"\b{re.escape(walk.rng.choice(names))}\b", folder)


def _neighbour(walk: Walk) -> None:
    tests = sorted(p for p in walk.files if is_test(p) and facts.tests(walk.files[p]))
    path = walk.rng.choice(tests)
    command = runs.of(walk.world, path)[0]
    if not walk.unfinished(path) and not walk.used(f"neighbour {path}") and command not in walk.commands:
        n = runs.cases(walk.files[path])
        walk.run(command, f"{_say(walk)} I run `{command}`.", walk.voice.say(prose.SAW_PASS, what=f"`{path}`", n=n))


def _defined(walk: Walk) -> None:
    folders = sorted({p.rpartition("/")[0] for p in walk.files if p.endswith((".py", ".ts")) and "/" in p})
    folder = walk.rng.choice(folders)
    walk.definitions(folder, f"What else is defined in `{folder}`? A list of definitions answers that fastest.")


def _commit(walk: Walk) -> None:
    number = walk.rng.randint(2, 11)
    command = walk.rng.choice((f"git show --stat -p HEAD~{number}", f"git show --format='%an: %s%n%b' HEAD~{number}"))
    if not walk.used(f"show {number}"):
        walk.run(command, f"{_say(walk)} An earlier commit shows how changes are made here.",
                 "Code, tests and documents changed in one commit, so I do the same.")  # fmt: skip


_LOOKS = (_unread, _history, _search, _neighbour, _defined, _commit)
_WEIGHTS = (5, 3, 3, 2, 1, 2)


def point(walk: Walk, item: Item, until: int, *, brief: bool, slip: bool) -> None:
    """One fault or feature from reading to a proven result; until: replies after which the change begins, at least."""
    examine(walk, item, brief=brief)
    fault = item.kind != "feature"
    if fault:
        probe(walk, item, "I reproduce it with a few lines, so that I argue from output.", "So that is the behaviour.")
    if not brief:
        wander(walk, until)
    mend(walk, item, brief=brief, slip=slip, first_tests=fault)
    if not brief or fault:
        again(walk, item)
    if not brief and walk.rng.random() < 0.5:
        review(walk, item)


def through(walk: Walk, items: Sequence[Item], turns: int, *, brief: bool, share: float) -> None:
    """All points one after the other in about so many replies, with lines for the changelog now and then. share: of a
    point's replies, what is spent on looking."""
    start, noted = len(walk.steps), 0
    each = (turns - 7 - start) / len(items)
    for number, item in enumerate(items):
        slip = walk.rng.random() < (0.6 if not brief else 0.4 if item.kind != "feature" else 0.0)
        point(walk, item, round(start + each * (number + share)), brief=brief, slip=slip)
        walk.done(item.title)
        if number + 1 == len(items) or number + 1 - noted == 3:
            note(walk, items[noted : number + 1])
            noted = number + 1
