"""A program must not be able to tell the warm interpreter from a fresh one: both run, and all they say is compared."""

import os
import re
import subprocess
import sys
import time

import psutil
import pytest

from simulator.core.action import Ran
from simulator.drive.commands import ShellRunner
from simulator.drive.zygote import ZygoteRunner, parse

FILES = {
    "pkg/__init__.py": "",
    "pkg/a.py": "from pkg import b\n\n\ndef half(x):\n    return b.check(x) / 2\n",
    "pkg/b.py": "def check(x):\n    if type(x) is not int:\n        raise TypeError(f'no int: {x!r}')\n    return x\n",
    "pkg/__main__.py": "import sys\nfrom pkg.a import half\nprint(half(int(sys.argv[1])), sys.argv[1:])\n",
    "tests/__init__.py": "",
    "tests/test_a.py": (
        "import unittest\nfrom pkg.a import half\n\n\nclass T(unittest.TestCase):\n"
        "    def test_ok(self):\n        self.assertEqual(half(4), 2)\n\n"
        "    def test_bad(self):\n        self.assertEqual({'a': half(3)}, {'a': 1})\n\n"
        "    def test_error(self):\n        with self.subTest(x=1):\n            half('x')\n\n"
        "    @unittest.skip('later')\n    def test_skipped(self): ...\n\n\n"
        "if __name__ == '__main__':\n    unittest.main()\n"
    ),
    "tools/sibling.py": "NAME = 'sibling'\n",
    "tools/uses.py": "import sys\nimport sibling\nprint(sibling.NAME, sys.path[0], sys.argv, __file__)\n",
    "mixed.py": (
        "import sys\nprint('out 1')\nprint('err 1', file=sys.stderr)\nprint('out 2', flush=True)\n"
        "sys.stderr.write('err 2')\nprint('out 3')\n"
    ),
    "chained.py": (
        "import sys\nprint('out')\nprint('err', file=sys.stderr)\n\n\ndef f(x):\n    return 1 / x\n\n\n"
        "try:\n    f(0)\nexcept ZeroDivisionError as e:\n    raise ValueError('bad') from e\n"
    ),
    "syntax.py": "x = (1,\nprint('a'\n",
    "imports_syntax.py": "import syntax\n",
    "imports_missing.py": "from pkg import nothing_there\n",
    "fails.py": "import sys\nprint('loading', __name__)\nsys.stdout.flush()\nraise OSError('no')\n",
    "by_name.py": (
        "import importlib, traceback\nfor name in ('fails', 'syntax', 'nope', 'imports_syntax'):\n    try:\n"
        "        importlib.import_module(name)\n    except Exception:\n        traceback.print_exc()\n"
    ),
    "deep.py": "def f(n):\n    return f(n + 1)\n\n\nf(0)\n",
    "groups.py": "raise ExceptionGroup('g', [ValueError(1), KeyError('k')])\n",
    "args.py": (
        "import argparse\np = argparse.ArgumentParser(description='word ' * 40)\np.add_argument('--n', type=int)\n"
        "print(p.parse_args())\n"
    ),
    "bye.py": "import sys\nprint('out')\nsys.exit('bye')\n",
    "status.py": "import sys\nsys.exit(300)\n",
    "unflushed.py": (
        "f = open('left_open.txt', 'w')\nf.write('all of it')\n\n\nclass D:\n    def __del__(self):\n"
        "        print('deleted', len(self.x))\n\n\nd = D()\nd.x = [1]\n"
    ),
    "ending.py": (
        "import atexit, logging, sys, threading, time\natexit.register(print, 'at exit')\n"
        "threading.Thread(target=lambda: (threading.main_thread().join(), print('thread'))).start()\n"
        "logging.warning('warned')\nprint('main')\nsys.excepthook = lambda *a: print('hook', a[0])\n1 / 0\n"
    ),
    "own_hook.py": "import sys\nsys.excepthook = lambda t, v, tb: print('hook', t, v, tb.tb_lineno)\n1 / 0\n",
    "big.py": (
        "import sys\nfor i in range(3000):\n    print('line', i)\n    if i % 500 == 0:\n"
        "        print('E', i, file=sys.stderr)\n"
    ),
    "killed.py": "import os\nprint('x', flush=True)\nos.kill(os.getpid(), 15)\n",
    "fresh.py": (
        "import os, sys\nprint(sorted(globals()), __name__, __spec__, __cached__, type(__loader__))\n"
        "print(sys.argv, sys.orig_argv, sys.path, sys.executable, sys.flags, sys.warnoptions, os.getcwd())\n"
        "print(sys.stdin, sys.stdout, sys.stderr, sys.stdout.line_buffering, sys.stderr.errors)\n"
        "print(sorted(os.environ.items()), os.getpgrp() == os.getpid() or os.getsid(0) == os.getpgrp())\n"
    ),
    "warns.py": "import warnings\nwarnings.warn('careful')\nwarnings.warn('old', DeprecationWarning)\nx = '\\d'\n",
    "hashes.py": "print({'a', 'b', 'c', 'd'}, hash('x'))\nprint(list({1: 2}.items()))\n",
    "pickled.py": (
        "import pickle\nfrom dataclasses import dataclass\n\n\n@dataclass\nclass P:\n    x: int\n\n\n"
        "print(pickle.loads(pickle.dumps(P(3))))\n"
    ),
    "future.py": "def f(x: int): ...\n\n\nprint(f.__annotations__)\n",
    "documents.py": "import docx, openpyxl, pypdf\nprint(docx.Document, openpyxl.Workbook().sheetnames, pypdf)\n",
    "bom.py": "\ufeffprint('caf\u00e9')\n",
    "reads.py": "import sys\nprint(sys.stdin.read(), input)\n",
}

