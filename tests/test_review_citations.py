"""Cites are looked up in the live tree: the right place, in any commit, and nothing outside is read."""

import csv
import os
import subprocess
import time
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reviewkit import BENCH, PUBLIC, needs_public

from crucible_nb.review.bench import Bench, Cell, Cite, Finding, Run, read_bench
from crucible_nb.review.citations import LiveTree, Source, TreeError, check_cite, cite_table, stands_in, tree_warning

ENV = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
WHO = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false", "-c", "core.autocrlf=false"]


def git(folder, *args):
    """What git prints for `args`."""
    done = subprocess.run(["git", *WHO, *args], cwd=folder, env=ENV, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repo(tmp_path):
    """A repository with two commits, links and a submodule entry."""
    folder = tmp_path / "repo"
    (folder / "src").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("TOP SECRET LINE\n")
    (folder / "src" / "app.py").write_text("import os\n\n\ndef run():\n    return os.name\n")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    (folder / "src" / "app.py").write_text("import os\n\n\n\n\ndef run():\n    return os.name\n")
    (folder / "inside").symlink_to("src/app.py")
    (folder / "outside").symlink_to("../secret.txt")
    (folder / "absolute").symlink_to(tmp_path / "secret.txt")
    (folder / "docs").symlink_to("src")
    (folder / "up").symlink_to("..")
    (folder / "naïve name.txt").write_text("one\n")
    git(folder, "add", "-A")
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendor")
    git(folder, "commit", "-qm", "second")
    return folder


HOSTILE = {
    "inside": ("ok", None),
    "docs/app.py": ("ok", None),
    "docs/../src/app.py": ("ok", None),
    "naïve name.txt": ("ok", None),
    "outside": ("refused", "symlink_outside"),
    "absolute": ("refused", "symlink_outside"),
    "up/secret.txt": ("refused", "symlink_outside"),
    "../secret.txt": ("refused", "outside_tree"),
    "missing/../../secret.txt": ("refused", "outside_tree"),
    "/etc/passwd": ("refused", "outside_tree"),
    "..\\secret.txt": ("refused", "outside_tree"),
    "\\\\host\\share": ("refused", "outside_tree"),
    ".git/config": ("refused", "git_folder"),
    "docs/../.GIT/HEAD": ("refused", "git_folder"),
    "src\\app.py": ("ok", None),
    "src": ("fabricated", "no_such_file"),
    "": ("fabricated", "no_such_file"),
    "a\0b": ("fabricated", "no_such_file"),
    "x" * 5000: ("fabricated", "no_such_file"),
    "\ud800": ("fabricated", "no_such_file"),
}


@pytest.mark.parametrize("kind", ["folder", "commit", "bundle"])
@pytest.mark.parametrize("path", HOSTILE, ids=ascii)
def test_paths_from_strangers(path, kind, repo, tmp_path):
    if kind == "bundle":
        git(repo, "bundle", "create", "-q", str(tmp_path / "all.bundle"), "--all")
    tree = {
        "folder": lambda: LiveTree(repo),
        "commit": lambda: LiveTree(repo, "main"),
        "bundle": lambda: LiveTree(tmp_path / "all.bundle", "main"),
    }[kind]()
    found = check_cite(tree, Cite(path, 1))
    assert (found.bucket, found.reason) == HOSTILE[path]
    assert "SECRET" not in repr(check_cite(tree, Cite(path, 1, quote="TOP SECRET LINE")))


def test_a_submodule_is_another_repository(repo):
    assert check_cite(LiveTree(repo, "main"), Cite("vendor/x.py", 1)).reason == "submodule"


def test_special_files_are_no_files(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert check_cite(LiveTree(tmp_path), Cite("pipe", 1)).reason == "no_such_file"


def test_each_commit_is_read_as_it_was(repo):
    quote = "def run():"
    first, second = LiveTree(repo, "main~1"), LiveTree(repo, "main")
    assert [check_cite(tree, Cite("src/app.py", 4, quote=quote)).bucket for tree in (first, second)] == ["ok", "drift"]
    (repo / "src" / "app.py").write_text("def run(): pass\n")
    assert check_cite(LiveTree(repo), Cite("src/app.py", 1, quote=quote)).bucket == "ok"
    assert check_cite(second, Cite("src/app.py", 6, quote=quote)).bucket == "ok"


def test_commit_and_dirty(repo):
    head = git(repo, "rev-parse", "HEAD")
    git(repo, "update-index", "--force-remove", "vendor")
    git(repo, "commit", "-qm", "third")
    head = git(repo, "rev-parse", "HEAD")
    tree = LiveTree(repo)
    assert (tree.commit, tree.dirty) == (head, False)
    (repo / "new.txt").write_text("x")
    tree = LiveTree(repo)
    assert (tree.commit, tree.dirty) == (head, True)
    assert (LiveTree(repo, "main").commit, LiveTree(repo, "main").dirty) == (head, False)
    assert LiveTree(repo / "src").commit is None
    assert LiveTree(repo / "src", "main").source("app.py").lines == 7


def test_what_is_no_tree(repo, tmp_path):
    for path, commit in ((tmp_path / "nothing", None), (repo, "no-such"), (repo, "--help"), (tmp_path, "main")):
        with pytest.raises(TreeError):
            LiveTree(path, commit)
    (tmp_path / "noise.bundle").write_bytes(bytes(range(256)))
    with pytest.raises(TreeError, match=r"noise\.bundle: expected a repository or a bundle"):
        LiveTree(tmp_path / "noise.bundle")


def test_no_hook_and_no_filter_runs(repo, tmp_path):
    trap = f"touch {tmp_path / 'sprung'}"
    for name in ("core.fsmonitor", "core.hooksPath", "filter.x.smudge", "filter.x.clean"):
        git(repo, "config", name, trap if name != "core.hooksPath" else str(tmp_path))
    (repo / ".gitattributes").write_text("* filter=x\n")
    tree = LiveTree(repo, "main")
    assert check_cite(tree, Cite("src/app.py", 1, quote="import os")).bucket == "ok"
    assert not (tmp_path / "sprung").exists()


def test_asking_a_folder_for_its_state_runs_no_filter(repo, tmp_path):
    trap = f"touch {tmp_path / 'sprung'}; cat"
    for name in ("filter.x.smudge", "filter.x.clean", "filter.a=b.process", "core.fsmonitor"):
        git(repo, "config", name, trap)
    (repo / ".gitattributes").write_text("*.py filter=x\n*.md filter=a=b\n")
    for file in repo.rglob("*.py"):
        file.touch()
    tree = LiveTree(repo)
    assert tree.dirty is True
    assert not (tmp_path / "sprung").exists()


def test_a_repository_inside_the_tree_is_no_part_of_it(repo):
    (repo / "lib").mkdir()
    (repo / "lib" / "s.py").write_text("x = 1\n")
    git(repo / "lib", "init", "-q")
    git(repo / "lib", "add", "-A")
    git(repo / "lib", "commit", "-qm", "inner")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "with a repository inside")
    for tree in (LiveTree(repo), LiveTree(repo, "HEAD")):
        assert [check_cite(tree, Cite(path, 1)).bucket for path in ("lib", "lib/s.py")] == ["refused", "refused"]
        assert not any(path.startswith("lib/") for path in tree.paths)


def test_the_bundle_has_the_files_of_the_folder():
    bench = read_bench(BENCH)
    folder, commit = LiveTree(bench.tree), LiveTree(bench.history, bench.tree_commit)
    assert folder.paths == commit.paths
    assert all(folder.source(path).data == commit.source(path).data for path in folder.paths)


def test_processes_and_scratch_folders_go_with_the_tree(repo, tmp_path):
    git(repo, "bundle", "create", "-q", str(tmp_path / "all.bundle"), "--all")
    tree = LiveTree(tmp_path / "all.bundle", "main")
    process, folder = tree._files._objects._process, tree._files._folder
    assert process.poll() is None
    assert folder.exists()
    check_cite(tree, Cite("src/app.py", 1))
    del tree
    assert process.poll() is not None
    assert not folder.exists()


lines = st.lists(st.text(alphabet="ab (\t", max_size=6), min_size=1, max_size=12)


@settings(max_examples=300, deadline=None)
@given(lines, st.text(alphabet="ab (\n", min_size=1, max_size=5), st.integers(0, 14), st.integers(0, 3))
def test_the_nearest_place_is_the_nearest(tmp_path_factory, content, quote, line, more):
    """A plain search over all places gives the same answer."""
    folder = tmp_path_factory.mktemp("tree")
    text = "\n".join(content)
    (folder / "f").write_text(text, encoding="utf-8", newline="")
    found = check_cite(LiveTree(folder), Cite("f", line, line + more, quote))
    wanted = quote.strip("\r\n")
    n = text.count("\n") + (not text.endswith("\n")) if text else 0
    starts = [at for at in range(len(text)) if text.startswith(wanted, at)] if wanted.strip() else []
    places = [(text.count("\n", 0, at) + 1, text.count("\n", 0, at + len(wanted) - 1) + 1) for at in starts]
    inside = [first for first, last in places if first <= line + more and last >= line]
    if not quote.strip():
        assert found.bucket == ("ok" if line >= 1 and line + more <= n else "out_of_range")
    elif not places:
        assert found.level != "verbatim"
    elif line < 1 or line + more > n:
        assert (found.bucket, found.level) == ("out_of_range", "verbatim")
    elif inside:
        assert (found.bucket, found.found_line, found.distance) == ("ok", inside[0], 0)
    else:
        nearest = min((abs(first - line), first) for first, _ in places)
        assert (found.bucket, found.distance, found.found_line) == ("drift", *nearest)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60), st.text(max_size=12), st.integers(-3, 9))
