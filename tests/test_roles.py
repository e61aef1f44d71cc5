"""A file's role comes from its path alone, is always one of four, and agrees with a public bench's own split."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest
from diffkit import PUBLIC, needs_public
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crucible_nb.fix.diffs import read_diff
from crucible_nb.roles import ROLES, by_role, file_role

NAMES = st.text(st.characters(codec="utf-8"), max_size=20) | st.sampled_from(["tests", "docs", "vendor", "a.lock"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
quick = settings(
    derandomize=True, deadline=None, database=None, max_examples=100, suppress_health_check=list(HealthCheck)
)


@given(PATHS)
@quick
def test_every_path_has_one_role(path):
    assert file_role(path) in ROLES


@given(st.lists(PATHS, max_size=8))
@quick
def test_sorting_into_roles_loses_nothing(paths):
    sorted_paths = by_role(paths)
    assert tuple(sorted_paths) == ROLES
    assert Counter(path for found in sorted_paths.values() for path in found) == Counter(paths)


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("src/app.py", "source"),
        ("app/Contest.java", "source"),
        ("app/Latest.cs", "source"),
        ("app/testimony.py", "source"),
        ("Makefile", "source"),
        ("CMakeLists.txt", "source"),
        ("settings.ini", "source"),
        ("changelog.py", "source"),
        ("src/main/Unit.kt", "source"),
        ("\u2028tests\n/x.py", "source"),
        ("tests/data/orders.csv", "test"),
        ("Tests/CartTests.cs", "test"),
        ("app/TestCart.java", "test"),
        ("web/cart.e2e.ts", "test"),
        ("spec/cart_spec.rb", "test"),
        ("conftest.py", "test"),
        ("pkg/test.py", "test"),
        ("LICENSE", "docs"),
        ("COPYING.txt", "docs"),
        ("docs/conf.py", "docs"),
        ("nested/guide.MD", "docs"),
        ("Pipfile.lock", "generated"),
        ("go.sum", "generated"),
        ("app/__pycache__/x.pyc", "generated"),
        ("store/pricing.py.rej", "generated"),
        ("vendor/tests/test_x.py", "generated"),
    ],
)
def test_roles_by_example(path, role):
    assert file_role(path) == role


def test_a_long_path_is_cheap():
    assert file_role("a/" * 100_000 + "test_" + "x" * 100_000 + ".py") == "test"


@needs_public
def test_no_reference_of_the_public_bench_is_a_test():
    """The bench cuts each upstream commit into a fix and its tests; the references here are the fixes alone."""
    with gzip.open(Path(PUBLIC) / "swebench_lite" / "aider_runs.jsonl.gz", "rt", encoding="utf-8") as rows:
        diffs = [read_diff(json.loads(row)["reference_diff"]) for row in rows]
    roles = Counter(file_role(change.path) for diff in diffs for change in diff.files)
    assert roles == {"source": 300}
