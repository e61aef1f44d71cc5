"""The similarity of texts is that of the Rust crate `similar` up to 3.1.2, as recorded from running it."""

import csv
import struct
from pathlib import Path

import pytest
from diffkit import DATA, PUBLIC, archive_pairs, needs_public, public_runs

from crucible_nb.fix.diffs import Diff, read_diff
from crucible_nb.fix.reference import read_reference
from crucible_nb.fix.score import match_files
from crucible_nb.similarity import TextSimilarity, compare_texts, indel

FLOAT32 = 1e-7  # `similar` divides in 32-bit floats


def rows(path: Path) -> list[dict[str, str]]:
    """Rows of a recorded table."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def matched_texts(reference: Diff, candidate: Diff) -> dict[str, tuple[str, str]]:
    """Added texts of both sides for each file that both change."""
    pairs = match_files(reference, candidate).matched
    return {a.path: ("\n".join(a.added), "\n".join(b.added)) for a, b in pairs}


def as_float32(value: float) -> float:
    """The nearest 32-bit float."""
    return struct.unpack("f", struct.pack("f", value))[0]


def similar_ratio(alike: TextSimilarity) -> float:
    """The ratio as `similar` works it out: every step in 32 bits."""
    if not alike.length:
        return 1.0
    return as_float32(as_float32(2.0 * as_float32(alike.shared)) / as_float32(alike.length))


@pytest.fixture(scope="module")
def archive() -> list[tuple[dict[str, str], str, str]]:
    """Recorded rows of the archive, each with both texts."""
    references = {folder: read_reference(folder / "REFERENCE_FIX.md") for _, folder, _ in archive_pairs()}
    texts = {
        (run, path): pair
        for run, folder, diff in archive_pairs()
        for path, pair in matched_texts(references[folder].alternatives[0], read_diff(diff)).items()
    }
    recorded = rows(DATA / "archive_similar_oracle.csv")
    assert [(row["run_id"], row["path"]) for row in recorded] == sorted(texts)
    return [(row, *texts[row["run_id"], row["path"]]) for row in recorded]


def test_archive_ratios_are_those_of_similar(archive):
    assert len(archive) == 66
    for row, reference, candidate in archive:
        assert (len(reference), len(candidate)) == (int(row["len_reference"]), int(row["len_candidate"]))
        alike = compare_texts(reference, candidate)
        for version in ("similar_2_7_0", "similar_3_1_2"):
            assert abs(alike.value - float(row[version])) < FLOAT32
            assert similar_ratio(alike) == as_float32(float(row[version]))
        assert indel(reference, candidate) == alike.value


def test_similar_3_2_0_is_never_higher_and_sometimes_lower(archive):
    lower = 0
    for row, reference, candidate in archive:
        value, newer = compare_texts(reference, candidate).value, float(row["similar_3_2_0"])
        assert newer <= value + FLOAT32
        lower += newer < value - FLOAT32
    assert lower == 2


@needs_public
def test_public_ratios_are_those_of_similar():
    recorded = rows(Path(PUBLIC) / "swebench_lite" / "oracle_similar.csv")
    assert len(recorded) == 209
    runs = {run["run_id"]: run for run in public_runs()}
    for row in recorded:
        run = runs[row["run_id"]]
        texts = matched_texts(read_diff(run["reference_diff"]), read_diff(run["candidate_diff"]))
        reference, candidate = texts[row["path"]]
        alike = compare_texts(reference, candidate)
        assert (len(reference), len(candidate)) == (int(row["len_a"]), int(row["len_b"]))
        assert alike.shared == int(row["lcs"])
        assert abs(alike.value - float(row["similar_ratio"])) < FLOAT32
        assert abs(alike.value - float(row["indel"])) < 1e-12
    pairs = sum(
        len(matched_texts(read_diff(run["reference_diff"]), read_diff(run["candidate_diff"]))) for run in runs.values()
    )
    assert pairs == len(recorded)


@pytest.mark.parametrize(
    ("reference", "candidate", "value"),
    [
        ("raw * (1 - pct)", "raw - raw * pct", 2 * 10 / (15 + 15)),
        ("return raw * (1 - pct)", "return raw - raw * pct", 2 * 17 / (22 + 22)),
        ("a\nb", "b\na", 2 * 1 / (3 + 3)),
        ("", "", 1.0),
        ("", "a", 0.0),
        ("é", "e\u0301", 0.0),
        ("😀", "😁", 0.0),
    ],
)
def test_values_worked_out_by_hand(reference, candidate, value):
    assert compare_texts(reference, candidate).value == value
    assert indel(candidate, reference) == value
