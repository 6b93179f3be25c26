from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gonogo.releases.git import head_of

WHO = ["-c", "user.name=Someone", "-c", "user.email=someone@example.org"]


def git(folder: Path, *words: str, date: str = "2026-02-03T04:05:06Z") -> str:
    command = ["git", "-C", str(folder), *WHO, *words]
    env = {"PATH": "/usr/bin:/bin", "GIT_COMMITTER_DATE": date, "GIT_CONFIG_GLOBAL": "/dev/null"}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    (folder / "python" / "pkg").mkdir(parents=True)
    (folder / "python" / "pkg" / "a.py").write_text("a = 1\n")
    (folder / "python" / "pkg" / "way").symlink_to("/etc/passwd")
    (folder / "other.py").write_text("")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")
    return folder


def test_commit_and_date(checkout: Path) -> None:
    head = head_of(checkout)
    assert head is not None
    assert head.sha == git(checkout, "rev-parse", "HEAD")
    assert head.date == datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
    assert (head.tag, head.since) == (None, 0)


def test_the_nearest_tag_and_what_came_after(checkout: Path) -> None:
    git(checkout, "tag", "v1.2.3")
    head = head_of(checkout)
    assert head is not None
    assert (head.tag, head.since) == ("v1.2.3", 0)
    for n in range(2):
        git(checkout, "commit", "-q", "--allow-empty", "-m", str(n))
    git(checkout, "tag", "nightly")
    head = head_of(checkout)
    assert head is not None
    assert (head.tag, head.since) == ("v1.2.3", 2)


def test_the_hashes_of_its_files(checkout: Path) -> None:
    head = head_of(checkout)
    assert head is not None
    assert head.files("python/pkg") == {"python/pkg/a.py": git(checkout, "hash-object", "python/pkg/a.py")}


def test_what_its_gitignore_leaves_out(checkout: Path) -> None:
    (checkout / "python" / ".gitignore").write_text("made/*\n!made/kept.py\n*.so\n")
    head = head_of(checkout)
    assert head is not None
    names = [
        "python/made/a.py",
        "python/made/kept.py",
        "python/pkg/a.py",
        "python/pkg/b.so",
        "other.so",
        "python/made/b/c.py",
    ]
    assert head.ignored(names) == {"python/made/a.py", "python/pkg/b.so", "python/made/b/c.py"}
    assert head.ignored(["python/pkg/a.py"]) == set()
    assert head.ignored([]) == set()


def test_a_worktree_whose_git_is_a_file(checkout: Path) -> None:
    git(checkout, "worktree", "add", "-q", "../second")
    first, second = head_of(checkout), head_of(checkout.parent / "second")
    assert first is not None
    assert second is not None
    assert first.sha == second.sha


def test_a_folder_below_a_checkout_is_none(checkout: Path) -> None:
    assert head_of(checkout / "python") is None


def test_what_is_no_checkout_is_none(tmp_path: Path, checkout: Path) -> None:
    assert head_of(tmp_path) is None
    (tmp_path / ".git").mkdir()
    assert head_of(tmp_path) is None
    (checkout / ".git" / "HEAD").write_bytes(b"\xff\x00 no head")
    assert head_of(checkout) is None


def test_without_git_nothing_is_known(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert head_of(checkout) is None


def test_what_surrounds_gonogo_does_not_lead_git_elsewhere(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when it is called out of a hook of git's."""
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_WORK_TREE", "/nowhere")
    assert head_of(checkout) is not None


def test_a_hostile_configuration_runs_nothing(checkout: Path, tmp_path: Path) -> None:
    """Every setting that names a program, and a partial clone, whose missing objects git would fetch."""
    ran = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\nexit 0\n")
    program.chmod(0o755)
    for hook in ("post-checkout", "post-index-change", "pre-auto-gc", "reference-transaction"):
        (checkout / ".git" / "hooks" / hook).write_text(program.read_text())
        (checkout / ".git" / "hooks" / hook).chmod(0o755)
    settings = ["core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.gitProxy", "gpg.program"]
    settings += [
        "core.alternateRefsCommand",
        "diff.external",
        "credential.helper",
        "filter.evil.clean",
        "filter.evil.smudge",
    ]
    for name in settings:
        git(checkout, "config", name, str(program))
    (checkout / ".gitattributes").write_text("* filter=evil diff=evil\n")
    for name, value in (
        ("log.showSignature", "true"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", f"ext::{program}"),
        ("remote.origin.uploadpack", str(program)),
        ("protocol.ext.allow", "always"),
    ):
        git(checkout, "config", name, value)
    (checkout / "python" / "pkg" / "a.py").write_text("a = 2\n")
    head = head_of(checkout)
    assert head is not None
    head.files("python/pkg")
    head.ignored(["python/pkg/a.py"])
    blob = git(checkout, "rev-parse", "HEAD:python/pkg/a.py")
    for missing in (git(checkout, "rev-parse", "HEAD^{tree}"), blob, head.sha):
        (checkout / ".git" / "objects" / missing[:2] / missing[2:]).unlink()
        head.files("python/pkg")
        head_of(checkout)
    assert not ran.exists()
