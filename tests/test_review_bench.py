"""Files of a bench that contradict each other are refused, with file, id and field."""

import json
import os
import shutil

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reviewkit import BENCH, DECK, change, copy_deck, write

from crucible_nb.review.bench import BenchError, Cite, Must, Verdict, bench_files, key_hash, read_bench
from crucible_nb.review.citations import LiveTree, TreeError, bench_tree, cite_table
from crucible_nb.review.score import findings_table, must_table, run_table, score_bench
from crucible_nb.review.standings import what_if

KEY, ARM, VERDICT = "key/k1-cart.json", "arms/a/k1-cart.json", "verdicts/o1/a/k1-cart.json"


def edit(bench, name, what):
    """Change the JSON of a file in place."""
    content = json.loads((bench / name).read_bytes())
    what(content)
    write(bench / name, content)


def twice(items):
    """Append a copy of the first item."""
    items.append(dict(items[0]))


FAULTS = {
    "two findings with one id": (ARM, lambda c: twice(c["findings"]), ["f1", "id"]),
    "a finding without an id": (ARM, lambda c: c["findings"][0].pop("id"), ["findings[0].id"]),
    "a line that is text": (ARM, lambda c: c["findings"][0]["cites"][0].update(line="7"), ["(f1)", "line", "'7'"]),
    "another cell inside": (ARM, lambda c: c.update(cell="k2"), ["cell", "'k2'"]),
    "another arm inside": (ARM, lambda c: c.update(arm="b"), ["arm", "'b'"]),
    "failed without a reason": (ARM, lambda c: c.update(status="failed"), ["reason"]),
    "no findings": (ARM, lambda c: c.pop("findings"), ["findings"]),
    "silent with findings": (ARM, lambda c: c.update(status="silent"), ["status", "silent"]),
    "an unknown status": (ARM, lambda c: c.update(status="slow"), ["status", "'slow'"]),
    "two musts with one id": (KEY, lambda c: twice(c["musts"]), ["k1-m1", "id"]),
    "an anti-hit with a must's id": (KEY, lambda c: c["anti_hits"][0].update(id="k1-m2"), ["k1-m2", "id"]),
    "an unknown tag": (KEY, lambda c: c["musts"][1].update(tag="big"), ["(k1-m2)", "tag", "'big'"]),
    "a weight that is not the tag's": (KEY, lambda c: c["musts"][1].update(weight=3), ["k1-m2", "weight", "found 3"]),
    "a range backwards": (KEY, lambda c: c["musts"][0].update(end_line=1), ["k1-m1", "end_line"]),
    "a misspelled field": (KEY, lambda c: c["musts"][0].update(clame="x"), ["(k1-m1)", "clame"]),
    "a verdict on no finding": (VERDICT, lambda c: c["verdicts"][0].update(finding="f9"), ["f9", "finding"]),
    "two verdicts on a finding": (VERDICT, lambda c: twice(c["verdicts"]), ["f1", "finding", "found 2"]),
    "a must of nobody": (VERDICT, lambda c: c["verdicts"][0].update(must="k9-m1"), ["f1", "must", "'k9-m1'"]),
    "a must without its name": (VERDICT, lambda c: c["verdicts"][0].pop("must"), ["f1", "must"]),
    "a name without a must": (VERDICT, lambda c: c["verdicts"][0].update(decision="real"), ["f1", "must", "real"]),
    "an unknown decision": (
        VERDICT,
        lambda c: c["verdicts"][0].update(decision="good"),
        ["(f1)", "decision", "'good'"],
    ),
    "an unknown word for cites": (VERDICT, lambda c: c["verdicts"][0].update(cites="bad"), ["(f1)", "cites", "'bad'"]),
    "another overseer inside": (VERDICT, lambda c: c.update(overseer="o2"), ["overseer", "'o2'"]),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_names_file_id_and_field(name, tmp_path):
    file, what, expected = FAULTS[name]
    bench = copy_deck("all-musts", tmp_path)
    read_bench(bench)
    edit(bench, file, what)
    with pytest.raises(BenchError) as caught:
        read_bench(bench)
    assert any(all(word in fault for word in [file, *expected]) for fault in caught.value.faults), caught.value


def test_a_must_is_earned_once(tmp_path):
    bench = copy_deck("all-musts", tmp_path)
    edit(bench, VERDICT, lambda c: c["verdicts"][1].update(must="k1-m1"))
    with pytest.raises(BenchError, match="f2 must: k1-m1 is earned by f1 already"):
        read_bench(bench)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([{"finding": "f1", "decision": "must", "must": "k1-m1"}, {"finding": "f2", "decision": "duplicate"}], None),
        ([{"finding": "f2", "decision": "duplicate", "duplicate_of": "f3"}], "f2 duplicate_of"),
        ([{"finding": "f2", "decision": "duplicate", "duplicate_of": "f2"}], "f2 duplicate_of"),
        ([{"finding": "f2", "decision": "duplicate", "duplicate_of": "f7"}], "f2 duplicate_of"),
        ([{"finding": "f2", "decision": "real", "duplicate_of": "f1"}], "f2 duplicate_of"),
        ([{"finding": "f2", "decision": "anti_hit", "anti_hit": "k1-m1"}], "f2 anti_hit"),
        ([{"finding": "f2", "decision": "anti_hit"}], "f2 anti_hit"),
    ],
)
def test_what_a_verdict_names_is_there(verdicts, expected, tmp_path):
    bench = copy_deck("duplicates", tmp_path)
    change(bench / VERDICT, verdicts=verdicts)
    if expected is None:
        read_bench(bench)
    else:
        with pytest.raises(BenchError, match=expected):
            read_bench(bench)


