"""`sim cost` over real folders, its page, and what it refuses."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner

from simulator.cli.main import app
from simulator.core.judgement import FOLD
from simulator.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "cost.md"
EXAMPLE = re.compile(r"<!-- sim (cost .*?) -->\n```\n(.*?)```", re.DOTALL)
MakeRun = Callable[..., Path]


def sim(*arguments: str) -> str:
    """What it prints into a pipe. Raises SimError."""
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines() if not line.startswith("note")).strip()


@pytest.mark.parametrize(("command", "shown"), EXAMPLE.findall(PAGE.read_text()))
def test_the_page_shows_what_the_command_prints(command: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert trimmed(sim(*shlex.split(command))) == shown.strip()


def test_the_page_has_its_examples() -> None:
    assert len(EXAMPLE.findall(PAGE.read_text())) == 4
    assert all(shown.strip() for _, shown in EXAMPLE.findall(PAGE.read_text()))


def test_both_kinds_of_traffic_are_priced_and_an_emulation_is_marked(make_run: MakeRun) -> None:
    folder = make_run(slots=4, window_s=10, synthetic=16)
    told = sim("cost", str(folder), "--gpu", "h200")
    assert "EMULATED" in told.splitlines()[0] and "estimates of a model" in told
    found = orjson.loads(sim("cost", str(folder), "--gpu", "h200", "--json"))
    assert (found["engine"], found["engine_kind"], set(found["traffic"])) == (
        "EMULATED",
        "emulated",
        {"agent", "synthetic"},
    )
    agent, synthetic = (found["traffic"][kind] for kind in ("agent", "synthetic"))
    per_mtok = [part["own_at_100"]["usd_per_mtok_output"] for part in (agent, synthetic)]
    speed = [part["tokens"]["output_tok"] / part["tokens"]["window_s"] for part in (agent, synthetic)]
    assert per_mtok[0] / per_mtok[1] == pytest.approx(speed[1] / speed[0])
    assert agent["own_at_100"]["usd_per_solved"] is None and "A replay solves nothing" in told
    assert not (folder / "summary.json").exists()


def test_more_gpus_cost_more_and_a_price_of_ones_own_wins(make_run: MakeRun) -> None:
    folder = str(make_run(slots=2, window_s=5, synthetic=0, kind="real"))

    def hourly(*arguments: str) -> float:
        return float(orjson.loads(sim("cost", folder, "--json", *arguments))["usd_h"])

    assert hourly("--gpu", "B200", "--gpus", "4") == pytest.approx(4 * hourly("--gpu", "B200"))
    assert hourly("--gpu", "B200", "--price-hour", "2") == 2
    dear, cheap = (hourly("--owned", f"32000,{years},1000,0.12") for years in (2, 8))
    assert cheap < dear < 2 * 32_000 / (2 * 8_766)
    assert hourly("--owned", "32000,4,1000,0.12", "--pue", "2") > hourly("--owned", "32000,4,1000,0.12")


def test_a_live_runs_solved_tasks_and_random_weights(make_run: MakeRun) -> None:
    folder = make_run(slots=4, window_s=20, synthetic=0, kind="real")
    manifest = orjson.loads((folder / "manifest.json").read_bytes())
    manifest |= {"mode": "live", "engine": {**manifest["engine"], "random_weights": True, "gpu": "NVIDIA B300"}}
    (folder / "manifest.json").write_bytes(orjson.dumps(manifest))
    told = sim("cost", str(folder))
    assert "RANDOM WEIGHTS" in told and "1 B300 at 7.25 $" in told and "solves nothing" not in told
    own = orjson.loads(sim("cost", str(folder), "--json"))["traffic"]["agent"]["own_at_100"]
    assert own["usd_per_solved"] is not None and own["usd_per_solved"] >= own["usd_per_session"]
    assert "is on B300 and H200" not in told
    assert "was on B300 and H200 is priced" in sim("cost", str(folder), "--gpu", "H200")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "give a run folder, or --rates"),
        (("{run}", "--rates", "output=1"), "one of the two"),
        (("{run}", "--gpu", "H20O"), "did you mean H200"),
        (("{run}",), "does not say which GPU"),
        (("{run}", "--gpu", "GB300"), "give --price-hour"),
        (("{run}", "--gpu", "H200", "--api", "gtp-oss-120b-turbo"), "did you mean gpt-oss"),
        (("{run}", "--gpu", "H200", "--utilisation", "120%"), "above 0 and up to 1"),
        (("{run}", "--gpu", "H200", "--utilisation", "half"), "above 0 and up to 1"),
        (("{run}", "--price-hour", "nan"), "--price-hour"),
        (("{run}", "--price-hour", "2", "--owned", "1,1,1,1"), "exclude each other"),
        (("{run}", "--owned", "1,0,1,1"), "--owned, years"),
        (("{run}", "--owned", "1,2"), "four numbers"),
        (("{run}", "--owned", "1,2,3,4", "--pue", "0.5"), "1 or more"),
        (("{run}", "--gpu", "H200", "--gpus", "0"), "--gpus 0"),
        (("{run}", "--gpu", "H200", "--prices", "{run}/none.yaml"), "No such file"),
        (("{run}", "--gpu", "H200", "--prices", "{run}/chunks.bin"), "chunks.bin"),
        (("--rates", "input=5", "--gpu", "H200"), "output tokens a second are needed"),
        (("--rates", "output=5,in=5", "--gpu", "H200"), "write some of output=N"),
        (("--rates", "output=5,cached=5", "--gpu", "H200"), "more cached than input"),
        (("{empty}", "--gpu", "H200"), "is empty, so it is no run folder"),
        (("{silent}", "--gpu", "H200"), "no request of this run finished"),
        (("{newer}", "--gpu", "H200"), "reads up to 1; upgrade"),
        (("{odd}", "--gpu", "H200"), "lacks figures"),
    ],
)
def test_what_is_refused_in_one_sentence(arguments: tuple[str, ...], complaint: str, make_run: MakeRun) -> None:
    run = make_run(slots=2, window_s=5, synthetic=0)
    below = run.parent
    (below / "empty").mkdir()
    for name in ("silent", "newer", "odd"):
        shutil.copytree(run, below / name)
    (below / "silent" / "records.jsonl").write_bytes(b"")
    (below / "newer" / "manifest.json").write_bytes(b'{"schema": 2}')
    (below / "odd" / "summary.json").write_text(f'{{"fold": {FOLD}, "agent": {{}}, "synthetic": null}}')
    places = {name: str(below / name) for name in ("run", "empty", "silent", "newer", "odd")}
    with pytest.raises(UsageError) as caught:
        sim("cost", *(each.format(**places) for each in arguments))
    assert complaint in str(caught.value) and "\n" not in str(caught.value)


def test_one_session_and_no_steady_window_are_said(make_run: MakeRun) -> None:
    folder = make_run(slots=1, window_s=4, synthetic=0, killed=True)
    told = sim("cost", str(folder), "--gpu", "H200")
    assert "No steady window" in told and "is rough" in told and "nan" not in told.lower()
