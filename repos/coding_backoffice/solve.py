"""The recorded way through a task: look round, then one item after the other, then close."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from random import Random

from .._kit_coding import facts, prose
from .._kit_coding.render import NEW, SLIP
from .history import version_of
from .walk import Walk
from .world import Part

REPORTS = "docs/open_reports.md"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to do: a fault to mend or a feature to add in a unit."""

    unit: Part
    kind: str  # "fault" | "feature"

    @property
    def title(self) -> str:
        verb = "Fix" if self.kind == "fault" else "Extend"
        return f"{verb} `{self.unit.names['mod']}`"

    def text(self, section: str) -> str:
        return self.unit.story(f"{self.kind}.{section}", Random(self.unit.key))


def orient(walk: Walk, items: list[Item], *, reports: bool) -> None:
    """Files, README, package, the request's surroundings, and a first full run."""
    world, rng = walk.world, walk.rng
    walk.plan("Look round and run the suite", *[i.title + f" ({i.kind})" for i in items], "Changelog", "Final run")
    more = f" and {len(items) - 1} more" if len(items) > 1 else ""
    first = f"This is about {items[0].unit.names['title'].lower()}{more} in {world.repo}. "
    walk.list_files(".", first + "I begin with the layout of the repository before I form an opinion.", recursive=True)
    if reports:
        walk.read(REPORTS, why="since the task points to it")
    walk.read("README.md", why="for the conventions of this project")
    if not walk.brief:
        _conventions(walk)
    total = sum(len(facts.tests(t)) for p, t in walk.files.items() if p.startswith("tests/test_"))
    full = rng.choice(("python -m unittest discover -s tests -t .", "python -m unittest discover -t . -s tests -b"))
    walk.run(full, "Before changing anything I want to know whether the suite is green as it stands.",
             f"All {total} cases pass, so none of the reported behaviour is covered by a test yet.")  # fmt: skip
    walk.done("Look round and run the suite")


def _conventions(walk: Walk) -> None:
    """What every module shares, and the recent history."""
    world, rng, pkg = walk.world, walk.rng, walk.world.package
    if rng.random() < 0.6:
        walk.definitions(pkg, f"The top-level modules of `{pkg}` are shared by everything, so I list what they define.")
    walk.read(world.part("errors").module_path, why="because every module raises these")
    walk.read(world.part("desk").module_path, why="to see how the parts are put together")
    log = rng.choice((
        "git log --oneline -n 12", "git log --format='%h %an: %s'", "git log --stat --format='%h %an: %s' -n 3",
        "git log --format='%h %ad %s' --date=short -n 9",
    ))  # fmt: skip
    walk.run(log, "The history often says why something is the way it is, so a look at the recent commits.",
             "The last commits touch the modules named in the task, which fits the time of the reports.")  # fmt: skip


def work(walk: Walk, item: Item) -> None:
    walk.unit = item.unit
    _investigate(walk, item)
    if item.kind == "fault":
        _mend(walk, item)
    else:
        _extend(walk, item)
    walk.done(item.title + f" ({item.kind})")


def _investigate(walk: Walk, item: Item) -> None:
    """Read what the item is about; whatever was read earlier is not read again."""
    unit, rng = item.unit, walk.rng
    names = _methods(walk, unit)
    walk.saw(f"The next item concerns {unit.names['title'].lower()} in `{unit.module_path}`.")
    about = unit.story("about", Random(walk.world.seed)).split("\n\n")
    if not walk.brief and rng.random() < 0.75:
        walk.search(rf"\b{rng.choice(names)}\b" if rng.random() < 0.6 else unit.names["Main"])
    pair = [unit.module_path, unit.test_path]
    if walk.echoes:
        walk.read(unit.module_path, why="the code that the item is about")
        walk.saw(walk.voice.once(about))
        if rng.random() < 0.85:
            walk.read(unit.test_path, why="to see what is covered so far")
    else:
        walk.read(*pair, why="code and tests together")
        walk.saw(walk.voice.once(about))
    if unit.doc_path and rng.random() < 0.8:
        walk.read(unit.doc_path, why="as the written rule decides what is right", insight=walk.voice.once(about))
    if walk.brief:
        return
    _look_around(walk, unit)
    helper = rng.choice([p for p in walk.world.base if p.dotted in walk.files[unit.module_path]])
    if rng.random() < 0.95:
        fresh = not walk.has_read(helper)
        walk.read(helper.module_path, why=f"which `{unit.names['mod']}` imports from")
        walk.saw(helper.story("about", Random(0)) if fresh else "")


