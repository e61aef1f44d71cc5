"""Counts and scores of reviews: an independent count, a public bench, and what must hold for any bench."""

import csv
import random
import time
from collections import Counter
from pathlib import Path

import bench_review
import martian
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reviewkit import BENCH, DECK, PUBLIC, needs_public, write_bench

from crucible_nb.languages import MissingExtraError
from crucible_nb.review.bench import BenchError, read_bench
from crucible_nb.review.citations import LiveTree
from crucible_nb.review.score import (
    FINDING_BUCKETS,
    SCORE_COLUMNS,
    findings_table,
    must_table,
    run_table,
    score_bench,
    score_findings,
)
from crucible_nb.review.standings import (
    arm_totals,
    compare_arms,
    hit_matrix,
    rank_stability,
    standings,
    what_if,
)
from crucible_nb.rules import Rules

WEIGHTS = {"opus-critical": 3.0, "should": 2.0, "nice": 1.0}
BANDS = {"opus-critical": ("critical", "major"), "should": ("critical", "major", "minor")}
BANDS["nice"] = ("critical", "major", "minor", "nit")
DECISIONS = ["must", "real", "anti_hit", "false", "duplicate", "neutral", "unjudged"]


def by_hand(findings, musts, status, rules):
    """The columns of one run, counted one finding after the other."""
    if status == "failed":
        return {"run_status": "failed", "weighted_recall": None, "precision": None, "findings": None}
    count = Counter(finding["decision"] for finding in findings)
    strict = rules.matches == "strict"
    earned = [f for f in findings if f["decision"] == "must" and (f["strict"] or not strict)]
    got = [musts[finding["must"]] for finding in earned]
    left = sorted(
        (WEIGHTS[tag] for name, tag in musts.items() if name not in {f["must"] for f in earned}), reverse=True
    )
    total = sum(WEIGHTS[tag] for tag in musts.values())
    weight = sum(WEIGHTS[tag] for tag in got)
    true, false = count["must"] + count["real"], count["false"] + count["anti_hit"]
    scorable = len(findings) if rules.precision == "literal" else true + false + count["unjudged"]
    made_up = ("fabricated", "suspect") if rules.citations == "strict" else ("fabricated",)
    critical = sum(tag == "opus-critical" for tag in musts.values())
    reached = sum(finding["severity"] in BANDS[musts[finding["must"]]] for finding in earned)

    def ratio(over, under):
        return over / under if under else None

    judged = not count["unjudged"]
    return {
        "run_status": status,
        "findings": len(findings),
        "matched": len(earned),
        "weighted_recall": ratio(weight, total),
        "weighted_recall_high": ratio(weight + sum(left[: count["unjudged"]]), total),
        "opus_crit_cov": ratio(sum(tag == "opus-critical" for tag in got), critical),
        "true_findings": true,
        "precision": ratio(true, scorable) if judged else None,
        "precision_literal": ratio(true, len(findings)) if judged else None,
        "precision_low": ratio(true, scorable),
        "precision_high": ratio(true + count["unjudged"], scorable),
        "anti_hits": sum(f["decision"] == "anti_hit" or f["bucket"] in made_up for f in findings),
        "anti_claims": count["anti_hit"],
        "fabricated": sum(f["bucket"] in made_up for f in findings),
        "suspects": sum(f["bucket"] == "suspect" for f in findings),
        "drift": sum(f["bucket"] == "drift" for f in findings),
        "false_findings": count["false"],
        "duplicates": count["duplicate"],
        "neutral": count["neutral"],
        "unjudged": count["unjudged"],
        "severity_fidelity": ratio(reached, len(earned)),
    }


