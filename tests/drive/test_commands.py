"""Commands as real processes: same surroundings everywhere, limits that hold, nothing left behind."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from simulator.core.action import Ran
from simulator.core.task import Check
from simulator.drive.checking import run_check
from simulator.drive.commands import OUTPUT_LIMIT, Scratch, ShellRunner


@pytest.fixture(scope="module")
def runner():
    runner = ShellRunner()
    yield runner
    runner.scratch.close()


def gone(pid: int, within_s: float = 30.0) -> bool:
    """Dead, or a zombie that nobody has waited for."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


def test_streams_come_as_they_were_written(runner, tmp_path):
    ran = runner.run("echo a; echo b >&2; echo c; (echo d >&2); exit 7", tmp_path, 10)
    assert ran == Ran(7, "a\nb\nc\nd\n")
    assert runner.run("printf 'caf\\xe9'", tmp_path, 10).output == "caf�"
    assert runner.run("cat", tmp_path, 10) == Ran(0, "")
    assert runner.run("cat", tmp_path, 10, stdin=b"x" * 200_000).output == "x" * 200_000


@pytest.mark.parametrize(
    ("command", "code"),
    [("true", 0), ("nonesuch_program", 127), ("kill -9 $$", 137), ("kill -TERM $$", 143), ("if", 2), ("a\0b", 126)],
)
def test_exit_codes(runner, tmp_path, command, code):
    assert runner.run(command, tmp_path, 10).exit_code == code


def test_a_folder_that_is_gone_is_an_outcome(runner, tmp_path):
    ran = runner.run("true", tmp_path / "nope", 10)
    assert ran.exit_code == 126 and "nope" in ran.output


