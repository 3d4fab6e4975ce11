"""What is read of git's own files, held against git itself: indexes of every version, packs, staged files."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from cu2port.project.git import repository_at, repository_of, uncommitted
from cu2port.project.git_objects import GitError


def git(folder: Path, *words: str) -> str:
    """Run git with nobody's configuration."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@t", *words]
    return subprocess.run(command, check=True, capture_output=True, env=env).stdout.decode(errors="surrogateescape")


def says(folder: Path) -> set[Path]:
    """The files that `git status` names: changed, staged or new."""
    listing = git(folder, "status", "--porcelain", "-z", "-uall", "--no-renames")
    return {folder / line[3:] for line in listing.split("\0") if line}


def files(folder: Path) -> list[Path]:
    return [p for p in folder.rglob("*") if p.is_file() and ".git" not in p.relative_to(folder).parts]


def agree(folder: Path) -> None:
    there = files(folder)
    dirty, outside = uncommitted(there)
    assert not outside
    assert dirty == says(folder) & set(there)
    repository = repository_of(folder)
    assert repository is not None
    listed = set(git(folder, "ls-files", "-z").split("\0")) - {""}
    above = {str(parent) for name in listed for parent in Path(name).parents} - {"."}
    assert repository.tracked(folder) == listed | above


@pytest.mark.parametrize("seed", range(4))
def test_random_histories_read_as_git_reads_them(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    git(tmp_path, "init", "-q", "--object-format", "sha256" if seed == 1 else "sha1")
    git(tmp_path, "config", "index.version", str(2 + seed % 3))
    names = [f"{d}{n}{i}.cu" for d in ("", "a/", "a/b c/", "z\n/") for n in ("k", "k\xe4", "x" * 90) for i in range(4)]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("int f();\n" * rng.randrange(1, 400))
    git(tmp_path, "add", ".")
    agree(tmp_path)  # no commit yet
    for step in range(4):
        git(tmp_path, "commit", "-qm", str(step))
        agree(tmp_path)
        for name in rng.sample(names, 6):
            path = tmp_path / name
            what = rng.randrange(5)
            if what == 0:
                path.unlink(missing_ok=True)
            else:
                text = path.read_text() if path.exists() else ""
                path.write_text(text + f"// {step}\n" if what < 4 else text[: len(text) // 2] + "!")
                if what == 2:
                    git(tmp_path, "add", name)
                elif what == 3 and path.exists():
                    git(tmp_path, "update-index", "--add", "--chmod=+x", "--", name)
        (tmp_path / f"new{step}.cu").write_text("")
        agree(tmp_path)
        git(tmp_path, "add", ".")
        agree(tmp_path)
        if step == seed % 4:
            git(tmp_path, "commit", "-qm", "packed")
            git(tmp_path, "gc", "-q")
            git(tmp_path, "pack-refs", "--all")
            agree(tmp_path)
            (tmp_path / f"last{seed}.cu").write_text("x")
            git(tmp_path, "add", ".")


def test_second_work_trees_submodules_and_borrowed_objects(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    git(home, "init", "-q")
    (home / "a.cu").write_text("1")
    git(home, "add", ".")
    git(home, "commit", "-qm", "1")
    git(home, "worktree", "add", "-q", str(tmp_path / "second"))
    git(tmp_path, "clone", "-q", "--shared", str(home), str(tmp_path / "clone"))
    git(tmp_path / "clone", "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(home), "sub")
    for folder in (tmp_path / "second", tmp_path / "clone", tmp_path / "clone" / "sub"):
        dirty, outside = uncommitted([folder / "a.cu"])
        assert (dirty, outside) == (set(), set()), folder
        (folder / "a.cu").write_text("2")
        assert uncommitted([folder / "a.cu"])[0] == {folder / "a.cu"}, folder


def test_a_file_that_a_filter_changed_on_its_way_is_known_by_what_git_stored_of_it(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "core.autocrlf", "true")
    (tmp_path / "a.cu").write_bytes(b"1\r\n")
    os.utime(tmp_path / "a.cu", (1_000_000_000, 1_000_000_000))
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "1")
    assert uncommitted([tmp_path / "a.cu"])[0] == set()
    (tmp_path / "a.cu").write_bytes(b"2\r\n")
    assert uncommitted([tmp_path / "a.cu"])[0] == {tmp_path / "a.cu"}


def test_a_merge_that_is_not_done_is_not_committed(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    for text, branch in (("1", "main"), ("2", "other"), ("3", "main")):
        git(tmp_path, "checkout", "-q", *(["-b"] if branch == "other" else []), branch) if text != "1" else None
        (tmp_path / "a.cu").write_text(text)
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-qm", text)
    with pytest.raises(subprocess.CalledProcessError):
        git(tmp_path, "merge", "-q", "other")
    assert uncommitted([tmp_path / "a.cu"])[0] == {tmp_path / "a.cu"}


def test_what_is_no_repository(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("")
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    assert repository_at(tmp_path) is None
    for content in ("", "gitdir:", "\0", "gitdir: \0"):
        (tmp_path / ".git").write_text(content)
        assert repository_at(tmp_path) is None
    assert uncommitted([tmp_path / "a.cu"]) == (set(), {tmp_path / "a.cu"})
    for name in ("HEAD", "config"):  # like a bare repository, which git would find here
        (tmp_path / name).write_text("ref: refs/heads/main\n")
    for name in ("objects", "refs"):
        (tmp_path / name).mkdir()
    assert repository_of(tmp_path) is None


def damaged() -> list[tuple[str, bytes]]:
    """Contents for files of git's that no git wrote."""
    rng = random.Random(5)
    noise = [b"", b"\0" * 40, rng.randbytes(300), b"DIRC\0\0\0\2\xff\xff\xff\xff" + b"a" * 100]
    shapes = [*noise, b"DIRC\0\0\0\4\0\0\0\1" + b"\xff" * 200, b"DIRC\0\0\0\2\0\0\0\0link\0\0\0\x14" + b"\1" * 60]
    out = [("index", x) for x in shapes]
    out += [("HEAD", x) for x in (b"", b"ref: refs/heads/../../../x", b"ref: HEAD", b"f" * 40, b"\xff" * 40, b"zz")]
    out += [("packed-refs", noise[2]), ("config", b"[extensions]\nobjectformat = sha256\n")]
    return out


@pytest.mark.parametrize(("name", "content"), damaged())
def test_a_damaged_repository_is_refused_in_one_line(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / "a.cu").write_text("1")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "1")
    (tmp_path / ".git" / name).write_bytes(content)
    try:
        dirty, _ = uncommitted([tmp_path / "a.cu"])
    except GitError as e:
        assert "\n" not in str(e)
    else:
        assert dirty == {tmp_path / "a.cu"} or name == "packed-refs"


def test_damaged_objects_are_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("1\n" * 500)
    git(tmp_path, "init", "-q")
    for k in range(3):
        with (tmp_path / "a.cu").open("a") as f:
            f.write(f"{k}\n")
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-qm", str(k))
    kept = tmp_path / "kept"
    shutil.copytree(tmp_path / ".git", kept)
    rng = random.Random(7)
    for packed in (False, True):
        if packed:
            git(tmp_path, "gc", "-q")
        for trial in range(60):
            paths = [p for p in (tmp_path / ".git" / "objects").rglob("*") if p.is_file() and p.name != "packs"]
            path = rng.choice(paths)
            data = path.read_bytes()
            path.chmod(0o644)
            at = rng.randrange(len(data))
            path.write_bytes(data[:at] if trial % 3 == 0 else data[:at] + rng.randbytes(1) + data[at + 1 :])
            try:
                uncommitted([tmp_path / "a.cu"])
            except GitError as e:
                assert "\n" not in str(e)
            path.write_bytes(data)
        assert uncommitted([tmp_path / "a.cu"])[0] == set()


def test_a_pipe_in_place_of_the_index_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("1")
    git(tmp_path, "init", "-q")
    os.mkfifo(tmp_path / ".git" / "index")
    with pytest.raises(GitError, match="a pipe, socket or device"):
        uncommitted([tmp_path / "a.cu"])
