"""Every case of the decks in tests/cases/ has its stated answer, through the public names only."""

import importlib.util
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest

DECK = Path(__file__).parent / "cases"
AREAS = ["diffs", "fences", "similarity", "pairs"]
OPTIONS = SimpleNamespace(note_kinds=False, reasons=False)

spec = importlib.util.spec_from_file_location("check_cases", DECK / "check_cases.py")
check_cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_cases)

CASES = [(area, row) for area in AREAS for row in check_cases.rows(DECK, area)]
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
    files = {path.relative_to(DECK).as_posix() for area in AREAS for path in (DECK / area).glob("*")}
    assert files == named