def test_a_cite_is_needed_to_be_fabricated(tmp_path):
    bench = copy_deck("all-musts", tmp_path)
    edit(bench, ARM, lambda c: c["findings"][0].update(cites=[]))
    edit(bench, VERDICT, lambda c: c["verdicts"][0].update(cites="fabricated"))
    with pytest.raises(BenchError, match="f1 cites"):
        read_bench(bench)


def test_files_for_nobody(tmp_path):
    bench = copy_deck("all-musts", tmp_path)
    shutil.copytree(bench / "arms" / "a", bench / "arms" / "b")
    shutil.copy(bench / ARM, bench / "arms" / "a" / "k7.json")
    shutil.copytree(bench / "verdicts" / "o1" / "a", bench / "verdicts" / "o1" / "z")
    shutil.copytree(bench / "cells" / "k1-cart", bench / "cells" / "k8")
    with pytest.raises(BenchError) as caught:
        read_bench(bench)
    for name in ("arms/b/k1-cart.json", "arms/a/k7.json", "verdicts/o1/z/k1-cart.json", "cells/k8"):
        assert any(name in fault for fault in caught.value.faults), name


def test_links_are_not_followed(tmp_path):
    bench = copy_deck("all-musts", tmp_path)
    (bench / "arms" / "spy").mkdir()
    (bench / "arms" / "spy" / "k1-cart.json").symlink_to(bench / KEY)
    (bench / "arms" / "spy2").symlink_to(bench / "key")
    with pytest.raises(BenchError) as caught:
        read_bench(bench)
    assert len(caught.value.faults) == 2
    assert "ignores the quantity" not in str(caught.value)


def test_missing_files(tmp_path):
    bench = copy_deck("failed-run", tmp_path)
    runs = read_bench(bench).runs
    assert [(run.cell, run.status) for run in runs.values()] == [("k1-cart", "ok"), ("k2-user", "failed")]
    shutil.rmtree(bench / "key")
    with pytest.raises(BenchError, match="key: expected files"):
        read_bench(bench)


