"""A captured diff is that of the working tree, whatever git is told to do elsewhere, and taking it changes nothing."""

import os
import sys
from pathlib import Path

import pytest
from diffkit import commit, git, make_repo, needs_git, write_files

from crucible_nb.fix.capture import CaptureError, capture
from crucible_nb.fix.diffs import read_diff

pytestmark = needs_git

BEFORE = {
    "a.py": "".join(f"line {number}\n" for number in range(40)),
    "blank.py": "a\n\nb\n\nc\n",
    "gone.py": "to be deleted\n",
    "moved.py": "".join(f"moved {number}\n" for number in range(20)),
    "größe.py": "1\n",
    "data.bin": b"\0\1\2",
    "doc.txt": "text\n",
    "run.sh": "true\n",
    ".gitignore": "*.log\nbuild/\n",
    ".gitattributes": "*.py diff=code\n*.txt diff=prose\n",
}


@pytest.fixture(autouse=True)
def quiet_git(monkeypatch, tmp_path):
    """No settings of this machine or its user, until a test makes some."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / "xdg"))
    (tmp_path / "home").mkdir()


def edit(repo: Path) -> None:
    """A change of every kind, without any git command."""
    lines = BEFORE["a.py"].splitlines(keepends=True)
    lines[2:3], lines[12:13] = ["changed near the top\n"], ["changed further down\n"]
    (repo / "moved.py").rename(repo / "moved to.py")
    (repo / "gone.py").unlink()
    (repo / "run.sh").chmod(0o755)
    write_files(
        repo,
        {
            "a.py": "".join(lines),
            "blank.py": "a\n\nB\n\nc\n",
            "größe.py": "2\n",
            "data.bin": b"\0\1\3",
            "doc.txt": "other text\n",
            "new file.py": "new\n",
            "deep/er/new.py": "new\n",
            "empty.py": "",
            "ignored.log": "NEVER\n",
            "build/ignored.py": "NEVER\n",
        },
    )


@pytest.fixture
def repo(tmp_path) -> Path:
    """A working tree with a change of every kind against its last commit."""
    made = make_repo(tmp_path / "repo", BEFORE | {"cut.py": "x\n"})
    git("rm", "--quiet", "--cached", "-f", "cut.py", cwd=made)
    (made / "cut.py").unlink()
    git("commit", "--quiet", "--amend", "--message", "state", cwd=made)
    edit(made)
    return made


def listing(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below a folder, with its time of change and its content; git may refresh the time of an object."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            time = 0 if "objects" in path.parts else path.stat().st_mtime_ns
            found[path.relative_to(folder).as_posix()] = time, path.read_bytes()
    return found


def program(tmp_path: Path, name: str = "program") -> tuple[Path, Path]:
    """A program that leaves a trace when it runs, and the trace."""
    trace = tmp_path / f"{name}.ran"
    path = tmp_path / name
    path.write_text(f"#!{sys.executable}\nopen({str(trace)!r}, 'a').write('ran\\n')\nprint('x')\n")
    path.chmod(0o755)
    return path, trace


def statuses(diff: bytes) -> dict[str, str]:
    """Path to status of each file of a diff."""
    return {file.path: file.status for file in read_diff(diff).files}


# What is in it


def test_every_kind_of_change_is_in_the_diff(repo):
    taken = capture(repo)
    assert statuses(taken.diff) == {
        "a.py": "modified",
        "blank.py": "modified",
        "data.bin": "modified",
        "deep/er/new.py": "added",
        "doc.txt": "modified",
        "empty.py": "added",
        "gone.py": "deleted",
        "größe.py": "modified",
        "moved to.py": "renamed",
        "new file.py": "added",
        "run.sh": "mode",
    }
    assert b"NEVER" not in taken.diff
    assert taken.head == git("rev-parse", "HEAD", cwd=repo).decode().strip()
    assert taken.git_version.startswith("git version ")
    assert read_diff(taken.diff).notes == ()


def test_the_diff_is_that_of_plain_git_where_nothing_is_untracked(repo):
    git("add", "--all", cwd=repo)
    plain = git("diff", "--find-renames", "HEAD", cwd=repo)
    assert capture(repo).diff == plain
    commit(repo)
    assert capture(repo).diff == b""


def test_the_diff_applies_and_makes_the_same_tree(repo, tmp_path):
    (repo / "data.bin").write_bytes(BEFORE["data.bin"])
    copy = make_repo(tmp_path / "copy", BEFORE)
    diff = capture(repo).diff
    git("apply", "--index", cwd=copy, stdin=diff)
    git("add", "--all", cwd=repo)
    assert git("write-tree", cwd=copy) == git("write-tree", cwd=repo)


def test_staged_and_unstaged_changes_are_the_same(repo):
    before = capture(repo).diff
    git("add", "--all", cwd=repo)
    assert capture(repo).diff == before
    git("reset", "--quiet", cwd=repo)
    git("add", "--intent-to-add", "new file.py", cwd=repo)
    assert capture(repo).diff == before


def test_taking_it_twice_gives_the_same_bytes(repo):
    assert capture(repo) == capture(repo)


def test_a_change_that_only_the_content_shows_is_found(tmp_path):
    """Same size, same time: git compares contents where a file is no older than the index."""
    repo = make_repo(tmp_path / "repo", {"a.py": "1\n"})
    git("config", "core.trustctime", "false", cwd=repo)
    then = 1_700_000_000 * 10**9
    os.utime(repo / "a.py", ns=(then, then))
    git("update-index", "--refresh", cwd=repo)
    os.utime(repo / ".git" / "index", ns=(then, then))
    (repo / "a.py").write_text("2\n")
    os.utime(repo / "a.py", ns=(then, then))
    before = listing(repo / ".git")
    assert statuses(capture(repo).diff) == {"a.py": "modified"}
    assert listing(repo / ".git") == before
    assert b"+2" in git("diff", cwd=repo)


@pytest.mark.parametrize("folder", ["with blank", "with:colon", 'with"quote', "größe", "new\nline", "trailing "])
def test_odd_folders_are_captured_too(tmp_path, folder):
    try:
        repo = make_repo(tmp_path / folder, BEFORE)
    except OSError:
        pytest.skip("the file system takes no such name")
    edit(repo)
    assert len(statuses(capture(repo).diff)) == 11


def test_names_with_blanks_quotes_and_globs_are_captured(tmp_path):
    repo = make_repo(tmp_path / "repo", {"a": "1\n"})
    names = [" x", "x ", 'q"q', "b\\b", "t\tt", "n\nn", "*", "[a]", ":(top)x", "-x", "é", "x b/y"]
    write_files(repo, dict.fromkeys(names, "1\n"))
    assert statuses(capture(repo).diff) == dict.fromkeys(names, "added")


def test_a_repository_without_a_commit(tmp_path):
    repo = make_repo(tmp_path / "repo")
    assert capture(repo).diff == b""
    write_files(repo, {"a.py": "1\n", "b.py": "2\n"})
    git("add", "a.py", cwd=repo)
    taken = capture(repo)
    assert taken.head is None
    assert statuses(taken.diff) == {"a.py": "added", "b.py": "added"}


def test_a_subfolder_stands_for_the_whole_tree(repo):
    assert capture(repo / "deep" / "er") == capture(repo)


def test_a_linked_worktree_is_captured_and_not_the_main_one(repo, tmp_path):
    tree = tmp_path / "linked tree"
    git("worktree", "add", "--quiet", "-b", "other", str(tree), "HEAD", cwd=repo)
    assert capture(tree).diff == b""
    write_files(tree, {"only here.py": "1\n", "a.py": "2\n"})
    before = listing(repo / ".git")
    assert statuses(capture(tree).diff) == {"a.py": "modified", "only here.py": "added"}
    assert listing(repo / ".git") == before


def test_submodules_new_moved_and_dirty(tmp_path):
    inner = make_repo(tmp_path / "inner", {"x": "1\n"})
    repo = make_repo(tmp_path / "repo", {"a": "1\n"})
    for name in ("moved", "dirty", "same"):
        git("submodule", "--quiet", "add", str(inner), name, cwd=repo)
    commit(repo)
    git("commit", "--quiet", "--allow-empty", "--message", "more", cwd=repo / "moved")
    (repo / "dirty" / "x").write_text("2\n")
    before = listing(repo / ".git")
    diff = read_diff(capture(repo).diff)
    assert {file.path: (file.status, file.kind) for file in diff.files} == {
        "moved": ("modified", "submodule"),
        "dirty": ("modified", "submodule"),
    }
    assert listing(repo / ".git") == before


def test_a_repository_inside_the_tree_is_one_entry(tmp_path):
    repo = make_repo(tmp_path / "repo", {"a": "1\n"})
    make_repo(repo / "inside", {"x": "1\n"})
    (repo / "a").write_text("2\n")
    diff = read_diff(capture(repo).diff)
    assert {file.path: file.kind for file in diff.files} == {"a": "text", "inside": "submodule"}


def test_a_repository_without_a_commit_inside_the_tree_loses_no_other_file(tmp_path):
    repo = make_repo(tmp_path / "repo", {"a": "1\n"})
    make_repo(repo / "inside")
    write_files(repo, {"a": "2\n", "inside/x": "1\n", "new": "1\n"})
    assert {"a": "modified", "new": "added"}.items() <= statuses(capture(repo).diff).items()


# What may not change it


CONFIG = {
    "color.ui": "always",
    "color.diff": "always",
    "diff.noprefix": "true",
    "diff.mnemonicPrefix": "true",
    "diff.srcPrefix": "x/",
    "diff.dstPrefix": "y/",
    "diff.context": "0",
    "diff.interHunkContext": "50",
    "diff.renames": "false",
    "diff.renameLimit": "1",
    "diff.algorithm": "histogram",
    "diff.indentHeuristic": "false",
    "diff.suppressBlankEmpty": "true",
    "diff.relative": "true",
    "diff.submodule": "log",
    "diff.ignoreSubmodules": "all",
    "diff.wordRegex": ".",
    "diff.colorMoved": "zebra",
    "diff.wsErrorHighlight": "all",
    "diff.statGraphWidth": "3",
    "diff.orderFile": "order",
    "diff.noIndex": "true",
    "core.quotePath": "false",
    "core.pager": "false",
    "core.abbrev": "40",
    "core.whitespace": "tab-in-indent",
    "core.untrackedCache": "true",
    "core.splitIndex": "true",
    "core.preloadIndex": "false",
    "core.precomposeUnicode": "false",
    "core.autocrlf": "input",
    "core.safecrlf": "true",
    "core.ignoreStat": "true",
    "core.excludesFile": "excludes",
    "core.attributesFile": "attributes",
    "index.version": "4",
    "feature.manyFiles": "true",
    "status.showUntrackedFiles": "no",
    "submodule.recurse": "true",
    "alias.diff": "!false",
    "alias.add": "!false",
    "grep.column": "true",
    "log.showSignature": "true",
    "i18n.logOutputEncoding": "UTF-16",
    "advice.addEmptyPathspec": "false",
}


@pytest.mark.parametrize("name", CONFIG)
@pytest.mark.parametrize("scope", ["user", "repository"])
def test_no_setting_changes_the_diff(repo, tmp_path, name, scope):
    plain = capture(repo).diff
    files = {"order": "größe.py\n", "excludes": "new file.py\n", "attributes": "*.py binary\n"}
    write_files(tmp_path / "home", files)
    value = str(tmp_path / "home" / CONFIG[name]) if CONFIG[name] in files else CONFIG[name]
    path = tmp_path / "home" / ".gitconfig" if scope == "user" else repo / ".git" / "config"
    git("config", "--file", str(path), name, value, cwd=repo)
    before = listing(repo / ".git")
    assert capture(repo).diff == plain
    assert listing(repo / ".git") == before


def test_all_settings_together_change_nothing(repo, tmp_path):
    plain = capture(repo).diff
    lines = []
    for name in CONFIG.keys() - {"core.excludesFile", "core.abbrev"}:
        section, _, key = name.partition(".")
        lines.append(f"[{section}]\n{key} = {CONFIG[name]}\n")
    (tmp_path / "home" / ".gitconfig").write_text("".join(lines))
    assert git("config", "--file", str(tmp_path / "home" / ".gitconfig"), "diff.context", cwd=repo) == b"0\n"
    assert capture(repo).diff == plain


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GIT_DIFF_OPTS", "--unified=0"),
        ("GIT_EXTERNAL_DIFF", "false"),
        ("GIT_CONFIG_COUNT", "x"),
        ("GIT_CONFIG_PARAMETERS", "'diff.noprefix=true'"),
        ("GIT_CONFIG_GLOBAL", "/nowhere"),
        ("GIT_DIR", "/nowhere"),
        ("GIT_WORK_TREE", "/"),
        ("GIT_INDEX_FILE", "/nowhere/index"),
        ("GIT_OBJECT_DIRECTORY", "/nowhere"),
        ("GIT_LITERAL_PATHSPECS", "1"),
        ("GIT_PREFIX", "deep/"),
        ("GIT_TRACE", "1"),
        ("GIT_ATTR_SOURCE", "nowhere"),
        ("GIT_DEFAULT_HASH", "sha256"),
        ("LC_ALL", "de_DE.UTF-8"),
        ("LANGUAGE", "de"),
        ("PAGER", "false"),
        ("TERM", "dumb"),
    ],
)
def test_no_variable_changes_the_diff(repo, monkeypatch, name, value):
    plain = capture(repo).diff
    monkeypatch.setenv(name, value)
    assert capture(repo).diff == plain


@pytest.mark.parametrize(
    "name",
    [
        "diff.external",
        "diff.code.command",
        "diff.prose.command",
        "diff.code.textconv",
        "diff.prose.textconv",
        "core.fsmonitor",
        "core.pager",
        "pager.diff",
        "core.editor",
        "interactive.diffFilter",
        "core.sshCommand",
        "core.askPass",
    ],
)
def test_no_setting_runs_a_program(repo, tmp_path, name):
    plain = capture(repo).diff
    path, trace = program(tmp_path)
    git("config", "--file", str(repo / ".git" / "config"), name, str(path), cwd=repo)
    assert capture(repo).diff == plain
    assert not trace.exists()


def test_no_hook_runs(repo, tmp_path):
    plain = capture(repo).diff
    path, trace = program(tmp_path)
    names = ["post-index-change", "fsmonitor-watchman", "pre-commit", "post-checkout", "reference-transaction"]
    for folder in (repo / ".git" / "hooks", tmp_path / "hooks"):
        folder.mkdir(exist_ok=True)
        for name in names:
            (folder / name).write_bytes(path.read_bytes())
            (folder / name).chmod(0o755)
    assert capture(repo).diff == plain
    git("config", "core.hooksPath", str(tmp_path / "hooks"), cwd=repo)
    assert capture(repo).diff == plain
    assert not trace.exists()


def test_no_program_of_a_submodule_runs(tmp_path):
    inner = make_repo(tmp_path / "inner", {"x": "1\n"})
    repo = make_repo(tmp_path / "repo", {"a": "1\n"})
    git("submodule", "--quiet", "add", str(inner), "module", cwd=repo)
    commit(repo)
    (repo / "module" / "x").write_text("2\n")
    path, trace = program(tmp_path)
    for name in ("core.fsmonitor", "diff.external"):
        git("config", name, str(path), cwd=repo / "module")
    assert statuses(capture(repo).diff) == {"module": "modified"}
    assert not trace.exists()


def test_a_program_named_git_in_the_tree_does_not_run(repo, tmp_path, monkeypatch):
    path, trace = program(tmp_path)
    (repo / "git").write_bytes(path.read_bytes())
    (repo / "git").chmod(0o755)
    monkeypatch.chdir(repo)
    assert "git" in statuses(capture(Path(".")).diff)
    assert not trace.exists()


# What it leaves alone


def test_the_users_index_and_objects_are_not_touched(repo):
    git("add", "größe.py", cwd=repo)
    git("add", "--intent-to-add", "new file.py", cwd=repo)
    status = git("status", "--porcelain", cwd=repo)
    before = listing(repo)
    capture(repo)
    assert listing(repo) == before
    assert git("status", "--porcelain", cwd=repo) == status


def test_nothing_is_left_in_the_temporary_folder(repo, tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    capture(repo)
    (repo / ".git" / "HEAD").write_text("broken\n")
    with pytest.raises(CaptureError):
        capture(repo)
    assert list(scratch.iterdir()) == []


def test_a_lock_of_another_git_does_not_stop_it(repo):
    plain = capture(repo).diff
    (repo / ".git" / "index.lock").touch()
    assert capture(repo).diff == plain
    assert (repo / ".git" / "index.lock").exists()


# What can not be captured


def refusal(folder: Path) -> str:
    """The one line with which `capture` refuses a folder."""
    with pytest.raises(CaptureError) as problem:
        capture(folder)
    assert "\n" not in str(problem.value)
    return str(problem.value)


def test_what_is_no_working_tree_is_one_line(tmp_path):
    (tmp_path / "file").touch()
    git("init", "--quiet", "--bare", "bare.git", cwd=tmp_path)
    for name in ("nothing", "file", "bare.git", "home"):
        assert str(tmp_path / name) in refusal(tmp_path / name)
    assert str(tmp_path) in refusal(tmp_path)


def test_no_git_is_one_line(repo, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "PATH" in refusal(repo)


def test_a_broken_repository_is_one_line(repo):
    (repo / ".git" / "index").write_bytes(b"no index")
    assert str(repo) in refusal(repo)
