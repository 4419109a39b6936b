"""A task of a few steps and a bench for it: a real folder and the real tools, with a quick stand-in tokenizer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from simulator.core.action import (
    Action,
    Command,
    Complete,
    Definitions,
    Edit,
    ListFiles,
    Outcome,
    ReadFile,
    Search,
    Step,
)
from simulator.core.plan import SessionPlan
from simulator.core.scenario import Scenario
from simulator.core.task import Check, Task
from simulator.drive.commands import ShellRunner
from simulator.drive.toolbox import Toolbox
from simulator.tasks.mix import SessionSpec
from simulator.tasks.recording import Terms, record

FILES = {
    "README.md": "# Rates\n\n## Use\n\nRun it.\n",
    "docs/rules.md": "# Rules\n\n## Rounding\n\nOnce, at the end.\n",
    "docs/terms.md": "# Terms\n\nMonthly.\n",
    "rates/__init__.py": "",
    "rates/loan.py": "def monthly(rate):\n    return rate / 11\n\n\ndef yearly(rate):\n    return rate\n",
    "rates/table.py": "class Table:\n    rows = ()\n",
    "tests/test_loan.py": "def test_monthly():\n    assert True\n",
    "tests/test_table.py": "def test_rows():\n    assert True\n",
    "data/rates.csv": "bank,rate\nA,1.5\n",
    "data/paper.pdf": "no text",
}
FIX = Edit("rates/loan.py", (("    return rate / 11\n", "    return rate / 12\n"),))
STEPS = (
    Step("A look round.", (ListFiles(".", recursive=True),), progress="- [ ] Fix"),
    Step("The request names loans.", (ReadFile("rates/loan.py"),)),
    Step("And the table.", (ReadFile("rates/table.py"),)),
    Step("An outline.", (Definitions("rates"),)),
    Step("Who calls it?", (Search("monthly"),)),
    Step("Is it used?", (Command("grep -rn yearly rates"),)),
    Step("Twelve months.", (FIX,), progress="- [x] Fix"),
    Step("Check it.", (Command("cat rates/loan.py"),)),
    Step("And once more.", (ReadFile("rates/loan.py", 1, 3),)),
    Step("", (Complete("Divided by twelve."),)),
)
TASK = Task(
    template="t",
    kind="coding",
    size="medium",
    seed=1,
    name="rates",
    prompt="The monthly rate is wrong. Find out why and correct it.",
    history=(),
    steps=STEPS,
    check=Check("", ""),
)


class FolderBench:
    """A folder filled with FILES."""

    head = "4f0c" * 10

    def __init__(self, root: Path) -> None:
        self._root = root / "rates-work"
        for name, text in FILES.items():
            path = self._root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self._toolbox = Toolbox(self._root, "/home/dev/projects/rates", ShellRunner())
        self.asked: list[Action] = []

    def do(self, action: Action) -> Outcome:
        self.asked.append(action)
        return self._toolbox.do(action)

    def check(self, task: Task) -> list[str]:
        return [] if "rate / 12" in (self._root / "rates/loan.py").read_text() else ["the rate is still wrong"]


def spec(profile: str, *, plan_mode: bool = False, subagents: bool = False, seed: int = 7) -> SessionSpec:
    return SessionSpec("s0000", 0, "coding", "medium", seed, profile, 0.0, False, plan_mode, subagents)


def count(text: str) -> int:
    return -(-len(text) // 4)


def recorded(
    root: Path,
    wanted: SessionSpec,
    steps: tuple[Step, ...] = STEPS,
    **scenario: object,
) -> SessionPlan:
    """The small task's plan with these steps, as `wanted` says."""
    asked = Scenario.model_validate({"name": "t", "sessions": 1, "refill": False} | scenario)
    return record(wanted, replace(TASK, steps=steps), FolderBench(root), Terms(asked, "m", count))
