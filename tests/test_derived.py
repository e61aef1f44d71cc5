"""What stands in data/derived/ is what docs/derived.py makes of the rest of data/."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_derived_tables_are_made_again(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("derived", ROOT / "docs" / "derived.py")
    derived = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(derived)
    for name in ("archive", "scenarios"):
        (tmp_path / name).symlink_to(ROOT / "data" / name)
    monkeypatch.setattr(derived, "DATA", tmp_path)
    derived.main()
    made = tmp_path / "derived" / "archive_scores.csv"
    assert made.read_bytes() == (ROOT / "data" / "derived" / "archive_scores.csv").read_bytes()