def test_any_bytes_have_an_answer(tmp_path_factory, data, quote, line):
    folder = tmp_path_factory.mktemp("tree")
    (folder / "f").write_bytes(data)
    found = check_cite(LiveTree(folder), Cite("f", line, quote=quote or None))
    assert found.bucket in ("fabricated", "out_of_range", "drift", "ok")
    assert (found.reason is None) == (found.bucket == "ok") or found.reason == "binary"


LEVELS = [
    ("if a:\n    return b", "verbatim"),
    ("if a:\r\n    return b\r\n", "verbatim"),
    ("if a:\nreturn b", "whitespace"),
    ("if a: return b", "whitespace"),
    ("say(“x”)", "typography"),
    ("say('x\u2013y')", "typography"),
    ("if a:\n...\nsay('x-y')", "elided"),
]


@pytest.mark.parametrize(("quote", "level"), LEVELS)
def test_levels(quote, level, tmp_path):
    (tmp_path / "f.py").write_text("if a:\n    return b\nsay(\"x\")\nsay('x-y')\n", encoding="utf-8")
    tree = LiveTree(tmp_path)
    found = check_cite(tree, Cite("f.py", 1, 4, quote))
    assert found.level == level
    assert found.bucket == ("fabricated" if level == "elided" else "ok")
    assert stands_in(tree.source("f.py"), quote, 1, 4) == level


