"""On well-formed diffs unidiff and this package read the same; on the others only this package loses nothing."""

import random
from pathlib import Path

import pytest
import unidiff
from diffkit import (
    DATA,
    archive_pairs,
    commit,
    git,
    make_repo,
    needs_git,
    needs_public,
    public_runs,
    write_trees,
)
from unidiff import PatchSet
from unidiff.errors import UnidiffParseError

from crucible_nb.fix.diffs import Diff, from_patchset, read_diff
from crucible_nb.fix.reference import read_reference
from crucible_nb.fix.score import score_fix

TRICKY = ["-- a/x", "++ b/x", "@@ -1 +1 @@", "diff --git a/x b/x", "", " ", "+", "-", "\\ No newline", "-- ", "```"]
NAMES = ["a.py", "b/a.py", "a/b.py", "deep/er/x.txt", "with blank.py", "README", "i/w.c", "s/lib.rs", ".hidden"]


def unidiff_reads(text: str) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Path, added and removed lines of each file, by unidiff's own names."""
    return [
        (
            patch.path,
            tuple(line.value.removesuffix("\n") for hunk in patch for line in hunk if line.is_added),
            tuple(line.value.removesuffix("\n") for hunk in patch for line in hunk if line.is_removed),
        )
        for patch in PatchSet(text)
    ]


def package_reads(diff: Diff) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """The same of this package."""
    return [(file.path, file.added or (), file.removed or ()) for file in diff.files]


def facts(diff: Diff) -> list[tuple[object, ...]]:
    """All of a diff's files but where they stand in the input."""
    hunks = [[(hunk.old_start, hunk.new_start, hunk.lines) for hunk in file.hunks] for file in diff.files]
    return [
        (file.path, file.old_path, file.status, file.kind, file.added, file.removed, body)
        for file, body in zip(diff.files, hunks, strict=True)
    ]


def check(text: str) -> None:
    """Compare both readings of one diff, and the way from one to the other."""
    diff = read_diff(text)
    assert package_reads(diff) == unidiff_reads(text)
    assert facts(from_patchset(PatchSet(text))) == facts(diff)


