"""How the repository came to be: commits by several people, the last of which put the faults in."""

from __future__ import annotations

from random import Random

from simulator.core.task import Commit

from .._kit_coding import words
from .._kit_coding.render import NEW, OLD
from .world import Part, Stages, World

IGNORE = "__pycache__/\n*.pyc\nbuild/\ndist/\n*.egg-info/\n.venv/\n"
_ADD_VERBS = ("Add", "First version of", "Bring in", "New module:", "Start on", "Port")


def _listing(units: list[Part]) -> str:
    return " and ".join(u.names["mod"].replace("_", " ") for u in units)


def readme(world: World, *, full: bool) -> str:
    rng = Random(f"backoffice readme {world.seed}")
    names, pkg = world.names, world.package
    head = rng.choice(
        (
            f"{world.repo} keeps the books of {world.trade.about}: what there is, who has it, what it costs.",
            f"A small Python library for {world.trade.about}, grown out of a folder of spreadsheets.",
            f"Rules and records for {world.trade.about}. Standard library only.",
            f"What the office of {world.trade.about} needs every day, as a library with a thin command line.",
        )
    )
    lines = [f"# {world.repo}", "", head, ""]
    if not full:
        return "\n".join([*lines, "Early days: expect names to change.", ""])
    why = rng.choice(
        (
            f"It has no dependencies, because the {names['places']} run whatever Python came with the machine.",
            f"Nothing but Python 3.11 is needed; {world.names['parties']} install it from a memory stick.",
            "No third-party packages are used, and that is meant to stay so.",
        )
    )
    lines += [why, "", "## Parts", "", "| module | what it is | document |", "|---|---|---|"]
    for unit in sorted(world.units, key=lambda u: u.module_path):
        lines.append(f"| `{unit.dotted}` | {unit.names['title']} | [{unit.doc_path}]({unit.doc_path}) |")
    lines += [
        "", "Shared by all of them:", "",
        f"* `{pkg}.{names['m_errors']}`: every exception, derived from `{names['Err']}`",
        f"* `{pkg}.{names['m_text']}`, `{pkg}.{names['m_dates']}`, `{pkg}.{names['m_amounts']}`: names, days, money",
        f"* `{pkg}.{names['m_store']}` and `{pkg}.{names['m_journal']}`: what is kept, and what happened",
        f"* `{pkg}.{names['m_desk']}`: `{names['MainDesk']}`, one object that owns a working set of all parts",
        "", "## Use", "", "```sh", f"python -m {pkg} overview", f"python -m {pkg} parts",
        f"python -m {pkg} check-settings office='Main {names['place']}' page_rows=40", "```", "",
        "## Development", "", "```sh", "python -m unittest discover -s tests -t .", "```", "",
        rng.choice(
            (
                "A change comes with a test and a line in CHANGELOG.md. If it changes a rule, change the document too.",
                "Rules are written down in docs/; code and documents must agree. Every change gets a changelog line.",
                "Please add tests next to the existing ones and note the change in CHANGELOG.md under Unreleased.",
            )
        ), "",
    ]  # fmt: skip
    return "\n".join(lines)


def pyproject(world: World, version: str) -> str:
    return (
        '[build-system]\nrequires = ["setuptools>=68"]\nbuild-backend = "setuptools.build_meta"\n\n[project]\n'
        f'name = "{world.repo}"\nversion = "{version}"\ndescription = "Records and rules of {world.trade.about}"\n'
        f'requires-python = ">=3.11"\ndependencies = []\n\n[project.scripts]\n'
        f'{world.package} = "{world.package}.{world.names["m_cli"]}:{world.names["f_main"]}"\n\n'
        f'[tool.setuptools.packages.find]\ninclude = ["{world.package}*"]\n'
    )


def package_init(world: World, version: str) -> str:
    return f'"""Records and rules of {world.trade.about}."""\n\n__version__ = "{version}"\n'


def changelog(world: World, stages: Stages, *, unreleased: bool) -> str:
    """Newest first. What HEAD already has of the templates' features is history."""
    rng = Random(f"backoffice changelog {world.seed}")
    done = [u for u in world.units if stages[u.module_path]["feature"] == NEW]
    rng.shuffle(done)
    half = len(done) // 2
    lines = ["# Changelog", "", f"Versions of {world.repo}; the newest comes first.", ""]
    if unreleased:
        lines += ["## Unreleased", ""]
        lines += [f"* {u.story('feature.change', rng)}" for u in done[:half]] or ["* Nothing yet"]
        lines.append("")
    lines += [f"## 0.{world.seed % 4 + 2}.0", ""]
    lines += [f"* {u.story('feature.change', rng)}" for u in done[half:]]
    lines += [f"* `{world.package} overview` takes `--only`", "", f"## 0.{world.seed % 4 + 1}.0", ""]
    lines += [f"* {u.names['title']} (`{u.dotted}`)" for u in world.units]
    return "\n".join([*lines, ""])


