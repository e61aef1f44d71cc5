"""A folder of runs becomes a table of scores once, whatever happens in between and whatever is broken in it."""

import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from diffkit import DATA, PACKAGE_ROOT, Change, archive_pairs, write_diff, write_files

from crucible_nb.fix import archive as archive_module
from crucible_nb.fix.archive import (
    SCORE_FILE,
    ArchiveError,
    Unscored,
    backfill,
    read_archive,
    score_runs,
    score_table,
    summarise,
)
from crucible_nb.fix.diffs import read_diff
from crucible_nb.fix.reference import read_reference
from crucible_nb.fix.score import FixScore, score_fix
from crucible_nb.rules import Rules

SCENARIOS = DATA / "scenarios"


@pytest.fixture
def archive(tmp_path) -> Path:
    """A copy of data/archive, with a copy of data/scenarios beside it."""
    for name in ("archive", "scenarios"):
        shutil.copytree(DATA / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "repo"))
    return tmp_path / "archive"


def fill(archive: Path, rules: Rules = Rules(), **options) -> pd.DataFrame:  # noqa: B008
    """Backfill an archive whose scenarios are beside it."""
    return backfill(archive, archive.parent / "scenarios", rules, progress=False, **options)


def states(table: pd.DataFrame) -> dict[str, int]:
    """How many runs were computed, kept, not scored."""
    return table.state.value_counts().to_dict()


def listing(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below a folder, with its time of change and its content."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def changed(before: dict[str, tuple[int, bytes]], folder: Path) -> set[str]:
    """Files that are new, gone, or written again."""
    after = listing(folder)
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def one_run(folder: Path, candidate: bytes | str, name: str = "run") -> Path:
    """An archive of one scenario and one run, beside its scenario."""
    diff = write_diff([Change("x", "a\n", "b\n")])
    write_files(folder, {f"archive/one/{name}/final.diff": candidate})
    write_files(folder, {"scenarios/one/REFERENCE_FIX.md": f"```diff\n{diff}```\n"})
    return folder / "archive"


# Once is enough


def test_every_run_gets_its_score(archive):
    table = fill(archive)
    assert states(table) == {"computed": 54}
    for run, scenario, path in archive_pairs():
        score = score_fix(read_reference(scenario / "REFERENCE_FIX.md"), read_diff(path))
        stored = json.loads((archive / run / SCORE_FILE).read_bytes())
        hashes = stored.pop("inputs")
        assert FixScore.from_json(json.dumps(stored)) == score
        assert table.loc[run, "value"] == score.value
        assert table.loc[run, "candidate_sha256"] == hashes["candidate_sha256"]
        assert table.loc[run, "missing_files"] == score.missing_files
    names = ["value", "structural", "textual", "matched_files", "missing_files", "extra_files"]
    assert list(json.loads((archive / "scope-creep/tidy" / SCORE_FILE).read_bytes()))[:6] == names


def test_the_second_time_writes_nothing(archive):
    first = fill(archive)
    before = listing(archive)
    second = fill(archive)
    assert changed(before, archive) == set()
    assert states(second) == {"kept": 54}
    pd.testing.assert_frame_equal(first.drop(columns="state"), second.drop(columns="state"))


def test_only_what_changed_is_computed_again(archive):
    fill(archive)
    before = listing(archive)
    diff = archive / "scope-creep/tidy/final.diff"
    diff.write_bytes(diff.read_bytes() + b"\n")
    assert states(fill(archive)) == {"kept": 53, "computed": 1}
    assert changed(before, archive) == {"scope-creep/tidy/final.diff", f"scope-creep/tidy/{SCORE_FILE}"}

    reference = archive.parent / "scenarios/cross-layer-tax/REFERENCE_FIX.md"
    reference.write_text(reference.read_text() + "\nOne more word.\n")
    assert states(fill(archive)) == {"kept": 45, "computed": 9}

    table = fill(archive, Rules(structural_weight=0.5, textual_weight=0.5))
    assert states(table) == {"computed": 54}
    assert set(table.signature) == {Rules(structural_weight=0.5, textual_weight=0.5).signature("fix")}
    assert states(fill(archive, Rules(structural_weight=0.5, textual_weight=0.5))) == {"kept": 54}


def test_an_alternative_that_comes_later_is_seen(archive):
    fill(archive)
    folder = archive.parent / "scenarios/scope-creep"
    wins = (archive / "scope-creep/tidy/final.diff").read_text()
    (folder / "REFERENCE_FIX_2.md").write_text(f"```diff\n{wins}```\n")
    table = fill(archive)
    assert states(table) == {"kept": 45, "computed": 9}
    assert (table.loc["scope-creep/tidy", "value"], table.loc["scope-creep/tidy", "alternative"]) == (1.0, 1)


def test_lines_that_move_from_one_reference_file_to_another_are_seen(tmp_path):
    """The same bytes in other files are other references: which diff stands where is what counts."""
    x, y = (f"```diff\n{write_diff([Change(name, 'a', 'b')])}```\n" for name in "xy")
    folder = one_run(tmp_path, write_diff([Change("x", "a", "b")]))
    scenario = tmp_path / "scenarios/one"
    write_files(scenario, {"REFERENCE_FIX.md": x + y, "REFERENCE_FIX_2.md": y})
    both = fill(folder)
    write_files(scenario, {"REFERENCE_FIX.md": x, "REFERENCE_FIX_2.md": y + y})
    apart = fill(folder)
    assert both.value.tolist() == [0.6 * 0.5 + 0.4]
    assert apart.value.tolist() == [1.0]


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"\xff", b'{"inputs": {}}', b'{"schema_version": 99}'],
)
def test_a_stored_score_that_can_not_be_read_is_computed_again(tmp_path, content):
    folder = one_run(tmp_path, write_diff([Change("x", "a\n", "b\n")]))
    fill(folder)
    whole = (folder / "one/run" / SCORE_FILE).read_bytes()
    (folder / "one/run" / SCORE_FILE).write_bytes(content)
    assert states(fill(folder)) == {"computed": 1}
    assert (folder / "one/run" / SCORE_FILE).read_bytes() == whole


