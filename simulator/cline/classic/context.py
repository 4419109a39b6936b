"""What the classic client appends to every user message: reminders about the checklist and environment_details."""

from __future__ import annotations

import json
from dataclasses import dataclass

from simulator.cline import texts, when
from simulator.cline.classic.results import listing
from simulator.cline.setup import Mode, Setup

REMIND_EVERY = 6
_HOST = "Agent CLI"
_CLI_TOOLS = (
    "git, gh, docker, kubectl, terraform, npm, yarn, pip, cargo, go, gcc, curl, wget, jq, make, cmake, python, node, "
    "psql, sqlite3, redis-cli, grep, sed, awk, tar, apt, mvn, gradle"
)


def usage_line(used_tok: int, window_tok: int) -> str:
    thousands = f"{window_tok / 1000:,.3f}".rstrip("0").rstrip(".")
    return f"{used_tok:,} / {thousands}K tokens used ({round(100 * used_tok / window_tok)}%)"


@dataclass(frozen=True, slots=True)
class Now:
    """unix_s: the time shown. used_tok: of the last request. mode: which one the next reply is made in."""

    unix_s: float
    used_tok: int
    mode: Mode


def environment(
    setup: Setup, now: Now, *, first: bool = False, short: bool = False, ran: tuple[str, str] | None = None
) -> str:
    """environment_details. first: with the file list, workspace and, unless short, installed tools. ran: command and
    output of this turn, which the client in its background mode repeats here, so that outputs travel twice."""
    blocks = [f"# {_HOST} Visible Files\n(No visible files)", f"# {_HOST} Open Tabs\n(No open tabs)"]
    if ran is not None:
        blocks.append(f"# Inactive Terminals\n## {ran[0]}\n### New Output\n{ran[1]}")
    blocks.append(f"# Current Time\n{when.moment(now.unix_s, setup.tz_name)}")
    if first:
        facts: dict[str, object] = {"hint": setup.repo_name}
        if setup.remote_url:
            facts["associatedRemoteUrls"] = [f"origin: {setup.remote_url}"]
        facts["latestGitCommitHash"] = setup.latest_commit
        config = json.dumps({"workspaces": {setup.cwd: facts}}, indent=2)
        blocks += [
            f"# Current Working Directory ({setup.cwd}) Files\n{listing(setup.listing, '.')}",
            f"# Workspace Configuration\n{config}",
        ]
        if not short:
            blocks.append(
                "# Detected CLI Tools\nInstalled on the user's machine and free to use where they help with the task: "
                f"{_CLI_TOOLS}. The list is not complete; other programs may be there as well."
            )
    mode = "ACT MODE" if now.mode == "act" else "PLAN MODE\n" + texts.load("classic/plan_mode.md")
    blocks += [
        f"# Context Window Usage\n{usage_line(now.used_tok, setup.context_window_tok)}",
        f"# Current Mode\n{mode}",
    ]
    return "<environment_details>\n" + "\n\n".join(blocks) + "\n</environment_details>"


def checklist_part(progress: str, request: int, since_update: int, mode: Mode = "act") -> str:
    """The reminder that goes with the user message of request number `request` (from 1), "" for none.

    progress: the list as last sent by the model, "" for none yet. since_update: requests since then.
    """
    if mode == "plan":
        return texts.load("classic/checklist_plan.md")
    if request == 1:
        return texts.load("classic/checklist_first.md")
    if not progress:
        return texts.load("classic/checklist_missing.md")
    if since_update < REMIND_EVERY or since_update % REMIND_EVERY:
        return ""
    lines = [line.strip().lower() for line in progress.splitlines()]
    done = sum(line.startswith("- [x]") for line in lines)
    total = done + sum(line.startswith("- [ ]") for line in lines)
    share = round(100 * done / total) if total else 0
    if done == 0:
        note = "Nothing on it is ticked so far. Tick what is finished as you go along."
    elif done == total:
        note = "Everything on it is ticked. If the task is really complete, finish with attempt_completion; if not, "
        note += "add what is missing."
    else:
        note = f"{total - done} of its items are open. Tick what has been finished since, then go on with the next."
    return texts.fill(
        texts.load("classic/checklist_update.md"),
        {"done": str(done), "total": str(total), "share": str(share), "list": progress.strip(), "note": note},
    )
