"""The explorers: what they show, what their controls do, and what a hostile archive can not do to a page."""

import math
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from crucible_nb.explore import RunExplorer, SummaryView, WhatIf, plot_weights, read_run
from crucible_nb.fix.archive import read_archive, score_table, summarise
from crucible_nb.rules import Rules

DATA = Path(__file__).parent.parent / "data"
FIX = "--- a/m.py\n+++ b/m.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
NEAR = FIX.replace("+x = 2", "+x = 3")
WIDE = FIX + FIX.replace("m.py", "n.py")


def table(rows):
    """Runs `(scenario, run, candidate)` against one reference."""
    frame = pd.DataFrame(rows, columns=["scenario", "run", "candidate"]).assign(reference=FIX)
    return frame.set_index(frame.scenario + "/" + frame.run)


@pytest.fixture(scope="module")
def archive():
    return read_archive(DATA / "archive", DATA / "scenarios")


# two scenarios, three groups: `exact` 1 and 1, `near` 0.6 + 0.4 x 8/10 twice, `wide` 0.6 / 2 + 0.4 twice
RUNS = table([(s, r, c) for s in ("a", "b") for r, c in (("exact", FIX), ("near", NEAR), ("wide", WIDE))])


def test_ranks_by_hand():
    """`near` has 0.6 + 0.4 x 0.8 = 0.92 and `wide` 0.3 + 0.4 = 0.7; by text alone `wide` is as good as `exact`."""
    found = WhatIf(RUNS).table(0.0)
    assert found.before.round(12).to_dict() == {"exact": 1.0, "wide": 0.7, "near": 0.92}
    assert found.after.round(12).to_dict() == {"exact": 1.0, "wide": 1.0, "near": 0.8}
    assert found.rank_before.to_dict() == {"exact": 1, "wide": 3, "near": 2}
    assert found.rank_after.to_dict() == {"exact": 1, "wide": 1, "near": 3}
    assert found.moved.to_dict() == {"exact": 0, "wide": 2, "near": -1}
    assert set(found.signature) == {"fix|w:0+1|sim:indel|lines:ordered|eol:fold|r:1"}


def test_the_rules_in_force_move_nothing(archive):
    rules = Rules(structural_weight=0.25, textual_weight=0.75)
    found = WhatIf(archive, rules=rules).table(0.25)
    assert set(found.moved) == {0} and set(found.signature) == {rules.signature("fix")}
    means = score_table(archive, rules).value.groupby(archive.run).mean()
    assert found.before.to_dict() == pytest.approx(means.to_dict())


def test_a_run_without_a_score_is_counted_and_left_out():
    runs = pd.concat([RUNS, table([("c", "near", "not a diff"), ("c", "lost", "not a diff")])])
    found = WhatIf(runs).table(0.5)
    assert found.loc["near", ["n", "unscored"]].tolist() == [3, 1]
    assert found.after["near"] == pytest.approx(0.5 + 0.5 * 0.8)
    assert math.isnan(found.after["lost"]) and found.rank_after["lost"] is pd.NA and found.index[-1] == "lost"
    assert "undefined" in WhatIf(runs).page(0.5)


def test_another_measure():
    def halved(reference, candidate, rules):
        from dataclasses import replace

        from crucible_nb.fix.score import score_fix

        score = score_fix(reference, candidate, rules)
        return replace(score, value=score.value / 2, signature="fix|halved")

    view = WhatIf(RUNS, measures={"halved": halved})
    assert (view.table(0.6, "halved").after * 2).to_dict() == pytest.approx(view.table(0.6).after.to_dict())
    assert set(view.table(0.6, "halved").signature) == {"fix|halved"}
    assert "after: fix|halved" in view.page(0.6, "halved")
    with pytest.raises(KeyError):
        view.table(0.6, "unknown")


def test_a_ceiling():
    grades = pd.Series({"a/exact": 10, "b/exact": 9, "a/near": 10, "b/near": 10, "a/wide": 3, "b/wide": None})
    view = WhatIf(RUNS, grades=grades)
    found = view.table(0.6, capped=True)
    assert found.before.to_dict() == {"exact": 9.5, "near": 10.0, "wide": 3.0}
    assert found.after.to_dict() == {"exact": 9.5, "near": 10.0, "wide": 3.0}
    strict = view.table(1.0, capped=True)
    assert strict.after.to_dict() == {"exact": 9.5, "near": 10.0, "wide": 3.0}
    text = view.table(0.0, capped=True)
    assert text.after["near"] == 8.0 and text.moved["near"] == -1
    assert found.loc["wide", "unscored"] == 1
    with pytest.raises(ValueError, match="expected grades, found none"):
        WhatIf(RUNS).table(0.0, capped=True)