@pytest.mark.parametrize("field", ["value", "notes", "signature", "inputs", "schema_version", "files"])
def test_a_stored_score_that_lacks_a_field_is_computed_again(tmp_path, field):
    folder = one_run(tmp_path, write_diff([Change("x", "a\n", "b\n")]))
    fill(folder)
    path = folder / "one/run" / SCORE_FILE
    whole = path.read_bytes()
    fields = json.loads(whole)
    del fields[field]
    path.write_text(json.dumps(fields))
    assert states(fill(folder)) == {"computed": 1}
    assert path.read_bytes() == whole


# Whatever happens in between


KILLED = """
import os, signal, sys
from pathlib import Path
import crucible_nb.fix.archive as archive
replace, written = os.replace, []

def replace_or_die(source, target):
    if len(written) == {runs}:
        os.kill(os.getpid(), signal.SIGKILL)
    written.append(target)
    replace(source, target)

archive.os.replace = replace_or_die
archive.backfill(Path(sys.argv[1]), Path(sys.argv[2]), progress=False)
"""


def python(code: str, *args: Path) -> subprocess.Popen:
    """A started Python that finds the package under test."""
    path = os.pathsep.join(part for part in (str(PACKAGE_ROOT), os.environ.get("PYTHONPATH")) if part)
    return subprocess.Popen([sys.executable, "-c", code, *map(str, args)], env={**os.environ, "PYTHONPATH": path})


def check_whole(archive: Path) -> int:
    """How many scores there are; each is a whole one."""
    paths = list(archive.rglob(SCORE_FILE))
    for path in paths:
        fields = json.loads(path.read_bytes())
        fields.pop("inputs")
        FixScore.from_json(json.dumps(fields))
    return len(paths)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no kill -9")
