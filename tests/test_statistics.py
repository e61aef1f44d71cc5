"""Intervals, comparisons and areas: against SciPy and scikit-learn, against enumeration, and what must always hold."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from sklearn import metrics

from crucible_nb.comparison import (
    cluster_means,
    cluster_values,
    clusters_needed,
    compare,
    fewest_clusters,
    holm,
    resolution,
    sign_flip,
    smallest_p,
    tie_groups,
)
from crucible_nb.separation import auc, auc_of, rates_by_bin, roc_points
from crucible_nb.stats import (
    bootstrap,
    bootstrap_mean,
    difference_of,
    interval_table,
    mean_of,
    measure,
    ratio_of,
    resample,
    sums_of,
)

few = settings(max_examples=25, deadline=None, derandomize=True, database=None)
KINDS = ["percentile", "BCa"]


def runs(seed, n=60, clusters=9):
    """A table of scored runs in clusters of unequal size; every fifth score is missing."""
    draws = np.random.default_rng(seed)
    cluster = draws.integers(clusters, size=n)
    hard = draws.random(clusters)[cluster]
    a, b = (np.round(np.clip(hard + draws.normal(0, 0.3, n), 0, 1), 2) for _ in range(2))
    table = pd.DataFrame({"cluster": [f"c{at}" for at in cluster], "a": a, "b": b, "weight": draws.integers(1, 5, n)})
    table["right"] = draws.random(n) < 0.2 + 0.6 * hard
    table["holes"] = table.a.where(np.arange(n) % 5 > 0)
    return table


def to_ten(statistic):
    """A statistic without its last digits: SciPy takes resamples that differ by rounding alone for different ones."""
    return lambda *data, axis=-1: np.round(statistic(*data, axis=axis), 10)


def f1(tp, fp, fn):
    return 2 * tp / (2 * tp + fp + fn)


# Intervals


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [2, 5, 30, 101])
def test_mean_is_that_of_scipy(kind, n):
    values = np.random.default_rng(n).gamma(2, size=n)
    mean, draws = to_ten(np.mean), np.random.default_rng(0)
    theirs = scipy_stats.bootstrap((values,), mean, n_resamples=10_000, method=kind, rng=draws)
    ours = bootstrap(pd.DataFrame({"a": values}), mean_of("a"), kind=kind)
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval), abs=1e-9)
    assert (ours.n, ours.clusters, ours.left_out) == (n, n, 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_clustered_ratio_is_that_of_scipy_on_the_sums_of_clusters(kind, level):
    table = runs(1)
    sums = table.assign(found=table.a * table.weight).groupby("cluster")[["found", "weight"]].sum()
    theirs = scipy_stats.bootstrap(
        (sums.found.to_numpy(), sums.weight.to_numpy(float)),
        to_ten(lambda over, under, axis: over.sum(axis) / under.sum(axis)),
        paired=True,
        n_resamples=10_000,
        method=kind,
        confidence_level=level,
        rng=np.random.default_rng(0),
    )
    table["found"] = table.a * table.weight
    ours = bootstrap(table, ratio_of("found", "weight"), cluster="cluster", kind=kind, level=level)
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval), abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_area_is_that_of_scipy(kind):
    table = runs(2, n=40)

    def area(scores, right):
        return round(metrics.roc_auc_score(right, scores), 10)

    theirs = scipy_stats.bootstrap(
        (table.a.to_numpy(), table.right.to_numpy()),
        area,
        paired=True,
        vectorized=False,
        n_resamples=150,
        method=kind,
        rng=np.random.default_rng(0),
    )
    ours = bootstrap(table, auc_of("a", "right"), kind=kind, resamples=150)
    assert ours.left_out == 0
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval), abs=1e-9)


def slow_area(rows):
    return metrics.roc_auc_score(rows.right, rows.a) if rows.right.nunique() == 2 else None


FIGURES = {
    "mean": (mean_of("a"), lambda rows: rows.a.mean()),
    "ratio": (ratio_of("a", "weight"), lambda rows: rows.a.sum() / rows.weight.sum()),
    "sums": (
        sums_of(["a", "b", "weight"], f1, name="f"),
        lambda rows: f1(rows.a.sum(), rows.b.sum(), rows.weight.sum()),
    ),
    "area": (auc_of("a", "right"), slow_area),
    "difference": (difference_of(mean_of("a"), mean_of("b")), lambda rows: (rows.a - rows.b).mean()),
}


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("cluster", [None, "cluster"])
def test_computed_at_once_is_computed_one_by_one(name, cluster):
    """The vectorised figures, against a plain function that is handed the rows of each resample."""
    table = runs(3, n=25, clusters=4)
    fast, slow = (resample(table, figure, cluster=cluster, resamples=100) for figure in FIGURES[name])
    assert fast.values == pytest.approx(slow.values, abs=1e-12)
    assert fast.without == pytest.approx(slow.without, abs=1e-12, nan_ok=True)
    assert (fast.left_out, fast.estimate.n) == (slow.left_out, slow.estimate.n)
    assert fast.estimate.value == pytest.approx(slow.estimate.value, abs=1e-12)


def test_blocks_of_draws_do_not_matter():
    """Of 20,000 rows a hundred resamples at a time are drawn, with the same result as all at once."""
    values = np.random.default_rng(4).normal(size=20_000)
    theirs = np.random.default_rng(0).integers(0, len(values), (150, len(values)))
    ours = resample(pd.DataFrame({"a": values}), mean_of("a"), resamples=150, leave_out=False)
    assert ours.values == pytest.approx(values[theirs].mean(axis=1), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_cover_about_as_often_as_they_say(kind):
    """40 clusters of one to five runs each: the true mean is 0.5."""
    draws, inside, trials = np.random.default_rng(5), 0, 150
    for _ in range(trials):
        sizes = draws.integers(1, 6, 40)
        cluster = np.repeat(np.arange(40), sizes)
        table = pd.DataFrame({"c": cluster, "a": draws.normal(0.5, 1, 40)[cluster] + draws.normal(0, 1, sizes.sum())})
        found = bootstrap(table, mean_of("a"), cluster="c", kind=kind, resamples=500)
        inside += found.low <= 0.5 <= found.high
    assert 0.87 < inside / trials < 0.99


def test_few_clusters_cover_less_than_they_say():
    """What the notebook warns of: with five clusters a 95 % interval is too narrow."""
    draws, inside = np.random.default_rng(6), 0
    for _ in range(200):
        found = bootstrap(pd.DataFrame({"a": draws.normal(0, 1, 5)}), mean_of("a"), resamples=500)
        inside += found.low <= 0 <= found.high
    assert 0.7 < inside / 200 < 0.92


@given(st.integers(0, 10_000))
@few
def test_order_of_rows_and_missing_rows_do_not_matter(seed):
    table = runs(seed, n=30, clusters=5)
    shuffled = table.sample(frac=1, random_state=seed)
    holes = table.dropna(subset=["holes"])
    whole = bootstrap(table, mean_of("holes"), cluster="cluster", resamples=100)
    again = bootstrap(shuffled, mean_of("holes"), cluster="cluster", resamples=100)
    without = bootstrap(holes, mean_of("a"), cluster="cluster", resamples=100)
    assert (whole.n, whole.clusters) == (len(holes), holes.cluster.nunique())
    for other in (again, without):
        assert (other.low, other.high, other.estimate) == pytest.approx(
            (whole.low, whole.high, whole.estimate), abs=1e-12
        )


@given(st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), max_size=12))
@few
def test_an_interval_holds_the_estimate_or_has_a_reason(values):
    found = bootstrap_mean(values, resamples=200)
    if found.reason:
        assert (found.low, found.high) == (None, None)
        assert len(values) < 2 or max(values) == min(values)
    else:
        assert min(values) - 1e-6 <= found.low <= found.high <= max(values) + 1e-6
    assert (found.estimate is None) == (not values)


def test_undefined_has_a_reason():
    table = pd.DataFrame({"c": ["x", "x", "y", "z"], "over": [1.0, 0, 1, 1], "under": [2.0, 0, 0, 4]})
    found = bootstrap(table, ratio_of("over", "under"), cluster="c")
    assert found.left_out / 10_000 == pytest.approx(1 / 27, abs=0.01)
    assert measure(table[table.c == "y"], ratio_of("over", "under")).value is None
    nothing = bootstrap(table.assign(under=0.0), ratio_of("over", "under"), cluster="c", kind="BCa")
    assert (nothing.estimate, nothing.low) == (None, None)
    assert nothing.reason == "over / under is undefined: under sums to 0"
    one = bootstrap(table[table.c == "x"], mean_of("over"), cluster="c")
    assert one.reason == "n = 1 (c): an interval needs two"
    assert bootstrap(table[:0], mean_of("over"), cluster="c").reason == "there is no row"
    fixed = bootstrap(table, lambda rows: 1.0, cluster="c", resamples=50)
    assert (fixed.estimate, fixed.low, fixed.reason) == (1.0, None, "no variation")


def test_bca_says_why_it_is_blank():
    one_sided = pd.DataFrame({"a": [0.0, 1.0, 2.0]})
    top = resample(one_sided, lambda rows: rows.a.max() if rows.a.nunique() > 1 else None, resamples=300)
    assert top.interval("percentile").reason == ""
    assert top.interval("BCa").reason == ""
    held = pd.DataFrame({"c": ["x", "x", "y", "z"], "a": [0.1, 0.9, 0.8, 0.7], "right": [False, True, True, True]})
    area = resample(held, auc_of("a", "right"), cluster="c", resamples=500)
    assert area.interval().reason in ("", "no variation")
    lonely = resample(held.assign(a=[0.8, 0.9, 0.7, 0.85]), auc_of("a", "right"), cluster="c", resamples=500)
    assert lonely.interval().reason == ""
    assert lonely.interval("BCa").reason == "BCa leaves out each c in turn: the figure is undefined without 1 of 3"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "bca"}, "kind: expected 'percentile' or 'BCa', found 'bca'"),
        ({"level": 95}, "level: expected a share between 0 and 1, found 95"),
        ({"resamples": 0}, "resamples: expected at least 1, found 0"),
        ({"cluster": "cell"}, "table: expected one column 'cell', found cluster, a, b, weight, right, holes"),
    ],
)
def test_wrong_arguments_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        bootstrap(runs(0), mean_of("a"), **change)


@pytest.mark.parametrize("bad", ["text", math.inf])
def test_wrong_values_are_named(bad):
    table = pd.DataFrame({"a": [1.0, bad]}, dtype=object)
    with pytest.raises(ValueError, match=r"a: expected (finite )?numbers, found"):
        bootstrap(table, mean_of("a"))


def test_a_difference_counts_the_rows_that_both_count():
    table = runs(14)
    both = table.dropna(subset=["holes"])
    for a, b, sign in (("holes", "b", 1), ("b", "holes", -1)):
        found = measure(table, difference_of(mean_of(a), mean_of(b)))
        assert found.n == len(both) < len(table)
        assert found.value == pytest.approx(sign * (both.a - both.b).mean())


def test_extreme_values_and_doubled_columns():
    values = np.array([1.0, 2, 5, 9])
    ends = []
    for scale in (1e-300, 1.0, 1e300):
        found = bootstrap(pd.DataFrame({"a": scale * values}), mean_of("a"), kind="BCa", resamples=500)
        ends.append((found.low / scale, found.high / scale))
    assert ends[0] == pytest.approx(ends[1]) == ends[2]
    twice = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["a", "a"])
    with pytest.raises(ValueError, match="table: expected one column 'a', found a, a"):
        measure(twice, mean_of("a"))


def test_nullable_and_boolean_columns_are_numbers():
    table = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": [True, False, None]})
    assert measure(table, mean_of("a")).value == 2.0
    assert measure(table, mean_of("b")).value == 0.5


def test_table_of_intervals_is_made_of_intervals():
    table = runs(7)
    figures = {"mean": mean_of("a"), "holes": mean_of("holes"), "area": auc_of("a", "right")}
    found = interval_table(table, figures, cluster="cluster", resamples=300)
    for row in found.itertuples():
        percentile, bca = (
            bootstrap(table, figures[row.figure], cluster="cluster", kind=kind, resamples=300) for kind in KINDS
        )
        assert (row.low, row.high, row.bca_low, row.bca_high) == (percentile.low, percentile.high, bca.low, bca.high)
        assert row.n + row.missing == len(table)
    split = interval_table(table, {"mean": mean_of("a")}, by="cluster", resamples=50)
    assert split.estimate.tolist() == pytest.approx(table.groupby("cluster").a.mean().tolist())
    assert interval_table(table[:0], figures, by="cluster").empty


# Paired comparisons


@pytest.mark.parametrize("n", [2, 3, 5, 8, 12])
def test_sign_flips_are_those_of_scipy(n):
    values = np.round(np.random.default_rng(n).normal(0.3, 1, n), 1)
    theirs = scipy_stats.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=np.inf, alternative="two-sided", vectorized=True
    )
    ours = sign_flip(values)
    assert ours.difference == pytest.approx(theirs.statistic)
    assert ours.p == pytest.approx(theirs.pvalue, abs=1e-12)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
@few
def test_sign_flips_are_counted_exactly(values):
    """In tenths, where floating point makes ties unequal: 0.1 + 0.2 is not 0.3."""
    found = sign_flip([value / 10 for value in values])
    seen = abs(sum(values))
    sums = [abs(sum(map(math.prod, zip(signs, values, strict=True)))) for signs in product((1, -1), repeat=len(values))]
    if any(values):
        assert found.p == Fraction(sum(each >= seen for each in sums), len(sums))
        assert found.p >= smallest_p(len(values))
    else:
        assert (found.p, found.reason) == (None, "no cluster differs")


def test_random_flips_come_close_to_all_flips():
    values = np.random.default_rng(8).normal(0.4, 1, 18)
    patterns = 1 - 2 * (np.arange(2**18)[:, None] >> np.arange(18) & 1).astype(np.int8)
    exact = (np.abs(patterns @ values) >= abs(values.sum()) - 1e-9).mean()
    found = sign_flip(values)
    assert found.method == "sign flips, 10000 random, seed 0"
    assert found.p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 10_000))
    assert found == sign_flip(values)
    assert sign_flip([1.0] * 40).p == 1 / 10_001


@given(st.lists(st.none() | st.floats(0, 1), max_size=12))
@few
def test_holm_keeps_order_and_only_raises(ps):
    adjusted = holm(ps)
    known = sorted((p, after) for p, after in zip(ps, adjusted, strict=True) if p is not None)
    assert [p is None for p in ps] == [after is None for after in adjusted]
    assert all(p <= after <= min(1, p * len(known)) + 1e-12 for p, after in known)
    assert [after for _, after in known] == sorted(after for _, after in known)


def test_holm_is_that_of_r():
    """p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm") in R."""
    assert holm([0.05, 0.01, 0.03, 0.02, 0.04]) == pytest.approx([0.09, 0.05, 0.09, 0.08, 0.09])


