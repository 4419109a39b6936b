"""The tool process: real processes, real sockets, real git. How it answers, keeps order, and how it ends."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import uvloop

from simulator.core.action import Command, Edit, Edited, ListFiles, Listing, Ran, ReadFile, Refused, Search, Write
from simulator.core.task import Check, Commit
from simulator.drive.toolbox import SEARCH_LIMIT_S
from simulator.drive.toolhost import ToolHost
from simulator.drive.toolserver import PastTurn
from simulator.drive.workspace import Repository
from simulator.errors import SimError, UsageError

SHOWN = "/home/dev/projects/p"
HISTORY = (Commit("Start", "A", "a@example.com", 1_700_000_000, {"a.txt": b"one\n", "gen.py": b"open('g','w')\n"}),)


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(condition, within_s: float = 60.0) -> None:
    end = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


@pytest.fixture
async def host(tmp_path):
    host = await ToolHost.start(threads=8)
    await host.open("s1", tmp_path, SHOWN)
    yield host
    await host.close()
    assert not runs(host.pid)


async def test_actions_and_times(host, tmp_path):
    before = time.monotonic()
    done = await host.do("s1", Write("a/b.txt", "x\n"))
    after = time.monotonic()
    assert done.outcome == Edited("a/b.txt", "", "x\n", created=True)
    assert before <= done.t_start <= done.t_end <= after
    assert (tmp_path / "a/b.txt").read_text() == "x\n"
    assert (await host.do("s1", ListFiles())).outcome == Listing(("a/",))
    assert isinstance((await host.do("s1", ReadFile("../x"))).outcome, Refused)
    assert (await host.do("s1", Command("pwd"))).outcome == Ran(0, f"{SHOWN}\n")


@pytest.mark.skipif(not os.path.exists("/proc/self/oom_score_adj"), reason="Linux only")
async def test_tools_give_way_to_those_who_measure(host):
    ask = "nice; cat /proc/self/oom_score_adj"
    theirs = (await host.do("s1", Command(ask))).outcome.output.split()
    ours = (await asyncio.to_thread(subprocess.check_output, ["sh", "-c", ask], text=True)).split()
    assert all(int(their) > int(our) for their, our in zip(theirs, ours, strict=True))


async def test_large_results_travel_whole(host, tmp_path):
    (tmp_path / "big.txt").write_text("é" * 400_000)
    (tmp_path / "big.txt").with_suffix(".csv").write_text("1," * 400_000)
    one, two = await asyncio.gather(*(host.do("s1", ReadFile(name)) for name in ("big.txt", "big.csv")))
    assert (len(one.outcome.text), len(two.outcome.text)) == (400_000, 800_000)


async def test_sessions_run_beside_each_other_and_each_in_order(host, tmp_path):
    (tmp_path / "two").mkdir()
    await host.open("s2", tmp_path / "two", SHOWN)
    slow = asyncio.create_task(host.do("s1", Command("until [ -e two/quick ]; do sleep 0.02; done; sleep 0.1")))
    behind = asyncio.create_task(host.do("s1", ListFiles()))
    await asyncio.sleep(0.05)
    quick = await host.do("s2", Command("touch quick"))
    slow, behind = await slow, await behind
    assert quick.t_end < slow.t_end <= behind.t_start
    assert host.in_flight == 0


async def test_the_loop_goes_on_while_tools_work(host):
    ticks = 0
    work = [asyncio.create_task(host.do("s1", Command("python -c 'sum(range(3_000_000))'"))) for _ in range(4)]
    while not all(task.done() for task in work):
        await asyncio.sleep(0.002)
        ticks += 1
    elapsed = sum(task.result().t_end - task.result().t_start for task in work)
    assert ticks > elapsed / 0.1  # a blocked loop would tick once or twice


async def test_a_session_from_set_up_to_its_end(host, tmp_path):
    repository = Repository.create(tmp_path / "p.git", HISTORY)
    earlier = (
        PastTurn((ReadFile("a.txt"), Edit("a.txt", (("one", "two"),))), "First", 1_700_000_100),
        PastTurn((Command("python gen.py", effects=True), Command("touch never")), "Second", 1_700_000_200),
    )
    root = tmp_path / "ws/p"
    assert await host.setup("s7", repository, root, SHOWN, earlier=earlier) > 0
    assert (root / "a.txt").read_text() == "two\n" and (root / "g").exists() and not (root / "never").exists()
    assert await host.commit("s7", "Nothing", 1_700_000_300) is None
    await host.do("s7", Write("new.txt", "n\n"))
    made = await host.commit("s7", "Third", 1_700_000_300)
    log = await host.do("s7", Command(f"git log --format=%s {made}"))
    assert log.outcome.output.split() == ["Third", "Second", "First", "Start"]
    check = Check(
        "import sys\nif open('a.txt').read() != sys.stdin.read(): print('a.txt is wrong'); sys.exit(1)", "two\n"
    )
    assert await host.check("s7", check) == []
    assert await host.check("s7", Check(check.program, "x")) == ["a.txt is wrong"]
    patch, stat = await host.finish("s7")
    assert stat == "3 files +2 -1" and "+two" in patch
    assert not root.exists()
    with pytest.raises(SimError, match="Session s7 has no workspace"):
        await host.do("s7", ListFiles())


async def test_workspaces_may_be_kept(host, tmp_path):
    repository = Repository.create(tmp_path / "p.git", HISTORY)
    await host.setup("s7", repository, tmp_path / "p", SHOWN)
    assert await host.finish("s7", keep=True) == ("", "0 files +0 -0")
    assert (tmp_path / "p/a.txt").exists()


async def test_errors_arrive_as_what_they_are(host, tmp_path):
    with pytest.raises(SimError, match="Session nope has no workspace: call setup or open"):
        await host.do("nope", ListFiles())
    with pytest.raises(SimError, match="opened without a repository: use setup"):
        await host.commit("s1", "m", 1)
    with pytest.raises(UsageError, match="git failed in"):
        await host.setup("s9", Repository(tmp_path / "no.git", "0" * 40), tmp_path / "w", SHOWN)
    with pytest.raises(SimError, match="The tool process failed in do of session s1: "):
        await host.do("s1", ListFiles(path=3))


async def test_a_cancelled_wait_disturbs_nobody(host):
    task = asyncio.create_task(host.do("s1", Command("sleep 0.2")))
    await asyncio.sleep(0.05)
    task.cancel()
    assert (await host.do("s1", Command("echo fine"))).outcome == Ran(0, "fine\n")
    assert host.in_flight == 0


HANGING = (
    "echo $$ > pids; sleep 100 & echo $! >> pids; setsid sleep 100 >/dev/null 2>&1 & echo $! >> pids;"
    " trap '' TERM INT HUP; mv pids ready; while :; do sleep 0.2; done"
)


async def hanging(host: ToolHost, root: Path) -> tuple[asyncio.Task, list[int]]:
    task = asyncio.create_task(host.do("s1", Command(HANGING, timeout_s=300)))
    await asyncio.to_thread(wait_until, (root / "ready").exists)
    pids = [int(line) for line in (root / "ready").read_text().split()]
    assert all(map(runs, pids))
    return task, pids


@pytest.mark.parametrize("how", ["kill", "close", "host killed", "host terminated"])
async def test_every_end_takes_the_commands_along(tmp_path, how):
    host = await ToolHost.start(threads=4)
    await host.open("s1", tmp_path, SHOWN)
    task, pids = await hanging(host, tmp_path)
    if how == "kill":
        host.kill()
        assert not runs(host.pid)
    elif how == "close":
        await host.close()
    else:
        os.kill(host.pid, signal.SIGKILL if how == "host killed" else signal.SIGTERM)
    with pytest.raises(SimError, match=r"was closed|ended unexpectedly"):
        await task
    if how == "host killed":
        host.kill()  # what the owner does when it learns of it
    wait_until(lambda: not any(map(runs, [host.pid, *pids])))
    with pytest.raises(SimError, match="closed"):
        await host.do("s1", ListFiles())
    await host.close()
    host.kill()
    assert not host._scratch.exists()


async def test_commands_can_be_ended_alone(host, tmp_path):
    task, pids = await hanging(host, tmp_path)
    host.kill_commands()
    assert (await task).outcome.exit_code == 137
    wait_until(lambda: not any(map(runs, pids)))
    assert (await host.do("s1", Command("echo on"))).outcome == Ran(0, "on\n")


OWNER = f"""
import asyncio, signal, sys
from pathlib import Path
from simulator.core.action import Command
from simulator.drive.toolbox import SEARCH_LIMIT_S
from simulator.drive.toolhost import ToolHost