def test_it_goes_on_where_it_was_killed(archive):
    for run in list(archive.glob("*/*")):
        for copy in range(8):
            shutil.copytree(run, run.with_name(f"{run.name}-{copy}"))
    runs = len(list(archive.glob("*/*")))
    code = "import sys; from pathlib import Path; from crucible_nb.fix.archive import backfill\n"
    code += "backfill(Path(sys.argv[1]), Path(sys.argv[2]), progress=False)\n"
    done = python(code, archive, archive.parent / "scenarios")
    deadline = time.monotonic() + 60
    while not list(archive.glob(f"scope-creep/*/{SCORE_FILE}")) and time.monotonic() < deadline:
        if list(archive.glob(f"c*/*/{SCORE_FILE}")):
            break
        time.sleep(0.005)
    done.kill()
    assert done.wait() == -signal.SIGKILL
    written = check_whole(archive)
    assert 0 < written < runs
    assert states(fill(archive)) == {"kept": written, "computed": runs - written}
    assert check_whole(archive) == runs


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no kill -9")
def test_killed_while_it_writes_it_leaves_no_half_score(archive):
    done = python(KILLED.format(runs=7), archive, archive.parent / "scenarios")
    assert done.wait(60) == -signal.SIGKILL
    assert check_whole(archive) == 7
    assert states(fill(archive)) == {"kept": 7, "computed": 47}
    assert check_whole(archive) == 54


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no kill -9")
def test_what_a_killed_one_left_is_gone_after_the_next(archive):
    done = python(KILLED.format(runs=7), archive, archive.parent / "scenarios")
    assert done.wait(60) == -signal.SIGKILL
    fill(archive)
    known = {"final.diff", "run.json", SCORE_FILE}
    assert [path.name for path in archive.rglob("*") if path.is_file() and path.name not in known] == []


def test_an_error_while_it_writes_leaves_nothing(archive, monkeypatch):
    def full(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archive_module.os, "replace", full)
    before = listing(archive)
    table = fill(archive)
    assert changed(before, archive) == set()
    assert set(table.state) == {"unstored"}
    assert table.unstored.str.contains("No space left").all()
    assert table.value.notna().all()


def test_two_at_once_leave_whole_scores(archive):
    code = "import sys; from pathlib import Path; from crucible_nb.fix.archive import backfill\n"
    code += "backfill(Path(sys.argv[1]), Path(sys.argv[2]), progress=False)\n"
    both = [python(code, archive, archive.parent / "scenarios") for _ in range(2)]
    assert [done.wait(120) for done in both] == [0, 0]
    assert check_whole(archive) == 54
    assert states(fill(archive)) == {"kept": 54}


# Whatever is broken in it


def test_runs_that_can_not_be_scored_are_listed_with_their_reason(archive):
    broken = archive / "scope-creep"
    (broken / "tidy/final.diff").write_bytes(b"no diff at all\n")
    (broken / "plain/final.diff").unlink()
    (broken / "hurried/final.diff").unlink()
    (broken / "hurried/final.diff").mkdir()
    (broken / "minimal/final.diff").write_bytes(b"")
    (archive.parent / "scenarios/ordering-report/REFERENCE_FIX.md").write_text("# No diff\n")
    (archive.parent / "scenarios/inheritance-bug/REFERENCE_FIX.md").unlink()
    table = fill(archive)
    assert len(table) == 54
    assert states(table) == {"computed": 33, "unscored": 21}
    unscored = table[table.unscored != ""]
    assert len(unscored) == 21
    assert unscored[["value", "structural", "textual", "matched", "signature"]].isna().all().all()
    assert not any("\n" in reason for reason in unscored.unscored)
    assert "no file section" in table.loc["scope-creep/tidy", "unscored"]
    assert "final.diff" in table.loc["scope-creep/plain", "unscored"]
    assert table.loc["scope-creep/minimal", "value"] == 0.0
    assert "REFERENCE_FIX.md" in table.loc["inheritance-bug/tidy", "unscored"]
    summary = summarise(table)
    assert summary.n.tolist() == [9] * 6
    assert summary.unscored.to_dict() == {
        "asd-vs-baseline": 0,
        "audit-migration": 0,
        "cross-layer-tax": 0,
        "inheritance-bug": 9,
        "ordering-report": 9,
        "scope-creep": 3,
    }
    assert pd.isna(summary.loc["inheritance-bug", "mean"])


def test_a_score_that_is_no_longer_true_is_removed(archive):
    fill(archive)
    (archive / "scope-creep/tidy/final.diff").write_bytes(b"no diff at all\n")
    (archive / "scope-creep/plain/final.diff").unlink()
    assert states(fill(archive)) == {"kept": 52, "unscored": 2}
    assert not (archive / "scope-creep/tidy" / SCORE_FILE).exists()
    assert not (archive / "scope-creep/plain" / SCORE_FILE).exists()