def test_encodings(tmp_path):
    (tmp_path / "latin").write_bytes("caf\u00e9 cr\u00e8me\n".encode("latin-1"))
    (tmp_path / "wide").write_text("caf\u00e9 cr\u00e8me\n", encoding="utf-16")
    (tmp_path / "mark").write_text("caf\u00e9 cr\u00e8me\n", encoding="utf-8-sig")
    tree = LiveTree(tmp_path)
    for name in ("latin", "wide", "mark"):
        assert check_cite(tree, Cite(name, 1, quote="caf\u00e9 cr\u00e8me")).bucket == "ok", name


def test_very_large_files(tmp_path):
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(300 * 2**20)
    start = time.perf_counter()
    assert check_cite(LiveTree(tmp_path), Cite("sparse", 1, quote="anything at all")).reason == "too_large"
    assert time.perf_counter() - start < 5


def test_where_else_it_stands(tmp_path):
    (tmp_path / "old.py").write_text("x = 1\n")
    (tmp_path / "new.py").write_text("y = 2\n\ndef moved_here(a, b):\n    return a\n")
    (tmp_path / "notes.md").write_text("def moved_here(a, b):\n")
    tree = LiveTree(tmp_path)
    assert check_cite(tree, Cite("old.py", 1, quote="def moved_here(a, b):")).elsewhere == ("new.py", 3)
    assert check_cite(tree, Cite("gone.py", 1, quote="def moved_here(a, b):")).elsewhere is not None
    assert check_cite(tree, Cite("old.py", 1, quote="y = 2")).elsewhere is None
    assert check_cite(tree, Cite("old.py", 1, quote="def moved_here(a, b):"), hints=False).elsewhere is None