@pytest.mark.parametrize(("effect", "comparisons"), [(0.3, 1), (0.5, 1), (0.5, 45), (0.8, 3)])
def test_clusters_needed_is_near_the_t_test(effect, comparisons):
    """Power of the paired t test by its own distribution, at the number that was said and three less."""
    values = scipy_stats.norm.ppf((np.arange(50) + 0.5) / 50)
    values = values / values.std(ddof=1) + effect

    def power(n):
        critical = scipy_stats.t.ppf(1 - 0.05 / comparisons / 2, n - 1)
        return 1 - scipy_stats.nct.cdf(critical, n - 1, effect * math.sqrt(n))

    needed = clusters_needed(values, comparisons)
    assert power(needed + 1) >= 0.8
    assert power(needed - 3) < 0.8


def test_no_clusters_is_no_question():
    for ask in (lambda: smallest_p(0), lambda: resolution(0), lambda: fewest_clusters(0)):
        with pytest.raises(ValueError, match="expected a c"):
            ask()
    assert clusters_needed([1e-9, 1.0, -1.0]) is None
    assert sign_flip([1.0] * 40).smallest_p == 1 / 10_001


def test_so_few_clusters_can_not_differ():
    for comparisons, fewest in ((1, 6), (3, 7), (10, 9), (45, 11)):
        assert fewest_clusters(comparisons) == fewest
        assert not resolution(fewest - 1, comparisons).can_differ
        extreme = pd.DataFrame({"a": [1.0] * fewest, "b": [0.0] * fewest})
        ps = [compare(extreme).p[0]] * comparisons
        assert holm(ps)[0] < 0.05
        assert holm([2 * p for p in ps])[0] >= 0.05


