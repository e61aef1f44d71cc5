"""Figures: what is drawn is what the table holds, and hard tables are drawn or refused with a reason."""

import io
import math

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from crucible_nb import plots

ROC = pd.DataFrame({"false_positive_rate": [0, 0.5, 1], "true_positive_rate": [0, 1, 1]})
RUNS = pd.DataFrame({"scenario": ["s", "s", "t"], "value": [0.1, 0.9, 0.5], "judged": [2, 9, 4], "again": [3, 9, 2]})
BINS = pd.DataFrame(
    {"bin_low": [0, 0.5], "bin_high": [0.5, 1], "n": [3, 2], "mean_score": [0.2, 0.7], "rate": [0.3, 1.0]}
).assign(low=[0.0, math.nan], high=[0.6, math.nan])
ARMS = pd.DataFrame({"arm": ["a", "b"], "estimate": [0.9, 0.4], "low": [0.8, math.nan], "high": [1, math.nan]})
HITS = pd.DataFrame({"a": [True, False], "b": [None, True]}, index=["m1", "m2"])
COUNTS = pd.DataFrame({"ok": [3, 0], "drift": [1, 2]}, index=["a", "b"])
LINE = pd.DataFrame({"x": [0, 1, 2], "y": [1.0, None, 0.4]})
RANKS = pd.DataFrame({"one": [1, 2], "two": [1, 1]}, index=["a", "b"])

FIGURES = {
    "groups": (plots.plot_groups, (RUNS,), {}),
    "scatter": (plots.plot_scatter, (RUNS,), {"x": "value", "y": "judged", "line": lambda x: 10 * x}),
    "change": (
        plots.plot_change,
        (RUNS,),
        {"before": "judged", "after": "again", "label": "Judged", "limits": (0, 10)},
    ),
    "roc": (plots.plot_roc, ({"value": ROC},), {}),
    "rates": (plots.plot_rates, (BINS,), {"label_x": "Value", "ideal": True}),
    "intervals": (plots.plot_intervals, (ARMS,), {"name": "arm"}),
    "hits": (plots.plot_hits, (HITS,), {}),
    "matrix": (plots.plot_matrix, (COUNTS,), {}),
    "shares": (plots.plot_shares, (COUNTS,), {}),
    "lines": (plots.plot_lines, (LINE,), {"x": "x", "y": "y"}),
    "ranks": (plots.plot_ranks, (RANKS,), {}),
}


def png(axes):
    """The picture of a figure."""
    file = io.BytesIO()
    axes.figure.savefig(file, format="png", dpi=40, metadata={"Software": None})
    return file.getvalue()


def points(axes):
    """Every point of every scatter."""
    return np.concatenate([dots.get_offsets() for dots in axes.collections])


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_says_its_title_and_is_the_same_twice(name):
    draw, tables, options = FIGURES[name]
    copies = [table.copy() for table in tables if isinstance(table, pd.DataFrame)]
    first, second = (draw(*tables, title="3 of 4 arms tie", **options) for _ in range(2))
    assert first.figure.get_suptitle() == "3 of 4 arms tie"
    assert png(first) == png(second)
    assert all(copy.equals(table) for copy, table in zip(copies, tables, strict=False))


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_fits_into_a_row_of_panels(name):
    draw, tables, options = FIGURES[name]
    left, right = plots.new_panels(2)
    assert draw(*tables, title="left", axes=left, **options) is left
    draw(*tables, title="right", axes=right, **options)
    assert (left.get_title("left"), right.get_title("left")) == ("left", "right")
    assert right.get_ylabel() == ""
    assert len(left.figure.legends) <= 1
    png(left)


