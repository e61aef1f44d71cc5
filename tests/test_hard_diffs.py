"""Diffs on which an earlier reading lost a file, a name or a line without a word."""

import contextlib
import time

import pytest

from crucible_nb.fix.diffs import Diff, DiffError, read_diff

PLAIN = b"--- a/n.py\n+++ b/n.py\n@@ -1 +1 @@\n-n\n+N\n"
GIT = b"diff --git a/g.py b/g.py\n--- a/g.py\n+++ b/g.py\n@@ -1 +1 @@\n-g\n+G\n"
CC = b"diff --cc f\nindex 1,2..3\n--- a/f\n+++ b/f\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n -b\n++c\n"
HEAD = b"diff --git a/x b/x\n"
INDEX = b"index 1111111..2222222 100644\n"
NAMES = b"--- a/x\n+++ b/x\n"
HUNK = b"@@ -1 +1 @@\n-q\n+Q\n"

# name: input, {path: added lines, or None for no text}, kinds of notes that must be there
CASES = {
    "count one too big on both sides": (
        b"--- a/p.py\n+++ b/p.py\n@@ -1,4 +1,4 @@\n a\n-b\n+B\n c\n" + PLAIN,
        {"p.py": ["B"], "n.py": ["N"]},
        {"recounted"},
    ),
    "new file, count too big": (
        b"--- /dev/null\n+++ b/p.py\n@@ -0,0 +1,3 @@\n+a\n+b\n" + PLAIN,
        {"p.py": ["a", "b"], "n.py": ["N"]},
        {"recounted"},
    ),
    "git section, then a plain one": (
        b"diff --git a/p.py b/p.py\n--- a/p.py\n+++ b/p.py\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n" + PLAIN,
        {"p.py": ["B"], "n.py": ["N"]},
        {"recounted"},
    ),
    "plain section behind a combined one": (CC + PLAIN, {"f": None, "n.py": ["N"]}, {"combined"}),
    "garbage behind a combined section": (CC + b"garbage\n" + GIT, {"f": None, "g.py": ["G"]}, {"outside_text"}),
    "cut in +++": (HEAD + INDEX + b"--- a/x\n+++ ", {"x": None}, {"truncated"}),
    "cut in the name of +++": (
        HEAD.replace(b"x", b"x.py") + INDEX + b"--- a/x.py\n+++ b/x",
        {"x.py": None},
        {"truncated"},
    ),
    "cut in +++ of a new file": (
        GIT + HEAD + b"new file mode 100644\nindex 0000000..2222222\n--- /dev/null\n+++ ",
        {"g.py": ["G"], "x": None},
        {"truncated"},
    ),
    "no hunk where the content changed": (HEAD + INDEX + NAMES, {"x": None}, {"no_hunks"}),
    "no hunk header": (HEAD + NAMES + b" a\n-b\n+c\n", {"x": None}, {"no_hunks", "stray_lines"}),
    "blank line of one blank between names and hunk": (
        PLAIN + b"--- a/q.py\n+++ b/q.py\n \n" + HUNK,
        {"n.py": ["N"], "q.py": ["Q"]},
        set(),
    ),
    "names without a hunk are no body": (PLAIN + b"--- a/q\n+++ b/q\n", {"n.py": ["N"]}, set()),
    "only +++": (b"+++ b/q.py\n" + HUNK, {"q.py": ["Q"]}, {"half_header"}),
    "only +++, second section": (PLAIN + b"+++ b/q.py\n" + HUNK, {"n.py": ["N"], "q.py": ["Q"]}, {"half_header"}),
    "two names and no rename lines": (
        b"diff --git a/old.py b/new.py\n" + HUNK + GIT,
        {"new.py": ["Q"], "g.py": ["G"]},
        set(),
    ),
    "zeros before": (b"\0" * 100 + b"\n" + GIT, {"g.py": ["G"]}, {"outside_text"}),
    "a UTF-16 mark before UTF-8": (b"\xff\xfe" + GIT, {"g.py": ["G"]}, {"undecodable"}),
    "UTF-16 without a mark": (GIT.decode().encode("utf-16-le"), {"g.py": ["G"]}, {"reencoded"}),
    "svn: empty file": (
        b"Index: e.py\n" + b"=" * 67 + b"\nIndex: n.py\n" + b"=" * 67 + b"\n" + PLAIN,
        {"e.py": [], "n.py": ["N"]},
        set(),
    ),
    "svn: binary file": (
        b"Index: logo.png\n" + b"=" * 67 + b"\nCannot display: file marked as a binary type.\n" + PLAIN,
        {"logo.png": None, "n.py": ["N"]},
        set(),
    ),
    "set in behind prose": (
        b"Here:\n\n" + b"".join(b"    " + line + b"\n" for line in GIT.splitlines()),
        {"g.py": ["G"]},
        {"unquoted"},
    ),
    "quoted mail": (b"".join(b"> " + line + b"\n" for line in GIT.splitlines()), {"g.py": ["G"]}, {"unquoted"}),
    "colour on body lines only": (
        HEAD + NAMES + b"@@ -1 +1 @@\n\x1b[31m-b\x1b[m\n\x1b[32m+c\x1b[m\n",
        {"x": ["c"]},
        {"colour_removed"},
    ),
    "cut in the last added line": (GIT[:-1], {"g.py": ["G"]}, {"no_final_newline"}),
    "new file whose blank line lost its plus": (
        b"--- /dev/null\n+++ b/p.py\n@@ -0,0 +1,3 @@\n+a\n\n+b\n",
        {"p.py": ["a", "", "b"]},
        {"repaired_context"},
    ),
    "git: no ---": (HEAD + INDEX + b"+++ b/x\n" + HUNK, {"x": ["Q"]}, {"half_header"}),
    "git: no +++": (HEAD + INDEX + b"--- a/x\n" + HUNK, {"x": ["Q"]}, {"half_header"}),
    "git: no --- of a new file": (
        HEAD + b"new file mode 100644\nindex 0000000..2222222\n+++ b/x\n@@ -0,0 +1 @@\n+Q\n",
        {"x": ["Q"]},
        {"half_header"},
    ),
    "git: no name in front, and names that can not be told apart": (
        b"diff --git a/p.py b/q.py c.py\n" + INDEX + b"+++ b/q.py\n" + HUNK,
        {"q.py": ["Q"]},
        {"half_header"},
    ),
    "git: +++ before ---": (HEAD + INDEX + b"+++ b/x\n--- a/x\n" + HUNK, {"x": ["Q"]}, {"half_header"}),
    "git: names twice": (HEAD + INDEX + NAMES + NAMES + HUNK + GIT, {"x": ["Q"], "g.py": ["G"]}, {"repeated_header"}),
    "names twice": (NAMES + NAMES + HUNK, {"x": ["Q"]}, {"outside_text"}),
    "no context, and a changed line that looks like a name": (
        HEAD + INDEX + NAMES + b"@@ -1 +1 @@\n--- a/y\n+++ b/y\n@@ -3 +3 @@\n-q\n+r\n",
        {"x": ["++ b/y", "r"]},
        set(),
    ),
    "no context, and the file's own names": (
        HEAD + INDEX + NAMES + b"@@ -1 +1 @@\n--- a/x\n+++ b/x\n@@ -3 +3 @@\n-q\n+r\n",
        {"x": ["++ b/x", "r"]},
        set(),
    ),
    "git section, then a plain one, and hunks that would overlap": (
        HEAD + INDEX + NAMES + b"@@ -5,2 +5,2 @@\n-b\n+B\n" + PLAIN,
        {"x": ["B"], "n.py": ["N"]},
        {"recounted"},
    ),
    "cut in diff --git": (GIT + b"diff --git a/src/m.py b/src/m", {"g.py": ["G"]}, {"truncated"}),
    "cut before the second name": (GIT + b"diff --git a/src/m.py b/", {"g.py": ["G"]}, {"truncated"}),
    "cut in a quoted name": (GIT + b'diff --git "a/\\303\\251 b/e" "b/\\303', {"g.py": ["G"]}, {"truncated"}),
    "cut in the first of two quoted names": (GIT + b'diff --git "a/\\303\\251 b/e', {"g.py": ["G"]}, {"truncated"}),
    "cut behind diff --git": (GIT + b"diff --git a/x b/x", {"g.py": ["G"], "x": []}, {"no_hunks"}),
    "renamed and edited, without a hunk": (
        b"diff --git a/o b/n\nsimilarity index 95%\nrename from o\nrename to n\n",
        {"n": None},
        {"no_hunks"},
    ),
    "copied and edited, without a hunk": (
        b"diff --git a/o b/n\nsimilarity index 90%\ncopy from o\ncopy to n\n",
        {"n": None},
        {"no_hunks"},
    ),
    "two names and nothing else": (b"diff --git a/o b/n\n", {"n": []}, {"no_hunks"}),
    "svn diff --git": (
        b"Index: q.py\n" + b"=" * 67 + b"\ndiff --git a/trunk/q.py b/trunk/q.py\n"
        b"--- a/trunk/q.py\t(revision 3)\n+++ b/trunk/q.py\t(working copy)\n" + HUNK,
        {"trunk/q.py": ["Q"]},
        set(),
    ),
    "word diff whose hunk is full": (
        HEAD + INDEX + NAMES + b"@@ -1 +1 @@\n a \n-b\n+X\n  c\n~\n",
        {"x": None},
        {"word_diff", "unreadable"},
    ),
    "word diff of one word": (HEAD + INDEX + NAMES + b"@@ -1 +1 @@\n-b\n+X\n~\n", {"x": None}, {"word_diff"}),
    "another old name and no rename": (
        HEAD + INDEX + b"--- a/z\n+++ b/x\n" + HUNK,
        {"x": ["Q"]},
        {"header_conflict"},
    ),
    "a hunk behind a binary file": (
        HEAD + INDEX + b"Binary files a/x and b/x differ\n" + HUNK,
        {"x": None},
        {"unreadable"},
    ),
    "a name that is nothing": (GIT + PLAIN.replace(b"n.py", b"/dev/null"), {"g.py": ["G"]}, {"header_unreadable"}),
    "file called dev/null": (
        b"diff --git a/dev/null b/dev/null\ndeleted file mode 100644\n"
        b"--- a/dev/null\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
        {"dev/null": []},
        set(),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_hard_diff(name):
    data, files, kinds = CASES[name]
    diff = read_diff(data)
    assert {change.path: None if change.added is None else list(change.added) for change in diff.files} == {**files}
    assert kinds <= {note.kind for note in diff.notes}


def test_a_rename_and_an_edit_of_one_path():
    rename = b"diff --git a/old.py b/x.py\nsimilarity index 90%\nrename from old.py\nrename to x.py\n"
    edit = b"diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n" + HUNK
    for data in (edit + rename, rename + edit):
        (change,) = read_diff(data).files
        assert (change.status, change.old_path, change.added) == ("renamed", "old.py", ("Q",))


def test_deleted_keeps_no_old_name():
    rename = b"diff --git a/old.py b/x.py\nsimilarity index 90%\nrename from old.py\nrename to x.py\n"
    delete = b"diff --git a/x.py b/x.py\ndeleted file mode 100644\n--- a/x.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-q\n"
    (change,) = read_diff(rename + delete).files
    assert (change.status, change.old_path) == ("deleted", None)


@pytest.mark.parametrize(
    "data",
    [
        b"--- " + b"./" * 500_000 + b"a\n+++ " + b"./" * 500_000 + b"a\n" + HUNK,
        GIT * 20_000,
        b"diff --git " + b"a " * 500_000 + b"\n",
        b"--- a\n+++ b\n" * 50_000,
        b"@@ -1,1000000000000000000 +1 @@\n" * 50_000,
        (HEAD + NAMES + b"@@ -1,9 +1,9 @@\n" + b"\n" * 5) * 20_000,
        b"Binary files " + b" and " * 200_000 + b" differ\n",
    ],
    ids=["dots", "one path", "blanks", "pairs", "counts", "blank lines", "and"],
)
def test_time_grows_with_size_only(data):
    """A quadratic reading of these would take minutes."""
    start = time.perf_counter()
    with contextlib.suppress(DiffError):
        assert isinstance(read_diff(data), Diff)
    assert time.perf_counter() - start < 20