def test_a_difference_that_is_not_there_is_found_in_one_of_twenty():
    """Two noisy scores of the same quality: areas compared by the clusters' influence, 60 clusters of four runs."""
    draws, found, trials = np.random.default_rng(9), 0, 200
    for _ in range(trials):
        hard = np.repeat(draws.normal(0, 1, 60), 4)
        right = hard + draws.normal(0, 1, 240) > 0
        a, b = (right + draws.normal(0, 1, 240) + 0.5 * hard for _ in range(2))
        table = pd.DataFrame({"c": np.repeat(np.arange(60), 4), "right": right, "a": a, "b": b})
        values = cluster_values(table, {"a": auc_of("a", "right"), "b": auc_of("b", "right")}, cluster="c")
        found += sign_flip(values.a - values.b, flips=500).p < 0.05
    assert 0.015 < found / trials < 0.10


def test_cluster_values_of_a_balanced_mean_are_cluster_means():
    table = runs(10).sort_values("cluster").groupby("cluster").head(3)
    table = table[table.groupby("cluster").a.transform("size") == 3]
    values = cluster_values(table, {"a": mean_of("a"), "b": mean_of("b")}, cluster="cluster")
    assert values.a.tolist() == pytest.approx(table.groupby("cluster").a.mean().tolist())
    assert values.index.tolist() == sorted(table.cluster.unique())
    whole = cluster_values(runs(10), {"area": auc_of("a", "right")}, cluster="cluster")
    assert whole.area.mean() == pytest.approx(auc(runs(10).a, runs(10).right))
    with pytest.raises(ValueError, match="right: AUC needs true and false, found only True in 60 rows"):
        cluster_values(runs(10).assign(right=True), {"a": auc_of("a", "right")}, cluster="cluster")
    one = runs(10).assign(right=lambda rows: rows.cluster == "c3")
    with pytest.raises(ValueError, match="a: expected a figure without each cluster, found none without c3"):
        cluster_values(one, {"a": auc_of("a", "right")}, cluster="cluster")