def test_names_are_names_and_no_formulas():
    r"""`$\bad$` as a formula would stop the drawing; a line feed would tear a label apart."""
    bad = r"$\bad$"
    hostile = RUNS.assign(scenario=[bad, bad, "two\nlines"])
    png(plots.plot_groups(hostile, title=bad, label=bad))
    axes = plots.plot_groups(hostile)
    assert [text.get_text() for text in axes.get_yticklabels()] == ["two lines (n=1)", r"\$\bad\$ (n=2)"]
    png(plots.plot_change(RUNS, before="judged", after="again", label=bad, names=[bad, bad]))
    png(plots.plot_roc({bad: ROC}))
    png(plots.plot_intervals(ARMS.assign(arm=bad, group=bad), name="arm", group="group"))
    png(plots.plot_lines(LINE.assign(x=bad, s=bad), x="x", y="y", series="s"))
    for draw, table in ((plots.plot_hits, HITS), (plots.plot_matrix, COUNTS), (plots.plot_shares, COUNTS)):
        png(draw(table.set_axis([bad, bad + "2"], axis=1).set_axis([bad, bad + "2"])))
    lone = RUNS.assign(scenario=["\ud800", "x" * 500, "y"])
    png(plots.plot_groups(lone))
    names = [text.get_text() for text in plots.plot_groups(lone).get_yticklabels()]
    assert sorted(map(len, names)) == [len("? (n=1)"), len("y (n=1)"), 48 + len(" (n=1)")]
    png(plots.plot_ranks(RANKS.set_axis([bad, bad + "2"], axis=1).set_axis([bad, bad + "2"])))


@pytest.mark.parametrize("name", sorted(set(FIGURES) - {"roc", "matrix", "shares", "ranks", "hits"}))
def test_a_table_without_rows_is_refused(name):
    draw, (table,), options = FIGURES[name]
    with pytest.raises(ValueError, match=r"table: expected a row with a \w+, found none in 0"):
        draw(table[:0], **options)


@pytest.mark.parametrize(
    ("draw", "table", "message"),
    [
        (plots.plot_hits, HITS[:0], "matrix: expected rows and columns, found 0 x 2"),
        (plots.plot_matrix, COUNTS[:0], "matrix: expected a number, found none in 0 x 2"),
        (plots.plot_shares, COUNTS[:0], "table: expected counts from 0 up, found none"),
        (plots.plot_shares, COUNTS * 0, "table: expected counts from 0 up, found 0.0"),
        (plots.plot_ranks, RANKS[:0], "ranks: expected a rank, found none in 0 x 2"),
    ],
)
def test_a_matrix_without_cells_is_refused(draw, table, message):
    with pytest.raises(ValueError, match=message):
        draw(table)


def test_scatter_moves_points_up_and_down_only_and_by_less_than_half_a_step():
    table = pd.DataFrame({"value": [0.5] * 60 + [0.1], "judged": [7] * 60 + [3], "right": [True, False] * 30 + [None]})
    drawn = points(plots.plot_scatter(table, x="value", y="judged", marked="right"))
    assert len(drawn) == 61
    assert sorted(drawn[:, 0]) == sorted(table.value)
    assert sorted(drawn[:, 1].round()) == sorted(table.judged)
    assert abs(drawn[:, 1] - drawn[:, 1].round()).max() < 0.41
    assert len({tuple(point) for point in drawn}) == 61


def test_change_draws_each_pair_once_and_counts_all():
    table = pd.DataFrame({"before": [1, 1, 2, 3, None], "after": [2, 2, 1, 3, 1]})
    axes = plots.plot_change(table, before="before", after="after", label="", limits=(0, 10))
    assert len(axes.lines) == 3 + 1
    assert [text.get_text() for text in axes.figure.legends[0].get_texts()][:3] == [
        "rises (2)",
        "falls (1)",
        "stays (1)",
    ]
    assert [text.get_text() for text in axes.texts] == ["1.75", "2.00"]


def test_intervals_stand_where_the_table_says():
    axes = plots.plot_intervals(ARMS, name="arm", zero=True, limits=None)
    whiskers = [line.get_xdata() for line in axes.lines if len(line.get_xdata()) == 2 and line.get_ydata()[0] == 1]
    assert [list(ends) for ends in whiskers] == [[0.8, 1]]
    dots = [
        (line.get_xdata()[0], line.get_markerfacecolor() == "none")
        for line in axes.lines
        if line.get_marker() != "None"
    ]
    assert dots == [(0.9, False), (0.4, True)]