def test_weak_quotes(tmp_path):
    (tmp_path / "f.py").write_text("return None  # x\n" * 9 + "return something_else\n")
    tree = LiveTree(tmp_path)
    assert check_cite(tree, Cite("f.py", 10, quote="return")).weak == "short"
    assert check_cite(tree, Cite("f.py", 10, quote="return None")).weak == "everywhere"
    assert check_cite(tree, Cite("f.py", 1, quote="return something_else")).weak is None
    assert check_cite(tree, Cite("f.py", 10, quote="return None")).bucket == "drift"


def bench_of(rows):
    """A bench with one finding for each (arm, cite)."""
    runs = {}
    for number, (arm, cite) in enumerate(rows):
        run = runs.get((arm, "k"), Run(arm, "k", "ok"))
        runs[arm, "k"] = Run(arm, "k", "ok", (*run.findings, Finding(f"f{number}", "nit", cites=(cite,))))
    arms = tuple(sorted({arm for arm, _ in runs}))
    return Bench((Cell("k", (), ()),), arms, runs, {}, "")


@needs_public
def test_public_citations_in_the_right_and_in_the_wrong_tree(tmp_path):
    """Each citation has the bucket that its file's length gives; the wrong tree accuses 29 of 297."""
    rows = list(csv.DictReader((Path(PUBLIC) / "review_aacr" / "citations.csv").open(encoding="utf-8")))
    words = {"in_range": ("ok", None), "out_of_range": ("out_of_range", "past_end")}
    words["file_absent"] = ("fabricated", "no_such_file")
    checked, found = 0, {"head": [], "base": []}
    for side in ("head", "base"):
        for row in {(row["cell"], row["path"]): row for row in rows}.values():
            if row[f"{side}_file_lines"]:
                file = tmp_path / side / row["cell"] / row["path"]
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("x\n" * int(row[f"{side}_file_lines"]))
        trees = {}
        for row in rows:
            if row[f"{side}_bucket"] == "no_tree":
                continue
            folder = tmp_path / side / row["cell"]
            folder.mkdir(parents=True, exist_ok=True)
            tree = trees.setdefault(row["cell"], LiveTree(folder))
            end = int(row["line_end"]) if row["line_end"] else None
            answer = check_cite(tree, Cite(row["path"], int(row["line"]), end))
            assert (answer.bucket, answer.reason) == words[row[f"{side}_bucket"]], row
            found[side].append({"arm": row["arm"], "bucket": answer.bucket})
            checked += 1
    assert checked == 297 + 177
    assert sum(row["base_bucket"] != "in_range" for row in rows) == 29
    assert tree_warning(pd.DataFrame(found["head"])) is None
    assert "wrong tree?" in tree_warning(pd.DataFrame(found["base"]))