def test_weights_out_of_range_are_refused():
    with pytest.raises(ValueError, match="from 0 to 1"):
        WhatIf(RUNS).table(1.5)


def test_the_figure_says_who_leads():
    assert repr(plot_weights(WhatIf(RUNS), steps=4).figure) == "exact leads at every structural weight"
    swapped = RUNS[RUNS.run != "exact"]
    assert repr(plot_weights(WhatIf(swapped), steps=4).figure).startswith("wide leads below a structural weight of ")


@pytest.mark.parametrize("show", RunExplorer.SHOW)
def test_every_run_has_a_page(archive, show):
    explorer = RunExplorer(archive)
    for run_id, scores in score_table(archive).iterrows():
        page = explorer.page(run_id, show)
        counts = {role: page.count(f"<strong>{role}</strong>") for role in ("matched", "missing", "extra")}
        wanted = {role: scores[role] if show in ("all", role) else 0 for role in counts}
        assert counts == wanted, run_id


def test_a_run_without_a_score_says_why():
    runs = table([("a", "broken", "not a diff")])
    assert "no score: no file section" in RunExplorer(runs)._repr_html_()


@pytest.mark.parametrize("name", ["<img src=x onerror=alert(1)>", '"><script>', "\u202ebidi", "\x1b[31m"])
def test_hostile_names_stay_names(name):
    candidate = f'--- "a/{name}"\n+++ "b/{name}"\n@@ -1 +1 @@\n-{name}\n+{name}\n'.replace('""', '"')
    runs = table([(name, name, FIX + candidate.replace('"', ""))])
    scored = runs.join(score_table(runs))
    views = [RunExplorer(runs), WhatIf(runs, measures={name: lambda *_: None}), SummaryView(summarise(scored))]
    for view in views:
        page = view._repr_html_()
        assert name not in page and "<script" not in page and "<img" not in page
        assert "\u202e" not in page and "\x1b" not in page


def test_bad_tables_are_refused():
    with pytest.raises(ValueError, match="index that is unique, found 0 runs"):
        RunExplorer(RUNS.iloc[:0])
    with pytest.raises(ValueError, match="index that is unique"):
        RunExplorer(pd.concat([RUNS, RUNS]))
    with pytest.raises(ValueError, match="expected one of all, matched, missing, extra"):
        RunExplorer(RUNS).page("a/near", "none")


def test_both_sides_are_read_once_however_they_come(archive):
    reference, candidate = read_run(archive.iloc[0])
    again = read_run(archive.iloc[0].replace(archive.iloc[0].reference, reference))
    assert again == (reference, candidate)


def test_without_a_kernel_there_is_a_picture():
    for view in (RunExplorer(RUNS), WhatIf(RUNS)):
        assert set(view._repr_mimebundle_()) == {"text/html", "text/plain"}


def test_controls_of_a_run():
    pytest.importorskip("ipywidgets")
    explorer = RunExplorer(RUNS, "b/near")
    controls, page = explorer.widget().children
    scenario, run, show = controls.children
    assert (scenario.value, run.value, page.value) == ("b", "b/near", explorer.page("b/near"))
    scenario.value = "a"
    assert [run_id for _, run_id in run.options] == ["a/exact", "a/near", "a/wide"]
    assert page.value == explorer.page("a/exact")
    run.value, show.value = "a/wide", "extra"
    assert page.value == explorer.page("a/wide", "extra")


def test_controls_of_what_if():
    pytest.importorskip("ipywidgets")
    view = WhatIf(RUNS, grades=pd.Series(5, index=RUNS.index))
    controls, page = view.widget().children
    weight, measure, capped = controls.children
    assert page.value == view.page(view.start)
    weight.value = 0.9
    assert page.value == view.page(0.9)
    capped.value = True
    assert page.value == view.page(0.9, capped=True)
    assert WhatIf(RUNS).widget().children[0].children[2].disabled


def test_heavy_imports_wait():
    code = "import sys, crucible_nb.explore; print({'ipywidgets', 'matplotlib', 'IPython'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_missing_ipywidgets_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(ImportError, match=r"crucible_nb\[lab\]"):
        WhatIf(RUNS).widget()