def test_hits_use_another_mark_for_each_answer():
    axes = plots.plot_hits(HITS, heavy=["m2"])
    places = [sorted(map(tuple, dots.get_offsets().tolist())) for dots in axes.collections]
    assert places == [[(0, 0)], [(1, 1)], [(0, 1)], [(1, 0)]]
    shapes = {dots.get_paths()[0].vertices.tobytes() for dots in axes.collections}
    assert len(shapes) == 3


def test_shares_add_up():
    axes = plots.plot_shares(COUNTS)
    widths = np.array([[bar.get_width() for bar in bars] for bars in axes.containers]).T
    assert widths.tolist() == [[0.75, 0.25], [0.0, 1.0]]
    counts = np.array(
        [[bar.get_width() for bar in bars] for bars in plots.plot_shares(COUNTS, share=False).containers]
    ).T
    assert counts.tolist() == COUNTS.to_numpy().tolist()


def test_lines_break_where_a_value_is_missing_and_names_stay_on_the_page():
    table = pd.DataFrame([(f"s{at}", x, 1.0) for at in range(12) for x in ("first", "second")], columns=["s", "x", "y"])
    axes = plots.plot_lines(table, x="x", y="y", series="s")
    heights = sorted(text.xy[1] for text in axes.texts)
    assert len(heights) == 12
    bottom, top = axes.get_ylim()
    assert bottom <= heights[0] and heights[-1] <= top + 1e-9
    assert np.diff(heights).min() > 0.05 * (top - bottom)
    assert [text.get_text() for text in axes.get_xticklabels()] == ["first", "second"]
    assert math.isnan(plots.plot_lines(LINE, x="x", y="y").lines[0].get_ydata()[1])


def test_a_series_without_a_value_has_no_name():
    table = pd.DataFrame({"s": ["a", "a", "b"], "x": [0, 1, 0], "y": [0.1, 0.2, None]})
    assert [text.get_text() for text in plots.plot_lines(table, x="x", y="y", series="s").texts] == ["a"]


def test_ranks_keep_ties_together_and_apart():
    ranks = pd.DataFrame({"one": [1, 1, 3, None], "two": [3, 1, 1, 4]}, index=list("abcd"))
    axes = plots.plot_ranks(ranks)
    lines = [line.get_ydata() for line in axes.lines if line.get_marker() != "None"]
    places = np.array(lines, dtype=float)
    assert places[:, 0].tolist()[:3] == [1, 2, 3]
    assert places[:, 1].tolist() == [3, 1, 2, 4]
    assert math.isnan(places[3, 0])
    assert len([line for line in axes.lines if line.get_linewidth() == 9]) == 2


def luminance(colour):
    """Relative luminance as WCAG 2 defines it."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(one, other):
    """Contrast as WCAG 2 defines it, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_letters_read_on_what_they_stand_on():
    matrix = pd.DataFrame([np.linspace(0, 1, 11)])
    axes = plots.plot_matrix(matrix, decimals=1)
    shades = [patch.get_facecolor()[:3] for patch in axes.patches]
    assert min(contrast(text.get_color(), shade) for text, shade in zip(axes.texts, shades, strict=True)) > 4.5
    bars = plots.plot_shares(pd.DataFrame([[1] * 7]))
    assert min(contrast(text.get_color(), text.get_bbox_patch().get_facecolor()[:3]) for text in bars.texts) > 4.5
    assert min(contrast(plots.INK, page) for page in ("#ffffff", "#121418")) > 3.9


def test_every_style_is_used_once_in_the_first_twenty():
    styles = {(style["color"], style["marker"], str(style["ls"])) for style in map(plots._style, range(20))}
    assert len(styles) == 20


def test_labels_hold_no_control_characters():
    """They would make an SVG that is no XML."""
    table = pd.DataFrame({"arm": ["\x1b[31mred", "a\u202eb", "\x07bell"], "estimate": [0.1, 0.5, 0.9]})
    axes = plots.plot_intervals(table.assign(low=0.0, high=1.0), name="arm", title="\x07 one \x1b[1m title")
    axes.figure.canvas.draw()
    assert [text.get_text() for text in axes.get_yticklabels()] == ["\\x1b[31mred", "a\\u202eb", "\\x07bell"]
    assert repr(axes.figure) == "\\x07 one \\x1b[1m title"
