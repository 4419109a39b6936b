"""Makes the pictures of the README from records of a real run: `python tests/view/pictures.py` (needs Chromium).

The live view is drawn as it was at second AT_S of that run: from the lines that its folder held then.
"""

from __future__ import annotations

import gzip
import io
import re
import sys
import tempfile
from pathlib import Path

import orjson
from PIL import Image
from rich.console import Console
from rich.terminal_theme import TerminalTheme

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from simulator.core.summary import summarise  # noqa: E402
from simulator.store.folder import RunFolder  # noqa: E402
from simulator.view.feed import Feed  # noqa: E402
from simulator.view.page.run_page import run_page  # noqa: E402
from simulator.view.screen import Frame, frame  # noqa: E402
from simulator.view.state import LiveState  # noqa: E402
from tests.browser import View, look  # noqa: E402

RUN = ROOT / "reports" / "h200_random_weights" / "top"
OUT = ROOT / "docs" / "pictures"
AT_S = 118.0
WIDTH, HEIGHT = 150, 42
THEME = TerminalTheme(
    (20, 23, 27),
    (230, 233, 237),
    [
        (20, 23, 27),
        (222, 75, 63),
        (63, 185, 120),
        (224, 176, 60),
        (86, 160, 233),
        (190, 120, 220),
        (70, 190, 200),
        (200, 205, 212),
    ],
    [
        (110, 118, 128),
        (255, 110, 98),
        (86, 214, 145),
        (245, 205, 95),
        (120, 185, 245),
        (215, 150, 240),
        (110, 220, 228),
        (255, 255, 255),
    ],
)
#: when a line of each file was written
WRITTEN = {"records": "t_end_s", "sessions": "t_end_s", "pulse": "t_s", "engine": "t_s"}
#: picture -> width of the page, theme, and the elements from whose top to whose bottom it goes
SHOTS = {
    "report": (1180, False, "body", "#over-time"),
    "report_lanes": (1180, True, "#lanes-agent", "#lanes-agent"),
}


def live() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "manifest.json").write_bytes((RUN / "manifest.json").read_bytes())
        (folder / "windows.json").write_bytes((RUN / "windows.json").read_bytes())
        for file, key in WRITTEN.items():
            lines = gzip.decompress((RUN / f"{file}.jsonl.gz").read_bytes()).splitlines(keepends=True)
            then = [line for line in lines if orjson.loads(line)[key] <= AT_S]
            (folder / f"{file}.jsonl").write_bytes(b"".join(then))
        state = LiveState()
        Feed(folder).poll(state)
    console = Console(
        file=io.StringIO(), record=True, width=WIDTH, height=HEIGHT, force_terminal=True, color_system="truecolor"
    )
    console.print(Frame(frame(state, width=WIDTH, height=HEIGHT, now_s=AT_S)), end="")
    told = console.export_svg(title="sim watch", theme=THEME)
    # a picture fetches nothing: without its fonts, the reader's own monospace
    (OUT / "live.svg").write_text(re.sub(r"@font-face \{.*?\}\s*", "", told, flags=re.DOTALL), encoding="utf-8")


def report() -> None:
    run = RunFolder.open(RUN)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "report.html"
        path.write_text(run_page(run.data(), summarise(run.data()), run.manifest), encoding="utf-8")
        for picture, (width, dark, first, last) in SHOTS.items():
            edges = (
                f"[document.querySelector('{first}').getBoundingClientRect().top + scrollY,"
                f" document.querySelector('{last}').getBoundingClientRect().bottom + scrollY]"
            )
            (seen,) = look(path, [View(width, dark)], edges, shots=True)
            image = Image.open(io.BytesIO(seen.shot)).convert("RGB")
            top, bottom = max(0, round(seen.value[0]) - 12), round(seen.value[1])
            part = image.crop((0, top, image.width, bottom)).quantize(256, dither=Image.Dither.NONE)
            part.save(OUT / f"{picture}.png", optimize=True)


if __name__ == "__main__":
    live()
    report()