def test_a_run_that_says_that_it_failed(tmp_path):
    bench = copy_deck("all-musts", tmp_path)
    write(bench / ARM, {"cell": "k1-cart", "arm": "a", "status": "failed", "reason": "rate limit"})
    shutil.rmtree(bench / "verdicts")
    run = read_bench(bench).runs["a", "k1-cart"]
    assert (run.status, run.reason, run.findings) == ("failed", "rate limit", ())


def test_who_judges():
    bench = read_bench(BENCH)
    assert (bench.choose_overseer(), bench.choose_overseer("second")) == ("first", "second")
    with pytest.raises(BenchError, match="found 'nobody'"):
        bench.choose_overseer("nobody")


def test_several_overseers_and_none_named(tmp_path):
    bench = copy_deck("all-musts", tmp_path)
    shutil.copytree(bench / "verdicts" / "o1", bench / "verdicts" / "o2")
    edit(bench, "verdicts/o2/a/k1-cart.json", lambda c: c.update(overseer="o2"))
    read = read_bench(bench)
    with pytest.raises(BenchError, match="there are several: o1, o2"):
        read.choose_overseer()
    write(bench / "bench.json", {"bench": "x", "overseer": "o3"})
    with pytest.raises(BenchError, match="bench.json: overseer"):
        read_bench(bench)


def test_the_hash_is_of_the_content(tmp_path):
    file = tmp_path / "k.json"
    write(file, {"b": 1, "a": [1, "é"]})
    first = key_hash([file])
    file.write_text('{\n "a" : [ 1, "é" ],\n "b" : 1 }\n', encoding="utf-8")
    assert key_hash([file]) == first
    write(file, {"b": 2, "a": [1, "é"]})
    assert key_hash([file]) != first


def test_the_bench_of_the_kit():
    bench = read_bench(BENCH)
    assert len(bench.musts) == 30
    assert sum(len(run.findings) for run in bench.runs.values()) == 442
    assert all(len(bench.judged(arm, cell, "first")) for arm, cell in bench.runs)


@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=80) | st.text(max_size=80).map(str.encode))
def test_noise_in_a_file_is_one_error(data, tmp_path_factory):
    bench = copy_deck("all-musts", tmp_path_factory.mktemp("noise"))
    (bench / ARM).write_bytes(data)
    with pytest.raises(BenchError, match="arms/a/k1-cart.json"):
        read_bench(bench)


def test_deep_nesting_is_one_error(tmp_path):
    bench = copy_deck("all-musts", tmp_path)
    (bench / ARM).write_text("[" * 100_000)
    with pytest.raises(BenchError, match="arms/a/k1-cart.json"):
        read_bench(bench)


def test_many_faults_are_cut_short(tmp_path):
    bench = copy_deck("all-musts", tmp_path)
    finding = json.loads((bench / ARM).read_bytes())["findings"][0]
    change(bench / ARM, findings=[{**finding, "id": f"f{n // 2}"} for n in range(100)])
    with pytest.raises(BenchError, match="and 30 more faults") as caught:
        read_bench(bench)
    assert len(caught.value.faults) > 20


def test_records_are_checked_when_they_are_made():
    assert Cite("a.py", 3).end_line is None
    with pytest.raises(ValueError, match="valid integer"):
        Cite("a.py", 3.5)
    with pytest.raises(ValueError, match="opus-critical"):
        Must("m", "severe", "x")
    with pytest.raises(ValueError, match="anti_hit"):
        Verdict("f", "maybe")


