"""Every case of the decks in tests/cases/ has its stated answer, through the public names only."""

import importlib.util
import shutil
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest

DECK = Path(__file__).parent / "cases"
AREAS = ["diffs", "fences", "similarity", "pairs", "cites", "review"]
OPTIONS = SimpleNamespace(note_kinds=False, reasons=False)

spec = importlib.util.spec_from_file_location("check_cases", DECK / "check_cases.py")
check_cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_cases)


def rows(area):
    """Cases of an area."""
    return check_cases.review_rows(DECK) if area == "review" else check_cases.rows(DECK, area)


CASES = [(area, row) for area in AREAS for row in rows(area)]
IDS = [f"{area}/{row['id']}" for area, row in CASES]


@pytest.fixture
def stop_after():
    """Function that ends the test after so many seconds, where the system has alarms."""
    if not hasattr(signal, "SIGALRM"):
        yield lambda seconds: None
        return
    before = signal.signal(signal.SIGALRM, check_cases.alarm)
    yield signal.alarm
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module", autouse=True)
def cleaned():
    """The trees that the cases make are removed."""
    yield
    for folder, _ in check_cases._trees.values():
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize(("area", "row"), CASES, ids=IDS)
def test_case(area, row, stop_after):
    stop_after(int(row.get("max_seconds", check_cases.LIMIT_S)))
    check_cases.RUN[area](DECK, row, OPTIONS)


def test_ids_are_unique():
    assert len(set(IDS)) == len(IDS)


def test_every_input_file_belongs_to_a_case():
    named = {row["file"] for _, row in CASES if "file" in row}
    for area, row in CASES:
        if area == "pairs":
            references = row["a"] if isinstance(row["a"], list) else [row["a"]]
            named |= {*references, *row["b"]}
    flat = [area for area in AREAS if area not in ("cites", "review")]
    files = {path.relative_to(DECK).as_posix() for area in flat for path in (DECK / area).glob("*")}
    assert files == named
    assert {path.name for path in (DECK / "review").iterdir()} == {row["id"] for area, row in CASES if area == "review"}


def test_every_file_of_the_tree_is_cited():
    tree = DECK / "cites" / "tree"
    cited = {row["cite"]["path"].removeprefix("./") for area, row in CASES if area == "cites"}
    assert {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()} <= cited