def test_means_of_clusters_skip_what_is_missing():
    table = pd.DataFrame({"s": list("ababab"), "c": list("xxxxyy"), "v": [1.0, 0.5, 0.0, None, None, 0.25]})
    values = cluster_means(table, system="s", value="v", cluster="c")
    assert values.loc["x"].tolist() == [0.5, 0.5]
    assert math.isnan(values.loc["y", "a"])
    assert compare(values).n.tolist() == [1]
    with pytest.raises(ValueError, match="s: expected a name in every row, found 1 rows without"):
        cluster_means(table.assign(s=[None, *"babab"]), system="s", value="v", cluster="c")


def test_a_group_holds_what_does_not_differ_from_its_leader():
    """The third varies much and stays with the leader, though the second differs from it."""
    base = np.linspace(0.5, 0.9, 12)
    wild = np.array([0.4, -0.35] * 6)
    values = pd.DataFrame({"first": base + 0.1, "second": base, "third": base - 0.05 + wild, "lost": math.nan})
    pairs = compare(values)
    groups = tie_groups(values, pairs).set_index("system")
    assert pairs.set_index(["a", "b"]).differs["first", "second"]
    assert groups.index.tolist() == ["first", "second", "third", "lost"]
    assert groups.group.tolist()[:3] == [1, 2, 1]
    assert groups.leader.tolist()[:3] == ["first", "second", "first"]
    assert groups.group.isna().tolist() == [False, False, False, True]
    assert pairs[(pairs.a == "lost") | (pairs.b == "lost")].reason.tolist() == ["no cluster"] * 3
    assert pairs.method[0].endswith("Holm over 3")