def random_tables(seed):
    """A bench of tables, with everything in it that can be."""
    draw = random.Random(seed)
    cells = [f"k{n}" for n in range(draw.randint(1, 3))]
    musts = {cell: {f"{cell}-m{n}": draw.choice(list(WEIGHTS)) for n in range(draw.randint(0, 4))} for cell in cells}
    runs, findings = [], []
    for arm in ("a", "b", "c")[: draw.randint(1, 3)]:
        for cell in cells:
            status = draw.choice(["ok", "ok", "ok", "silent", "failed"])
            runs.append({"arm": arm, "cell": cell, "status": status})
            left = list(musts[cell])
            for _ in range(draw.randint(1, 8) if status == "ok" else 0):
                decision = draw.choice(DECISIONS)
                if decision == "must" and not left:
                    decision = "false"
                must = left.pop(draw.randrange(len(left))) if decision == "must" else None
                findings.append(
                    {
                        "arm": arm,
                        "cell": cell,
                        "decision": decision,
                        "must": must,
                        "severity": draw.choice(["critical", "major", "minor", "nit", "Major "]),
                        "bucket": draw.choice(FINDING_BUCKETS),
                        "strict": draw.choice([True, False]) if must else None,
                    }
                )
    draw.shuffle(findings)
    return findings, musts, runs


def frames(findings, musts, runs):
    """The same as tables."""
    columns = ["arm", "cell", "decision", "must", "severity", "bucket", "strict"]
    table = pd.DataFrame(findings, columns=columns)
    rows = [(cell, name, tag) for cell, own in musts.items() for name, tag in own.items()]
    return table, pd.DataFrame(rows, columns=["cell", "must", "tag"]), pd.DataFrame(runs)


RULES = [Rules(), Rules(citations="strict", matches="strict"), Rules(precision="literal")]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from(RULES))
def test_counted_one_after_the_other(seed, rules):
    findings, musts, runs = random_tables(seed)
    table = score_findings(*frames(findings, musts, runs), rules).set_index(["arm", "cell"])
    assert table.index.is_monotonic_increasing
    for run in runs:
        own = [f for f in findings if (f["arm"], f["cell"]) == (run["arm"], run["cell"])]
        for finding in own:
            finding["severity"] = finding["severity"].strip().lower()
        expected = by_hand(own, musts[run["cell"]], run["status"], rules)
        row = table.loc[(run["arm"], run["cell"])]
        for name, value in expected.items():
            if value is None:
                assert pd.isna(row[name]), (name, row[name])
                assert row["undefined"]
            else:
                assert row[name] == pytest.approx(value, abs=1e-12) if not isinstance(value, str) else value, name


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9))
def test_bounds_hold_whatever_the_overseer_decides_later(seed):
    findings, musts, runs = random_tables(seed)
    before = score_findings(*frames(findings, musts, runs))
    draw = random.Random(seed)
    earned = {(f["arm"], f["must"]) for f in findings if f["must"]}
    for finding in findings:
        if finding["decision"] == "unjudged":
            finding["decision"] = draw.choice(["real", "false", "must"])
            free = [m for m in musts[finding["cell"]] if (finding["arm"], m) not in earned]
            if finding["decision"] == "must" and not free:
                finding["decision"] = "real"
            elif finding["decision"] == "must":
                finding["must"] = draw.choice(free)
                earned.add((finding["arm"], finding["must"]))
    after = score_findings(*frames(findings, musts, runs))
    scored = after["precision"].notna()
    assert (after["precision"] >= before["precision_low"] - 1e-12)[scored].all()
    assert (after["precision"] <= before["precision_high"] + 1e-12)[scored].all()
    recall = after["weighted_recall"].notna()
    assert (after["weighted_recall"] >= before["weighted_recall"] - 1e-12)[recall].all()
    assert (after["weighted_recall"] <= before["weighted_recall_high"] + 1e-12)[recall].all()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9))
def test_order_and_storage_do_not_count(seed):
    findings, musts, runs = frames(*random_tables(seed))
    table = score_findings(findings, musts, runs)
    mixed = findings.sample(frac=1, random_state=seed % 1000)
    stored = mixed.astype({name: "category" for name in ("arm", "cell", "decision", "must", "severity", "bucket")})
    pd.testing.assert_frame_equal(table, score_findings(stored, musts, runs.iloc[::-1]))
    numbers = table.select_dtypes("number")
    shares = [
        name for name in numbers if name.startswith(("weighted_recall", "precision", "opus_crit_cov", "severity_f"))
    ]
    assert ((numbers[shares].fillna(0) >= 0) & (numbers[shares].fillna(0) <= 1)).all().all()