COMMANDS = [
    "python -m pkg 4 'a b'", "python -m pkg x", "python -m pkg.a", "python -m tests", "python -m nope",
    "python -m pkg.no",    "python -m unittest", "python -m unittest -v tests.test_a", "python -m unittest tests.nope",
    "python -m unittest -q tests.test_a.T.test_ok", "python -m unittest discover -s tests -t . -p 'test_*.py'",
    "python -m unittest tests.test_a.T.nope", "python tests/test_a.py", "python -m tests.test_a -v T.test_ok",
    "python -m unittest --bad", "python -m json.tool pkg", "python3 tools/uses.py q", "python mixed.py",
    "python mixed.py 2>&1", "python -m mixed", "python chained.py", "python -m chained", "python syntax.py",
    "python -m syntax", "python imports_syntax.py", "python imports_missing.py", 
    "python by_name.py", "python -m fails", "python -c 'import fails'",
    "python deep.py", "python groups.py",
    "python args.py --n x", "python args.py --help", "python args.py --n 3", "python bye.py", "python -m bye",
    "python status.py", "python unflushed.py", "python ending.py", "python own_hook.py", "python big.py",
    "python killed.py", "python fresh.py 1 'a b'", "python3 -m fresh \"c d\"", "python warns.py", "python -m warns",
    "python hashes.py", "python pickled.py", "python future.py", "python documents.py", "python bom.py",
    "python reads.py", "python -c 'print(1); raise SystemExit(3)'",
    "python -c 'import sys; print(sys.path, sys.argv, sorted(globals()), __loader__)' a",
    "python -c 'import sys\ndef f(): raise KeyError(1)\nprint(1)\nprint(2, file=sys.stderr)\nf()'",
    "python -c 'x = ('", "python -c 'import pkg.a as a; print(a.half(3))'",
    "python -I -c 'import sys; print(sys.path, sys.argv, sys.stdin.read())' x", "python -I -c 'import pkg'",
    "python mixed.py && python -m mixed", "python -c 'print(\"a && b\")' && python bye.py 2>&1 && python mixed.py",
    "python -m unittest -v tests.test_a 2>&1 | grep -v '^Ran'", "python mixed.py 2>&1 | tail -n 2|sort -r",
    "python big.py 2>&1 | head -5", "python nofile.py && python mixed.py", "python mixed.py && python nofile.py",
    'python -c "print(\'in \\"quotes\\"\', \'\\\\n\')"',
]  # fmt: skip


class Counting(ShellRunner):
    """A real fallback that also tells when it was needed."""

    count = 0

    def run(self, command, cwd, timeout_s, stdin=b""):
        self.count += 1
        return super().run(command, cwd, timeout_s, stdin)


@pytest.fixture(scope="module")
def shell():
    runner = Counting()
    yield runner
    runner.scratch.close()


@pytest.fixture(scope="module")
def warm(shell):
    runner = ZygoteRunner(shell)
    yield runner
    runner.close()


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("ws")
    for name, text in FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    return root


def plain(output: str) -> str:
    return re.sub(r"\bin \d\.\d{3}s", "in Ns", re.sub(r"0x[0-9a-f]+", "0x", output))


@pytest.mark.parametrize("command", COMMANDS)
def test_same_as_a_fresh_interpreter(shell, warm, root, command):
    assert parse(command) is not None
    given = b"" if "&&" in command else b"given"
    fresh = shell.run(command, root, 60, given)
    before = shell.count
    for _ in range(2):  # the second time, compiled code is kept
        again = warm.run(command, root, 60, given)
        assert (again.exit_code, plain(again.output)) == (fresh.exit_code, plain(fresh.output))
    if "nofile" not in command and "|" not in command:
        assert shell.count == before
    if command == "python unflushed.py":
        assert (root / "left_open.txt").read_text() == "all of it"


