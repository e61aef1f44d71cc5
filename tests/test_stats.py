"""The bootstrap interval agrees with scipy's, and is undefined with a reason where there is none."""

import math

import numpy as np
import pytest
from scipy import stats

from crucible_nb.stats import Interval, bootstrap_mean

SAMPLES = {
    "two values": [0.2, 0.7],
    "scores": [0.0, 0.0, 0.26, 0.39, 0.62, 0.7, 0.84, 0.9, 0.93, 0.97],
    "many": np.random.default_rng(7).beta(0.5, 0.5, size=300).tolist(),
    "skewed": np.random.default_rng(8).exponential(size=40).tolist(),
    "one that differs": [1.0] * 19 + [0.0],
}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_interval_is_that_of_scipy(name, level):
    values = SAMPLES[name]
    ours = bootstrap_mean(values, level=level)
    theirs = stats.bootstrap(
        (np.asarray(values),),
        np.mean,
        confidence_level=level,
        n_resamples=10_000,
        method="percentile",
        rng=np.random.default_rng(1),
    )
    # Ends of two independent bootstraps differ by a few hundredths of a standard error
    tolerance = 0.08 * theirs.standard_error
    assert abs(ours.low - theirs.confidence_interval.low) <= max(tolerance, granularity(values))
    assert abs(ours.high - theirs.confidence_interval.high) <= max(tolerance, granularity(values))


def granularity(values: list[float]) -> float:
    """Distance of two neighbouring means where the values are only two."""
    return (max(values) - min(values)) / len(values) + 1e-12 if len(set(values)) == 2 else 0.0


def test_interval_of_two_values_is_the_values_themselves():
    interval = bootstrap_mean([0.2, 0.7])
    assert (interval.low, interval.high) == (0.2, 0.7)


@pytest.mark.parametrize(
    ("values", "reason"), [([], ""), ([0.5], "n = 1"), ([0.5, 0.5], "no variation"), ([0.0] * 9, "no variation")]
)
def test_undefined_interval_has_a_reason_and_no_ends(values, reason):
    interval = bootstrap_mean(values)
    assert (interval.low, interval.high, interval.n) == (None, None, len(values))
    assert interval.reason
    assert reason in interval.reason


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_values_that_are_no_numbers_are_an_error(value):
    with pytest.raises(ValueError, match="finite"):
        bootstrap_mean([0.1, value, 0.3])


def test_the_method_says_all_that_the_numbers_hang_on():
    assert bootstrap_mean([0, 1]).method == "bootstrap percentile, 95 %, 10000 resamples, seed 0"
    other = bootstrap_mean([0, 1], level=0.9, resamples=500, seed=3)
    assert other.method == "bootstrap percentile, 90 %, 500 resamples, seed 3"
    assert bootstrap_mean([0.1, 0.2, 0.4]).reason == ""


@pytest.mark.parametrize("name", SAMPLES)
def test_interval_is_the_same_every_time_and_moves_with_the_seed(name):
    values = SAMPLES[name]
    assert bootstrap_mean(values) == bootstrap_mean(values)
    assert bootstrap_mean(tuple(values)) == bootstrap_mean(np.asarray(values))
    other = bootstrap_mean(values, seed=1)
    width = bootstrap_mean(values).high - bootstrap_mean(values).low
    assert abs(other.low - bootstrap_mean(values).low) <= 0.15 * width
    if len(values) > 20:
        assert other != bootstrap_mean(values)


@pytest.mark.parametrize("name", SAMPLES)
def test_interval_lies_around_the_mean_and_inside_the_values(name):
    values = SAMPLES[name]
    interval = bootstrap_mean(values)
    assert min(values) <= interval.low <= np.mean(values) <= interval.high <= max(values)
    assert isinstance(interval.low, float) and isinstance(interval, Interval)


@pytest.mark.parametrize("name", SAMPLES)
def test_interval_grows_with_the_level(name):
    intervals = [bootstrap_mean(SAMPLES[name], level=level) for level in (0.5, 0.8, 0.95, 0.99)]
    for narrow, wide in zip(intervals, intervals[1:], strict=False):
        assert wide.low <= narrow.low <= narrow.high <= wide.high


@pytest.mark.parametrize("name", SAMPLES)
def test_interval_moves_and_stretches_with_the_values(name):
    values = SAMPLES[name]
    interval = bootstrap_mean(values)
    moved = bootstrap_mean([3 * value + 2 for value in values])
    assert math.isclose(moved.low, 3 * interval.low + 2, rel_tol=1e-9)
    assert math.isclose(moved.high, 3 * interval.high + 2, rel_tol=1e-9)
    turned = bootstrap_mean([-value for value in values])
    assert math.isclose(turned.low, -interval.high, rel_tol=1e-9, abs_tol=1e-12)


def test_the_order_of_the_values_moves_the_interval_by_chance_only():
    values = SAMPLES["scores"]
    one, other = bootstrap_mean(values), bootstrap_mean(values[::-1])
    width = one.high - one.low
    assert abs(one.low - other.low) < 0.05 * width
    assert abs(one.high - other.high) < 0.05 * width


def test_more_runs_of_the_same_kind_give_a_narrower_interval():
    few, many = bootstrap_mean(SAMPLES["scores"]), bootstrap_mean(SAMPLES["scores"] * 9)
    assert abs((few.high - few.low) / (many.high - many.low) - 3) < 0.3


def test_the_interval_holds_the_true_mean_about_as_often_as_it_says():
    draws = np.random.default_rng(11)
    intervals = [bootstrap_mean(draws.normal(size=30), resamples=1000, seed=at) for at in range(300)]
    inside = sum(interval.low <= 0 <= interval.high for interval in intervals)
    assert 0.90 <= inside / 300 <= 0.97


def test_the_memory_of_the_draws_is_bounded_and_does_not_change_the_numbers():
    values = np.random.default_rng(5).random(5000)
    interval = bootstrap_mean(values, resamples=2000)
    data = np.asarray(values)
    draws = np.random.default_rng(0)
    means = [data[draws.integers(5000, size=5000)].mean() for _ in range(2000)]
    low, high = np.quantile(means, [0.025, 0.975])
    assert math.isclose(interval.low, low, rel_tol=1e-9)
    assert math.isclose(interval.high, high, rel_tol=1e-9)