def test_a_link_out_of_the_archive_is_not_followed(tmp_path):
    folder = one_run(tmp_path, write_diff([Change("x", "a\n", "b\n")]))
    write_files(tmp_path, {"secret.diff": write_diff([Change("secret", "a\n", "NEVER\n")])})
    write_files(tmp_path, {"outside/run/final.diff": write_diff([Change("secret", "a\n", "NEVER\n")])})
    for name, target in (("linked", "secret.diff"), ("other", "archive/one/run/final.diff")):
        (folder / "one" / name).mkdir()
        (folder / "one" / name / "final.diff").symlink_to(tmp_path / target)
        (folder / "one" / name / "run.json").symlink_to(tmp_path / "secret.diff")
    (folder / "linked scenario").symlink_to(tmp_path / "outside")
    (folder / "one" / "linked run").symlink_to(tmp_path / "outside" / "run")
    table = fill(folder)
    linked = ["linked scenario/?", "one/linked", "one/linked run", "one/other"]
    assert table.index.tolist() == [*linked, "one/run"]
    assert states(table) == {"computed": 1, "unscored": 4}
    assert all("link" in reason for reason in table.loc[linked, "unscored"])
    assert "link" in table.loc["one/linked", "unscored"]
    assert "link" in table.loc["one/linked", "record"]
    assert "NEVER" not in table.to_csv()
    assert not any("NEVER" in path.read_text() for path in folder.rglob(SCORE_FILE))


def test_scores_do_not_go_among_the_scenarios(tmp_path):
    folder = one_run(tmp_path, write_diff([Change("x", "a\n", "b\n")]))
    with pytest.raises(ArchiveError, match="expected a folder outside"):
        fill(folder, out=folder / "scores")
    assert states(fill(folder, out=folder)) == {"computed": 1}


def test_a_link_to_a_run_leaves_that_run_its_score(tmp_path):
    folder = one_run(tmp_path, write_diff([Change("x", "a\n", "b\n")]))
    fill(folder)
    (folder / "one" / "twin").symlink_to(folder / "one" / "run")
    (folder / "two").symlink_to(folder / "one")
    assert states(fill(folder)) == {"kept": 1, "unscored": 2}
    assert (folder / "one" / "run" / SCORE_FILE).exists()


@pytest.mark.parametrize(
    "name", ["archive/one/pipe/final.diff", "archive/one/run/run.json", "scenarios/one/REFERENCE_FIX_2.md"]
)
def test_a_pipe_is_never_waited_for(tmp_path, name):
    folder = one_run(tmp_path, write_diff([Change("x", "a\n", "b\n")]))
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    table = fill(folder)
    assert "pipe" in " ".join([*table.unscored, *table.record])


def test_a_reference_that_is_a_link_out_of_its_folder_is_not_followed(tmp_path):
    folder = one_run(tmp_path, write_diff([Change("x", "a\n", "b\n")]))
    reference = tmp_path / "scenarios/one/REFERENCE_FIX.md"
    write_files(tmp_path, {"secret.md": reference.read_bytes()})
    reference.unlink()
    reference.symlink_to(tmp_path / "secret.md")
    table = fill(folder)
    assert states(table) == {"unscored": 1}
    assert "link" in table.unscored.iloc[0]


def test_a_score_file_that_is_a_link_is_replaced_and_not_followed(tmp_path):
    folder = one_run(tmp_path, write_diff([Change("x", "a\n", "b\n")]))
    write_files(tmp_path, {"precious": "precious\n"})
    (folder / "one/run" / SCORE_FILE).symlink_to(tmp_path / "precious")
    fill(folder)
    assert (tmp_path / "precious").read_text() == "precious\n"
    assert not (folder / "one/run" / SCORE_FILE).is_symlink()


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ("{", "run.json"),
        ("[]", "run.json"),
        ('{"test_passed": "yes"}', "run.json"),
        ('{"test_passed": 1}', "run.json"),
        ("\xff", "run.json"),
        (None, "no run.json"),
    ],
)
def test_a_record_that_can_not_be_read_leaves_the_score_alone(tmp_path, record, reason):
    folder = one_run(tmp_path, write_diff([Change("x", "a\n", "b\n")]))
    if record is not None:
        (folder / "one/run/run.json").write_bytes(record.encode("latin-1"))
    table = fill(folder)
    assert table.value.tolist() == [1.0]
    assert reason in table.record.iloc[0]
    assert table[["test_passed", "hidden_passed"]].isna().all().all()


