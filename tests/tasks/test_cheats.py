"""Code of an agent that solves nothing and looks for the answers, or says that it passed: no check believes it."""

import json

import pytest

from simulator.core.task import CLASSIC_STYLE, Check
from simulator.drive.checking import run_check
from simulator.drive.commands import Scratch, ShellRunner
from simulator.drive.workspace import Repository
from simulator.tasks import catalog

CHEATS = {
    "the word": (
        "import sys, os\nw = getattr(sys.modules['__main__'], 'word', b'')\nos.write(1, b'\\n' + w)\nos._exit(0)\n"
    ),
    "a clean exit": "import os\nos._exit(0)\n",
    "frames": (
        "import sys\nf = sys._getframe()\nwhile f:\n    for v in [*f.f_locals.values(), *f.f_globals.values()]:\n"
        "        if isinstance(v, (dict, list)) and v is not sys.modules:\n            try: v.clear()\n"
        "            except Exception: pass\n    f = f.f_back\n"
    ),
    "a mouth": (
        "import sys\nf = sys._getframe()\nwhile f:\n"
        "    if 'said_' in f.f_globals: f.f_globals['said_'] = lambda *a: None\n"
        "    f = f.f_back\n"
    ),
    "yes to all": (
        "import sys, os\nf = sys._getframe()\nwhile f:\n    if 'tell' in f.f_globals:\n        for c in range(20):\n"
        "            for n in range(40): f.f_globals['tell'](c, n, ['c', True])\n"
        "        os._exit(0)\n    f = f.f_back\n"
    ),
}


@pytest.fixture(scope="module", params=["coding_backoffice", "coding_parser_faults"])
def started(request, tmp_path_factory):
    """(task, workspace, runner): as an agent finds it."""
    folder = tmp_path_factory.mktemp("cheats")
    task = catalog.make(request.param, 1, "small", CLASSIC_STYLE, None)
    workspace = Repository.create(folder / "task.git", task.history).checkout(folder / "ws", "s0")
    scratch = Scratch(folder)
    yield task, workspace.path, ShellRunner(scratch)


@pytest.mark.parametrize("cheat", CHEATS)
def test_no_code_of_an_agent_talks_itself_through(started, cheat):
    task, root, runner = started
    assert run_check(root, task.check, runner), "untouched, and right"
    package = next(p for p in sorted(root.glob("*/__init__.py")) if p.parent.name != "tests")
    before = package.read_text()
    package.write_text(CHEATS[cheat] + before)
    try:
        found = run_check(root, task.check, runner)
        assert found and "check itself failed" not in found[0], found
    finally:
        package.write_text(before)


def test_what_a_check_starts_finds_no_truth(tmp_path):
    spy = (
        "import glob, os\nfor p in [*glob.glob('/proc/[0-9]*/fd/*'), *glob.glob('/proc/[0-9]*/environ'),"
        " *glob.glob('/proc/[0-9]*/cmdline')]:\n"
        "    try:\n        if os.path.isfile(p) and b'the-answer-' + b'is-17' in open(p, 'rb').read(100000): print(p)\n"
        "    except OSError: pass\n"
    )
    program = (
        "import json, subprocess, sys\njson.load(sys.stdin)\n"
        f"print(subprocess.run([sys.executable, '-c', {spy!r}], capture_output=True, text=True).stdout)\nsys.exit(1)"
    )
    (tmp_path / "ws").mkdir()
    found = run_check(tmp_path / "ws", Check(program, json.dumps("the-answer-is-17")), ShellRunner(Scratch(tmp_path)))
    assert not [line for line in found if line.startswith("/proc/")], found
