"""What a hostile or unlucky model may try, against the real sandbox and real git: each attempt is survived, has an
answer that can be recorded, and leaves the machine as it was.

Floods are small: their limits are lowered, the mechanism is the same.
"""

import contextlib
import io
import os
import socket
import threading
import time
import zipfile
from pathlib import Path

import pytest

from simulator.core.action import Command, Edit, EditFailed, FileText, Ran, ReadFile, Refused, Search, Write
from simulator.core.task import Check, Commit
from simulator.drive.checking import run_check
from simulator.drive.commands import Scratch
from simulator.drive.sandbox import Limits, SandboxRunner, arguments, refuse_without, why_not
from simulator.drive.toolbox import Toolbox
from simulator.drive.workspace import Repository

HISTORY = (Commit("Start", "Ann", "ann@example.com", 1_700_000_000, {"a.txt": b"one\n", "pkg/b.py": b"x = 1\n"}),)
LOW = Limits(processes=60, disk_bytes=30 << 20, file_bytes=20 << 20, data_bytes=1 << 30, memory_bytes=150 << 20)
pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a sandbox")


@pytest.fixture
def box(tmp_path):
    """(toolbox, workspace, runner) of a session whose commands are sandboxed."""
    scratch = Scratch(tmp_path / "scratch")
    scratch.path.mkdir(exist_ok=True)
    repository = Repository.create(tmp_path / "task.git", HISTORY)
    workspace = repository.checkout(tmp_path / "ws", "s0", apart=tmp_path / ".ws.git")
    runner = SandboxRunner(scratch, (repository.path,), LOW)
    yield Toolbox(workspace.path, "/home/dev/projects/task", runner), workspace, runner
    scratch.close()


def run(box, command, timeout_s=20.0):
    return box[2].run(command, box[1].path, timeout_s)


