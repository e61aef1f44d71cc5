"""`crucible review`, `cites`, `publish`, `verify`: tables for people and for machines, one line for bad input."""

import csv
import io
import json
import shutil

import pytest
from reviewkit import BENCH, DECK
from typer.testing import CliRunner

from crucible_nb.cli import app
from crucible_nb.review.score import SCORE_COLUMNS

SMALL = DECK / "duplicates"


def crucible(*arguments):
    """Exit status, standard output and standard error of the program."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def test_review_for_people():
    status, out, err = crucible("review", SMALL)
    assert (status, err) == (0, "")
    assert out.split("\n")[1].split()[:2] == ["a", "0.500"]
    assert "signature: review|w:3+2+1" in out


@pytest.mark.parametrize("options", [(), ("--compare",), ("--what-if",)])
def test_review_for_machines(options):
    status, out, _ = crucible("review", DECK / "failed-run", *options, "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert status == 0
    status, out, _ = crucible("review", DECK / "failed-run", *options, "--json")
    assert status == 0
    assert len(json.loads(out)) == len(rows)
    if not options:
        assert list(rows[0]) == list(SCORE_COLUMNS)
        assert [row["weighted_recall"] for row in rows] == ["0.5", ""]
        assert [row["weighted_recall"] for row in json.loads(out)] == [0.5, None]


def test_failed_and_unjudged_runs_are_said():
    assert "failed: a on k2-user: no findings file" in crucible("review", DECK / "failed-run")[1]
    assert "2 findings are unjudged" in crucible("review", DECK / "all-unjudged")[1]


def test_scores_go_to_a_file(tmp_path):
    status, _, _ = crucible("review", SMALL, "--out", tmp_path / "scores.csv", "--f1")
    assert status == 0
    assert (tmp_path / "scores.csv").read_text() == crucible("review", SMALL, "--csv")[1]


def test_cites():
    status, out, err = crucible("cites", SMALL)
    assert (status, err) == (0, "")
    assert out.rstrip().endswith("looked up in a folder that is no commit")
    rows = json.loads(crucible("cites", SMALL, "--json")[1])
    assert {row["bucket"] for row in rows} <= {"ok", "drift", "fabricated", "out_of_range", "refused"}
    assert "past_end" in crucible("cites", DECK / "out-of-range-real-code", "--list", "out_of_range")[1]


def test_cites_of_another_commit_warn():
    commit = json.loads((BENCH / "cells" / "c1-tracking" / "cell.json").read_bytes())["merge_commit"]
    status, _, err = crucible("cites", BENCH, "--commit", commit, "--csv")
    assert status == 0
    assert err.startswith("crucible: wrong tree?")


def test_publish_and_verify(tmp_path):
    status, out, _ = crucible("publish", SMALL, tmp_path / "out", "--no-figures")
    assert (status, len(out.split())) == (0, 7)
    assert crucible("verify", tmp_path / "out", SMALL)[0] == 0
    (tmp_path / "out" / "scores.csv").write_text("nothing\n")
    status, out, _ = crucible("verify", tmp_path / "out", SMALL)
    assert status == 1
    assert "scores.csv: changed since it was published" in out
    assert not json.loads(crucible("verify", tmp_path / "out", SMALL, "--json")[1])["ok"]


def test_publish_refuses_a_leak(tmp_path):
    (tmp_path / "notes.txt").write_text("The total ignores the quantity.")
    status, _, err = crucible("publish", SMALL, tmp_path / "out", "--notes", tmp_path / "notes.txt", "--no-figures")
    assert status == 1
    assert "holds the claim of k1-m1" in err
    assert len(err.strip().split("\n")) == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("review", "nowhere"), 1),
        (("review", DECK / "unknown-severity"), 1),
        (("review", DECK / "one-finding-two-musts"), 1),
        (("review", SMALL, "--overseer", "nobody"), 1),
        (("review", SMALL, "--commit", "no-such-branch"), 1),
        (("review", SMALL, "--compare", "--metric", "beauty"), 1),
        (("cites", SMALL, "--tree", "nowhere"), 1),
        (("verify", "nowhere", SMALL), 1),
        (("review", SMALL, "--json", "--csv"), 2),
        (("review", SMALL, "--compare", "--what-if"), 2),
        (("cites", SMALL, "--list", "odd"), 2),
        (("review",), 2),
    ],
)
def test_bad_input_is_one_line(arguments, status):
    found, out, err = crucible(*arguments)
    assert (found, out) == (status, "")
    if status == 1:
        assert err.startswith("crucible: ")
        assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("bytes", "another byte at 4"),
        ("folder", "a folder"),
        ("nothing", "No such file or directory"),
    ],
)
def test_notes_that_are_no_text(kind, found, tmp_path):
    notes = tmp_path / "notes.txt"
    if kind == "bytes":
        notes.write_bytes(b"One\xff model")
    elif kind == "folder":
        notes.mkdir()
    status, out, err = crucible("publish", SMALL, tmp_path / "out", "--no-figures", "--notes", notes)
    assert (status, out) == (1, "")
    assert err == f"crucible: --notes {notes}: expected a text file in UTF-8, found: {found}\n"
    assert not (tmp_path / "out").exists()


def test_notes_in_utf_8(tmp_path):
    (tmp_path / "notes.txt").write_bytes(b"\xef\xbb\xbfOne mod\xc3\xa8le plays everybody.")
    out = tmp_path / "out"
    assert crucible("publish", SMALL, out, "--no-figures", "--notes", tmp_path / "notes.txt")[0] == 0
    assert json.loads((out / "manifest.json").read_bytes())["notes"] == "One modèle plays everybody."
    assert crucible("verify", out, SMALL)[0] == 0


@pytest.mark.parametrize("kind", ["file", "link", "proc"])
def test_targets_that_are_no_folder(kind, tmp_path):
    out = tmp_path / "out" if kind != "proc" else "/proc/crucible"
    if kind == "file":
        out.write_text("mine")
    elif kind == "link":
        out.symlink_to(tmp_path / "nothing")
    status, text, err = crucible("publish", SMALL, out, "--no-figures")
    assert (status, text, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"crucible: {out}: expected a folder")
    assert "found" in err and "Errno" not in err


def test_nothing_to_draw(tmp_path):
    """Every run failed: published and verified all the same."""
    folder = shutil.copytree(DECK / "all-musts", tmp_path / "bench")
    (folder / "arms" / "a" / "k1-cart.json").unlink()
    shutil.rmtree(folder / "verdicts")
    assert crucible("publish", folder, tmp_path / "out")[0] == 0
    assert crucible("verify", tmp_path / "out", folder)[:2] == (
        0,
        "7 files checked, 0 problems, 0 things not checked\n",
    )