def _look_around(walk: Walk, unit: Part) -> None:
    """Neighbours of a unit: the folder's definitions, a sibling with the same question, uses of an error."""
    rng, names = walk.rng, walk.world.names
    folder = unit.module_path.rpartition("/")[0]
    if rng.random() < 0.5:
        walk.definitions(folder, f"What else is defined in `{folder}`? A list of definitions answers that fastest.")
    if rng.random() < 0.85:
        siblings = [u for u in walk.world.units if u is not unit]
        near = [u for u in siblings if u.names["group"] == unit.names["group"]]
        other = rng.choice(near or siblings)
        reason = rng.choice((
            f"a sibling of `{unit.names['mod']}` that may have solved the same question",
            "to keep my change in line with how its neighbour is written",
            f"because it was written by the same people as `{unit.names['mod']}`",
            "since a rule that exists twice would have to change twice",
        ))  # fmt: skip
        if not walk.has_read(other):
            walk.read(other.module_path, why=reason)
            walk.saw(other.story("about", Random(walk.world.seed)).split("\n\n")[0])
    if rng.random() < 0.5:
        error = names[rng.choice(("InputErr", "ConflictErr", "MissingErr"))]
        walk.search(rf"raise {error}", *rng.choice(((folder, "*.py"), (walk.world.package, "*.py"), ("tests", None))))
    elif constants := facts.constants(walk.files[unit.module_path]):
        walk.search(rf"\b{rng.choice(constants)[0]}\b", rng.choice((".", walk.world.package, "docs")))


def _methods(walk: Walk, unit: Part) -> list[str]:
    defs = facts.outline(walk.files[unit.module_path])
    return [d.name for d in defs if not d.is_class and not d.name.startswith("_") and d.doc]


def _probe(code: str) -> str:
    return f"python -c {shlex.quote(chr(10) + code + chr(10))}"


def _mend(walk: Walk, item: Item) -> None:
    unit, rng = item.unit, walk.rng
    module, tests = unit.module_path, unit.test_path
    walk.run(_probe(item.text("probe")), "I reproduce the report with a few lines, so that I argue from output.",
             "The output shows the reported behaviour.")  # fmt: skip
    subject = item.text("commit")
    if rng.random() < 0.8:
        log = rng.choice((
            f"git log -p --format='%h %an: %s' -- {module}", f"git log -p -n 2 --format='%h %an%n%s' -- {module}",
            f"git log -p -U10 -n 2 --format='%h %s' -- {module}", f"git log -n 1 -p -U12 --format=%s%n%an -- {module}",
        ))  # fmt: skip
        walk.run(log, f"How did `{module}` get like this? Its log should have the commit.",
                 f'"{subject}" was the last commit to `{module}`, and the behaviour came with it.',
                 insight=item.text("cause"))  # fmt: skip
    else:
        walk.saw(item.text("cause"))
    test_names = _added(walk, tests, "fault")
    fix = f"So this is the change to `{module}`."
    if walk._sources[module].has_slip("fault") and rng.random() < 0.45:
        walk.edit(tests, {"fault": NEW}, "I write the tests first.", insight=item.text("tests"))
        walk.run_tests(unit, only=test_names[0], fails="That is the state before the fix.")
        walk.edit(module, {"fault": SLIP}, f"With the tests in place I change `{module}`.")
        walk.run_tests(unit, fails=item.text("slip"))
        walk.edit(module, {"fault": NEW}, "Corrected accordingly.", insight=item.text("fix"))
        walk.run_tests(unit)
    else:
        walk.edit(module, {"fault": NEW}, fix, insight=item.text("fix"))
        _reread(walk, module, unit)
        walk.run_tests(unit)
        walk.edit(tests, {"fault": NEW}, f"These go into `{tests}`.", insight=item.text("tests"))
        walk.run_tests(unit, only=test_names[0])
    if rng.random() < 0.6:
        walk.run(_probe(item.text("probe") + "\nprint()"), "The lines from the start once more, now with the fix.",
                 "This is what the document promises.")  # fmt: skip


def _reread(walk: Walk, path: str, unit: Part) -> None:
    if not walk.echoes and walk.rng.random() < 0.9:
        name = walk.rng.choice(_methods(walk, unit))
        walk.look_around(path, f"def {name}", f"The tool only showed a diff, so I re-read `{path}` around the change.")


def _added(walk: Walk, path: str, slot: str) -> list[str]:
    """Names of the test classes that an edit of the slot will add."""
    source = walk._sources[path]
    after = source.text({**walk.stages[path], slot: NEW})
    before = set(facts.test_classes(walk.files[path]))
    return [c for c in facts.test_classes(after) if c not in before]


