"""What stands in data/derived/ is what docs/derived.py makes of the rest of data/."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_derived_tables_are_made_again(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("derived", ROOT / "docs" / "derived.py")
    derived = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(derived)
    for name in ("archive", "bench", "scenarios", "judge"):
        (tmp_path / name).symlink_to(ROOT / "data" / name)
    monkeypatch.setattr(derived, "DATA", tmp_path)
    monkeypatch.delenv("CRUCIBLE_PUBLIC", raising=False)
    derived.main()
    made = sorted((tmp_path / "derived").glob("*.csv"))
    assert [file.name for file in made] == ["archive_scores.csv", "bench_scores.csv", "judge_vs_ceiling.csv"]
    for file in made:
        assert file.read_bytes() == (ROOT / "data" / "derived" / file.name).read_bytes(), file.name
