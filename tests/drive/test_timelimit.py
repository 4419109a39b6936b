"""How long commands may run in each client."""

import pytest

from simulator.core.action import Command, Ran
from simulator.drive.timelimit import time_limit_s
from simulator.drive.toolbox import Toolbox

LONG = [
    "npm install", "npm ci", "npm run build", "yarn test --ci", "pnpm i", "pip install -e .", "uv sync",
    "cd app && npm test", "cargo build --release", "go test ./...", "pytest -q", "python -m pytest tests/x.py",
    "python3 -W error -m unittest", "make", "FOO=1 make -j4", "docker compose up -d", "docker-compose build",
    "./gradlew assemble", "mvnw verify", "tsc --noEmit", "(cd a; jest)", "git clone https://host.example/x.git",
    "dotnet restore", "sudo apt-get install -y jq", ".venv/bin/pytest",
]  # fmt: skip
USUAL = [
    "ls", "cat test.py", "python build.py", "git status", "echo pytester", "grep -rn install docs", "python -c 'x'",
    "cat Makefile", "cp make.txt b", "npm --version", "go run .", "sed -n 1,20p maker.py",
]  # fmt: skip


@pytest.mark.parametrize("command", LONG)
def test_what_installs_builds_or_tests_may_take_five_minutes(command):
    assert time_limit_s(Command(command), patterns=True) == 300
    assert time_limit_s(Command(command), patterns=False) == 30


@pytest.mark.parametrize("command", USUAL)
def test_all_else_may_take_half_a_minute(command):
    assert time_limit_s(Command(command), patterns=True) == 30


@pytest.mark.parametrize("patterns", [True, False])
def test_what_is_asked_for_counts_most(patterns):
    assert time_limit_s(Command("make", timeout_s=7), patterns=patterns) == 7


@pytest.mark.parametrize(("documents", "expected"), [("extracted", [300, 30, 5]), ("raw", [30, 30, 5])])
def test_the_toolbox_gives_each_clients_limit(tmp_path, documents, expected):
    asked = []

    class Noting:
        def run(self, command, cwd, timeout_s, stdin=b""):
            asked.append(timeout_s)
            return Ran(0, "")

    toolbox = Toolbox(tmp_path, "/home/dev/p", Noting(), documents=documents)
    for action in (Command("make test"), Command("ls"), Command("make", timeout_s=5)):
        toolbox.do(action)
    assert asked == expected
