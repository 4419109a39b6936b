"""A machine that cannot play a template says so, plans other sessions and keeps them apart."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import json
from simulator.cli.absent import sentences
from simulator.cli.planning import _key
from simulator.core.scenario import Scenario
told = []
for tasks in ({"coding": 1}, {"finance": 1}):
    scenario = Scenario.model_validate({"name": "t", "sessions": 2, "refill": False, "tasks": tasks})
    told.append([sentences(scenario), _key(scenario, "m")])
print(json.dumps(told))
"""


def on_a_machine_with(node: str, folder: Path) -> list[tuple[list[str], str]]:
    """(sentences, key of the plan) for coding and for finance, where `node --version` says this."""
    (folder / "bin").mkdir(parents=True)
    python = folder / "bin" / "python"
    python.symlink_to(Path(sys.executable).resolve())
    shutil.copy(Path(sys.prefix) / "pyvenv.cfg", folder)
    (folder / "bin" / "node").write_text(f"#!/bin/sh\necho {node}\n")
    (folder / "bin" / "node").chmod(0o755)
    paths = os.pathsep.join((str(ROOT), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")))
    ran = subprocess.run(
        [python, "-c", PROGRAM], env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.skipif(not (Path(sys.prefix) / "pyvenv.cfg").is_file(), reason="the tests do not run in an environment")
def test_an_old_node_is_told_and_its_plans_are_others(tmp_path: Path) -> None:
    old, new = (on_a_machine_with(said, tmp_path / said) for said in ("v18.0.0", "v22.6.0"))
    (sentence,) = old[0][0]
    assert sentence.startswith("coding_schema_input is left out, for it needs node 22.6 or newer, and ")
    assert f"{tmp_path / 'v18.0.0' / 'bin' / 'node'} is 18.0: install" in sentence
    assert new[0][0] == [] and old[0][1] != new[0][1], "plans kept from before are not taken"
    assert old[1] == new[1] and old[1][0] == [], "finance does not care"