MISPLACED = {
    "arms/k1-cart.json": "expected files as arms/<arm>/<cell>.json, found one here",
    "verdicts/k1-cart.json": "expected files as verdicts/<overseer>/<arm>/<cell>.json, found one here",
    "verdicts/o1/k1-cart.json": "expected files as verdicts/<overseer>/<arm>/<cell>.json, found one here",
    "verdicts/o1/a/deep/k1-cart.json": "expected files as verdicts/<overseer>/<arm>/<cell>.json, found one deeper",
    "arms/a/more/k1-cart.json": "expected files as arms/<arm>/<cell>.json, found one deeper",
    "arms/a/k1-cart.JSON": "expected the ending .json in small letters",
    "key/K1.Json": "expected the ending .json in small letters",
    "key/more/k2.json": "expected files as key/<cell>.json, found one deeper",
    "cells/k1-cart.json": "expected files as cells/<cell>/cell.json, found one here",
    "cells/k1-cart/CELL.JSON": "expected the ending .json in small letters",
    "Bench.json": "expected the name bench.json in small letters",
    "Verdicts/o1/a/k1-cart.json": "expected the name verdicts in small letters",
}


@pytest.mark.parametrize("name", MISPLACED)
def test_a_file_that_nobody_would_read_is_a_fault(name, tmp_path):
    bench = copy_deck("all-musts", tmp_path)
    write(bench / name, {})
    with pytest.raises(BenchError) as caught:
        read_bench(bench)
    assert any(MISPLACED[name] in fault and name.split("/")[0] in fault for fault in caught.value.faults), caught.value


@pytest.mark.parametrize("name", ["key/k9.json", "arms/a/k9.json", "verdicts/o1/a/k9.json"])
@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_called_a_file_and_is_none(name, kind, tmp_path):
    bench = copy_deck("all-musts", tmp_path)
    (bench / name).mkdir() if kind == "folder" else os.mkfifo(bench / name)
    with pytest.raises(BenchError) as caught:
        read_bench(bench)
    assert [name in fault and "expected a file, found" in fault for fault in caught.value.faults] == [True]


@pytest.mark.parametrize("name", ["key", "arms", "cells", "verdicts"])
def test_a_file_where_a_folder_belongs(name, tmp_path):
    bench = copy_deck("all-musts", tmp_path)
    shutil.rmtree(bench / name)
    (bench / name).write_text("{}")
    with pytest.raises(BenchError, match=rf"bench/{name}: expected a folder, found a file"):
        read_bench(bench)


@pytest.mark.parametrize("name", [b"arms/\xff", b"arms/a/\xff.json", b"key/\xff.json", b"cells/\xff"])
def test_a_name_that_no_text_can_hold(name, tmp_path):
    bench = copy_deck("all-musts", tmp_path)
    os.mkdir(os.fsencode(bench) + b"/" + name)
    with pytest.raises(BenchError, match="expected a name in UTF-8"):
        read_bench(bench)


def test_a_list_of_nothing_says_so(tmp_path):
    bench = copy_deck("all-musts", tmp_path)
    edit(bench, KEY, lambda c: c.update(musts=[]))
    with pytest.raises(BenchError, match=r"f1 must: expected a must of the cell \(none\), found 'k1-m1'"):
        read_bench(bench)


def test_what_belongs_to_nobody_is_left_alone(tmp_path):
    bench = copy_deck("all-musts", tmp_path)
    for name in (
        "key/README.md",
        "key/proofs/k1.json",
        "arms/a/log.txt",
        "cells/k1-cart/more.json",
        "arms/.cache.json",
    ):
        write(bench / name, {})
    assert read_bench(bench).key_sha256 == read_bench(DECK / "all-musts").key_sha256


