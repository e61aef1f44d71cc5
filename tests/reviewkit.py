"""Small benches for the tests, written as files and read as any bench is."""

import json
import os
import shutil
from pathlib import Path

import pytest

from crucible_nb.review.bench import Bench, read_bench

ROOT = Path(__file__).parent.parent
BENCH = ROOT / "data" / "bench"
DECK = Path(__file__).parent / "cases" / "review"
PUBLIC = os.environ.get("CRUCIBLE_PUBLIC")
needs_public = pytest.mark.skipif(not PUBLIC, reason="CRUCIBLE_PUBLIC does not name a folder of public data")


def write(file: Path, content: object) -> None:
    """Write a JSON file and the folders above it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content), encoding="utf-8")


def write_bench(
    folder: Path, musts: dict[str, list[dict]], runs: dict[tuple[str, str], tuple[list[dict], list[dict]]]
) -> Bench:
    """A bench with the musts of each cell, and for each arm and cell its findings and verdicts."""
    for cell, own in musts.items():
        write(folder / "key" / f"{cell}.json", {"cell": cell, "musts": own, "anti_hits": []})
    for (arm, cell), (findings, verdicts) in runs.items():
        write(folder / "arms" / arm / f"{cell}.json", {"cell": cell, "arm": arm, "findings": findings})
        about = {"cell": cell, "arm": arm, "overseer": "o", "verdicts": verdicts}
        write(folder / "verdicts" / "o" / arm / f"{cell}.json", about)
    (folder / "tree").mkdir(exist_ok=True)
    return read_bench(folder)


def copy_deck(name: str, folder: Path) -> Path:
    """A copy of a bench of the deck, to be changed."""
    return Path(shutil.copytree(DECK / name, folder / "bench"))


def change(file: Path, **fields: object) -> None:
    """Set fields of a JSON file."""
    write(file, {**json.loads(file.read_bytes()), **fields})