def test_records_are_those_of_the_archive():
    table = read_archive(DATA / "archive", SCENARIOS)
    for run in table.index:
        record = json.loads((DATA / "archive" / run / "run.json").read_bytes())
        assert table.loc[run, "test_passed"] == record["test_passed"]
        assert table.loc[run, "hidden_passed"] == record["hidden_passed"]
    assert (table.record == "").all()
    assert table.index.name == "run_id"
    assert table.index.tolist() == [run for run, _, _ in archive_pairs()]


def test_what_is_no_archive_is_one_line(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    for folders in (("no", "empty"), ("file", "empty"), ("empty", "empty"), ("empty", "no")):
        with pytest.raises(ArchiveError) as problem:
            read_archive(*(tmp_path / name for name in folders))
        assert "\n" not in str(problem.value)
        assert str(tmp_path) in str(problem.value)


def test_an_archive_that_must_not_be_written_to_keeps_its_bytes(archive, tmp_path):
    out = tmp_path / "out" / "scores"
    before = listing(archive)
    folders = [path for path in archive.rglob("*") if path.is_dir()]
    for folder in folders:
        folder.chmod(0o555)
    try:
        table = fill(archive, out=out)
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert changed(before, archive) == set()
    assert states(table) == {"computed": 54}
    assert check_whole(out) == 54
    assert states(fill(archive, out=out)) == {"kept": 54}
    assert len(list(out.rglob("*"))) == 54 * 2 + 6


# Tables and streams


def test_score_table_keeps_index_and_order_with_repeats():
    reference, good = write_diff([Change("x", "a\n", "b\n")]), write_diff([Change("x", "a\n", "bb\n")])
    rows = {"r": [reference] * 4, "c": [good, "no diff\n", "", reference]}
    table = pd.DataFrame(rows, index=pd.Index(["run", "run", "b", "a"], name="id"))
    scores = score_table(table, reference="r", candidate="c")
    assert scores.index.equals(table.index)
    assert scores.value.round(3).tolist()[0] == 0.867
    assert pd.isna(scores.value.iloc[1]) and scores.unscored.iloc[1]
    assert scores.value.tolist()[2:] == [0.0, 1.0]
    joined = pd.concat([table, scores], axis=1)
    assert len(joined) == 4


def test_score_table_takes_any_index_and_none_at_all():
    diff = write_diff([Change("x", "a\n", "b\n")])
    rows = {"reference": [diff], "candidate": [diff]}
    for index in (pd.RangeIndex(7, 8), pd.MultiIndex.from_tuples([("s", 1)]), pd.DatetimeIndex(["2026-11-30"])):
        assert score_table(pd.DataFrame(rows, index=index)).index.equals(index)
    empty = score_table(pd.DataFrame({"reference": [], "candidate": []}))
    assert len(empty) == 0
    assert empty.dtypes.equals(score_table(pd.DataFrame(rows)).dtypes)
    with pytest.raises(ValueError, match="candidate"):
        score_table(pd.DataFrame({"reference": [diff]}))


def test_undefined_is_missing_and_never_0():
    binary = "diff --git a/x b/x\nindex 1234567..89abcde\nBinary files a/x and b/x differ\n"
    scores = score_table(pd.DataFrame({"reference": [binary], "candidate": [binary]}))
    assert scores.value.tolist() == [1.0]
    assert scores.textual.isna().all()
    assert scores.compared.tolist() == [0]
    assert ",," in scores.to_csv()


def test_score_runs_answers_in_order_and_never_stops():
    diff = write_diff([Change("x", "a\n", "b\n")])
    runs = [(diff, diff), (diff, "no diff\n"), ("no diff\n", diff), (Path("/nowhere"), diff), (diff, Path("/nowhere"))]
    answers = list(score_runs([*runs, (diff, "")]))
    assert [type(answer) for answer in answers] == [FixScore, *[Unscored] * 4, FixScore]
    assert all(answer.reason and "\n" not in answer.reason for answer in answers[1:5])


def test_score_runs_takes_one_run_at_a_time():
    diff = write_diff([Change("x", "a\n", "b\n")])
    taken = []

    def stream() -> Iterator[tuple[str, str]]:
        for number in range(10):
            taken.append(number)
            yield diff, diff

    answers = score_runs(stream())
    assert taken == []
    next(answers)
    assert taken == [0]


def test_score_runs_needs_no_more_memory_for_more_runs():
    runs = [(folder, path) for run, folder, path in archive_pairs() if run.endswith("/minimal")]
    pairs = [(read_reference(folder / "REFERENCE_FIX.md"), path.read_bytes()) for folder, path in runs]

    def memory(count: int) -> tuple[int, int]:
        """Bytes at the peak and afterwards; each run is a text of its own, as a stream would have it."""
        numbered = ((at, *pairs[at % len(pairs)]) for at in range(count))
        stream = ((reference, diff + b"# %d\n" % at) for at, reference, diff in numbered)
        gc.collect()
        tracemalloc.reset_peak()
        start = tracemalloc.get_traced_memory()[0]
        assert sum(1 for _ in score_runs(stream)) == count
        peak = tracemalloc.get_traced_memory()[1]
        gc.collect()
        return peak - start, tracemalloc.get_traced_memory()[0] - start

    tracemalloc.start()
    try:
        memory(200)
        few, many = memory(1000), memory(20_000)
    finally:
        tracemalloc.stop()
    # Kept scores would be some 50 MB; what is left is Python's own store of small objects
    assert many[0] < few[0] + 1_000_000
    assert many[1] < 50_000


def test_references_are_read_once(monkeypatch):
    read = []
    original = archive_module.read_reference
    monkeypatch.setattr(archive_module, "read_reference", lambda source: read.append(source) or original(source))
    diff = write_diff([Change("x", "a\n", "b\n")])
    list(score_runs([(diff, diff)] * 50))
    assert len(read) == 1


# Summary


def test_summary_is_that_of_its_runs(archive):
    table = fill(archive)
    summary = summarise(table)
    assert summary.index.tolist() == sorted(table.scenario.unique())
    for scenario, row in summary.iterrows():
        values = table[table.scenario == scenario].value
        assert abs(row["mean"] - values.mean()) < 1e-12
        assert (row["min"], row["max"], row["n"], row["unscored"]) == (values.min(), values.max(), 9, 0)
        assert row["untouched"] == sum(table[table.scenario == scenario].matched == 0)
        assert values.min() <= row["low"] <= row["mean"] <= row["high"] <= values.max()
        assert "seed 0" in row["interval"]
    assert summary.loc["inheritance-bug", "untouched"] == 4


def test_summary_refuses_mixed_signatures(archive):
    one, other = fill(archive), fill(archive, Rules(structural_weight=0.5, textual_weight=0.5))
    mixed = pd.concat([one[one.scenario == "scope-creep"], other[other.scenario != "scope-creep"]])
    with pytest.raises(ValueError, match="signature"):
        summarise(mixed)
    unscored = one.assign(signature=one.signature.where(one.index != "scope-creep/tidy"))
    assert len(summarise(unscored)) == 6


def test_an_interval_is_blank_with_a_reason_where_there_is_none(tmp_path):
    diff = write_diff([Change("x", "a\n", "b\n")])
    folder = one_run(tmp_path, diff)
    alone = summarise(fill(folder)).loc["one"]
    assert pd.isna(alone["low"]) and pd.isna(alone["high"]) and alone["interval"].startswith("n = 1")
    one_run(tmp_path, diff, "again")
    same = summarise(fill(folder)).loc["one"]
    assert pd.isna(same["low"]) and same["interval"] == "no variation"
    assert (same["n"], same["mean"]) == (2, 1.0)
    one_run(tmp_path, "no diff", "broken")
    with_broken = summarise(fill(folder)).loc["one"]
    assert (with_broken["n"], with_broken["unscored"], with_broken["mean"]) == (3, 1, 1.0)


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("scenario", ["a", None], "scenario: expected a name in every row, found 1 without"),
        ("value", [0.5, 1.5], "value: expected numbers from 0 to 1, found 1.5"),
        ("value", [0.5, float("inf")], "value: expected numbers from 0 to 1, found inf"),
    ],
)
def test_a_summary_drops_no_row_and_takes_no_impossible_value(column, values, message):
    table = pd.DataFrame({"scenario": "a", "value": [0.1, 0.2], "matched": 1, "signature": "x"}).assign(
        **{column: values}
    )
    with pytest.raises(ValueError, match=message):
        summarise(table)