def made_up_files(draw: random.Random) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Files before and after a change; some are new, some gone, some as they were."""
    before: dict[str, bytes] = {}
    after: dict[str, bytes] = {}
    for name in draw.sample(NAMES, draw.randint(1, len(NAMES))):
        old = [draw.choice([*TRICKY, f"line {draw.randrange(9)}"]) for _ in range(draw.randint(2, 40))]
        new = [line for line in old if draw.random() < 0.9]
        for _ in range(draw.randint(1, 5)):
            new.insert(draw.randint(0, len(new)), draw.choice([*TRICKY, "new line"]))
        ends = draw.choices(["", "\n"], k=2)
        if draw.random() < 0.85:
            before[name] = ("\n".join(old) + ends[0]).encode()
        if draw.random() < 0.85 or name not in before:
            after[name] = ("\n".join([*new, "end"]) + ends[1]).encode()
    return before, after


@needs_git
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("context", [0, 3])
def test_both_read_what_git_writes(tmp_path, seed, context):
    repo, before, after = write_trees(tmp_path / "repo", *made_up_files(random.Random(seed)))
    for flags in (["--no-renames"], ["-M10%"], ["--full-index"]):
        text = git("diff", f"--unified={context}", *flags, before, after, cwd=repo).decode()
        assert text.count("diff --git ")
        check(text)


@pytest.mark.parametrize(("run", "scenario", "path"), archive_pairs(), ids=lambda value: str(value)[-40:])
def test_both_read_the_archive(run, scenario, path):
    check(path.read_bytes().decode())


def test_the_archive_scores_the_same_through_unidiff():
    for _, scenario, path in archive_pairs():
        reference = read_reference(scenario / "REFERENCE_FIX.md")
        by_unidiff = from_patchset(PatchSet(path.read_bytes().decode()))
        assert score_fix(reference, by_unidiff).value == score_fix(reference, read_diff(path)).value


@needs_public
def test_both_read_the_public_runs():
    runs = public_runs()
    assert len(runs) == 300
    for run in runs:
        for side in ("reference_diff", "candidate_diff"):
            check(run[side])


@needs_git
def test_kinds_survive_the_way_through_unidiff(tmp_path):
    inner = make_repo(tmp_path / "inner", {"x": "1\n"})
    repo = make_repo(tmp_path / "repo", {"text": "1\n", "binary": b"\0\1", "run": "x\n", "old": "a\nb\nc\nd\n"})
    (repo / "link").symlink_to("here")
    git("submodule", "--quiet", "add", str(inner), "module", cwd=repo)
    commit(repo)
    (repo / "text").write_text("2\n")
    (repo / "binary").write_bytes(b"\0\2")
    (repo / "run").chmod(0o755)
    (repo / "old").rename(repo / "new")
    (repo / "link").unlink()
    (repo / "link").symlink_to("there")
    (repo / "empty").touch()
    git("commit", "--quiet", "--allow-empty", "--message", "more", cwd=repo / "module")
    git("add", "--all", cwd=repo)
    text = git("diff", "--cached", cwd=repo).decode()
    kinds = {file.path: file.kind for file in read_diff(text).files}
    assert kinds == {
        "binary": "binary",
        "empty": "text",
        "link": "symlink",
        "module": "submodule",
        "new": "text",
        "run": "text",
        "text": "text",
    }
    assert {file.path: file.kind for file in from_patchset(PatchSet(text)).files} == kinds
    reference = read_diff(text)
    assert score_fix(reference, from_patchset(PatchSet(text))).value == score_fix(reference, reference).value


# Inputs that one of both can not read. What unidiff says was tried with 1.0.1; a later one may know better.

A = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-1\n+2\n"
B = "diff --git a/b.py b/b.py\n--- a/b.py\n+++ b/b.py\n@@ -1 +1 @@\n-3\n+4\n"
BOTH = [("a.py", ["2"]), ("b.py", ["4"])]
RAISES = {
    "a count too big": (A.replace("+1 @@", "+1,9 @@") + B, BOTH),
    "a count too small": (A.replace("-1 +1", "-1,0 +1,0") + B, BOTH),
    "a hunk without numbers between others": (A + B.replace("@@ -1 +1 @@", "@@ ... @@"), BOTH),
    "text inside a hunk": (A.replace("-1 +1", "-1,2 +1,2").replace("+2\n", "+2\nx\n") + B, BOTH),
    "a diff that was cut": ((A + B.replace("-1 +1", "-1,3 +1,3"))[:-1], BOTH),
    "a folder that ends in b": (
        "diff --git a/lib b/x b/lib b/x\n--- a/lib b/x\t\n+++ b/lib b/x\t\n@@ -1 +1 @@\n-1\n+2\n" + B,
        [("lib b/x", ["2"]), ("b.py", ["4"])],
    ),
}
LOSES = {
    "octal names": (
        'diff --git "a/gr\\303\\266\\303\\237e.py" "b/gr\\303\\266\\303\\237e.py"\n'
        '--- "a/gr\\303\\266\\303\\237e.py"\n+++ "b/gr\\303\\266\\303\\237e.py"\n@@ -1 +1 @@\n-1\n+2\n',
        [("größe.py", ["2"])],
    ),
    "colour": (
        "".join(f"\x1b[{'1' if at < 3 else '32'}m{row}\x1b[m\n" for at, row in enumerate(A.split("\n")[:-1])),
        [("a.py", ["2"])],
    ),
    "a count too small, lines behind": (
        A.replace("+2\n", "+2\n+3\n") + B,
        [("a.py", ["2", "3"]), ("b.py", ["4"])],
    ),
    "a merge": (
        "diff --cc a.py\nindex 1111111,2222222..3333333\n--- a/a.py\n+++ b/a.py\n"
        "@@@ -1,1 -1,1 +1,1 @@@\n- 1\n -2\n++3\n" + B,
        [("a.py", None), ("b.py", ["4"])],
    ),
    "a submodule's log": ("Submodule lib 1111111..2222222:\n  > a commit\n" + B, [("lib", None), ("b.py", ["4"])]),
    "an unmerged path": ("* Unmerged path a.py\n" + B, [("a.py", None), ("b.py", ["4"])]),
    "a path that comes twice": (A + B + A.replace("+2", "+5"), [("a.py", ["2", "5"]), ("b.py", ["4"])]),
}


def read(text: str) -> list[tuple[str, list[str] | None]]:
    """Paths and added lines as this package reads them."""
    return [(file.path, None if file.added is None else list(file.added)) for file in read_diff(text).files]


@pytest.mark.parametrize("name", RAISES)
def test_unidiff_raises_and_this_package_reads_every_file(name):
    text, wanted = RAISES[name]
    assert read(text) == wanted
    assert bool(read_diff(text).notes) == (name != "a folder that ends in b")
    if unidiff.__version__ == "1.0.1":
        with pytest.raises(UnidiffParseError):
            PatchSet(text)


@pytest.mark.parametrize("name", LOSES)
def test_unidiff_loses_and_this_package_does_not(name):
    text, wanted = LOSES[name]
    assert read(text) == wanted
    if unidiff.__version__ == "1.0.1":
        seen = [(path, list(added)) for path, added, _ in unidiff_reads(text)]
        assert seen != [(path, added or []) for path, added in wanted]


def test_one_byte_that_is_not_utf8():
    data = (A + B).replace("+2", "+é").encode("latin-1")
    assert [file.path for file in read_diff(data).files] == ["a.py", "b.py"]
    assert [file.added for file in read_diff(data).files] == [("\ufffd",), ("4",)]
    assert "undecodable" in [note.kind for note in read_diff(data).notes]
    with pytest.raises(UnicodeDecodeError):
        PatchSet(data)


@pytest.mark.parametrize("separator", ["\r", "\x0c", "\x85", "\u2028"])
def test_the_answer_does_not_depend_on_how_the_text_is_handed_over(tmp_path, separator):
    text = A.replace("+2", f"+2{separator}3") + B
    path = tmp_path / "final.diff"
    path.write_bytes(text.encode())
    answers = {tuple(package_reads(read_diff(source))) for source in (text, text.encode(), path)}
    assert answers == {(("a.py", (f"2{separator}3",), ("1",)), ("b.py", ("4",), ("3",)))}
    if unidiff.__version__ == "1.0.1":
        by_unidiff = {outcome(how, path) for how in (by_text, by_lines, by_file)}
        assert len(by_unidiff) > 1


def by_text(path: Path) -> PatchSet:
    return PatchSet(path.read_bytes().decode())


def by_lines(path: Path) -> PatchSet:
    return PatchSet(path.read_bytes().decode().splitlines(keepends=True))


def by_file(path: Path) -> PatchSet:
    return PatchSet.from_filename(str(path))


def outcome(how, path: Path) -> str:
    """What unidiff makes of a file, handed over in one way."""
    try:
        return str([[(line.line_type, line.value) for hunk in patch for line in hunk] for patch in how(path)])
    except UnidiffParseError as problem:
        return str(problem)


def test_summaries_are_no_diff_and_say_so():
    text = " a.py | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n"
    assert PatchSet(text) == []
    with pytest.raises(ValueError, match="summary"):
        read_diff(text)


def test_there_are_runs():
    assert len(archive_pairs()) == len(list((DATA / "archive").glob("*/*/run.json"))) == 54