def test_the_wrong_tree_is_noticed(tmp_path):
    (tmp_path / "f.py").write_text("x = 1\n" * 10)
    tree = LiveTree(tmp_path)
    good, bad = Cite("f.py", 3), Cite("g.py", 3)

    def warning(*arms):
        rows = [(f"arm{number}", cite) for number, cites in enumerate(arms) for cite in cites]
        return tree_warning(cite_table(bench_of(rows), tree))

    assert warning([good] * 10, [good] * 10, [bad] * 10) is None
    assert warning([bad] * 30) is None
    assert warning([bad] * 9, [bad] * 9) is None
    assert "3 arms, 30 cites" in warning([good] * 9 + [bad], [good] * 8 + [bad] * 2, [good] * 10)


def test_a_source_knows_its_lines():
    for data, n in ((b"", 0), (b"a", 1), (b"a\n", 1), (b"a\n\n", 2), (b"\n", 1), (b"a\rb\x0cc\xe2\x80\xa8d\n", 1)):
        assert Source("f", data).lines == n, data


FAR = (10**30, 2**63, 2**53 + 1, 10**4000)


@pytest.mark.parametrize("quote", [None, "import os", "nowhere"])
@pytest.mark.parametrize(
    ("line", "end_line", "reason"),
    [(far, None, "past_end") for far in FAR]
    + [(-far, None, "before_start") for far in FAR]
    + [(0, None, "before_start"), (-1, 3, "before_start"), (1, 10**30, "past_end"), (10**30, 1, "past_end")],
    ids=lambda value: f"{value:.3g}" if isinstance(value, int) and abs(value) < 10**40 else None,
)
def test_any_whole_number_has_a_bucket(line, end_line, reason, quote, repo):
    cite = Cite("src/app.py", line, end_line, quote)
    run = Run("a", "k", "ok", (Finding("f1", "nit", cites=(cite, Cite("src/app.py", 1, None))),))
    bench = Bench((Cell("k", (), ()),), ("a",), {("a", "k"): run}, {}, "")
    table = cite_table(bench, LiveTree(repo))
    found = check_cite(LiveTree(repo), cite)
    expected = ("fabricated", "quote_absent") if quote == "nowhere" else ("out_of_range", reason)
    assert (found.bucket, found.reason) == expected
    assert (table["bucket"][0], table["reason"][0], table["bucket"][1]) == (*expected, "ok")
    assert (table["line"][0] > 0) == (line > 0)
    assert abs(table["line"][0]) == min(abs(line), 2**53)


@pytest.mark.parametrize("line", [True, False, 3.0, 1e300, "7", None, float("nan"), float("inf")])
def test_a_line_is_a_whole_number(line):
    with pytest.raises(ValueError, match="valid integer"):
        Cite("a.py", line)


@pytest.mark.parametrize(
    ("path", "bucket"),
    [
        ("a/" * 50_000 + "b", "fabricated"),
        ("../" * 50_000, "refused"),
        ("nothing/" + "x/" * 20_000 + "../" * 20_001 + "src/app.py", "ok"),
        ("nothing/" + "x/" * 20_000 + "../" * 20_002 + "src/app.py", "refused"),
        ("src/../" * 2_000 + "src/app.py", "ok"),
        ("src/app.py/more", "fabricated"),
        ("src/a\0pp.py", "fabricated"),
    ],
    ids=lambda value: value[:9],
)
@pytest.mark.parametrize("commit", [None, "main"])
def test_very_long_paths(path, bucket, commit, repo):
    start = time.perf_counter()
    assert check_cite(LiveTree(repo, commit), Cite(path, 1)).bucket == bucket
    assert time.perf_counter() - start < 5