def test_the_reader_and_the_hash_see_the_same_files(tmp_path):
    bench = copy_deck("all-musts", tmp_path)
    write(bench / "key" / ".k0.json", {"cell": "hidden"})
    files = bench_files(bench)
    assert [file.name for file in files["key"]] == ["k1-cart.json"]
    assert read_bench(bench).key_sha256 == key_hash(files["key"])
    assert {name: len(found) for name, found in files.items()} == {"key": 1, "cells": 1, "arms": 1, "verdicts": 1}


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        (KEY, '"tag":', '"tag": "nice", "tag":', "k1-m1 tag: expected the field once, found it 2 times"),
        (ARM, '"severity":', '"severity": "nit", "severity":', "f1 severity: expected the field once"),
        (VERDICT, '"decision":', '"decision": "false", "decision":', "f1 decision: expected the field once"),
        (VERDICT, '"verdicts":', '"verdicts": [], "verdicts":', "verdicts: expected the field once"),
        ("cells/k1-cart/cell.json", '"title":', '"title": "", "title":', "title: expected the field once"),
    ],
)
def test_a_field_that_is_there_twice(file, old, new, expected, tmp_path):
    bench = copy_deck("all-musts", tmp_path)
    text = (bench / file).read_text()
    assert old in text
    (bench / file).write_text(text.replace(old, new, 1))
    with pytest.raises(BenchError) as caught:
        read_bench(bench)
    assert [expected in fault and file in fault for fault in caught.value.faults] == [True], caught.value


BLANKS = ["", " ", "\n\t", "\u00a0", "\u200b", "\u2800\u3164", "\u00ad\ufeff"]
BLANK_FIELDS = {
    "a must's id": (KEY, lambda c, text: c["musts"][0].update(id=text), "musts[0]"),
    "a must's claim": (KEY, lambda c, text: c["musts"][0].update(claim=text), "musts[0] (k1-m1).claim"),
    "an anti-hit's claim": (KEY, lambda c, text: c["anti_hits"][0].update(claim=text), "anti_hits[0] (k1-a1).claim"),
    "a finding's id": (ARM, lambda c, text: c["findings"][0].update(id=text), "findings[0]"),
    "a finding's claim": (ARM, lambda c, text: c["findings"][0].update(claim=text), "findings[0] (f1).claim"),
    "a finding's severity": (ARM, lambda c, text: c["findings"][0].update(severity=text), "findings[0] (f1).severity"),
    "a verdict's finding": (VERDICT, lambda c, text: c["verdicts"][0].update(finding=text), "verdicts[0]"),
}


@pytest.mark.parametrize("text", BLANKS, ids=ascii)
@pytest.mark.parametrize("name", BLANK_FIELDS)
def test_blank_is_not_there(name, text, tmp_path):
    file, what, place = BLANK_FIELDS[name]
    bench = copy_deck("all-musts", tmp_path)
    edit(bench, file, lambda content: what(content, text))
    with pytest.raises(BenchError) as caught:
        read_bench(bench)
    faults = [fault for fault in caught.value.faults if place in fault]
    assert len(faults) == 1
    assert "expected text that is not blank" in faults[0]
    assert file in faults[0]


def test_other_scripts_are_not_blank(tmp_path):
    bench = copy_deck("all-musts", tmp_path)
    edit(bench, KEY, lambda c: c["musts"][0].update(claim="数量", symbol="é"))
    edit(bench, ARM, lambda c: c["findings"][0].update(claim="🔥"))
    assert read_bench(bench).musts["k1-m1"].claim == "数量"


def test_one_bad_file_is_one_fault(tmp_path):
    bench = copy_deck("all-musts", tmp_path)
    (bench / ARM).write_text("{")
    with pytest.raises(BenchError) as caught:
        read_bench(bench)
    assert [ARM in fault for fault in caught.value.faults] == [True]


