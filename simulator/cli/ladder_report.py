"""A ladder's report: its table, what each kind of traffic chooses, at each level of load, and one picture of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.cli.compare_traffic import ladder_answer
from simulator.cli.report import made
from simulator.cli.rungs import find
from simulator.cli.screen import whole_lines
from simulator.core.choice.choice import OUTPUT
from simulator.core.choice.ladder_file import ladder_of
from simulator.core.choice.loads import by_load
from simulator.core.ladder.told import LadderTold
from simulator.errors import UsageError
from simulator.store.ladder import read_ladder
from simulator.store.ladder_runs import ladder_runs
from simulator.store.manifest import write_whole
from simulator.store.reader import PAGE, REPORT
from simulator.store.writer import RECORDS
from simulator.view.by_load import LOADS, sentences
from simulator.view.identity import RANDOM_WEIGHTS
from simulator.view.ladder import marks, sheet
from simulator.view.sheet import Document, markdown, terminal

#: title of a sheet's picture -> its file
PICTURES = {LOADS: "by_load.png"}
CHOICE_PICTURE = "choice.png"


@dataclass(frozen=True, slots=True)
class Written:
    """files: report and picture were written. page_bytes: 0 without a page."""

    document: Document
    files: bool
    page_bytes: int


def show_report(folder: Path, *, html: bool, out: Path | None) -> None:
    """Prints it, and says what was written."""
    written = write_ladder_report(folder, html=html, out=out)
    place = out or folder
    whole_lines().print(terminal(written.document))
    if written.files:
        print(f"report: {place / REPORT}")
    else:
        print("report: above; a published ladder's files are left as they are, --out DIR writes elsewhere")
    if html:
        print(f"page:   {place / PAGE} ({written.page_bytes / 1e6:.1f} MB, opens offline)")


def write_ladder_report(folder: Path, *, html: bool = False, out: Path | None = None) -> Written:
    """report.md with its picture, and the page where it is asked for, in the ladder's folder or in `out`; of a
    published ladder, whose files are somebody else's, in `out` alone. UsageError when there is no ladder in it."""
    said = read_ladder(folder)
    table = sheet(said)
    try:
        answer = ladder_answer(find(folder), OUTPUT)
        sheets, notes, pictures = answer.document.sheets, answer.document.notes, answer.pictures
    except UsageError as why:  # nothing was measured; the table says what went wrong
        sheets, notes, pictures = (), (str(why),), {}
    told = tuple(RANDOM_WEIGHTS if RANDOM_WEIGHTS.startswith(mark) else f"{mark}: not a GPU" for mark in marks(said))
    first = 2 if LOADS in pictures else 0  # over several levels of load the answer is not in the table
    name = f"{folder.resolve().name} ({said.get('scenario')})"
    document = Document(f"Ladder: {name}", told, (*sheets[:first], table, *sheets[first:]), notes)
    place = out or folder
    if out is not None:
        made(out)
    files = out is not None or not any((run.path / f"{RECORDS}.gz").exists() for run in ladder_runs(folder))
    if files:
        write_whole(place / REPORT, markdown(document, _drawn(place, pictures, told)).encode())
    return Written(document, files, _page(place, document) if html else 0)


def _drawn(folder: Path, pictures: dict[str, dict[str, Any]], told: tuple[str, ...]) -> dict[str, str]:
    """Title of a section -> the file that its picture is in."""
    if not pictures:
        return {}
    from simulator.view.page.picture import png  # Vega's library takes a second to load

    files = {title: PICTURES.get(title, CHOICE_PICTURE) for title in pictures}
    for title, spec in pictures.items():
        write_whole(folder / files[title], png(spec, told))
    return files


def _page(folder: Path, document: Document) -> int:
    from simulator.view.sheet_page import as_page

    content = as_page(document).encode()
    write_whole(folder / PAGE, content)
    return len(content)


def load_sentences(told: dict[str, Any]) -> list[str]:
    """What a ladder says over its levels of load; [] of one with a single level."""
    ladder = ladder_of(LadderTold.model_validate(told))
    found = by_load(ladder.rungs)
    return [] if found is None else sentences(found, ladder.shape or "the synthetic test")