def test_surroundings_are_fixed_and_secrets_stay_out(runner, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    seen = dict(line.split("=", 1) for line in runner.run("env", tmp_path, 10).output.splitlines())
    assert not [name for name, value in seen.items() if "secret" in value or "elsewhere" in value]
    assert seen["LANG"] == "C.UTF-8" and seen["PYTHONHASHSEED"] == "0" and seen["TZ"] == "UTC"
    assert os.listdir(seen["HOME"]) == []
    python = runner.run("which python python3; python -c 'import sys; print(sys.executable, sys.prefix)'", tmp_path, 20)
    first, second, real = python.output.splitlines()
    folder, prefix = real.split()
    assert os.path.dirname(first) == os.path.dirname(second)
    assert (os.path.realpath(folder), prefix) == (os.path.realpath(sys.executable), sys.prefix)


def test_git_ignores_the_machine(runner, tmp_path):
    done = runner.run("git init -q . && git commit -q --allow-empty -m m && git log --format='%an %ae'", tmp_path, 10)
    assert done == Ran(0, "dev dev@example.com\n")
    inside = tmp_path / "a/b"
    inside.mkdir(parents=True)
    assert runner.run("git status", inside, 10).exit_code == 128  # the repository above does not count


def test_homes_are_private(runner, tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
    runner.run("touch ~/mine", tmp_path / "a", 10)
    assert runner.run("ls ~", tmp_path / "a", 10).output == "mine\n"
    assert runner.run("ls ~", tmp_path / "b", 10).output == ""


@pytest.mark.parametrize(
    "command",
    ["sleep 100", "trap '' TERM INT HUP; while :; do sleep 0.1; done", "exec >/dev/null 2>&1; sleep 100"],
)
def test_time_limit(runner, tmp_path, command):
    began = time.monotonic()
    assert runner.run(f"echo begun; {command}", tmp_path, 0.4) == Ran(None, "begun\n", timed_out=True)
    assert 0.4 <= time.monotonic() - began < 20


@pytest.mark.parametrize("command", ["head -c 50M /dev/zero", "yes", "head -c 50M /dev/zero >&2; sleep 100"])
def test_floods_are_cut_and_ended(runner, tmp_path, command):
    ran = runner.run(command, tmp_path, 30)
    assert ran.exit_code is None and not ran.timed_out
    assert OUTPUT_LIMIT <= len(ran.output) < OUTPUT_LIMIT + 100
    assert ran.output.endswith("[killed: it wrote more than 1 MB]\n")


@pytest.mark.parametrize(
    "start",
    [
        "sleep 100 &",
        "nohup sleep 100 >/dev/null 2>&1 &",
        "setsid sleep 100 &",
        "setsid sh -c 'cd /; sleep 100' >/dev/null 2>&1 </dev/null &",
        "(sleep 100 & echo $! > pid) & sleep 0.1;",
        'python -c \'import subprocess as s; print(s.Popen(["sleep","100"],start_new_session=True).pid)\' >pid;',
    ],
)
def test_what_is_left_behind_dies(runner, tmp_path, start):
    began = time.monotonic()
    ran = runner.run(f"{start} [ -s pid ] || echo $! > pid; echo done", tmp_path, 30)
    assert ran == Ran(0, "done\n")
    assert time.monotonic() - began < 60
    assert gone(int((tmp_path / "pid").read_text()))


def test_commands_of_other_workspaces_live_on(runner, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    script = "import sys\nfrom pathlib import Path\nfrom simulator.drive.commands import *\n"
    script += f"r = ShellRunner(Scratch(Path({str(runner.scratch.path)!r})))\n"
    script += (
        f"print(r.run('echo up > up; sleep 1; echo fine', Path({str(tmp_path / 'a')!r}), 20))\nr.scratch.close.detach()"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as other:
        while not (tmp_path / "a/up").exists():
            time.sleep(0.01)
        runner.run("sleep 100 & true", tmp_path / "b", 10)
        assert "fine" in other.communicate()[0]


def test_an_interpreter_of_another_name_is_found_as_python(tmp_path, monkeypatch):
    lonely = tmp_path / "bin"
    lonely.mkdir()
    (lonely / "python3.99").write_text('#!/bin/sh\necho "lonely $@"\n')
    (lonely / "python3.99").chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(lonely / "python3.99"))
    runner = ShellRunner(Scratch())
    assert runner.run("python a 'b c'; python3 d", tmp_path, 10).output == "lonely a b c\nlonely d\n"
    runner.scratch.close()
    assert not runner.scratch.path.exists()


PROGRAM = """
import json, pathlib, sys
truth = json.load(sys.stdin)
found = pathlib.Path('answer.txt').read_text() if pathlib.Path('answer.txt').exists() else None
if found != truth['answer']:
    print(f"answer.txt: {found!r} instead of {truth['answer']!r}")
    print("second fault")
    sys.exit(1)
"""


def test_checks(runner, tmp_path):
    check = Check(PROGRAM, '{"answer": "42 \'q\' €"}')
    assert run_check(tmp_path, check, runner)[1:] == ["second fault"]
    (tmp_path / "answer.txt").write_text("42 'q' €")
    assert run_check(tmp_path, check, runner) == []
    (tmp_path / "json.py").write_text("import sys; sys.exit(0)")  # isolated: what the agent wrote is not imported
    (tmp_path / "answer.txt").write_text("wrong")
    assert len(run_check(tmp_path, check, runner)) == 2


@pytest.mark.parametrize(
    ("program", "complaint"),
    [
        ("1/0", "the check itself failed (exit code 1): ZeroDivisionError: division by zero"),
        ("import sys; sys.exit(1)", "the check itself failed (exit code 1): it said nothing"),
        ("import sys; sys.exit(3)", "the check itself failed (exit code 3): it said nothing"),
        ("import time; time.sleep(60)", "the check did not end within 0.5 s"),
    ],
)
def test_a_check_that_cannot_tell_is_never_a_pass(runner, tmp_path, program, complaint):
    assert run_check(tmp_path, Check(program, "{}"), runner, timeout_s=0.5 if "sleep" in program else 30) == [complaint]