@pytest.mark.parametrize(
    ("file", "what", "expected"),
    [
        (KEY, lambda c: twice(c["musts"]), "musts[3].id: expected an id of its own, found 'k1-m1', which musts[0] of"),
        (
            KEY,
            lambda c: c["anti_hits"][0].update(id="k1-m2"),
            "anti_hits[0].id: expected an id of its own, found 'k1-m2', which musts[1] of k1-cart.json has",
        ),
        (
            KEY,
            lambda c: c["musts"][0].update(line=None, end_line=7),
            "k1-m1 end_line: expected none without a line, found 7",
        ),
        (
            KEY,
            lambda c: c["musts"][0].update(line=7, end_line=3),
            "k1-m1 end_line: expected line 7 or a later one, found 3",
        ),
        (ARM, lambda c: twice(c["findings"]), "f1 id: expected one finding with it, found 2"),
    ],
)
def test_a_message_says_what_was_expected(file, what, expected, tmp_path):
    bench = copy_deck("all-musts", tmp_path)
    edit(bench, file, what)
    with pytest.raises(BenchError) as caught:
        read_bench(bench)
    assert any(expected in fault and file in fault for fault in caught.value.faults), caught.value


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"tree_commit": "main"}, r"tree_commit: expected a commit, 40 or 64 hexadecimal digits, found 'main'"),
        ({"tree_commit": "F" * 40}, "tree_commit: expected a commit"),
        ({"tree_commit": 7}, r"tree_commit: .*found 7"),
        ({"tree": ""}, "tree: expected text that is not blank"),
        ({"history": 1}, "history: .*found 1"),
    ],
)
def test_a_bench_file_names_what_can_be(fields, expected, tmp_path):
    bench = copy_deck("all-musts", tmp_path)
    write(bench / "bench.json", {"bench": "b", **fields})
    with pytest.raises(BenchError, match=f"bench.json: {expected}"):
        read_bench(bench)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"tree": "no"}, r"bench\.json: tree: .*/no: expected a folder, a repository or a bundle, found nothing"),
        ({"tree": "bench.json"}, r"bench\.json: tree: .*expected a repository or a bundle, found: fatal: "),
        ({"tree": "a\0b"}, r"bench\.json: tree: .*found nothing"),
        ({"history": "no.bundle", "tree_commit": "0" * 40}, r"bench\.json: history: .*no\.bundle: expected .* nothing"),
        ({"history": "bench.json", "tree_commit": "0" * 40}, r"bench\.json: tree_commit: .*expected a repository or"),
        (
            {"history": str(BENCH / "history.bundle"), "tree_commit": "0" * 40},
            r"bench\.json: tree_commit: .*found '000",
        ),
    ],
)
def test_a_tree_that_is_not_there_is_a_fault_of_its_field(fields, expected, tmp_path):
    folder = copy_deck("all-musts", tmp_path)
    write(folder / "bench.json", {"bench": "b", **fields})
    bench = read_bench(folder)
    with pytest.raises(TreeError, match=expected):
        score_bench(bench, bench_tree(bench))


def test_a_merge_that_is_not_there_is_a_fault_of_its_cell(tmp_path):
    folder = copy_deck("all-musts", tmp_path)
    write(folder / "bench.json", {"history": str(BENCH / "history.bundle")})
    change(folder / "cells" / "k1-cart" / "cell.json", merge_commit="0" * 40)
    edit(folder, KEY, lambda c: c["musts"][0].update(cite_at_merge={"path": "shop/cart.py", "line": 1}))
    edit(folder, ARM, lambda c: c["findings"][0]["cites"][0].update(quote="what is nowhere at all"))
    bench = read_bench(folder)
    with pytest.raises(TreeError, match=r"cells/k1-cart/cell\.json: merge_commit: .*found '000"):
        score_bench(bench, bench_tree(bench))


def test_findings_of_a_failed_run_score_nothing(tmp_path):
    folder = shutil.copytree(DECK / "all-musts", tmp_path / "bench")
    (arms,) = (folder / "arms").rglob("*.json")
    arms.write_text(json.dumps({**json.loads(arms.read_text()), "status": "failed", "reason": "out of memory"}))
    bench = read_bench(folder)
    tree = LiveTree(bench.tree)
    assert cite_table(bench, tree).empty
    readings = what_if(findings_table(bench, tree), must_table(bench), run_table(bench)).set_index(
        ["reading", "figure"]
    )
    assert pd.isna(readings.loc[("as declared", "weighted_recall"), "value"])
    assert readings.loc[("failure is silence", "weighted_recall"), "value"] == 0
