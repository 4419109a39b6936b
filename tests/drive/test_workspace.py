"""Repositories and workspaces, with real git; what git itself says is the measure."""

import os
import subprocess

import pytest
from git import Repo

from simulator.core.task import Commit
from simulator.drive.workspace import Repository
from simulator.errors import UsageError

HISTORY = (
    Commit("Start", "Ann Böhm", "ann@example.com", 1_700_000_000, {
        "README.md": b"# ledger\n", "pkg/a b.py": b"x = 1\n", 'odd"\\name.txt': b"q\n", ".gitignore": b"*.log\nout/\n",
        "bytes.bin": bytes(range(256)), "empty": b"", "no_newline": b"end"}),
    Commit("Second\n\nWith a body.", "Bo", "bo@example.com", 1_700_090_000, {"pkg/a b.py": b"x = 2\n", "empty": None}),
)  # fmt: skip


def git(path, *words):
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_COUNT": "1"}
    env |= {"GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    done = subprocess.run(["git", *words], cwd=path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def repository(tmp_path):
    return Repository.create(tmp_path / "ledger.git", HISTORY)


def test_history_is_what_was_asked_for(repository):
    assert git(repository.path, "fsck", "--strict") == ""
    log = git(repository.path, "log", "--reverse", "--format=%an|%ae|%at|%ct|%s", "main")
    assert log.splitlines() == [
        "Ann Böhm|ann@example.com|1700000000|1700000000|Start",
        "Bo|bo@example.com|1700090000|1700090000|Second",
    ]
    names = git(repository.path, "ls-tree", "-r", "-z", "--name-only", "main").split("\0")
    assert set(names) == {"README.md", "pkg/a b.py", 'odd"\\name.txt', ".gitignore", "bytes.bin", "no_newline", ""}
    raw = subprocess.run(["git", "show", "main:bytes.bin"], cwd=repository.path, capture_output=True).stdout
    assert raw == bytes(range(256))


def test_hashes_repeat_whatever_the_machine_is_configured_to_do(repository, tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[i18n]\n\tcommitEncoding = latin1\n[core]\n\tautocrlf = true\n[init]\n\tx = y\n")
    hook = home / "hooks" / "post-checkout"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hook-ran\n")
    hook.chmod(0o755)
    git(tmp_path, "config", "--file", str(home / ".gitconfig"), "core.hooksPath", str(hook.parent))
    plain = repository.checkout(tmp_path / "plain", "s1")
    (plain.path / "new.py").write_text("y = 1\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody")
    monkeypatch.setenv("GIT_DEFAULT_HASH", "sha256")
    again = Repository.create(tmp_path / "again.git", HISTORY)
    other = again.checkout(tmp_path / "other", "s1")
    (other.path / "new.py").write_text("y = 1\n")
    assert again.head == repository.head
    assert other.commit("Add é", 1_700_100_000) == plain.commit("Add é", 1_700_100_000)
    assert not (tmp_path / "hook-ran").exists()


def test_the_hash_is_known(repository):
    """A change here changes every plan: it must be meant."""
    assert repository.head == git(repository.path, "rev-parse", "main").strip()
    assert repository.head == "bfdae1c702eb89309eadd0aaf10185634e4e6805"


def test_checkout_shares_objects_and_is_clean(repository, tmp_path):
    workspace = repository.checkout(tmp_path / "w", "s0007")
    assert workspace.start == repository.head
    assert git(workspace.path, "status", "--porcelain") == ""
    assert git(workspace.path, "rev-parse", "s0007").strip() == repository.head
    assert git(workspace.path, "count-objects").startswith("0 objects")
    assert (workspace.path / ".git/objects/info/alternates").is_file()
    assert (workspace.path / "bytes.bin").read_bytes() == bytes(range(256))


def changes(root):
    (root / "pkg/a b.py").write_text("x = 3\n")
    (root / "README.md").unlink()
    (root / "deep/er").mkdir(parents=True)
    (root / "deep/er/n.txt").write_text("n\n")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("pkg")
    (root / "trace.log").write_text("ignored\n")
    (root / "out").mkdir()
    (root / "out/x").write_text("ignored\n")


def test_commit_equals_what_git_add_and_commit_make(repository, tmp_path):
    ours = repository.checkout(tmp_path / "ours", "s1")
    theirs = repository.checkout(tmp_path / "theirs", "s1")
    for workspace in (ours, theirs):
        changes(workspace.path)
    made = ours.commit("Work", 1_700_100_000)
    git(theirs.path, "add", "--all")
    assert git(ours.path, "rev-parse", f"{made}^{{tree}}") == git(theirs.path, "write-tree")
    assert git(ours.path, "show", "-s", "--format=%an %at %s %P", "s1").strip() == (
        f"dev 1700100000 Work {repository.head}"
    )
    assert git(ours.path, "fsck", "--strict", "--no-dangling") == ""


def test_commits_leave_the_agents_own_view_alone(repository, tmp_path):
    workspace = repository.checkout(tmp_path / "w", "s1")
    (workspace.path / "README.md").write_text("changed\n")
    workspace.commit("One", 1_700_100_000)
    assert git(workspace.path, "status", "--porcelain").strip() == "M README.md"
    assert git(workspace.path, "branch", "--show-current").strip() == "main"


def test_nothing_changed_is_no_commit(repository, tmp_path):
    workspace = repository.checkout(tmp_path / "w", "s1")
    assert workspace.commit("Empty", 1_700_100_000) is None
    (workspace.path / "README.md").write_bytes(b"# ledger\n")  # rewritten with the same bytes
    (workspace.path / "a.log").write_text("ignored")
    assert workspace.commit("Empty", 1_700_100_000) is None
    assert git(workspace.path, "rev-parse", "s1").strip() == repository.head


def test_quick_edits_of_equal_size_are_all_seen(repository, tmp_path):
    """Times alone cannot tell them apart: they happen within one tick of the file system's clock."""
    workspace = repository.checkout(tmp_path / "w", "s1")
    hashes = set()
    for number in range(10, 40):
        (workspace.path / "README.md").write_text(f"{number}\n")
        hashes.add(workspace.commit(f"n{number}", 1_700_100_000 + number))
        assert git(workspace.path, "show", "s1:README.md") == f"{number}\n"
    assert None not in hashes and len(hashes) == 30


def test_diff_is_complete_and_can_be_applied(repository, tmp_path):
    workspace = repository.checkout(tmp_path / "w", "s1")
    changes(workspace.path)
    workspace.commit("Part", 1_700_100_000)
    (workspace.path / "zz.txt").write_bytes(b"caf\xe9\n")
    before = git(workspace.path, "status", "--porcelain")
    patch, stat = workspace.compare()
    assert git(workspace.path, "status", "--porcelain") == before
    assert stat == "6 files +5 -2"
    assert (workspace.diff(), workspace.diff_stat()) == (patch, stat)
    assert "trace.log" not in patch
    fresh = repository.checkout(tmp_path / "fresh", "s2")
    (tmp_path / "p").write_text(patch.split("diff --git a/zz.txt")[0])
    git(fresh.path, "apply", str(tmp_path / "p"))
    assert (fresh.path / "deep/er/n.txt").read_text() == "n\n"
    assert os.access(fresh.path / "run.sh", os.X_OK)
    assert not (fresh.path / "README.md").exists()


def test_no_change_no_diff(repository, tmp_path):
    workspace = repository.checkout(tmp_path / "w", "s1")
    assert workspace.compare() == ("", "0 files +0 -0")
    workspace.remove()
    assert not workspace.path.exists()
    workspace.remove()


def test_sessions_do_not_see_each_other(repository, tmp_path):
    one, two = (repository.checkout(tmp_path / name, name) for name in ("s1", "s2"))
    (one.path / "README.md").write_text("one\n")
    made = one.commit("One", 1_700_100_000)
    assert two.compare()[0] == ""
    assert subprocess.run(["git", "cat-file", "-e", made], cwd=two.path, capture_output=True).returncode != 0


def test_repositories_inside_a_workspace_are_not_committed(repository, tmp_path):
    workspace = repository.checkout(tmp_path / "w", "s1")
    Repo.init(workspace.path / "nested").close()
    (workspace.path / "nested/file").write_text("x")
    assert workspace.commit("Nested", 1_700_100_000) is None


def test_mistakes_are_one_sentence(repository, tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="exists already: choose"):
        Repository.create(repository.path, HISTORY)
    with pytest.raises(UsageError, match="no commits"):
        Repository.create(tmp_path / "none.git", ())
    for path in ("../up", "/abs", "a//b", ".git/config", "a/.GIT/x", "a/./b", ""):
        bad = (Commit("m", "a", "a@b", 1_700_000_000, {path: b""}),)
        with pytest.raises(UsageError, match="no path for a file"):
            Repository.create(tmp_path / "bad.git", bad)
    bad = (Commit("m", "a>", "a@b", 1_700_000_000, {}),)
    with pytest.raises(UsageError, match=r"git failed in .*worse\.git: ") as caught:
        Repository.create(tmp_path / "worse.git", bad)
    assert "\n" not in str(caught.value)
    with pytest.raises(UsageError, match="git failed"):
        Repository(tmp_path / "nowhere.git", "0" * 40).checkout(tmp_path / "w", "s1")
    monkeypatch.setenv("GIT_DIR", str(tmp_path))
    with pytest.raises(UsageError, match="GIT_DIR is set"):
        repository.checkout(tmp_path / "w", "s1")


def test_a_repository_of_another_owner_can_be_used(repository, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    for path in (repository.path, *repository.path.rglob("*")):
        os.chown(path, 12345, 12345)
    workspace = repository.checkout(tmp_path / "w", "s1")
    for path in (workspace.path, *workspace.path.rglob("*")):
        os.chown(path, 12345, 12345, follow_symlinks=False)
    (workspace.path / "n").write_text("n\n")
    assert workspace.commit("m", 1_700_100_000)
    assert workspace.diff_stat() == "1 files +1 -0"


def test_an_edit_right_after_the_checkout_is_in_the_diff(repository, tmp_path):
    """Same size, same tick of the file system's clock: only the age of the index tells that it may be wrong."""
    seen = set()
    for number in range(25):
        workspace = repository.checkout(tmp_path / str(number), "s1")
        (workspace.path / "README.md").write_bytes(b"# budget\n")
        seen.add((workspace.commit("m", 1_700_100_000) is None, workspace.diff_stat()))
    assert seen == {(False, "1 files +1 -1")}
