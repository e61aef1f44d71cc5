"""Agreement of raters: against scikit-learn, krippendorff, published tables and recorded values."""

import math
import os
from itertools import combinations
from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from crucible_nb.agreement import ac1_of, agreement_table, alpha_of, cohen_of, fleiss_of, ratings, raw_of, unanimous_of
from crucible_nb.stats import bootstrap, measure, resample

few = settings(max_examples=25, deadline=None, derandomize=True, database=None)
LEVELS = ["nominal", "ordinal", "interval"]
JUDGES = ["opus-4.5", "sonnet-4.5", "gpt-5.2"]

# How often three judges of a public review bench gave each combination of found (1) and not found (0), 1,644 in all.
# What follows from it was computed with scikit-learn, statsmodels, krippendorff and irrCAC.
PATTERNS = {"000": 998, "001": 6, "010": 19, "011": 8, "100": 9, "101": 13, "110": 21, "111": 570}
RECORDED = {
    "raw": 0.9691808596918087,
    "unanimous": 0.9537712895377128,
    "Fleiss": 0.933939971576169,
    "alpha (nominal)": 0.9339533657425162,
    "Cohen opus-4.5, sonnet-4.5": 0.9363744929294461,
    "Cohen opus-4.5, gpt-5.2": 0.9424680152515116,
    "Cohen sonnet-4.5, gpt-5.2": 0.9229926450973667,
}


def judged():
    """The table of the three judges."""
    rows = [[int(given) for given in pattern] for pattern, times in PATTERNS.items() for _ in range(times)]
    return pd.DataFrame(rows, columns=JUDGES)


def public():
    """Folder with the public review bench."""
    if not (root := os.environ.get("CRUCIBLE_PUBLIC")):
        pytest.skip("CRUCIBLE_PUBLIC is not set")
    return Path(root) / "review_martian"


def rated(seed, n=30, raters=4, values=5, holes=0.2):
    """Ratings that agree in about two of three cases, with holes."""
    draws = np.random.default_rng(seed)
    truth = draws.integers(values, size=(n, 1))
    given = np.where(draws.random((n, raters)) < 0.7, truth, draws.integers(values, size=(n, raters))).astype(float)
    given[draws.random(given.shape) < holes] = np.nan
    return pd.DataFrame(given, columns=list("abcdefgh"[:raters]))


def tally_table(tallies):
    """Items with so many ratings of each value, as a table of raters."""
    rows = [np.repeat(np.arange(len(tally)), tally) for tally in tallies]
    return pd.DataFrame(rows, columns=[f"r{at}" for at in range(len(rows[0]))])


@pytest.mark.parametrize("name", RECORDED)
def test_three_judges_agree_as_recorded(name):
    found = agreement_table(judged(), JUDGES, resamples=10).set_index("figure")
    assert found.estimate[name] == pytest.approx(RECORDED[name], abs=1e-12)
    assert found.n[name] == 1644


def test_three_judges_agree_as_recorded_by_irrcac():
    """irrCAC gives five decimals, and an interval from the variance of Fleiss' kappa."""
    found = agreement_table(judged(), JUDGES, resamples=4000).set_index("figure")
    for name, recorded in {"Fleiss": 0.93394, "alpha (nominal)": 0.93395, "AC1": 0.94223}.items():
        assert round(found.estimate[name], 5) == recorded
    assert found.low["alpha (nominal)"] == pytest.approx(0.91945, abs=0.002)
    assert found.high["alpha (nominal)"] == pytest.approx(0.94845, abs=0.002)


def test_public_ratings_agree_as_recorded():
    """All of the bench, each severity and each tool: 17 sets of items with four rows each."""
    table = pd.read_csv(public() / "martian_golden_by_tool.csv").rename(columns={"arm": "tool"})
    expected = pd.read_csv(public() / "agreement_expected.csv")
    patterns = table[JUDGES].astype(str).agg("".join, axis=1).value_counts().to_dict()
    assert patterns == PATTERNS
    alone, together = (bootstrap(table, alpha_of(JUDGES), cluster=by, resamples=2000) for by in (None, "cell"))
    assert together.clusters == 50
    assert together.high - together.low > alone.high - alone.low
    checked = 0
    for row in expected.itertuples():
        column, _, value = row.set.partition("=")
        if row.set != "golden_x_tool (1644)" and column not in table.columns:
            continue  # sets that need the candidates' texts, which are not in this file
        items = table[table[column] == value] if value else table
        assert len(items) == row.n
        if row.raters == "ALL3":
            found = {
                "raw_agreement": unanimous_of(JUDGES),
                "mean_pairwise_agreement": raw_of(JUDGES),
                "fleiss_kappa": fleiss_of(JUDGES),
                "krippendorff_alpha": alpha_of(JUDGES),
            }
            assert round(measure(items, ac1_of(JUDGES)).value, 5) == row.gwet_ac1
        else:
            pair = row.raters.split("|")
            found = {"raw_agreement": raw_of(pair), "cohen_kappa": cohen_of(pair)}
        for name, figure in found.items():
            assert measure(items, figure).value == pytest.approx(getattr(row, name), abs=1e-12)
        checked += 1
    assert checked == 17 * 4


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(12))
def test_alpha_is_that_of_krippendorff(level, seed):
    table = rated(seed, n=5 + 3 * seed, raters=2 + seed % 4, values=2 + seed % 5)
    theirs = krippendorff.alpha(table.to_numpy().T, level_of_measurement=level)
    assert measure(table, alpha_of(list(table), level)).value == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize(("level", "published"), list(zip(LEVELS, [0.743, 0.815, 0.849], strict=True)))