async def main(root, way):
    host = await ToolHost.start(threads=4)
    await host.open("s1", Path(root), {SHOWN!r})
    if way == "signal":
        signal.signal(signal.SIGTERM, lambda *_: (host.kill(), sys.exit(5)))
    (Path(root) / "host").write_text(f"{{host.pid}} {{host._scratch}}")
    await host.do("s1", Command({HANGING!r}, timeout_s=300))

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize("way", ["killed", "signal", "group killed"])
def test_the_owners_end_is_everybodys_end(tmp_path, way):
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path), way], start_new_session=True, stderr=subprocess.DEVNULL
    )
    wait_until((tmp_path / "ready").exists, 30)
    host, scratch = (tmp_path / "host").read_text().split()
    pids = [int(host), *map(int, (tmp_path / "ready").read_text().split())]
    assert all(map(runs, pids))
    if way == "signal":
        owner.terminate()
        assert owner.wait(10) == 5
        assert not any(map(runs, pids))  # at once, not some time later
    elif way == "killed":
        owner.kill()
    else:
        os.killpg(owner.pid, signal.SIGKILL)
    owner.wait(10)
    wait_until(lambda: not any(map(runs, pids)) and not os.path.exists(scratch))


def test_it_works_on_uvloop(tmp_path):
    async def main():
        host = await ToolHost.start(threads=2)
        await host.open("s1", tmp_path, SHOWN)
        (tmp_path / "big").write_text("x" * 700_000)
        done = await asyncio.gather(*(host.do("s1", ReadFile("big")) for _ in range(5)))
        await host.close()
        return [len(d.outcome.text) for d in done]

    assert uvloop.run(main()) == [700_000] * 5


async def test_a_session_that_is_finished_takes_its_search_with_it(host, tmp_path):
    endless = (Commit("Start", "A", "a@example.com", 1_700_000_000, {"a.txt": b"a" * 20_000 + b"!\n"}),)
    repository = Repository.create(tmp_path / "r.git", endless)
    await host.setup("s2", repository, tmp_path / "w", SHOWN)
    search = asyncio.create_task(host.do("s2", Search("(a+)+$")))

    def searchers() -> list[int]:
        told = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(host.pid)], capture_output=True, text=True)
        return [int(line.split()[0]) for line in told.stdout.splitlines() if "searcher" in line]

    await asyncio.to_thread(wait_until, searchers, 60.0)
    began = time.monotonic()
    await host.finish("s2")
    assert (await search).outcome == Refused("The search for '(a+)+$' came to no end: it was ended")
    assert time.monotonic() - began < SEARCH_LIMIT_S / 2 and searchers() == []
    assert (await host.do("s1", Search("(n|o)+e"))).outcome.total == 0