def test_noise_lowers_precision_and_leaves_recall():
    musts = {"k": {"m1": "should"}}
    run = [{"arm": "a", "cell": "k", "status": "ok"}]
    own = {"arm": "a", "cell": "k", "severity": "nit", "bucket": "ok", "strict": True}
    good = [{**own, "decision": "must", "must": "m1"}]
    bad = {**own, "decision": "false", "must": None, "strict": None}
    rows = [score_findings(*frames(good + [bad] * n, musts, run)).iloc[0] for n in range(4)]
    assert [row["precision"] for row in rows] == [1, 1 / 2, 1 / 3, 1 / 4]
    assert {row["weighted_recall"] for row in rows} == {1.0}


def test_tables_that_do_not_fit_together():
    findings, musts, runs = frames(*random_tables(3))
    for broken, message in (
        ((findings.assign(arm="z"), musts, runs), "arm: expected one of"),
        ((findings, musts, runs.iloc[:1]), "expected"),
        ((findings, musts, pd.concat([runs, runs])), "a pair twice"),
        ((findings, pd.concat([musts, musts]), runs), "expected each id once"),
        ((findings, musts.assign(tag="big"), runs), "tag: expected one of"),
        ((findings.assign(bucket="odd"), musts, runs), "bucket: expected one of"),
        ((findings.assign(severity=None), musts, runs), "none"),
    ):
        with pytest.raises(ValueError, match=message):
            score_findings(*broken)


@pytest.mark.filterwarnings("ignore:wrong tree")
def test_many_findings_from_files(tmp_path):
    """10,000 findings; 200,000 take a minute at most, as `make bench` measures. Processor time, whatever else runs."""
    root = bench_review.write_files(tmp_path, 2)
    start = time.process_time()
    scores = score_bench(read_bench(root), LiveTree(root / "tree"))
    assert time.process_time() - start < 60 * 10_000 / 200_000 * 2
    assert (scores["findings"].sum(), scores["matched"].sum()) == (10_000, 2_000)


@pytest.fixture(scope="module")
def bench():
    return read_bench(BENCH)


@pytest.fixture(scope="module")
def scores(bench):
    return score_bench(bench, LiveTree(bench.tree))


def test_scores_of_the_bench_are_the_derived_ones(scores):
    """A golden: it changes only in a commit that says which scores moved, and why."""
    stored = (BENCH.parent / "derived" / "bench_scores.csv").read_text(encoding="utf-8")
    assert scores.to_csv(index=False, lineterminator="\n") == stored


def test_scores_have_the_columns_of_the_contract(scores):
    assert list(scores.columns) == list(SCORE_COLUMNS)
    assert len(SCORE_COLUMNS) == 41
    assert not scores["undefined"].str.contains("precision").any()


def test_a_folder_that_differs_from_its_commit_is_dirty(bench, tmp_path):
    import shutil

    copy = Path(shutil.copytree(bench.tree, tmp_path / "tree"))
    assert set(score_bench(bench, LiveTree(copy))["tree_dirty"]) == {False}
    (copy / "more.py").write_text("x = 1\n")
    assert set(score_bench(bench, LiveTree(copy))["tree_dirty"]) == {True}


def test_rules_move_what_they_say(bench, scores):
    tree = LiveTree(bench.tree)
    strict = score_bench(bench, tree, Rules(matches="strict"))
    assert strict["weighted_recall"].equals(scores["weighted_recall_strict"])
    flat = score_bench(bench, tree, Rules(critical_weight=1, should_weight=1, nice_weight=1))
    assert (flat["weighted_recall"] == flat["matched"] / flat["musts"]).all()
    literal = score_bench(bench, tree, Rules(precision="literal"))
    assert literal["precision"].equals(scores["precision_literal"])
    assert len({table["signature"].iloc[0] for table in (scores, strict, flat, literal)}) == 4


def test_the_second_overseer(bench):
    second = score_bench(bench, LiveTree(bench.tree), overseer="second")
    assert set(second["overseer"]) == {"second"}