def test_alpha_of_the_published_example(level, published):
    """Krippendorff (2011), Computing Krippendorff's alpha-reliability, part C: four observers, twelve units."""
    rows = ["1 2 3 3 2 1 4 1 2 . . .", "1 2 3 3 2 2 4 1 2 5 . 3", ". 3 3 3 2 3 4 2 2 5 1 .", "1 2 3 3 2 4 4 1 2 5 1 ."]
    values = [[None if word == "." else int(word) for word in row.split()] for row in rows]
    table = pd.DataFrame(dict(zip("ABCD", values, strict=True)))
    found = measure(table, alpha_of(list("ABCD"), level))
    assert round(found.value, 3) == published
    assert found.n == 11


def test_fleiss_of_the_published_example():
    """Ten items, 14 raters, five values; kappa 0.210 (the worked example of the English Wikipedia)."""
    tallies = [
        (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
    ]  # fmt: skip
    table = tally_table(tallies)
    assert round(measure(table, fleiss_of(list(table))).value, 3) == 0.210
    assert measure(table, raw_of(list(table))).value == pytest.approx(0.378, abs=5e-4)


def test_cohen_of_the_published_example():
    """Two readers of 50 proposals, 20 twice yes and 15 twice no; kappa 0.4 (the English Wikipedia's first example)."""
    table = pd.DataFrame([(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15, columns=["a", "b"])
    assert measure(table, cohen_of(["a", "b"])).value == pytest.approx(0.4)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@pytest.mark.parametrize("seed", range(6))
def test_cohen_is_that_of_scikit_learn(weights, seed):
    table = rated(seed, raters=2)
    both = table.dropna().astype(int)
    theirs = cohen_kappa_score(both.a, both.b, weights=weights, labels=range(5))
    found = measure(table, cohen_of(["a", "b"], weights=weights, categories=range(5)))
    assert found.value == pytest.approx(theirs, abs=1e-12)
    assert found.n == len(both)


def figures(raters, categories=None):
    """Every coefficient for these raters."""
    levels = [alpha_of(raters, level, categories=categories) for level in LEVELS]
    pairs = [cohen_of(pair, categories=categories) for pair in combinations(raters, 2)]
    return [
        raw_of(raters),
        unanimous_of(raters),
        fleiss_of(raters),
        *levels,
        ac1_of(raters, categories=categories),
        *pairs,
    ]


@pytest.mark.parametrize("cluster", [None, "cell"])
def test_computed_at_once_is_computed_one_by_one(cluster):
    """Each coefficient of each resample, against the coefficient of the table of that resample."""
    table = rated(1, n=12, raters=3, values=3).assign(cell=np.arange(12) // 3)
    values = sorted({value for name in "abc" for value in table[name].dropna()})
    for figure in figures(list("abc"), values):
        fast = resample(table, figure, cluster=cluster, resamples=40)
        slow = resample(
            table[figure.used(table)],
            lambda rows, figure=figure: measure(rows, figure).value,
            cluster=cluster,
            resamples=40,
        )
        assert fast.values == pytest.approx(slow.values, abs=1e-9)
        assert fast.without == pytest.approx(slow.without, abs=1e-9, nan_ok=True)


marks = st.sampled_from([0, 1, 2, None])


@given(st.lists(st.tuples(marks, marks, marks), min_size=1, max_size=15), st.randoms(use_true_random=False))
@few
def test_what_may_not_matter_does_not(rows, random):
    """The order of items and of raters, and items that nobody rated."""
    table = pd.DataFrame(rows, columns=list("abc"), dtype=object)
    shuffled = random.sample(rows, len(rows)) + [(None, None, None)]
    other = pd.DataFrame(shuffled, columns=list("abc"), dtype=object)[["c", "a", "b"]]
    for ours, theirs in zip(figures(list("abc"), range(3))[:7], figures(list("cab"), range(3))[:7], strict=True):
        before, after = measure(table, ours), measure(other, theirs)
        assert (before.n, before.reason == "") == (after.n, after.reason == "")
        assert before.value is None or before.value == pytest.approx(after.value, abs=1e-9)
        assert before.value is None or before.value <= 1 + 1e-12
        assert (before.value is None) == bool(before.reason)


def test_full_agreement_is_one_and_a_single_value_is_undefined():
    same = pd.DataFrame({"a": [0, 1, 2, 1], "b": [0, 1, 2, 1], "c": [0, 1, 2, 1]})
    for figure in figures(list("abc")):
        assert measure(same, figure).value == pytest.approx(1)
    single = pd.DataFrame({"a": [7, 7, 7], "b": [7, 7, 7], "c": [7, 7, None]})
    for figure in figures(list("abc")):
        found = measure(single, figure)
        if figure.name in ("raw", "unanimous"):
            assert found.value == 1
        else:
            assert found.value is None
            assert found.reason.endswith("0/0")
            assert bootstrap(single, figure).reason == found.reason


def test_missing_ratings():
    """An item counts where a coefficient can use it: with two ratings for alpha, all for Fleiss, one for AC1."""
    table = pd.DataFrame({"a": [1, 0, 1, None, None], "b": [1, 0, None, 1, None], "c": [1, 1, 0, None, None]})
    used = [measure(table, figure).n for figure in figures(list("abc"))[:7]]
    assert used == [3, 3, 2, 3, 3, 3, 4]
    # By hand: pairs agree on 1, 1/3 and 0 of the items; mean shares of the value 1 are 1, 1/3, 1/2 and 1
    share, observed = (1 + 1 / 3 + 1 / 2 + 1) / 4, (1 + 1 / 3 + 0) / 3
    chance = 2 * share * (1 - share)
    assert measure(table, ac1_of(list("abc"))).value == pytest.approx((observed - chance) / (1 - chance))
    alone = pd.DataFrame({"a": [1, None, 0], "b": [None, 1, None]})
    assert measure(alone, alpha_of(["a", "b"])).reason == "no row of 3 counts for alpha (nominal)"
    assert measure(alone, ac1_of(["a", "b"])).value is None


def test_a_shift_and_a_stretch_do_not_move_interval_alpha():
    table = rated(3, raters=3)
    expected = measure(table, alpha_of(list("abc"), "interval")).value
    for moved in (table * 0.1, table + 1e6, table * 1e-7 + 5, table * 1e200):
        assert measure(moved, alpha_of(list("abc"), "interval")).value == pytest.approx(expected, abs=1e-6)


def test_a_monotone_change_of_scale_does_not_move_ordinal_alpha():
    table = rated(4, raters=3)
    expected = measure(table, alpha_of(list("abc"), "ordinal")).value
    assert measure(table**3, alpha_of(list("abc"), "ordinal")).value == pytest.approx(expected)


def test_values_of_any_kind():
    words = pd.DataFrame({"a": ["must", "real", None], "b": ["must", "false", "real"]})
    assert ratings(words, ["a", "b"])[1] == ["false", "must", "real"]
    flags = pd.DataFrame({"a": [True, False, True], "b": [True, False, False]})
    assert measure(flags, cohen_of(["a", "b"])).value == measure(flags.astype(int), cohen_of(["a", "b"])).value
    with pytest.raises(ValueError, match="ratings: expected values of one kind, found int, str"):
        measure(pd.DataFrame({"a": [1, "x"], "b": [1, "x"]}, dtype=object), raw_of(["a", "b"]))
    with pytest.raises(ValueError, match="table: expected one column 'z', found a, b"):
        measure(words, raw_of(["a", "z"]))
    with pytest.raises(ValueError, match="raters: expected two or more columns, each once, found a, a"):
        alpha_of(["a", "a"])
    with pytest.raises(ValueError, match="ratings: expected finite numbers, found inf"):
        measure(pd.DataFrame({"a": [1.0, math.inf], "b": [1.0, 2.0]}), alpha_of(["a", "b"], "interval"))
    with pytest.raises(ValueError, match="raters: Cohen's kappa takes two columns, found 3"):
        cohen_of(["a", "b", "c"])


def test_clusters_widen_the_interval():
    """Whole cells of items on which the raters agree or do not: more certain than it looks item by item."""
    table = pd.DataFrame({"cell": np.repeat(np.arange(10), 20)})
    table["a"] = np.arange(200) % 2
    table["b"] = np.where(table.cell < 6, table.a, 1 - table.a)
    alone, together = (bootstrap(table, alpha_of(["a", "b"]), cluster=by) for by in (None, "cell"))
    assert together.high - together.low > 2 * (alone.high - alone.low)
    assert math.isclose(alone.estimate, together.estimate)
