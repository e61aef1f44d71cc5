"""What is published can be made again, every forgery is one line, and no manifest is a traceback."""

import hashlib
import json
import os
import shutil

import pytest
from reviewkit import BENCH, DECK, change, write
from typer.testing import CliRunner

from crucible_nb.cli import app
from crucible_nb.review.bench import BenchError, read_bench
from crucible_nb.review.citations import LiveTree
from crucible_nb.review.publish import publish, verify
from crucible_nb.rules import Rules

SMALL = DECK / "failed-run"
FILES = ("scores.csv", "totals.csv", "comparisons.csv", "readings.csv", "methodology.md", "methodology.html")
FIGURES = ("recall.svg", "ranks.svg")


@pytest.fixture(scope="module")
def small():
    return read_bench(SMALL)


@pytest.fixture(scope="module")
def original(small, tmp_path_factory):
    """A publication with figures, of a bench with a run that failed."""
    out = tmp_path_factory.mktemp("original") / "out"
    publish(small, LiveTree(small.tree), out, notes="One model plays everybody.")
    return out


@pytest.fixture
def out(original, tmp_path):
    """A copy of it, to be forged."""
    return shutil.copytree(original, tmp_path / "out")


def manifest_of(out):
    return json.loads((out / "manifest.json").read_bytes())


def set_fields(out, **fields):
    write(out / "manifest.json", {**manifest_of(out), **fields})


def rehash(out):
    """Bring the manifest up to date with what is there, as a careful forger does."""
    names = sorted(path.name for path in out.iterdir() if path.is_file() and path.name != "manifest.json")
    set_fields(out, files={name: hashlib.sha256((out / name).read_bytes()).hexdigest() for name in names})