@pytest.mark.parametrize(
    "command",
    [
        "python a.py | head", "python a.py && true", "python a.py || python b.py", "python a.py 2>&1 | head; ls",
        "cd x && python a.py", 
        "python a.py | head 2>&1", "python a.py && python b.py 2>&1 | head", "python a.py 2>&1 | (cat)",
        "python a.py; true", "python a.py > f", "python $X", "python `x`",
        'python -c "print($HOME)"', "python *.py", "python ~/a.py", "X=1 python a.py", "cd pkg && python a.py",
        "python -u a.py", "python", "python -", "pythonx a.py", "/usr/bin/python a.py", "python -m",
        "python a.py\ntrue",
        "python -m a;b", "python a.py &", "python a.py # c", "python {a,b}.py", "ls", "", "python 'a", "python -V",
        "python -c", "python ../a.py", "python -I a.py", "python dir", "python a\\ b.py", "python a.py !x",
    ],
)  # fmt: skip
def test_what_needs_a_shell_goes_to_the_shell(command):
    assert parse(command) is None


def test_both_ways_give_the_same_for_what_falls_back(shell, warm, root):
    for command in ("python mixed.py | tail -1", "cd tools && python uses.py", "python nofile.py", "echo x; exit 3"):
        assert warm.run(command, root, 60) == shell.run(command, root, 60)


def test_own_modules_named_like_warm_ones_win(shell, warm, tmp_path):
    (tmp_path / "statistics.py").write_text("print('mine')\n")
    (tmp_path / "a.py").write_text("import statistics\n")
    for command in ("python a.py", "python -c 'import statistics'", "python -m statistics"):
        assert warm.run(command, tmp_path, 60) == shell.run(command, tmp_path, 60) == Ran(0, "mine\n")


def test_an_edit_of_equal_size_within_a_tick_is_seen(warm, tmp_path):
    (tmp_path / "use.py").write_text("import value\nprint(value.X)\n")
    for number in range(10, 30):
        (tmp_path / "value.py").write_text(f"X = {number}\n")
        assert warm.run("python use.py", tmp_path, 60) == Ran(0, f"{number}\n")
    assert not (tmp_path / "__pycache__").exists()


def test_limits_hold_and_nothing_stays(warm, tmp_path):
    (tmp_path / "hang.py").write_text(
        "import subprocess, time\nprint(subprocess.Popen(['sleep', '100']).pid, flush=True)\ntime.sleep(100)\n"
    )
    ran = warm.run("python hang.py", tmp_path, 0.8)
    assert ran.exit_code is None and ran.timed_out
    end = time.monotonic() + 5
    while alive(int(ran.output)) and time.monotonic() < end:
        time.sleep(0.01)
    assert not alive(int(ran.output))
    flood = warm.run("python -c 'while True: print(1)'", tmp_path, 60)
    assert flood.exit_code is None and not flood.timed_out and flood.output.endswith("more than 1 MB]\n")


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_lost_interpreter_only_costs_time(shell, root):
    runner = ZygoteRunner(shell)
    assert runner.run("python mixed.py", root, 60).exit_code == 0
    runner._process.kill()
    runner._process.wait()
    assert runner.run("python bye.py", root, 60) == Ran(1, "out\nbye\n")
    runner.close()


@pytest.mark.parametrize("when", ["warming up", "warm", "used"])
def test_a_killed_owner_leaves_nothing(root, when):
    act = {
        "warming up": "",
        "warm": "import select\nselect.select([z._socket], [], [], 60)\n",
        "used": f"z.run('python mixed.py', Path({str(root)!r}), 60)\n",
    }
    script = (
        "import os\nfrom pathlib import Path\nfrom simulator.drive.commands import ShellRunner\n"
        "from simulator.drive.zygote import ZygoteRunner\nz = ZygoteRunner(ShellRunner())\n"
        + act[when]
        + "print(z.fallback.scratch.path, z._process.pid, flush=True)\nos.kill(os.getpid(), 9)\n"
    )
    told = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True).stdout.split()
    end = time.monotonic() + 20
    while (alive(int(told[1])) or os.path.exists(told[0])) and time.monotonic() < end:
        time.sleep(0.01)
    assert not alive(int(told[1])) and not os.path.exists(told[0])


def test_an_owner_that_goes_while_it_warms_up_is_not_outlived():
    runner = ZygoteRunner(ShellRunner())
    runner._socket.close()
    assert runner._process.wait(60) == 0
    runner.close()
    assert not runner.fallback.scratch.path.exists()


def test_it_is_worth_it(shell, warm, root):
    """Processor time, for that is what planning is short of; wall times say little on a busy machine."""
    interpreter = psutil.Process(warm._process.pid)

    def used_s(times) -> float:
        return times.user + times.system + times.children_user + times.children_system

    def cost_s(runner) -> float:
        before = used_s(os.times()) + used_s(interpreter.cpu_times())
        for _ in range(10):
            assert runner.run("python -m unittest -q tests.test_a.T.test_ok", root, 60).exit_code == 0
        return used_s(os.times()) + used_s(interpreter.cpu_times()) - before

    assert 1.5 * cost_s(warm) < cost_s(shell)
