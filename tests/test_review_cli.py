"""`crucible review`, `cites`, `publish`, `verify`: tables for people and for machines, one line for bad input."""

import csv
import io
import json

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