def replace(out, name, old, new):
    text = (out / name).read_text(encoding="utf-8")
    assert old in text, (name, old)
    (out / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    rehash(out)


def remove(out, *names):
    for name in names:
        (out / name).unlink()
    rehash(out)


def test_what_is_published_is_what_is_made(small, original, out):
    inside, outside = verify(out, small), verify(out)
    assert (inside.problems, inside.skipped) == ((), ())
    assert outside.problems == ()
    assert [line.partition(":")[0] for line in outside.skipped] == ["scores.csv", "readings.csv", "manifest.json"]
    assert set(inside.checked) == {*FILES, *FIGURES, "manifest.json"}
    assert verify(out / "manifest.json", SMALL).ok


@pytest.mark.parametrize("deck", sorted(path.name for path in DECK.iterdir() if path.is_dir()))
def test_every_bench_of_the_deck(deck, tmp_path):
    """Benches without verdicts, without findings, without critical musts: with the bench and without."""
    try:
        bench = read_bench(DECK / deck)
        publish(bench, LiveTree(bench.tree), tmp_path / "out", figures=False)
    except ValueError:
        return
    assert verify(tmp_path / "out", bench).problems == ()
    assert verify(tmp_path / "out").problems == ()


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_removed_with_its_entry(name, small, out):
    remove(out, name)
    for bench in (small, None):
        assert any(
            line.startswith(f"{name}: expected") and "found none" in line for line in verify(out, bench).problems
        )


def test_one_figure_that_is_removed(small, out):
    remove(out, "recall.svg")
    for bench in (small, None):
        assert any(line.startswith("recall.svg: expected") for line in verify(out, bench).problems)


def test_both_figures_removed_show_on_the_pages(small, out):
    remove(out, *FIGURES)
    for bench in (small, None):
        assert {line.partition(":")[0] for line in verify(out, bench).problems} >= {
            "methodology.md",
            "methodology.html",
        }


FORGED = {
    "a rule on the page": ("methodology.md", "Two precisions", "One precision", True),
    "a score on the page": ("methodology.md", "| 0.500 |", "| 0.900 |", True),
    "a rule on the other page": ("methodology.html", "Two precisions", "One precision", True),
    "the notes": ("methodology.md", "One model plays", "Nobody plays", True),
    "a script": ("methodology.html", "</body>", "<script>alert(1)</script></body>", True),
    "a total": ("totals.csv", ",0.5,", ",0.9,", True),
    "a column of totals": ("totals.csv", "estimate", "guess", True),
    "a share in the scores": ("scores.csv", ",0.5,", ",0.9,", True),
    "a hash in the scores": ("scores.csv", "a,k1-cart,ok", "b,k1-cart,ok", True),
    "a reading": ("readings.csv", "as declared,weighted_recall,a,0.5", "as declared,weighted_recall,a,0.7", True),
    "another reading": (
        "readings.csv",
        "weights 1+1+1,weighted_recall,a,0",
        "weights 1+1+1,weighted_recall,a,1",
        False,
    ),
    "the rules of a reading": ("readings.csv", "review|w:9+3+1", "review|w:9+3+2", True),
    "a word in a figure": ("recall.svg", "Weighted recall", "Precision", True),
    "a line in a figure": ("ranks.svg", '<path d="M ', '<path d="M 1', True),
    "a space at the end": ("methodology.md", "measured\n", "measured \n", True),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_file_that_is_forged_with_its_hash(name, small, out):
    file, old, new, outside = FORGED[name]
    replace(out, file, old, new)
    problems = verify(out, small).problems
    assert any(line.startswith(f"{file}: ") and "found" in line and "expected" in line for line in problems), problems
    if outside:
        assert any(line.startswith(f"{file}: ") for line in verify(out).problems)


def test_line_ends_are_bytes_too(small, out):
    (out / "scores.csv").write_bytes((out / "scores.csv").read_bytes().replace(b"\n", b"\r\n"))
    rehash(out)
    for bench in (small, None):
        assert any(line.startswith("scores.csv: ") for line in verify(out, bench).problems)


COUNTS = {
    "more matches than musts": ("matched", "9"),
    "a negative count": ("drift", "-1"),
    "a recall above 1": ("weighted_recall_high", "1.5"),
    "more findings": ("findings", "7"),
    "a number of nothing": ("precision_low", "inf"),
    "another weight": ("weight_total", "99.0"),
    "a reason for nothing": ("undefined", "precision: taste"),
    "another key": ("key_sha256", "0" * 64),
    "another signature": ("signature", "review|w:1+1+1"),
    "another overseer": ("overseer", "o9"),
    "another status": ("run_status", "great"),
    "a text for a number": ("musts", "many"),
    "a half": ("musts", "1.5"),
    "nothing": ("musts", ""),
}


@pytest.mark.parametrize("name", COUNTS)
def test_scores_that_contradict_themselves(name, small, out):
    column, value = COUNTS[name]
    head, row, *rest = (out / "scores.csv").read_text().split("\n")
    cells = row.split(",")
    assert len(cells) == len(head.split(","))
    cells[head.split(",").index(column)] = value
    (out / "scores.csv").write_text("\n".join([head, ",".join(cells), *rest]))
    rehash(out)
    for bench in (small, None):
        problems = verify(out, bench).problems
        assert any(line.startswith("scores.csv: ") for line in problems), problems


ROWS = {
    "none": lambda text: text.split("\n")[0] + "\n",
    "no head": lambda text: "",
    "one too few": lambda text: "\n".join(text.split("\n")[:2]) + "\n",
    "one twice": lambda text: text + text.split("\n")[1] + "\n",
    "another order": lambda text: "\n".join([text.split("\n")[at] for at in (0, 2, 1)]) + "\n",
    "a column too many": lambda text: "\n".join(f"{line},1" for line in text.rstrip("\n").split("\n")),
    "noise": lambda text: '\0\x01\ufffd"',
    "a quote without end": lambda text: text + '"',
    "a result for a run that failed": lambda text: text.replace("failed,,1,,", "failed,3,1,2,"),
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("file", ["scores.csv", "readings.csv", "totals.csv"])
def test_tables_of_other_rows(name, file, small, out):
    text = (out / file).read_text()
    if (changed := ROWS[name](text)) == text:
        return
    (out / file).write_text(changed)
    rehash(out)
    for bench in (small, None) if file == "totals.csv" else (None,):
        assert any(line.startswith(f"{file}: ") for line in verify(out, bench).problems)


@pytest.mark.parametrize(
    ("name", "kind", "listed"),
    [
        ("diary.txt", "file", False),
        ("diary.txt", "file", True),
        (".DS_Store", "folder", False),
        ("scores.csv.bak", "link", True),
        ("a\nb.csv", "file", True),
    ],
)
def test_what_does_not_belong_there(name, kind, listed, small, out, tmp_path):
    if kind == "link":
        (out / name).symlink_to(tmp_path)
    elif kind == "folder":
        (out / name).mkdir()
    else:
        (out / name).write_text("mine")
    if listed:
        set_fields(out, files={**manifest_of(out)["files"], name: hashlib.sha256(b"mine").hexdigest()})
    shown = name.replace("\n", "\\n")
    for bench in (small, None):
        problems = verify(out, bench).problems
        assert f"{shown}: expected no other file in a publication, found a {kind}" in problems
        assert (f"{shown}: expected a file of a publication in the manifest, found another" in problems) == listed


@pytest.mark.parametrize("name", ["scores.csv", "methodology.md", "recall.svg"])
@pytest.mark.parametrize("kind", ["link", "link to nothing", "folder", "pipe"])
def test_what_is_no_file(name, kind, small, out, tmp_path):
    shutil.copy(out / name, tmp_path / "same")
    (out / name).unlink()
    if kind.startswith("link"):
        (out / name).symlink_to(tmp_path / ("same" if kind == "link" else "nothing"))
    elif kind == "folder":
        (out / name).mkdir()
    else:
        os.mkfifo(out / name)
    for bench in (small, None):
        assert any(
            line.startswith(f"{name}: expected a file of the publication") for line in verify(out, bench).problems
        )


FIELDS = {
    "bench": "other",
    "made_by": "somebody",
    "rules_version": 9,
    "signature": "review|w:9+9+9",
    "overseer": "o9",
    "tree_commit": "a" * 40,
    "tree_dirty": True,
    "key_sha256": "0" * 64,
    "findings_sha256": "0" * 64,
    "verdicts_sha256": "0" * 64,
    "notes": "All is well.",
    "musts": {"opus-critical": 9, "should": 0, "nice": 0},
    "anti_hits": 9,
    "agreement": [{"one": "o1", "other": "o2", "findings": 1, "same": 1, "raw": 1.0, "cohen": None}],
    "rules": {"nice_weight": 2},
    "remark": "more",
}
NOT_OUTSIDE = {"findings_sha256", "verdicts_sha256"}


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_that_is_forged(name, small, out):
    set_fields(out, **{name: FIELDS[name]})
    problems = verify(out, small).problems
    assert problems
    assert all("found" in line and "expected" in line or "more values differ" in line for line in problems), problems
    assert bool(verify(out).problems) == (name not in NOT_OUTSIDE)
    if name not in ("rules", "overseer", "notes"):
        assert any(line.startswith("manifest.json: ") and name in line for line in problems), problems


BROKEN = {
    "empty": b"",
    "no JSON": b"{",
    "a list": b"[]",
    "null": b"null",
    "a number": b"1",
    "a text": b'"manifest"',
    "nothing": b"{}",
    "nothing but a version": b'{"manifest_version": 1}',
    "another version": b'{"manifest_version": 2}',
    "a version that is true": b'{"manifest_version": true}',
    "deep": b"[" * 100_000,
    "long": b"1" * 100_000,
    "UTF-16": '{"manifest_version": 1}'.encode("utf-16"),
    "noise": bytes(range(256)),
    "twice": b'{"manifest_version": 1, "files": {}, "files": {}}',
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_manifest(name, small, out):
    (out / "manifest.json").write_bytes(BROKEN[name])
    for bench in (small, None):
        with pytest.raises(BenchError, match=r"manifest\.json: .*expected"):
            verify(out, bench)


WRONG = (None, True, 0, 1.5, "x", [], {}, [1], {"x": 1}, [[]], {"x": None}, 10**400, [{"one": "x"}])


@pytest.mark.parametrize("name", [*FIELDS, "files", "drawn_by", "manifest_version"])
def test_fields_of_any_kind(name, small, out):
    """Each either a problem or an error with a line; never anything else."""
    manifest = manifest_of(out)
    for value in WRONG if name != "remark" else WRONG[:2]:
        if manifest.get(name) == value:
            continue
        write(out / "manifest.json", {**manifest, name: value})
        for bench in (small, None) if value in (None, "x") else (None,):
            try:
                found = verify(out, bench)
            except BenchError as problem:
                assert all("expected" in fault or "no object" in fault for fault in problem.faults)
            else:
                assert found.problems or name in {"drawn_by", *NOT_OUTSIDE}


@pytest.mark.parametrize("name", [name for name in FIELDS if name != "remark"] + ["files", "drawn_by"])
def test_a_field_that_is_missing(name, small, out):
    write(out / "manifest.json", {key: value for key, value in manifest_of(out).items() if key != name})
    if name.startswith(("findings", "verdicts")):
        assert any(name in line for line in verify(out, small).problems)
    else:
        with pytest.raises(BenchError, match=f"{name}: expected .*, found none"):
            verify(out, small)


@pytest.mark.parametrize(
    "path", ["../secret.txt", "/etc/passwd", "..", ".", "", "a/b", "a\\b", "C:\\x", "a\0b", "x" * 5000, "manifest.json"]
)
def test_paths_in_a_manifest_are_not_opened(path, small, out):
    (out.parent / "secret.txt").write_text("TOP SECRET")
    set_fields(out, files={**manifest_of(out)["files"], path: hashlib.sha256(b"TOP SECRET").hexdigest()})
    for bench in (small, None) if path.startswith("../") else (None,):
        problems = verify(out, bench).problems
        assert any("expected a file of a publication in the manifest, found another" in line for line in problems)
        assert "SECRET" not in " ".join(problems)
        assert all(len(line) < 400 for line in problems)


@pytest.mark.parametrize(
    "rules",
    [
        {"luck": 1},
        {"nice_weight": "2"},
        {"nice_weight": True},
        {"matches": 1},
        {"nice_weight": -1},
        {"nice_weight": 10**400},
        {"severities": ">"},
        {"critical_weight": None},
    ],
)
def test_rules_that_are_none(rules, small, out):
    set_fields(out, rules={**manifest_of(out)["rules"], **rules})
    for bench in (small, None):
        try:
            problems = verify(out, bench).problems
        except BenchError as problem:
            problems = problem.faults
        assert any("manifest.json" in line for line in problems)


def test_a_link_to_a_manifest(small, out, tmp_path):
    (out / "manifest.json").rename(tmp_path / "real.json")
    (out / "manifest.json").symlink_to(tmp_path / "real.json")
    with pytest.raises(BenchError, match="a link, which is not followed"):
        verify(out, small)


def test_another_file_as_a_manifest(out):
    with pytest.raises(BenchError, match=r"scores\.csv: expected a manifest\.json or its folder"):
        verify(out / "scores.csv")


def test_another_version_of_matplotlib(small, out, monkeypatch):
    """Its lines may fall elsewhere, so the words are compared and the reader is told."""
    set_fields(out, drawn_by="matplotlib 1.0")
    replace(out, "recall.svg", '<path d="M ', '<path d="M 1')
    for bench in (small, None):
        found = verify(out, bench)
        assert found.ok
        assert sum("its lines were not compared (here is matplotlib" in line for line in found.skipped) == 2
    replace(out, "recall.svg", "Weighted recall", "Precision")
    for bench in (small, None):
        assert any(line.startswith("recall.svg: found other words") for line in verify(out, bench).problems)


def test_without_matplotlib(small, out, monkeypatch):
    monkeypatch.setattr("crucible_nb.review.publication.find_spec", lambda name: None)
    for bench in (small, None):
        found = verify(out, bench)
        assert found.ok
        assert sum("no matplotlib is here" in line for line in found.skipped) == 2
    with pytest.raises(BenchError, match="figures: need matplotlib"):
        publish(small, LiveTree(small.tree), out)


def test_another_bench(small, out):
    problems = verify(out, DECK / "duplicates").problems
    assert any(line.startswith("manifest.json: key_sha256: found") for line in problems)
    assert all("\n" not in line for line in problems)
    assert max(sum(line.startswith(name) for line in problems) for name in FILES) <= 22


def crucible(*arguments):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def test_the_command(out):
    status, text, err = crucible("verify", out, SMALL)
    assert (status, err) == (0, "")
    assert text == "9 files checked, 0 problems, 0 things not checked\n"
    status, text, _ = crucible("verify", out)
    assert status == 0
    assert text.count("not checked: ") == 3
    assert crucible("verify", out, "--commit", "main")[0] == 2
    replace(out, "totals.csv", ",0.5,", ",0.9,")
    status, text, _ = crucible("verify", out, SMALL)
    assert status == 1
    assert text.startswith("totals.csv: made again from the bench, line ")
    assert set(json.loads(crucible("verify", out, "--json")[1])) == {"ok", "problems", "checked", "skipped"}
    write(out / "manifest.json", {"manifest_version": 1})
    status, text, err = crucible("verify", out)
    assert (status, text) == (1, "")
    assert err.count("\n") == err.count("crucible: ") > 10


def cells_of(out, row=0):
    """The cells of a row of scores.csv, by column."""
    head, *rows = (out / "scores.csv").read_text().split("\n")
    return dict(zip(head.split(","), rows[row].split(","), strict=True))


def set_cells(out, row=0, **values):
    """Put other values in a row of scores.csv, as a careful forger does."""
    head, *rows = (out / "scores.csv").read_text().split("\n")
    rows[row] = ",".join({**cells_of(out, row), **values}.values())
    (out / "scores.csv").write_text("\n".join([head, *rows]))
    rehash(out)


IMPOSSIBLE = {
    "fabricated of no anti-hit": ({"anti_hits": "0", "fabricated": "1"}, "anti_hits: found 0, expected at least 1"),
    "anti-hits of nothing": (
        {"anti_hits": "1", "fabricated": "0", "anti_claims": "0"},
        "anti_hits: found 1, expected at most 0",
    ),
    "strict matches": ({"matched_strict": "2"}, "matched_strict: found 2, expected at most 1, its matched"),
    "a high recall that is low": ({"weighted_recall_high": "0.25"}, "weighted_recall_high: found 0.25, expected 0.5"),
    "real and unlisted": ({"verified_extra": "1"}, "true_findings: found 1, expected 2"),
    "real and unlisted, many": ({"verified_extra": "9"}, "verified_extra: found 9, expected at most 1"),
    "fidelity of nothing": ({"severity_n": "0"}, "severity_n: found 0, expected 1"),
    "fidelity of too many": ({"severity_n": "3"}, "severity_n: found 3, expected 1"),
    "half a fidelity": ({"severity_fidelity": "0.5"}, "severity_fidelity: found 0.5, expected"),
    "silent with findings": ({"run_status": "silent"}, "run_status: found silent, expected ok for 1 findings"),
    "a bucket": ({"drift": "7"}, "drift: found 7, expected at most 1, its findings"),
    "the sum of buckets": (
        {"drift": "1", "uncited": "1"},
        "uncited + refused: found 2, expected at most 1, its findings",
    ),
    "no number": ({"drift": ""}, "drift: found none, expected a number"),
    "weight of nothing": (
        {"matched": "0", "opus_crit_matched": "0", "weight_matched": "3.0"},
        "weight_matched: found 3, expected 0 from the counts",
    ),
    "a claim of no anti-hit": ({"anti_claims": "1", "anti_hits": "1"}, "anti_claims: found 1 in all, expected 0"),
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A publication without figures, quick to verify."""
    out = tmp_path_factory.mktemp("plain") / "out"
    bench = read_bench(SMALL)
    publish(bench, LiveTree(bench.tree), out, figures=False)
    return out


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_counts_that_no_findings_can_give(name, plain, tmp_path):
    out = shutil.copytree(plain, tmp_path / "out")
    values, line = IMPOSSIBLE[name]
    if name == "a claim of no anti-hit":
        set_fields(out, anti_hits=0)
    set_cells(out, **values)
    assert any(line in problem for problem in verify(out).problems), verify(out).problems


def test_cells_are_the_same_for_all_arms(plain, tmp_path):
    folder = shutil.copytree(SMALL, tmp_path / "bench")
    for old in (folder / "arms" / "a", folder / "verdicts" / "o1" / "a"):
        for file in shutil.copytree(old, old.with_name("b")).iterdir():
            write(file, {**json.loads(file.read_bytes()), "arm": "b"})
    bench, out = read_bench(folder), tmp_path / "out"
    publish(bench, LiveTree(bench.tree), out, figures=False)
    assert verify(out).ok
    set_cells(out, musts="9")
    assert any("k1-cart: musts: found 9 and " in line for line in verify(out).problems)
    set_cells(out, musts=cells_of(out, 2)["musts"], opus_crit_total="0")
    problems = verify(out).problems
    assert any("k1-cart: opus_crit_total: found 0 and 1, expected one number for all arms" in line for line in problems)
    assert any("opus_crit_total: found " in line and "as the manifest has musts" in line for line in problems)


@pytest.mark.parametrize(
    "rules",
    [
        Rules(matches="strict", critical_weight=0.3, should_weight=0.2, nice_weight=0.1),
        Rules(citations="strict", precision="literal", critical_weight=1, should_weight=1, nice_weight=1),
    ],
)
def test_what_is_true_is_possible(rules, tmp_path):
    bench = read_bench(BENCH)
    publish(bench, LiveTree(bench.tree), tmp_path / "out", rules, figures=False)
    assert verify(tmp_path / "out").problems == ()


def empty_bench(folder, without):
    """A bench in which nothing can be drawn."""
    shutil.copytree(DECK / "all-musts", folder)
    if without == "runs":
        (folder / "arms" / "a" / "k1-cart.json").unlink()
        shutil.rmtree(folder / "verdicts")
    else:
        change(folder / "key" / "k1-cart.json", musts=[])
        shutil.rmtree(folder / "verdicts")
    return read_bench(folder)


@pytest.mark.parametrize("without", ["runs", "musts"])
def test_nothing_to_draw(without, tmp_path):
    bench = empty_bench(tmp_path / "bench", without)
    manifest = publish(bench, LiveTree(bench.tree), tmp_path / "out")
    assert manifest["drawn_by"] is None
    assert not [name for name in FIGURES if (tmp_path / "out" / name).exists()]
    for again in (bench, None):
        assert verify(tmp_path / "out", again).problems == ()


def test_pages_that_leak_are_found_with_the_bench(small, tmp_path, monkeypatch):
    """Published by a kit without a guard; every file follows from the others."""
    monkeypatch.setattr("crucible_nb.review.publish.find_leaks", lambda *given: [])
    claim = next(iter(small.musts.values())).claim
    publish(small, LiveTree(small.tree), tmp_path / "out", notes=f"We saw: {claim}", figures=False)
    monkeypatch.undo()
    problems = verify(tmp_path / "out", small).problems
    assert "methodology.md: holds the claim of k1-m1" in problems
    assert "manifest.json: holds the claim of k1-m1" in problems
    assert claim not in " ".join(problems)
    assert verify(tmp_path / "out").ok
