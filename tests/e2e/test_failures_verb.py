"""`sim failures` on the embedded engine. All take a minute of CPU: AGENT_SIM_FAILURES=all runs them, else two are."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from sim import Sim

FAILURES = Path(__file__).resolve().parents[2] / "scenarios" / "failures"
SOME = ("call_in_text", "disconnect_unnoticed")


@pytest.mark.timeout(900)
def test_failures_come_out_as_expected(sim: Sim) -> None:
    names = () if os.environ.get("AGENT_SIM_FAILURES") == "all" else SOME
    code, output = sim.run("failures", *names, "--folder", str(FAILURES), "--out", "out", limit_s=850)
    assert code == 0, output
    assert f"{len(names) or 8} failures came out as expected" in output


def test_a_case_that_comes_out_otherwise_is_exit_code_1(sim: Sim) -> None:
    folder = sim.folder / "cases"
    shutil.copytree(FAILURES, folder)
    text = (folder / "expected.yaml").read_text().replace("defects.call_in_text: 2", "defects.call_in_text: 3")
    (folder / "expected.yaml").write_text(text)
    code, output = sim.run("failures", "call_in_text", "--folder", str(folder), "--out", "out")
    assert code == 1 and "call_in_text: not what was expected" in output, output


def test_a_name_that_is_nearly_right(sim: Sim) -> None:
    code, output = sim.told("failures", "call_in_txt", "--folder", str(FAILURES))
    assert code == 2 and "did you mean call_in_text?" in output


def test_the_shipped_cases_are_found_from_any_folder(sim: Sim) -> None:
    code, output = sim.told("failures", "--list")
    assert code == 0 and "wrong_window" in output and not (sim.folder / "scenarios").exists()