def test_equal_means_are_ranked_by_name():
    values = pd.DataFrame({name: [0.5, 0.7] for name in ("c", "a", "b")})
    assert tie_groups(values).system.tolist() == ["a", "b", "c"]
    assert compare(values).reason.tolist() == ["no cluster differs"] * 3
    assert compare(values).p_holm.isna().all()
    assert tie_groups(values[["a"]]).group.tolist() == [1]
    assert compare(values[["a"]]).empty


# Areas, curves and bins

scored = st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=40)


@given(scored)
@few
def test_area_and_curve_are_those_of_scikit_learn(pairs):
    scores, right = [score / 10 for score, _ in pairs], [hit for _, hit in pairs]
    table = pd.DataFrame({"score": scores, "right": right})
    if len(set(right)) < 2:
        assert auc(scores, right) is None
        return
    assert auc(scores, right) == pytest.approx(metrics.roc_auc_score(right, scores), abs=1e-12)
    false, true, thresholds = metrics.roc_curve(right, scores, drop_intermediate=False)
    points = roc_points(table, score="score", outcome="right")
    assert points.false_positive_rate.tolist() == pytest.approx(false.tolist())
    assert points.true_positive_rate.tolist() == pytest.approx(true.tolist())
    assert points.threshold.tolist() == pytest.approx(thresholds.tolist())
    assert auc([-score for score in scores], right) == pytest.approx(1 - auc(scores, right))


