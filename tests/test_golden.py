"""The scores of the archive's runs stay what they are, to the last digit.

`python tests/test_golden.py --write` rewrites tests/golden/archive_scores.csv. Do so only in a commit that says
which scores moved and why; where equal rules give other numbers, RULES_VERSION moves with them.
"""

import csv
import io
import re
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))

import pytest
from diffkit import archive_pairs

from crucible_nb.fix.diffs import read_diff
from crucible_nb.fix.reference import read_reference
from crucible_nb.fix.score import score_fix

GOLDEN = Path(__file__).parent / "golden" / "archive_scores.csv"
COLUMNS = ["run_id", "value", "structural", "textual", "matched", "missing", "extra", "signature"]


def scores() -> str:
    """The golden table as the package makes it now."""
    table = io.StringIO(newline="")
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    for run, scenario, path in archive_pairs():
        score = score_fix(read_reference(scenario / "REFERENCE_FIX.md"), read_diff(path))
        numbers = ["" if x is None else repr(x) for x in (score.value, score.structural, score.textual)]
        files = [len(paths) for paths in (score.matched_files, score.missing_files, score.extra_files)]
        writer.writerow([run, *numbers, *files, score.signature])
    return table.getvalue()


def test_no_score_of_the_archive_moves():
    assert scores().split("\n") == GOLDEN.read_text(encoding="utf-8").split("\n")


def test_every_run_has_its_golden_score():
    golden = list(csv.DictReader(GOLDEN.read_text(encoding="utf-8").splitlines()))
    assert [row["run_id"] for row in golden] == [run for run, _, _ in archive_pairs()]
    assert len(golden) == 54
    for row in golden:
        assert float(row["value"]) == 0.6 * float(row["structural"]) + 0.4 * float(row["textual"])


def naive_added(diff: str) -> dict[str, str]:
    """Added text of each file of a plain git diff, without counting hunks."""
    files = {}
    for section in re.split(r"(?m)^diff --git ", diff)[1:]:
        old, new = re.match(r"a/(\S+) b/(\S+)\n", section).groups()
        body = section.partition("\n@@")[2].split("\n")
        assert old == new
        files[new] = "\n".join(line[1:] for line in body if line.startswith("+"))
    return files


def naive_ratio(a: str, b: str) -> float:
    """2 LCS / (len a + len b), by the textbook's table."""
    row = [0] * (len(b) + 1)
    for x in a:
        above = row[:]
        for j, y in enumerate(b, 1):
            row[j] = above[j - 1] + 1 if x == y else max(above[j], row[j - 1])
    return 2 * row[-1] / (len(a) + len(b)) if a or b else 1.0


def naive_score(markdown: str, diff: str) -> float:
    """The value of a run, from the words of the definition alone."""
    reference = naive_added(markdown.partition("```diff\n")[2].partition("\n```")[0])
    candidate = naive_added(diff)
    both = reference.keys() & candidate.keys()
    textual = sum(naive_ratio(reference[path], candidate[path]) for path in both) / len(both) if both else 0.0
    return 0.6 * len(both) / len(reference.keys() | candidate.keys()) + 0.4 * textual


@pytest.mark.parametrize(
    "run", ["cross-layer-tax/tidy", "audit-migration/thorough", "scope-creep/near-symptom", "inheritance-bug/minimal"]
)
def test_golden_scores_are_those_of_a_naive_scorer(run):
    golden = {row["run_id"]: row for row in csv.DictReader(GOLDEN.read_text(encoding="utf-8").splitlines())}
    (scenario, path) = next((folder, path) for name, folder, path in archive_pairs() if name == run)
    value = naive_score((scenario / "REFERENCE_FIX.md").read_text(encoding="utf-8"), path.read_text(encoding="utf-8"))
    assert abs(value - float(golden[run]["value"])) < 1e-12


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python tests/test_golden.py --write")
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(scores(), encoding="utf-8", newline="")
