"""`crucible` as a shell sees it: what it prints, where, and with which exit status."""

import csv
import io
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from shlex import quote

import pytest
from diffkit import (
    DATA,
    PACKAGE_ROOT,
    Change,
    archive_pairs,
    git,
    make_repo,
    needs_git,
    quoted,
    write_diff,
    write_files,
)

from crucible_nb.fix.capture import capture
from crucible_nb.fix.diffs import read_diff
from crucible_nb.fix.reference import read_reference
from crucible_nb.fix.score import FixScore, score_fix

COMMANDS = ["score", "explain", "lint", "capture", "backfill"]
SCENARIO = DATA / "scenarios" / "cross-layer-tax"
REFERENCE = SCENARIO / "REFERENCE_FIX.md"
CANDIDATE = DATA / "archive" / "cross-layer-tax" / "tidy" / "final.diff"
SCENARIOS = sorted(path.name for path in (DATA / "scenarios").iterdir())
CRUCIBLE = [sys.executable, "-m", "crucible_nb"]
NOISE = random.Random(0).randbytes(3000)

needs_shell = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not on the PATH")


def environment(**more: str) -> dict[str, str]:
    """This process's environment, in which the package under test is found, and standard output is buffered."""
    path = os.pathsep.join(part for part in (str(PACKAGE_ROOT), os.environ.get("PYTHONPATH")) if part)
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return {**inherited, "PYTHONPATH": path, **more}


def crucible(*args: str | Path, stdin: bytes = b"", **more: str) -> subprocess.CompletedProcess[bytes]:
    """The finished program."""
    return subprocess.run(
        [*CRUCIBLE, *map(str, args)], input=stdin, capture_output=True, env=environment(**more), timeout=120
    )


def printed(*args: str | Path, stdin: bytes = b"", status: int = 0, **more: str) -> str:
    """What the program prints when all is well: nothing on standard error."""
    done = crucible(*args, stdin=stdin, **more)
    assert done.stderr.decode() == ""
    assert done.returncode == status
    return done.stdout.decode()


def refused(*args: str | Path, stdin: bytes = b"") -> str:
    """The one line with which the program refuses bad input."""
    done = crucible(*args, stdin=stdin)
    message = done.stderr.decode()
    assert done.returncode == 1, message
    assert done.stdout == b""
    assert message.count("\n") == 1 and message.endswith("\n")
    assert message.startswith("crucible: ")
    assert harmless(message)
    return message


def harmless(text: str) -> bool:
    """True where a terminal shows a text as it is: nothing moves the cursor, changes colour or turns round."""
    return all(character == "\n" or character.isprintable() for character in text)


def file(folder: Path, name: str, content: str | bytes) -> Path:
    """A file with this content."""
    write_files(folder, {name: content})
    return folder / name


# score


def test_score_json_has_the_names_and_the_order_of_the_contract():
    scored = json.loads(printed("score", REFERENCE, CANDIDATE, "--json"))
    names = ["value", "structural", "textual", "matched_files", "missing_files", "extra_files", "notes", "signature"]
    assert list(scored)[:8] == names
    expected = score_fix(read_reference(REFERENCE), read_diff(CANDIDATE))
    assert FixScore.from_json(json.dumps(scored)) == expected


def test_score_for_people_is_rounded_and_names_every_file():
    shown = printed("score", REFERENCE, CANDIDATE)
    score = score_fix(read_reference(REFERENCE), read_diff(CANDIDATE))
    assert shown.split("\n")[0].split() == ["value", f"{score.value:.3f}"]
    for path in (*score.matched_files, *score.missing_files, *score.extra_files):
        assert path in shown
    assert score.signature in shown


def test_standard_input_can_be_either_side():
    whole = printed("score", REFERENCE, CANDIDATE, "--json")
    assert printed("score", "-", CANDIDATE, "--json", stdin=REFERENCE.read_bytes()) == whole
    assert printed("score", REFERENCE, "-", "--json", stdin=CANDIDATE.read_bytes()) == whole