def alive(mark):
    """Whether a process other than this one has `mark` in its command line."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if mark in Path(f"/proc/{name}/cmdline").read_bytes() and int(name) != os.getpid():
                return True
    return False


def gone(mark, within_s=30.0):
    end = time.monotonic() + within_s
    while alive(mark) and time.monotonic() < end:
        time.sleep(0.02)
    return not alive(mark)


def test_ordinary_work_is_as_outside(box):
    ran = run(box, "python -c 'print(6*7)' && git status --short && git log --oneline | wc -l && cp a.txt c.txt && ls")
    assert ran.exit_code == 0 and ran.output.split() == ["42", "1", "a.txt", "c.txt", "pkg"]
    run(box, "echo kept > /tmp/note; echo kept > ~/note; git add -A; git commit -qm mine")
    assert run(box, "cat /tmp/note ~/note; git log --oneline | wc -l").output.split() == ["kept", "kept", "2"]
    toolbox = box[0]
    assert toolbox.do(Command("pwd; cat /home/dev/projects/task/a.txt")) == Ran(0, "/home/dev/projects/task\none\n")


@pytest.mark.parametrize("path", ["/etc/passwd", "../outside.txt", "link/outside.txt", "loop", "pkg/../../outside.txt"])
def test_files_outside_are_out_of_reach_of_file_tools(box, tmp_path, path):
    (tmp_path / "outside.txt").write_text("secret")
    run(box, f"ln -s {tmp_path} link; ln -s loop loop")
    toolbox = box[0]
    assert isinstance(toolbox.do(ReadFile(path)), Refused)
    assert isinstance(toolbox.do(Write(path, "mine")), Refused)
    assert isinstance(toolbox.do(Edit(path, (("secret", "mine"),))), Refused | EditFailed)
    found = toolbox.do(Search("secret", ".", None))
    assert isinstance(found, Refused) or found.total == 0
    assert (tmp_path / "outside.txt").read_text() == "secret"


def test_files_outside_are_out_of_reach_of_commands(box, tmp_path):
    secret, other = tmp_path / "secret.txt", tmp_path / "other-session"
    secret.write_text("the secret")
    other.mkdir()
    for attempt in (f"cat {secret}", "cat ../secret.txt", f"ls {other}", "cat ~root/.ssh/id_rsa", "cat /etc/shadow"):
        ran = run(box, attempt)
        assert ran.exit_code not in (0, None) and "the secret" not in ran.output, attempt
    for target in (f"{other}/x", "/usr/x", "/etc/x", "/x", "/dev/x", f"{tmp_path}/task.git/x"):
        assert run(box, f"echo mine > {target}").exit_code != 0, target
    run(box, "echo mine > ../x")  # a workspace below /tmp has the command's own /tmp above it
    assert list(other.iterdir()) == [] and not Path("/usr/x").exists() and not (tmp_path / "x").exists()


def test_the_parents_environment_and_processes_are_not_seen(box, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    ran = run(box, "env; cat /proc/*/environ | tr '\\0' '\\n'; ls /proc | grep -c '^[0-9]'; kill -9 -1; echo on")
    assert "sk-secret" not in ran.output and "OPENAI" not in ran.output
    assert int(next(line for line in ran.output.splitlines() if line.isdigit())) < 12


def test_there_is_no_network(box):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        knock = f"python -c \"import socket; socket.create_connection(('127.0.0.1', {port}), 2)\""
        ran = run(box, knock)
        assert ran.exit_code == 1 and "refused" in ran.output  # its own loopback, on which nobody listens
        server.settimeout(0.2)
        with pytest.raises(TimeoutError):
            server.accept()
    ran = run(box, "python -c \"import socket; socket.create_connection(('192.0.2.1', 80), 2)\"")
    assert ran.exit_code == 1 and "unreachable" in ran.output


def test_a_fork_bomb_ends(box):
    ran = run(box, "sleep 3000.25 & f() { f | f & }; f; sleep 3000.25")
    assert ran.exit_code is None or ran.exit_code != 0
    assert "processes" in ran.output or "Resource temporarily unavailable" in ran.output
    assert gone(b"3000.25")


def test_what_is_left_behind_goes_with_the_command(box):
    ran = run(box, "setsid nohup sleep 3000.5 >/dev/null 2>&1 & sleep 3000.5 & disown -a; echo gone")
    assert ran == Ran(0, "gone\n")
    assert gone(b"3000.5")


def test_the_disk_is_not_filled(box):
    ran = run(box, "for i in 1 2 3 4 5 6; do head -c 12000000 /dev/zero > f$i; sleep 0.1; done; echo done")
    assert ran.exit_code is None and "it wrote more than 31 MB" in ran.output
    assert run(box, "rm f*; head -c 30000000 /dev/zero > big; echo $?").output.strip().endswith("153")  # SIGXFSZ
    ran = run(box, "for i in 1 2 3 4 5; do head -c 19000000 /dev/zero > /dev/shm/$i; done")
    assert "No space left" in ran.output


def test_the_machines_settings_are_read_only(box):
    value = Path("/proc/sys/kernel/panic").read_text()
    same = "v=$(cat /proc/sys/kernel/panic); echo $v > /proc/sys/kernel/panic && echo written; echo $v"
    ran = run(box, same)
    assert "written" not in ran.output and ran.output.splitlines()[-1] == value.strip()
    for name in ("sysrq-trigger", "irq", "bus", "acpi"):
        if Path("/proc", name).exists():
            assert run(box, f"test -w /proc/{name} || echo closed").output == "closed\n", name


def test_no_program_is_left_that_others_would_run_as_us(box):
    run(box, "cp /bin/true own; chmod 6755 own; mkdir sub; cp own sub/; chmod 4755 sub/own; ln -s own link")
    for name in ("own", "sub/own"):
        assert (box[1].path / name).stat().st_mode & 0o7777 == 0o755


def test_files_removed_while_open_count_as_stored(box):
    held = (
        "import os, time\nfor n in range(4):\n f = os.open('u', 66)\n os.unlink('u')\n"
        " os.write(f, bytes(16 << 20))\n time.sleep(.05)\n"
    )
    ran = run(box, f"python - <<'X'\n{held}time.sleep(20)\nX")
    assert ran.exit_code is None and "it wrote more than 31 MB" in ran.output


def test_memory_of_all_processes_together_ends(box):
    held = "import os, time; f = os.memfd_create('x'); b = bytes(1 << 20)\nfor n in range(19): os.write(f, b)\n"
    many = 'for i in 1 2 3 4 5 6 7 8 9 10; do python -c "$P" & done; wait'
    ran = run(box, f'export P="{held}time.sleep(20)"; {many}')
    assert ran.exit_code is None and "of memory" in ran.output
    own = "x = bytearray(60 << 20)\nimport time\ntime.sleep(20)"
    ran = run(box, f'export P="{own}"; {many}')
    assert ran.exit_code is None and "of memory" in ran.output


def test_memory_that_others_give_back_hides_nothing(box):
    ballast = bytearray(400 << 20)
    ballast[::4096] = b"\1" * len(ballast[::4096])
    held = "x = bytearray(40 << 20); x[::4096] = bytes([1]) * len(x[::4096])"
    grow = f"{held}\nimport os, sys, time\nopen(sys.argv[1], 'w')\nwhile not os.path.exists('go'): time.sleep(.05)\n"
    more = f"{held.replace('x', 'y')}\ntime.sleep(20)"
    workspace = box[1].path

    def give_back():
        nonlocal ballast
        while not all((workspace / f"at{n}").exists() for n in (1, 2, 3)):
            time.sleep(0.02)
        ballast = None
        time.sleep(0.2)
        (workspace / "go").touch()

    other = threading.Thread(target=give_back)
    other.start()
    ran = run(box, f'export P="{grow}{more}"; for n in 1 2 3; do python -c "$P" at$n & done; wait')
    other.join()
    assert ran.exit_code is None and "of memory" in ran.output


def test_memory_and_output_end(box):
    assert "MemoryError" in run(box, "python -c 'bytearray(3 << 30)'").output
    ran = run(box, "yes | head -c 1100000000")
    assert ran.exit_code is None and len(ran.output) < 1_100_000
    assert run(box, "sleep 60", 0.3).timed_out


def test_git_runs_nothing_for_us(box, tmp_path):
    toolbox, workspace, _ = box
    proof = tmp_path / "proof"
    for command in ("echo x > .git/hooks/pre-commit", "echo x >> .git/config", "mv .git old", "rm -rf .git/config",
                    "git config core.fsmonitor ./evil"):  # fmt: skip
        run(box, command)
    evil = f'[core]\n\tfsmonitor = touch {proof}\n\thooksPath = .\n[filter "x"]\n\tclean = touch {proof}\n'
    run(box, "mkdir -p common/objects common/refs; cp .git/HEAD common/; echo ../common > .git/commondir")
    toolbox.do(Write("common/config", evil))
    toolbox.do(Write(".gitattributes", "* filter=x diff=x\n"))
    run(box, f"git init -q in; cd in; git commit -q --allow-empty -m x; git config core.fsmonitor 'touch {proof}'")
    run(box, "echo two >> a.txt")
    assert workspace.commit("Turn 1", 1_700_000_100)
    patch, stat = workspace.compare()
    assert "+two" in patch and stat.startswith("4 files")
    assert not proof.exists()


def test_another_repository_in_place_of_git_gets_nothing(box, tmp_path):
    workspace = box[1]
    victim = Repository.create(tmp_path / "victim.git", HISTORY)
    before = sorted(p.name for p in victim.path.rglob("*"))
    run(box, f"rm -rf .git 2>/dev/null; mv .git gone; ln -s {victim.path} .git; ls -la")
    (workspace.path / "a.txt").write_text("changed\n")
    assert workspace.commit("Turn 1", 1_700_000_100)
    assert "changed" in workspace.diff()
    assert sorted(p.name for p in victim.path.rglob("*")) == before


@pytest.mark.parametrize(
    "made",
    [
        "touch $'caf\\xe9.txt'",
        "mkdir .GIT 'git~1'; echo x > .GIT/config; echo x > git~1/config",
        "rm a.txt; mkfifo a.txt pipe",
        "rm a.txt; mkdir a.txt; echo x > a.txt/b",
    ],
)
def test_a_workspace_that_git_refuses_still_has_commits_and_a_diff(box, made):
    workspace = box[1]
    run(box, f"{made}; echo 'x = 2' > pkg/b.py; echo new > new.txt")
    assert workspace.commit("Turn 1", 1_700_000_100)
    patch, stat = workspace.compare()
    assert "+new" in patch and "+x = 2" in patch and stat.endswith("-1") | ("a.txt" in patch)
    assert isinstance(box[0].do(Write(".GIT/hooks/x", "x")), Refused)
    assert isinstance(box[0].do(Write("pkg/GIT~1/x", "x")), Refused)


def test_a_tool_answers_whatever_it_is_asked(box):
    for pattern in ("{a,b}{" * 500, "{a,b}" * 500, "{" * 5_000 + "}" * 5_000):
        found = box[0].do(Search("x", ".", pattern))
        assert isinstance(found, Refused) or found.total >= 0


def test_folders_deeper_than_paths_can_say_are_removed(box):
    deep = "import os\nfor i in range(1200):\n os.mkdir('d' * 100)\n os.chdir('d' * 100)\n"
    run(box, f"python - <<'X'\n{deep}X")
    workspace = box[1]
    workspace.commit("Turn 1", 1_700_000_100)
    workspace.compare()
    workspace.remove()
    assert not workspace.path.exists()


def test_a_check_runs_inside_as_well(box, tmp_path):
    toolbox, workspace, runner = box
    check = Check("import sys; sys.path.insert(0, '.'); import made; sys.exit(made.RIGHT != 1)", "{}")
    proof = tmp_path / "proof"
    toolbox.do(Write("made.py", f"RIGHT = 1\ntry:\n    open({str(proof)!r}, 'w')\nexcept OSError:\n    pass\n"))
    assert run_check(workspace.path, check, runner) == []
    assert not proof.exists()


def bomb_zip():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("[Content_Types].xml", b"<a/>")
        with out.open("word/document.xml", "w") as part:
            for _ in range(400):
                part.write(bytes(1 << 20))
    return buffer.getvalue()


def laughs_docx():
    entities = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10 if i else "ha" * 50}">' for i in range(9))
    document = f'<?xml version="1.0"?><!DOCTYPE d [{entities}]><d>&l8;</d>'
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("[Content_Types].xml", document)
        out.writestr("word/document.xml", document)
        out.writestr("xl/workbook.xml", document)
    return buffer.getvalue()


@pytest.mark.parametrize("name", ["bomb.docx", "bomb.xlsx"])
@pytest.mark.parametrize("made", [bomb_zip, laughs_docx])
def test_bombs_in_documents_are_refused_soon(box, name, made):
    (box[1].path / name).write_bytes(made())
    answers = []
    reader = threading.Thread(target=lambda: answers.append(box[0].do(ReadFile(name))))
    reader.start()
    reader.join(60)
    assert answers and (isinstance(answers[0], Refused) or len(answers[0].text) < 1_000_000)


def test_escape_sequences_are_carried_as_text(box):
    ran = run(box, r"printf '\033]0;owned\007\033[2J<script>alert(1)</script>'")
    assert ran.exit_code == 0 and "<script>" in ran.output
    box[0].do(Write("x.txt", ran.output))
    assert box[0].do(ReadFile("x.txt")) == FileText(ran.output)


def test_the_command_line_says_what_is_mounted(tmp_path):
    from simulator.drive.commands import Home

    made = arguments("bwrap", tmp_path, Home(tmp_path / "home", tmp_path / "tmp"), (Path("/data/task.git"),))
    text = " ".join(made)
    assert "--unshare-all" in made and "--die-with-parent" in made and "--cap-drop ALL" in text
    assert f"--bind {tmp_path} {tmp_path}" in text and "--ro-bind /data/task.git /data/task.git" in text
    assert "--bind / " not in text and "--share-net" not in text
    writable = {made[i + 2] for i, word in enumerate(made) if word == "--bind"}
    assert writable == {str(tmp_path), str(tmp_path / "home"), "/tmp"}


def test_one_may_decide_to_go_without():
    assert refuse_without(allow_unsandboxed=True) is False
    assert refuse_without(allow_unsandboxed=False) is True