def test_area_is_mann_and_whitney():
    table = runs(11)
    u = scipy_stats.mannwhitneyu(table.a[table.right], table.a[~table.right]).statistic
    assert auc(table.a, table.right) == pytest.approx(u / (table.right.sum() * (~table.right).sum()))


def test_area_leaves_out_and_counts_what_is_missing():
    table = runs(12).assign(right=lambda rows: rows.right.astype("boolean").mask(rows.index % 7 == 0))
    kept = table.dropna(subset=["holes", "right"])
    found = measure(table, auc_of("holes", "right"))
    assert found.n == len(kept) < len(table)
    assert found.value == pytest.approx(metrics.roc_auc_score(kept.right.astype(bool), kept.holes))


def test_bins_hold_every_run_once():
    table = runs(13)
    edges = [0, 0.2, 0.4, 0.6, 0.8, 1]
    found = rates_by_bin(table, score="a", outcome="right", edges=edges, cluster="cluster", resamples=200)
    cut = pd.cut(table.a, edges, right=False).cat.codes.where(table.a < 1, 4)
    assert found.n.tolist() == [(cut == at).sum() for at in range(5)]
    assert found.rate.tolist() == pytest.approx([table.right[cut == at].mean() for at in range(5)], nan_ok=True)
    for at, row in enumerate(found.itertuples()):
        inside = bootstrap(table[cut == at], mean_of("right"), cluster="cluster", resamples=200)
        assert (row.low, row.high) == pytest.approx((inside.low, inside.high), nan_ok=True)
    with pytest.raises(ValueError, match="edges: expected two or more rising numbers"):
        rates_by_bin(table, score="a", outcome="right", edges=[0, 0.5, 0.5])