def test_declared_rules_are_used(tmp_path):
    rules = file(tmp_path, "settings.ini", "[fix]\nstructural_weight = 1\ntextual_weight = 0\n")
    scored = json.loads(printed("score", REFERENCE, CANDIDATE, "--json", "--rules", rules))
    assert scored["value"] == scored["structural"]
    assert scored["signature"].startswith("fix|w:1+0|")
    shipped = Path(__file__).parent.parent / "settings.ini"
    assert printed("score", REFERENCE, CANDIDATE, "--rules", shipped) == printed("score", REFERENCE, CANDIDATE)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_an_empty_candidate_is_a_run_that_scores_0(tmp_path, content):
    scored = json.loads(printed("score", REFERENCE, file(tmp_path, "final.diff", content), "--json"))
    assert (scored["value"], scored["structural"], scored["textual"]) == (0.0, 0.0, 0.0)
    assert scored["missing_files"] == ["shop/display.py", "shop/rates.py"]
    assert "empty_candidate" in [note["kind"] for note in scored["notes"]]


def test_a_cut_candidate_is_scored_and_noted(tmp_path):
    data = CANDIDATE.read_bytes()
    cut = file(tmp_path, "final.diff", data[: len(data) * 2 // 3])
    scored = json.loads(printed("score", REFERENCE, cut, "--json"))
    assert "truncated" in [note["kind"] for note in scored["notes"]]
    assert scored["matched_files"] == ["shop/display.py", "shop/rates.py"]
    assert "truncated" in printed("score", REFERENCE, cut)


def test_random_bytes_around_real_sections_lose_none(tmp_path):
    data = CANDIDATE.read_bytes()
    around = file(tmp_path, "final.diff", b"x" + NOISE + b"\n" + data + NOISE)
    scored = json.loads(printed("score", REFERENCE, around, "--json"))
    expected = score_fix(read_reference(REFERENCE), read_diff(data))
    assert (scored["matched_files"], scored["extra_files"]) == (
        list(expected.matched_files),
        list(expected.extra_files),
    )
    assert scored["notes"]


def test_undefined_textual_is_said_and_null(tmp_path):
    binary = file(
        tmp_path, "binary.diff", "diff --git a/x b/x\nindex 1234567..89abcde\nBinary files a/x and b/x differ\n"
    )
    assert json.loads(printed("score", binary, binary, "--json"))["textual"] is None
    assert "undefined" in printed("score", binary, binary)
    assert "undefined" in printed("explain", binary, binary)


# Bad input


def test_bad_input_is_one_line_and_status_1(tmp_path):
    missing, folder = tmp_path / "no.diff", tmp_path
    noise, empty = file(tmp_path, "noise", NOISE), file(tmp_path, "empty.md", b"")
    prose = file(tmp_path, "prose.md", "# Fix\n\nNo diff here.\n\n```python\nx = 1\n```\n")
    rules = file(tmp_path, "settings.ini", "[fix]\nweight = 1\n")
    assert str(missing) in refused("score", missing, CANDIDATE)
    assert str(missing) in refused("score", REFERENCE, missing)
    assert str(folder) in refused("score", folder, CANDIDATE)
    assert str(folder) in refused("score", REFERENCE, folder)
    assert str(noise) in refused("score", noise, CANDIDATE)
    assert str(noise) in refused("score", REFERENCE, noise)
    assert str(empty) in refused("score", empty, CANDIDATE)
    assert "expected a ```diff" in refused("score", prose, CANDIDATE)
    assert f"{rules}: [fix] weight" in refused("score", REFERENCE, CANDIDATE, "--rules", rules)
    refused("score", "-", CANDIDATE)
    refused("score", REFERENCE, "-", stdin=b"no diff\n")
    assert str(missing) in refused("explain", REFERENCE, missing)
    assert str(empty) in refused("explain", empty, CANDIDATE)


def test_bad_input_of_the_other_commands_is_one_line_and_status_1(tmp_path):
    file(tmp_path / "empty_archive" / "scenario", "note.txt", "")
    assert str(tmp_path / "no.md") in refused("lint", tmp_path / "no.md")
    assert str(REFERENCE) in refused("lint", REFERENCE, "--tree", REFERENCE)
    assert str(tmp_path) in refused("capture", tmp_path)
    assert str(tmp_path / "no") in refused("backfill", tmp_path / "no")
    assert "empty_archive" in refused("backfill", tmp_path / "empty_archive", "--scenarios", DATA / "scenarios")
    assert "scenarios" in refused("backfill", DATA / "archive", "--scenarios", tmp_path / "scenarios")
    file(tmp_path, "taken", "")
    refused("capture", DATA.parent, "--out", tmp_path / "taken" / "final.diff")
    refused("backfill", DATA / "archive", "--out", tmp_path / "taken")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root can read every file")
def test_a_file_that_can_not_be_read_is_one_line_and_status_1(tmp_path):
    closed = file(tmp_path, "closed.diff", b"x")
    closed.chmod(0)
    assert "Permission denied" in refused("score", REFERENCE, closed)
    assert "Permission denied" in refused("score", closed, CANDIDATE)


@pytest.mark.parametrize(
    "args",
    [
        ["score"],
        ["score", str(REFERENCE)],
        ["score", "-", "-"],
        ["score", str(REFERENCE), str(CANDIDATE), "--no-such-option"],
        ["explain", str(REFERENCE), str(CANDIDATE), "--json", "--html"],
        ["backfill", str(DATA / "archive"), "--json", "--csv"],
        ["no-such-command"],
    ],
)
def test_wrong_usage_is_status_2_without_a_traceback(args):
    done = crucible(*args)
    message = done.stderr.decode()
    assert done.returncode == 2
    assert done.stdout == b""
    assert "Traceback" not in message
    assert message.split("\n")[0].startswith("Usage: ")
    assert len([line for line in message.split("\n") if line.startswith("Error: ")]) == 1


def test_names_and_text_that_would_move_a_terminal_are_spelled_out(tmp_path):
    names = ["new\nline.py", "red\x1b[31m.py", "bell\a.py", "turned\u202eround.py", "wide\u200b.py", "\x9b2J.py"]
    changes = [Change(name, "a\n", "a\nx = '\x1b[2J\u202e'\r\n") for name in names]
    old, new = quoted("o\x1b[31m"), quoted("n\n")
    renamed = f"diff --git a/x b/y\nrename from {old}\nrename to {new}\n"
    candidate = file(tmp_path, "final.diff", write_diff(changes).replace("@@ -1", "@@ -1,7") + renamed)
    reference = file(tmp_path, "reference.md", f"```diff\n{write_diff(changes[:3])}```\n")
    for command in (["score"], ["explain"], ["score", "--json"], ["explain", "--json"], ["explain", "--html"]):
        shown = printed(*command, reference, candidate)
        assert harmless(shown)
        assert "\\u202e" in shown
        assert "\\x1b" in shown or "\\u001b" in shown
    tree = tmp_path / "\x1b[31mtree"
    tree.mkdir()
    linted = printed("lint", reference, "--tree", tree, status=1)
    assert harmless(linted)
    assert "red\\x1b[31m.py" in linted
    refused("score", tmp_path / "\x1b[31mred\nand\u202eround", candidate)


def test_different_names_are_shown_as_different(tmp_path):
    names = ["a b", "a  b", " a b", "a b ", "a\nb", "a\tb", "a\u00a0b"]
    diff = file(tmp_path, "final.diff", write_diff([Change(name, "a\n", "b\n") for name in names]))
    reference = file(tmp_path, "reference.diff", write_diff([Change("x", "a\n", "b\n")]))
    shown = [line for line in printed("score", reference, diff).split("\n") if line.startswith("extra ")]
    assert len(shown) == len(set(shown)) == len(names)


def test_names_of_runs_that_would_reach_a_terminal_are_spelled_out(tmp_path):
    folder = tmp_path / "archive" / "sc\x1b[31m\nenario" / "r\x1b[31m\u202eun"
    write_files(folder, {"final.diff": b"no diff"})
    (tmp_path / "scenarios").mkdir()
    shown = printed("backfill", tmp_path / "archive", "--out", tmp_path / "out")
    assert harmless(shown)
    assert "r\\x1b[31m\\u202eun" in shown


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_that_lacks_a_character_ends_in_no_error(tmp_path, encoding):
    diff = file(tmp_path, "final.diff", write_diff([Change("größe 日本.py", "ä\n", "日本 😀\n")]))
    done = crucible("explain", diff, diff, PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    assert crucible("score", tmp_path / "日本", diff, PYTHONIOENCODING=encoding).returncode == 1


# explain


def test_explain_shows_how_the_value_comes_about():
    shown = printed("explain", REFERENCE, CANDIDATE)
    score = score_fix(read_reference(REFERENCE), read_diff(CANDIDATE))
    assert f"value {score.value:.3f} = 0.6 x structural 0.333 + 0.4 x textual 0.480" in shown
    assert "2 matched / (2 + 0 missing + 4 extra)" in shown
    assert "shop/tax.py: extra, contributes 0" in shown
    assert "return published_percentage(place, tax_class) / HUNDRED" in shown
    assert "^^^" in shown


def test_explain_json_has_parts_that_sum_to_the_value():
    explained = json.loads(printed("explain", REFERENCE, CANDIDATE, "--json"))
    parts = sum(file["structural_part"] + file["textual_part"] for file in explained["files"])
    assert abs(parts - explained["score"]["value"]) < 1e-12
    assert [file["role"] for file in explained["files"]] == ["matched"] * 2 + ["extra"] * 4


def test_explain_html_is_a_fragment_that_escapes_what_it_shows(tmp_path):
    diff = file(tmp_path, "final.diff", write_diff([Change("<b>&.py", "a\n", "<script>alert(1)</script> & more\n")]))
    html = printed("explain", diff, diff, "--html")
    assert html.startswith("<div")
    assert "<script" not in html and "<b>" not in html
    assert "&lt;script&gt;" in html and "&lt;b&gt;&amp;.py" in html
    assert "<table" in html and "http" not in html


# lint


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_shipped_reference_applies_to_its_tree(name):
    folder = DATA / "scenarios" / name
    shown = printed("lint", folder / "REFERENCE_FIX.md", "--tree", folder / "repo")
    assert shown.endswith("notes: 0\n") and shown.count("\n") == 1


def test_lint_tells_what_does_not_apply_and_ends_with_status_1(tmp_path):
    tree = tmp_path / "repo"
    shutil.copytree(SCENARIO / "repo", tree)
    rates = tree / "shop" / "rates.py"
    rates.write_text("# one line more\n" + rates.read_text())
    (tree / "shop" / "display.py").unlink()
    done = crucible("lint", REFERENCE, "--tree", tree)
    assert (done.returncode, done.stderr) == (1, b"")
    shown = done.stdout.decode()
    assert "applies_elsewhere: shop/rates.py" in shown
    assert "no_such_file: shop/display.py" in shown
    notes = json.loads(printed("lint", REFERENCE, "--tree", tree, "--json", status=1))
    assert {note["kind"] for note in notes} == {"applies_elsewhere", "no_such_file"}
    lines = REFERENCE.read_text().split("\n")
    for note in notes:
        assert lines[note["line"] - 1].startswith(("@@ ", "diff --git "))


def test_lint_reads_nothing_outside_the_tree(tmp_path):
    file(tmp_path, "secret", "NEVER PRINT ME\n")
    escape = write_diff([Change("../secret", "a\n", "b\n")])
    (tmp_path / "tree").mkdir()
    done = crucible("lint", file(tmp_path, "reference.diff", escape), "--tree", tmp_path / "tree")
    assert done.returncode == 1
    assert b"outside_tree" in done.stdout and b"NEVER" not in done.stdout


# capture


@needs_git
def test_capture_prints_the_diff_and_nothing_else(tmp_path):
    repo = make_repo(tmp_path / "repo", {"a.py": "1\n", "gone.py": "x\n"})
    write_files(repo, {"a.py": "2\n", "new file.py": "3\n"})
    (repo / "gone.py").unlink()
    done = crucible("capture", repo)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == capture(repo).diff
    assert {f.path: f.status for f in read_diff(done.stdout).files} == {
        "a.py": "modified",
        "gone.py": "deleted",
        "new file.py": "added",
    }


@needs_git
def test_capture_writes_the_diff_and_how_it_was_taken(tmp_path):
    repo = make_repo(tmp_path / "repo", {"a.py": "1\n"})
    write_files(repo, {"a.py": "2\n"})
    assert printed("capture", repo, "--out", tmp_path / "final.diff") == ""
    assert (tmp_path / "final.diff").read_bytes() == capture(repo).diff
    record = json.loads((tmp_path / "final.diff.json").read_text())
    assert record["head"] == git("rev-parse", "HEAD", cwd=repo).decode().strip()
    assert record["git_version"].startswith("git version ")
    assert record["command"][:2] == ["git", "diff"] and record["head"] in record["command"]
    again = git(*record["command"][1:], cwd=repo)
    assert again == (tmp_path / "final.diff").read_bytes()


# backfill


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Folder with the scores of data/archive."""
    out = tmp_path_factory.mktemp("scores")
    shown = printed("backfill", DATA / "archive", "--out", out)
    assert "54 computed, 0 kept, 0 unscored" in shown
    return out


def test_backfill_sums_up_by_scenario(stored):
    shown = printed("backfill", DATA / "archive", "--out", stored)
    assert "0 computed, 54 kept, 0 unscored" in shown
    for name in SCENARIOS:
        (row,) = [line for line in shown.split("\n") if line.startswith(name)]
        assert row.split()[1:3] == ["9", "0"]
    assert "seed 0" in shown
    assert "fix|w:0.6+0.4" in shown
    assert len(list(stored.glob("*/*/reference_fix.json"))) == 54
    assert not list((DATA / "archive").rglob("reference_fix.json"))


def exact_scores() -> dict[str, FixScore]:
    """The score of each run of the archive, by id."""
    return {
        run: score_fix(read_reference(scenario / "REFERENCE_FIX.md"), read_diff(path))
        for run, scenario, path in archive_pairs()
    }


def test_backfill_json_has_every_run_at_full_precision(stored):
    tables = json.loads(printed("backfill", DATA / "archive", "--out", stored, "--json"))
    assert list(tables) == ["runs", "summary"]
    wanted = exact_scores()
    assert [row["run_id"] for row in tables["runs"]] == list(wanted)
    for row in tables["runs"]:
        score = wanted[row["run_id"]]
        assert (row["value"], row["structural"], row["textual"]) == (score.value, score.structural, score.textual)
        assert row["extra_files"] == list(score.extra_files)
        assert len(row["candidate_sha256"]) == 64
    assert [row["scenario"] for row in tables["summary"]] == SCENARIOS
    for row in tables["summary"]:
        values = [score.value for run, score in wanted.items() if run.startswith(row["scenario"] + "/")]
        assert abs(row["mean"] - sum(values) / len(values)) < 1e-12
        assert (row["min"], row["max"], row["n"]) == (min(values), max(values), 9)


def test_backfill_csv_has_every_run_at_full_precision(stored):
    rows = list(csv.DictReader(io.StringIO(printed("backfill", DATA / "archive", "--out", stored, "--csv"))))
    wanted = exact_scores()
    assert [row["run_id"] for row in rows] == list(wanted)
    for row in rows:
        score = wanted[row["run_id"]]
        assert (float(row["value"]), float(row["textual"])) == (score.value, score.textual)
        assert json.loads(row["missing_files"]) == list(score.missing_files)


def test_backfill_lists_what_it_can_not_score_and_leaves_it_blank(tmp_path):
    archive, scenarios = tmp_path / "archive", tmp_path / "scenarios"
    diff = write_diff([Change("x", "a\n", "b\n")])
    write_files(archive, {"one/good/final.diff": diff, "one/noise/final.diff": "no", "one/none/run.json": "{}"})
    write_files(archive, {"two/run/final.diff": diff})
    write_files(scenarios, {"one/REFERENCE_FIX.md": f"```diff\n{diff}```\n"})
    shown = printed("backfill", archive)
    assert "1 computed, 0 kept, 3 unscored" in shown
    for run in ("one/noise", "one/none", "two/run"):
        assert len([line for line in shown.split("\n") if line.startswith(f"unscored: {run}: ")]) == 1
    rows = {row["run_id"]: row for row in csv.DictReader(io.StringIO(printed("backfill", archive, "--csv")))}
    assert (rows["one/good"]["value"], rows["one/noise"]["value"], rows["two/run"]["value"]) == ("1.0", "", "")
    tables = json.loads(printed("backfill", archive, "--json"))
    assert [row["value"] for row in tables["runs"]] == [1.0, None, None, None]
    assert [(row["n"], row["unscored"], row["mean"]) for row in tables["summary"]] == [(3, 2, 1.0), (1, 1, None)]


# The program itself


def test_help_names_every_command():
    shown = printed("--help")
    for command in COMMANDS:
        assert f"\n  {command} " in shown
    assert "--json" in printed("score", "--help")


def test_help_starts_without_the_heavy_packages():
    code = (
        "import sys; sys.argv = ['crucible', '--help']\n"
        "from crucible_nb.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = {'pandas', 'numpy', 'scipy', 'matplotlib', 'rapidfuzz', 'pydantic', 'unidiff', 'tqdm'}\n"
        "print(sorted(heavy & sys.modules.keys()), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment())
    assert done.stderr.decode().strip() == "[]"
    assert done.stdout.startswith(b"Usage: crucible ")


def test_score_starts_without_pandas():
    code = (
        f"import sys; sys.argv = ['crucible', 'score', {str(REFERENCE)!r}, {str(CANDIDATE)!r}]\n"
        "from crucible_nb.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print('pandas' in sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment())
    assert done.stderr.decode().strip() == "False"


def shell(script: str) -> subprocess.CompletedProcess[bytes]:
    """A finished bash script; $CRUCIBLE starts the program."""
    words = " ".join(shlex.quote(word) for word in CRUCIBLE)
    return subprocess.run(
        ["bash", "-c", f'crucible() {{ {words} "$@"; }}\n{script}'], capture_output=True, env=environment()
    )


@needs_shell
@pytest.mark.parametrize("options", ["explain", "score --json"])
def test_a_reader_that_goes_away_leaves_no_traceback(tmp_path, options):
    many = [Change(f"file{at}.py", None, "x = 1\n" * 20) for at in range(3000)]
    diff = file(tmp_path, "final.diff", write_diff(many))
    pair = f"{quote(str(diff))} {quote(str(diff))}"
    done = shell(f"crucible {options} {pair} | head -1; exit ${{PIPESTATUS[0]}}")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"\n") == 1


@needs_shell
@needs_git
def test_a_reader_of_capture_that_goes_away_leaves_no_traceback(tmp_path):
    repo = make_repo(tmp_path / "repo", {"a": "1\n"})
    write_files(repo, {"a": "line\n" * 100_000})
    done = shell(f"crucible capture {quote(str(repo))} | head -1")
    assert done.stderr == b""
    assert done.stdout.count(b"\n") == 1


@needs_shell
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_one_line_and_status_1():
    done = shell(f"crucible score {quote(str(REFERENCE))} {quote(str(CANDIDATE))} > /dev/full")
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1
    assert b"Traceback" not in done.stderr


@needs_shell
def test_no_standard_output_at_all_leaves_no_traceback():
    done = shell(f"crucible score {quote(str(REFERENCE))} {quote(str(CANDIDATE))} >&-")
    assert b"Traceback" not in done.stderr
    assert done.stderr.count(b"\n") <= 1


# compare


def test_compare_sets_all_variants_side_by_side():
    table = printed("compare", REFERENCE, CANDIDATE)
    assert table == printed("compare", "--variants", REFERENCE, CANDIDATE)
    value = score_fix(read_reference(REFERENCE), read_diff(CANDIDATE)).value
    assert f"{value:.3f}" in next(line for line in table.splitlines() if line.startswith("ordered "))


def test_compare_names_what_it_can_not_measure_here(tmp_path):
    write_files(tmp_path, {"ast_grep_py.py": "raise ImportError('not here')\n"})
    done = crucible("compare", REFERENCE, CANDIDATE, PYTHONPATH=os.pathsep.join([str(tmp_path), str(PACKAGE_ROOT)]))
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 0
    assert any(line.startswith("ordered ") for line in lines)
    assert any(line.startswith("left out: tokens: ") and "pip install" in line for line in lines)


def test_backfill_says_why_there_is_no_interval(tmp_path):
    write_files(tmp_path, {"archive/one/run/final.diff": CANDIDATE.read_bytes()})
    shutil.copytree(SCENARIO, tmp_path / "scenarios" / "one")
    text = printed("backfill", tmp_path / "archive", "--scenarios", tmp_path / "scenarios")
    assert "no interval: one: n = 1" in text


def test_out_writes_whole_files_through_links_and_to_devices(tmp_path):
    score = ("review", DATA / "bench", "--out")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    for name in (tmp_path / "link.csv", Path(os.devnull)):
        assert crucible(*score, name).returncode == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text().startswith("arm,")
    assert not Path(os.devnull).is_file()
    assert {path.name for path in tmp_path.iterdir()} == {"link.csv", "real.csv"}
