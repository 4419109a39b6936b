"""`sim diff` with another tool's file on one side: the metrics that mean the same, and only these."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from simulator.cli.report import folded
from simulator.cli.screen import whole_lines
from simulator.cli.sides import runs_of
from simulator.core.certify import LIMITED
from simulator.core.compare.same import Identity, distinct, identity
from simulator.core.compare.verdict import Verdict
from simulator.core.foreign import bench_serve, guidellm
from simulator.core.foreign.common import METRICS, Common, Measured, counts, figures
from simulator.core.foreign.compare import Beside, beside
from simulator.core.run import KINDS
from simulator.errors import Incomparable, UsageError
from simulator.store.folder import RunFolder
from simulator.store.manifest import write_json, write_whole
from simulator.store.source import DIGEST
from simulator.view.foreign import as_json, html, markdown, terminal
from simulator.view.identity import is_emulated, is_random

OURS = "agent-sim"


@dataclass(frozen=True, slots=True)
class Sides:
    """a, b: as the command line names them. kind: which traffic of ours, "" for synthetic where there is some. places:
    where labels are looked for."""

    a: str
    b: str
    kind: str
    margin: float | None
    allowed: frozenset[str]
    places: tuple[Path, ...]


def is_file(side: str) -> bool:
    """Whether a side names files, as other tools leave them, and not run folders."""
    return any(_split(part)[0].is_file() for part in side.split(",") if part.strip())


def measured(sides: Sides, primary: Common) -> Beside:
    if is_file(sides.a) and is_file(sides.b):
        raise UsageError(f"{sides.a} and {sides.b} are both files of other tools; one side is a run of ours")
    a, b = (_side(side, sides) for side in (sides.a, sides.b))
    if len(a) != len(b):
        raise UsageError(
            f"{len(a)} and {len(b)} runs cannot be paired: give as many files as runs, in the order in which they ran"
        )
    return beside(list(zip(a, b, strict=True)), primary, margin=sides.margin, allowed=sides.allowed)


def find(name: str) -> Common:
    """By its label or key, in any case, with or without blanks."""
    for metric in METRICS:
        if metric.better and _plain(name) in (_plain(metric.label), _plain(metric.key)):
            return metric
    labels = [metric.label for metric in METRICS if metric.better]
    near = difflib.get_close_matches(name, labels, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}?" if near else f"some of {', '.join(labels)}"
    raise UsageError(f"--primary {name}: other tools' files have no such metric; {hint}")


def _plain(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalnum())


def show(found: Beside, md: Path | None, page: Path | None, json: Path | None) -> None:
    whole_lines().print(terminal(found))
    if md is not None:
        write_whole(md, markdown(found).encode())
        print(f"markdown: {md}")
    if json is not None:
        write_json(json, as_json(found))
        print(f"json: {json}")
    if page is not None:
        write_whole(page, html(found).encode())
        print(f"page: {page}")


def exit_code(found: Beside, fail_on: str) -> int:
    if found.word in (Verdict.INCOMPARABLE, Verdict.CLIENT_LIMITED):
        return 4
    worse = any(row.word is Verdict.WORSE for row in found.rows)
    bad = {
        "never": False,
        "regression": found.word is Verdict.WORSE,
        "worse": worse,
        "inconclusive": found.word not in (Verdict.BETTER, Verdict.EQUIVALENT),
    }
    return int(bad[fail_on])


def _side(side: str, sides: Sides) -> list[Measured]:
    if is_file(side):
        return [read(part.strip()) for part in side.split(",") if part.strip()]
    folders = runs_of(side, sides.places)
    _, again = distinct([_known(folder) for folder in folders])
    if again:
        raise UsageError(f"{again[0].partition(',')[0]}; name each run once, with a file for each")
    return [_ours(folder, sides.kind) for folder in folders]


def _known(folder: Path) -> Identity:
    run = RunFolder.open(folder)
    return identity(folder.name, run.manifest, run.source[DIGEST], run.requests)


def _split(named: str) -> tuple[Path, int | None]:
    """ "g.json#2": the second benchmark of a file."""
    path, mark, which = named.strip().rpartition("#")
    return (Path(path), int(which)) if mark and which.isdigit() else (Path(named.strip()), None)


def read(named: str) -> Measured:
    """UsageError when the file is of no tool that is known."""
    path, which = _split(named)
    if not path.is_file():
        raise UsageError(f"{path} is no file; a side is run folders or files of another tool, not both")
    try:
        told: Any = orjson.loads(path.read_bytes())
    except OSError as why:
        raise UsageError(f"{path} cannot be read: {why.strerror}") from None
    except orjson.JSONDecodeError:
        raise UsageError(
            f"{path} is no JSON; give a run folder, or what `vllm bench serve` or guidellm wrote"
        ) from None
    if isinstance(told, dict) and bench_serve.is_one(told):
        return bench_serve.parse(told, str(path))
    if isinstance(told, dict) and guidellm.is_one(told):
        return guidellm.parse(told, str(path), which)
    raise UsageError(
        f"{path} is no file of `vllm bench serve --save-result` or of guidellm (JSON): it has none of their fields"
    )


def _ours(folder: Path, wanted: str) -> Measured:
    summary, manifest = folded(folder)
    run = RunFolder.open(folder)
    if run.unsound:
        raise Incomparable(f"{folder} is damaged: {run.unsound[0]}; restore it or run the scenario again")
    sent = [kind for kind in reversed(KINDS) if summary.get(kind)]
    kind = wanted or (sent[0] if sent else KINDS[0])
    if kind not in sent:
        raise UsageError(f"{folder} has no {'agents' if kind == 'agent' else 'synthetic traffic'} to compare")
    requests = run.requests.where(run.requests.text("kind").among(kind))
    done, failed = counts(requests)
    health = (summary.get("client") or {}).get(kind) or {}
    engine = manifest.get("engine") or {}
    return Measured(
        name=str(folder),
        tool=f"{OURS}, {'agents' if kind == 'agent' else kind}",
        model=str(engine.get("model") or ""),
        figures=figures(requests, run.chunks),
        requests=done,
        failed=failed,
        at_once=_at_once(manifest, kind),
        limited=health.get("verdict") == LIMITED,
        emulated=is_emulated(manifest),
        random=is_random(manifest),
    )


def _at_once(manifest: dict[str, Any], kind: str) -> int | None:
    scenario = manifest.get("scenario")
    part = scenario.get("synthetic") if isinstance(scenario, dict) and kind == "synthetic" else None
    found = part.get("concurrency") if isinstance(part, dict) else None
    return found if isinstance(found, int) else None
