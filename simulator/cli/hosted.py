"""The tool host as the sessions see it: repositories come from the plan, workspaces lie in one folder of the run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from simulator.cline.profiles import profile
from simulator.core.action import Action
from simulator.core.plan import SessionPlan
from simulator.core.task import Check
from simulator.drive.toolhost import ToolHost
from simulator.drive.tools import Done, Replayed
from simulator.drive.toolserver import PastTurn
from simulator.drive.workspace import Repository
from simulator.store.plans import PlanFolder
from simulator.tasks.recording import EPOCH_S


class HostedTools:
    """`keep`: workspaces stay in the run folder's `workspaces/`; otherwise they go with the tool process. sandboxed:
    commands and checks run in the sandbox."""

    def __init__(self, host: ToolHost, plans: PlanFolder, folder: Path, *, keep: bool, sandboxed: bool) -> None:
        self._host, self._plans, self._folder, self._keep = host, plans, folder, keep
        self._sandboxed = sandboxed
        self._commits: dict[str, int] = {}

    @classmethod
    async def start(cls, plans: PlanFolder, run_folder: Path, *, keep: bool, sandboxed: bool = False) -> HostedTools:
        host = await ToolHost.start()
        folder = run_folder / "workspaces" if keep else host.scratch / "work"
        folder.mkdir(exist_ok=True)
        return cls(host, plans, folder.resolve(), keep=keep, sandboxed=sandboxed)

    async def setup(self, plan: SessionPlan, earlier: Sequence[Action]) -> None:
        repository = Repository(self._plans.repository(plan.session), self._plans.row(plan.session).head)
        root = self._folder / plan.session / plan.task_name
        root.parent.mkdir()
        past = [PastTurn(tuple(earlier), "Earlier turns", EPOCH_S)] if earlier else []
        await self._host.setup(
            plan.session,
            repository,
            root,
            plan.cwd,
            profile(plan.profile).style.documents,
            earlier=past,
            sandboxed=self._sandboxed,
        )

    async def replay(self, session: str, action: Action, recorded: str) -> Replayed:
        return await self._host.replay(session, action, recorded)

    async def do(self, session: str, action: Action) -> Done:
        return await self._host.do(session, action)

    async def commit(self, session: str, message: str) -> bool:
        number = self._commits[session] = self._commits.get(session, 0) + 1
        return await self._host.commit(session, message, EPOCH_S + number) is not None

    async def check(self, session: str, check: Check) -> list[str]:
        return await self._host.check(session, check)

    async def finish(self, session: str) -> tuple[str, str]:
        self._commits.pop(session, None)
        return await self._host.finish(session, keep=self._keep)

    async def watch(self) -> None:
        """Raises ClientLost when the tool process is lost. Does not return."""
        await self._host.watch()

    def kill_commands(self) -> None:
        self._host.kill_commands()

    def kill(self) -> None:
        self._host.kill()

    async def close(self) -> None:
        await self._host.close()