def test_severity_words(tmp_path):
    finding = {"id": "f1", "severity": "Blocker", "cites": []}
    musts = {"k": [{"id": "m", "tag": "opus-critical", "claim": "c"}]}
    verdict = {"finding": "f1", "decision": "must", "must": "m"}
    bench = write_bench(tmp_path / "b", musts, {("a", "k"): ([finding], [verdict])})
    tree = LiveTree(tmp_path / "b" / "tree")
    with pytest.raises(BenchError, match=r"arms/a/k\.json: f1 severity: .*'Blocker'"):
        score_bench(bench, tree)
    row = score_bench(bench, tree, Rules(aliases="blocker=critical")).iloc[0]
    assert (row["severity_fidelity"], row["uncited"]) == (1.0, 1)
    assert "weighted_recall_strict: no place of a must is known" in row["undefined"]
    assert "tree_commit" in row["undefined"]


@pytest.mark.filterwarnings("ignore:wrong tree")
def test_totals_by_hand(scores):
    totals = arm_totals(scores, with_f1=True, resamples=200)
    for arm, own in scores.groupby("arm"):
        macro, micro = (standings(totals, average).loc[arm] for average in ("macro", "micro"))
        assert macro["precision"] == pytest.approx(own["precision"].mean())
        scorable = own["true_findings"] + own["false_findings"] + own["anti_claims"]
        assert micro["precision"] == pytest.approx(own["true_findings"].sum() / scorable.sum())
        assert micro["weighted_recall"] == pytest.approx(own["weight_matched"].sum() / own["weight_total"].sum())
        precision, recall = micro["precision"], micro["weighted_recall"]
        assert micro["f1"] == pytest.approx(2 * precision * recall / (precision + recall))
        assert macro["anti_hits"] == pytest.approx(own["anti_hits"].mean())


def test_failed_and_silent_runs_in_totals():
    musts = {"k1": {"m1": "nice"}, "k2": {"m2": "nice"}}
    runs = [{"arm": arm, "cell": cell, "status": "ok"} for arm in "ab" for cell in musts]
    runs[1]["status"], runs[3]["status"] = "failed", "silent"
    own = {"severity": "nit", "bucket": "ok", "strict": True, "decision": "must"}
    findings = [{**own, "arm": arm, "cell": "k1", "must": "m1"} for arm in "ab"]
    scores = score_findings(*frames(findings, musts, runs))
    totals = arm_totals(scores, resamples=100)
    recall = totals[totals["figure"] == "weighted_recall"].set_index(["arm", "average"])["estimate"]
    assert recall.to_dict() == {("a", "macro"): 1, ("a", "micro"): 1, ("b", "macro"): 0.5, ("b", "micro"): 0.5}
    counts = totals.drop_duplicates("arm").set_index("arm")[["ok", "silent", "failed"]]
    assert counts.values.tolist() == [[1, 0, 1], [1, 1, 0]]
    readings = what_if(*frames(findings, musts, runs))
    values = readings[readings["figure"] == "weighted_recall"].set_index(["reading", "arm"])["value"]
    assert values["silence is failure"].tolist() == [1, 1]
    assert values["failure is silence"].tolist() == [0.5, 0.5]
    assert values["without k2"].tolist() == [1, 1]


def test_an_arm_that_failed_everywhere():
    musts = {"k1": {"m1": "nice"}, "k2": {"m2": "nice"}}
    runs = [
        {"arm": arm, "cell": cell, "status": "failed" if arm == "a" else "silent"} for arm in "ab" for cell in musts
    ]
    scores = score_findings(*frames([], musts, runs))
    totals = arm_totals(scores, resamples=100)
    assert pd.isna(standings(totals).loc["a", "weighted_recall"])
    assert standings(totals).loc["b", "weighted_recall"] == 0
    compared = compare_arms(scores)
    assert not compared.pairs["differs"].any()
    assert len(rank_stability(what_if(*frames([], musts, runs)))) > 0