def static_files(world: World, stages: Stages, version: str) -> dict[str, str]:
    """Files without stages, as of HEAD."""
    files = {
        ".gitignore": IGNORE,
        "README.md": readme(world, full=True),
        "CHANGELOG.md": changelog(world, stages, unreleased=True),
        "pyproject.toml": pyproject(world, version),
        f"{world.package}/__init__.py": package_init(world, version),
        f"{world.package}/__main__.py": (
            f'"""Lets `python -m {world.package}` work."""\n\nimport sys\n\n'
            f"from {world.package}.{world.names['m_cli']} import {world.names['f_main']}\n\n"
            f"sys.exit({world.names['f_main']}())\n"
        ),
        "tests/__init__.py": "",
    }
    for unit in world.units:
        folder = unit.module_path.rpartition("/")[0]
        files[f"{folder}/__init__.py"] = f'"""{folder.rpartition("/")[2].title()} of {world.trade.about}."""\n'
    return files


def files_at(world: World, stages: Stages, version: str) -> dict[str, str]:
    """path -> text of the whole repository."""
    made = {path: source.text(stages.get(path, {})) for path, source in world.sources().items()}
    return made | static_files(world, stages, version)


def version_of(world: World) -> str:
    return f"0.{world.seed % 4 + 2}.0"


def commits(world: World, stages: Stages, extra: dict[str, str]) -> tuple[Commit, ...]:
    """The history that ends in `stages`. extra: files of the last commit (the collected reports of a long task)."""
    rng = Random(f"backoffice history {world.seed}")
    version = version_of(world)
    right = {path: {**stage, "fault": NEW} for path, stage in stages.items()}
    final = files_at(world, stages, version)
    before = files_at(world, {**right, **{u.test_path: stages[u.test_path] for u in world.units}}, version)
    old_version = f"0.{world.seed % 4 + 1}.0"
    early = {
        "README.md": readme(world, full=False),
        "pyproject.toml": pyproject(world, old_version),
        f"{world.package}/__init__.py": package_init(world, old_version),
    }
    batches = _batches(world, before, early, rng)
    faulty = [u for u in world.units if stages[u.module_path]["fault"] == OLD]
    for unit in faulty:
        batches.append((unit.story("fault.commit", rng), {unit.module_path: final[unit.module_path]}))
    if extra:
        batches.append(("Collect the open reports", extra))
    return _stamped(world, batches, rng)


def _batches(
    world: World, files: dict[str, str], early: dict[str, str], rng: Random
) -> list[tuple[str, dict[str, str]]]:
    def of(*parts: Part) -> dict[str, str]:
        paths = {p for part in parts for p in (part.module_path, part.test_path, part.doc_path)}
        folders = {part.module_path.rpartition("/")[0] + "/__init__.py" for part in parts}
        return {p: files[p] for p in sorted(paths | (folders - {f"{world.package}/__init__.py"})) if p in files}

    base = {p.key: p for p in world.base}
    out = [
        (rng.choice(("Start", "Initial commit", "Skeleton with errors and text helpers")),
         early | {k: files[k] for k in (".gitignore", "tests/__init__.py")} | of(base["errors"], base["text"])),
        (rng.choice(("Dates and amounts", "Add calendar and money helpers")), of(base["dates"], base["amounts"])),
        (rng.choice(("Keep records and a journal", "Store, journal, settings, tables")),
         of(base["tables"], base["journal"], base["store"], base["settings"])),
    ]  # fmt: skip
    units = list(world.units)
    cuts = sorted(rng.sample(range(1, len(units)), 3))
    for first, last in zip((0, *cuts), (*cuts, len(units)), strict=True):
        batch = units[first:last]
        out.append((f"{rng.choice(_ADD_VERBS)} {_listing(batch)}", of(*batch)))
    front = of(base["desk"], base["cli"]) | {k: files[k] for k in (f"{world.package}/__main__.py", "README.md")}
    out.append((rng.choice(("One desk for all parts, and a command line", "Facade and command line")), front))
    release = {k: files[k] for k in ("pyproject.toml", f"{world.package}/__init__.py", "CHANGELOG.md")}
    out.append((f"Version {version_of(world)}", release))
    return out


def _stamped(world: World, batches: list[tuple[str, dict[str, str]]], rng: Random) -> tuple[Commit, ...]:
    authors = words.people(rng, rng.randint(3, 5))
    when = 1_650_000_000 + rng.randrange(0, 90_000_000)
    out = []
    for message, files in batches:
        when += rng.randrange(7_200, 900_000)
        author = rng.choice(authors)
        email = f"{author.split()[0].lower()}@{world.repo}.example"
        out.append(Commit(message, author, email, when, {p: t.encode() for p, t in files.items()}))
    return tuple(out)