def _extend(walk: Walk, item: Item) -> None:
    unit, rng = item.unit, walk.rng
    module, tests = unit.module_path, unit.test_path
    test_names = _added(walk, tests, "feature")
    walk.edit(module, {"feature": NEW}, f"I add it to `{module}`.", insight=item.text("plan"))
    if rng.random() < 0.35:
        path = f"examples/{unit.names['mod']}.py"
        body = f'"""{unit.names["title"]}: a short example."""\n\n{item.text("probe")}\n'
        walk.write(path, body, "A runnable example is more use to readers than another paragraph.")
        command = f"python -m examples.{unit.names['mod']}"
    else:
        command = _probe(item.text("probe"))
    walk.run(command, f"A first try of the new code with data like that of {unit.names['p1']}.",
             "The figures are what the request describes.")  # fmt: skip
    walk.read(tests, why="to add the cases in its style")
    walk.edit(tests, {"feature": NEW}, f"The new cases for `{tests}`:", insight=item.text("tests"))
    _reread(walk, tests, unit)
    walk.run_tests(unit, only=test_names[0] if rng.random() < 0.5 else "")
    if rng.random() < 0.85:
        walk.read(unit.doc_path or "", why="to find where the new section belongs")
        walk.edit(unit.doc_path or "", {"feature": NEW}, f"`{unit.doc_path}` gets a section on it.")
    walk.run_tests(unit)
    walk.search(item.text("change").split("`")[1], rng.choice((".", "docs")))
    if rng.random() < 0.4:
        walk.run(f"git diff {rng.choice(('', '-U1 ', '-U6 '))}-- {module} {tests}",
                 f"Let me review what this item has changed in `{module}` and its tests.",
                 "The diff is limited to this item.")  # fmt: skip


def _counted(n: int) -> str:
    return "One entry" if n == 1 else f"{n} entries"


def note_changes(walk: Walk, items: list[Item]) -> None:
    """Lines for these items under Unreleased in the changelog."""
    walk.unit = None
    walk.read("CHANGELOG.md", why="to see how entries are worded")
    text = walk.files["CHANGELOG.md"]
    head = "## Unreleased\n\n"
    first = text.split(head, 1)[1].splitlines()[0] + "\n"
    lines = "".join(f"* {i.text('change')}\n" for i in items)
    kept = "" if first == "* Nothing yet\n" else first
    walk.replace("CHANGELOG.md", head + first, head + lines + kept, f"{_counted(len(items))} under Unreleased.")


def finish(walk: Walk, items: list[Item], noted: int) -> None:
    world, rng = walk.world, walk.rng
    if noted < len(items):
        note_changes(walk, items[noted:])
    walk.unit = None
    walk.done("Changelog")
    if not walk.brief:
        _overview(walk, items)
    total = sum(len(facts.tests(t)) for p, t in walk.files.items() if p.startswith("tests/test_"))
    walk.run(f"python -m unittest discover {rng.choice(('-f', '-v', '-v'))} -s tests -t .",
             walk.voice.say(prose.RUN, what="the complete suite", expect=f"{total} passing cases"),
             f"All {total} cases pass.")  # fmt: skip
    walk.done("Final run")
    if not walk.brief:
        walk.run(rng.choice(("git status --short", "git status --porcelain --untracked-files=all")),
                 "Which files did I touch in the end?",
                 "Only the modules, tests and documents that belong to the items.")  # fmt: skip
    paths = rng.choice(("", " ".join(sorted({i.unit.module_path for i in items}))))
    walk.run(f"git diff {rng.choice(('', '-U2 ', '--stat -p '))}{paths}".strip(),
             "A last read of my own diff, as a reviewer would see it.",
             "The diff contains what I described and nothing else.")  # fmt: skip
    changes = "\n".join(f"- {i.text('change')} (`{i.unit.module_path}`)" for i in items)
    what, verb = (f"All {len(items)} items", "are") if len(items) > 1 else ("The item", "is")
    walk.complete(
        f"{what} for {world.repo} after {version_of(world)} {verb} done:\n\n{changes}\n\n"
        f"Tests were added next to the existing ones; the suite of {total} cases passes. CHANGELOG.md has an entry "
        f"for each item under Unreleased, and the documents of the extended modules describe the new calls."
    )


def _overview(walk: Walk, items: list[Item]) -> None:
    touched = sorted({i.unit.names["mod"].replace("_", "-") for i in items})
    walk.run(f"python -m {walk.world.package} overview --only {touched[0]}",
             "The command line builds every part, so one call of it shows that nothing broke on import.",
             f"The overview prints its line for {touched[0]}.")  # fmt: skip