def test_comparisons_find_a_difference_when_there_are_cells_enough():
    cells = [f"k{n:02}" for n in range(12)]
    musts = {cell: {f"{cell}-m{n}": "nice" for n in range(4)} for cell in cells}
    own = {"severity": "nit", "bucket": "ok", "strict": True, "decision": "must"}
    findings = [{**own, "arm": "a", "cell": cell, "must": name} for cell in cells for name in list(musts[cell])[:3]]
    findings += [{**own, "arm": "b", "cell": cell, "must": f"{cell}-m0"} for cell in cells]
    runs = [{"arm": arm, "cell": cell, "status": "ok"} for arm in "ab" for cell in cells]
    compared = compare_arms(score_findings(*frames(findings, musts, runs)))
    (pair,) = compared.pairs.to_dict("records")
    assert pair["difference"] == pytest.approx(0.5)
    assert pair["p"] == 2 / 2**12
    assert pair["differs"]
    assert compared.groups["group"].tolist() == [1, 2]


def test_hits_and_recall_agree(bench, scores):
    hits = hit_matrix(bench)
    assert hits.sum().to_dict() == scores.groupby("arm")["matched"].sum().to_dict()
    failed = hit_matrix(read_bench(DECK / "failed-run"))
    assert failed["a"].isna().any()


def test_what_if_starts_from_the_scores(bench, scores):
    tree = LiveTree(bench.tree)
    readings = what_if(findings_table(bench, tree), must_table(bench), run_table(bench))
    declared = readings[readings["reading"] == "as declared"]
    for figure in ("weighted_recall", "precision", "anti_hits"):
        own = declared[declared["figure"] == figure].set_index("arm")["value"]
        np.testing.assert_allclose(own, scores.astype({figure: float}).groupby("arm")[figure].mean()[own.index])
    assert rank_stability(readings).query("reading == 'as declared'")["swapped"].sum() == 0


@pytest.fixture(scope="module")
def public_scores(tmp_path_factory):
    """Scores of a public bench of 50 cells and 12 arms, from files."""
    folder = tmp_path_factory.mktemp("martian")
    martian.write_bench(Path(PUBLIC) / "review_martian", folder / "bench")
    (folder / "tree").mkdir()
    return score_bench(read_bench(folder / "bench"), LiveTree(folder / "tree"))


@needs_public
def test_a_public_bench_row_by_row(public_scores):
    """600 rows that were computed independently of this kit."""
    source, table = Path(PUBLIC) / "review_martian", public_scores
    expected = pd.read_csv(source / "expected_one_to_one_opus-4.5.csv").sort_values(["arm", "cell"], ignore_index=True)
    assert len(table) == len(expected) == 600
    assert (table[["arm", "cell"]] == expected[["arm", "cell"]]).all().all()
    for name in expected.columns.drop(["judge", "cell", "arm"]):
        ours, theirs = table[name].astype(float).to_numpy(dtype=float), expected[name].to_numpy(dtype=float)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12, equal_nan=True, err_msg=name)


@needs_public
def test_published_totals_where_definitions_agree(public_scores):
    """Musts and false findings agree; theirs may let one finding earn two musts, so they match up to 6 more."""
    source, table = Path(PUBLIC) / "review_martian", public_scores
    rows = list(csv.DictReader((source / "published_overall_opus-4.5.csv").open(encoding="utf-8")))
    published = {(row["tool"], row["metric"]): float(row["published"]) for row in rows if row["scope"] == "overall"}
    sums = table.groupby("arm")[["matched", "musts", "false_findings", "findings", "duplicates"]].sum()
    for arm, own in sums.iterrows():
        assert own["musts"] == published[arm, "tp"] + published[arm, "fn"]
        assert own["false_findings"] == published[arm, "fp"]
        assert 0 <= published[arm, "tp"] - own["matched"] <= 6


def test_without_grammars_the_strict_reading_is_undefined(bench, monkeypatch):
    def missing(*_):
        raise MissingExtraError("pip install it")

    monkeypatch.setattr("crucible_nb.review.score.strict_hits", missing)
    with pytest.warns(UserWarning, match="pip install"):
        table = score_bench(bench, LiveTree(bench.tree))
    assert table["weighted_recall_strict"].isna().all()
    assert table["undefined"].str.contains("weighted_recall_strict: ast-grep-py is not installed").all()
    assert table["weighted_recall"].notna().all()
