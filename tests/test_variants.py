"""What each variant promises, on generated changes, on the decks, and on the archive."""

import itertools
import json
import random
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from diffkit import DECK, Change, Style, archive_pairs, write_diff
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Indel

from crucible_nb.fix.diffs import Diff, DiffError, read_diff
from crucible_nb.fix.reference import read_reference
from crucible_nb.fix.score import FixScore, match_files, score_fix
from crucible_nb.fix.variants import (
    VARIANTS,
    changed_lines,
    compare_parts,
    compare_tokens,
    place_overlap,
    score_variants,
)
from crucible_nb.languages import LANGUAGES, MissingExtraError
from crucible_nb.rules import Rules

OTHERS = [name for name in VARIANTS if name != "ordered"]

code = st.sampled_from(["a = 1", "    return a", "b(a)", "", "x", "# note", "é = 'ü'", "a = 1", "def f(a):", "}"])


@st.composite
def hunked(draw, path="m.py"):
    """A change of one file in hunks that stand far apart, each with some new lines."""
    hunks = draw(st.lists(st.lists(code, min_size=1, max_size=4), min_size=1, max_size=5))
    return path, hunks


def as_diff(path, hunks, places=None):
    """Hunks as a diff; `places`: which old lines they stand at."""
    rows = [f"diff --git a/{path} b/{path}", f"--- a/{path}", f"+++ b/{path}"]
    for at, lines in enumerate(hunks):
        start = 20 * (places[at] if places else at) + 1
        rows += [f"@@ -{start},2 +{start},{len(lines) + 1} @@", " before", "-old", *(f"+{line}" for line in lines)]
    return "\n".join(rows) + "\n"


def textual(name, reference, candidate):
    """Textual of two diffs by a variant."""
    return VARIANTS[name](read_diff(reference), read_diff(candidate)).textual


# What is promised


@given(hunked(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_lines_is_1_for_every_permutation_of_added_lines(change, draw):
    path, hunks = change
    lines = [line for hunk in hunks for line in hunk]
    draw.shuffle(lines)
    assert textual("lines", as_diff(path, hunks), as_diff(path, [lines])) == 1.0


@given(hunked(), st.data())
@settings(deadline=None)
def test_hunks_is_1_for_every_permutation_of_hunks(change, data):
    path, hunks = change
    order = data.draw(st.permutations(range(len(hunks))))
    moved = as_diff(path, [hunks[at] for at in order])
    printed = as_diff(path, [hunks[at] for at in order], places=order)  # The same places, printed in another order
    for candidate in (moved, printed):
        assert textual("hunks", as_diff(path, hunks), candidate) == 1.0
    for name in ("located", "semantic"):  # These look where a hunk stands, and not where it is printed
        assert VARIANTS[name](read_diff(as_diff(path, hunks)), read_diff(printed)).structural == 1.0
    assert textual("semantic", as_diff(path, hunks), printed) == 1.0


parts = st.lists(st.text("abc", max_size=5), max_size=4)


@given(parts, parts)
@settings(deadline=None)
def test_parts_are_paired_as_well_as_by_trying_all(a, b):
    short, long = sorted((a, b), key=len)
    best = max(
        sum((len(x) + len(y) - Indel.distance(x, y)) // 2 for x, y in zip(short, chosen, strict=True))
        for chosen in itertools.permutations(long, len(short))
    )
    alike, exact = compare_parts(a, b)
    assert exact and alike.shared == best and alike.length == sum(map(len, a + b))
    assert alike.value == (2 * best / alike.length if alike.length else 1.0)
    assert compare_parts(b, a)[0] == alike


@given(st.lists(st.text("abc", max_size=9), max_size=30), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_equal_parts_are_1_however_many(a, draw):
    b = draw.sample(a, len(a))
    assert compare_parts(a, b)[0].value == compare_parts(a, b, size_limit=0)[0].value == 1.0


SPELLINGS = {
    "python": ("x = f(1)  # one\ny = 'a b'\n", "x=f( 1 )\n\n# two\ny   =   'a b'\n"),
    "javascript": ("let x = f(1); // one\n", "/* two */ let x=f( 1 );\n"),
    "go": ("x := f(1) // one\n", "x  :=  f(1)\n"),
    "rust": ("let x = f(1); // one\n", "let x = f( 1 );\n"),
    "java": ("int x = f(1); // one\n", "int x=f(1); /* two */\n"),
    "c": ("int x = f(1); /* one */\n", "int  x = f(1);\n"),
    "ruby": ("x = f(1) # one\n", "x = f( 1 )\n"),
    "sql": ("select a from b -- one\n", "select  a\nfrom b\n"),
}


@pytest.mark.parametrize("language", SPELLINGS)
def test_tokens_do_not_see_comments_and_layout(language):
    path = f"m.{LANGUAGES[language].suffixes[0]}"
    diffs = [as_diff(path, [text.split("\n")[:-1]]) for text in SPELLINGS[language]]
    assert textual("tokens", *diffs) == 1.0
    assert textual("ordered", *diffs) < 1.0
    assert textual("tokens", diffs[0], diffs[0].replace("f(1)", "f(2)").replace("a from", "c from")) < 1.0


@given(st.lists(st.sampled_from("abcdefghij"), max_size=10), st.data())
@settings(deadline=None)
def test_located_does_not_depend_on_the_context(lines, data):
    before = [f"{n} {line}" for n, line in enumerate(lines)]
    after = data.draw(st.lists(st.sampled_from([*before, "new"]), max_size=12))
    change = Change("m.py", "".join(f"{x}\n" for x in before), "".join(f"{x}\n" for x in after))
    texts = [write_diff([change], Style(context=context)) for context in (0, 1, 3, 30)]
    assert (
        len(
            {
                json.dumps(sorted(places))
                for text in texts
                for f in read_diff(text).files
                if (places := changed_lines(f))
            }
        )
        <= 1
    )


def test_located_by_hand():
    reference = read_diff(as_diff("a.py", [["x"], ["y"]]) + as_diff("b.py", [["z"]]))
    candidate = read_diff(as_diff("a.py", [["q"]]) + as_diff("c.py", [["z"]]))
    # a.py: lines 2 and 22 against line 2; b.py and c.py are touched by one side only
    assert place_overlap(match_files(reference, candidate))[0] == (1 / 2) / 3
    assert VARIANTS["located"](reference, candidate).structural == (1 / 2) / 3
    assert VARIANTS["blend"](reference, candidate).structural == (1 / 3 + 1 / 6) / 2


@pytest.mark.parametrize("path", ["tests/test_a.py", "docs/a.md", "package-lock.json", "README.md"])
def test_source_only_leaves_the_rest_out_on_both_sides(path):
    source, other = as_diff("a.py", [["x"]]), as_diff(path, [["x"]])
    score = VARIANTS["source_only"]
    assert score(source, source + other).value == score(source + other, source).value == 1.0
    assert [note.kind for note in score(source, source + other).notes] == ["not_source"]
    undefined = score(other, source)
    assert (undefined.value, undefined.structural, undefined.textual) == (None, None, None)
    assert "no_source" in [note.kind for note in undefined.notes]
    assert FixScore.from_json(undefined.to_json()) == undefined
    assert "undefined" in undefined._repr_html_()
    assert score(source, other).value == 0.0
    assert "empty_candidate" in [note.kind for note in score(source, other).notes]


def test_source_only_counts_the_best_of_the_alternatives_that_have_source():
    fences = [
        f"## Alternative\n\n```diff\n{as_diff(*part)}```\n" for part in (("docs/a.md", [["x"]]), ("a.py", [["y"]]))
    ]
    reference = read_reference("# Fix\n\n" + "\n".join(fences))
    score = VARIANTS["source_only"](reference, as_diff("a.py", [["y"]]))
    assert (score.value, score.alternative) == (1.0, 1)


# Every variant


def deck():
    """All diffs and references of the decks that can be read."""
    found = {}
    for file in sorted([*DECK.glob("diffs/*"), *DECK.glob("pairs/*"), *DECK.glob("fences/*")]):
        try:
            found[file.name] = read_diff(file) if file.suffix != ".md" else read_reference(file).alternatives[0]
        except (DiffError, ValueError):
            continue
    return {name: diff for name, diff in found.items() if diff.files}


def test_no_variant_raises_on_any_input_of_the_decks():
    diffs = deck()
    assert len(diffs) > 100
    draw = random.Random(0)
    for name, diff in diffs.items():
        for other in (diff, Diff(), *draw.choices(list(diffs.values()), k=4)):
            for variant, score in score_variants(diff, other).items():
                check(score, (name, variant))
                if other is diff and score.value is not None:
                    assert score.value == 1.0, (name, variant)


def check(score: FixScore, what: object) -> None:
    """A score is in range, made of its parts, and written and read again."""
    for part in (score.value, score.structural, score.textual):
        assert part is None or 0 <= part <= 1, what
    if score.value is None:
        assert (score.structural, score.textual, score.files) == (None, None, ()), what
    elif score.textual is None:
        assert score.value == score.structural, what
    else:
        assert score.value == 0.6 * score.structural + 0.4 * score.textual, what
    for file in score.files:
        if file.similarity is not None and file.length:
            assert file.similarity == 2 * file.shared / file.length or file.similarity == 1.0, what
    assert FixScore.from_json(score.to_json()) == score, what


def test_the_default_variant_is_the_score_to_the_last_bit():
    for _, scenario, path in archive_pairs():
        reference, candidate = read_reference(scenario / "REFERENCE_FIX.md"), read_diff(path)
        assert VARIANTS["ordered"](reference, candidate) == score_fix(reference, candidate)


def test_every_variant_on_the_archive():
    for run, scenario, path in archive_pairs():
        scores = score_variants(scenario / "REFERENCE_FIX.md", path)
        assert list(scores) == list(VARIANTS)
        for name, score in scores.items():
            check(score, (run, name))
            assert not [note for note in score.notes if note.kind == "fallback" and ".py" in note.path], (run, name)
        # Order can only cost, and a place is never shared where no file is
        assert scores["lines"].structural == scores["ordered"].structural
        assert scores["located"].structural <= scores["ordered"].structural
        assert scores["blend"].textual == scores["tokens"].textual


def test_each_signature_names_its_variant_and_its_rules():
    rules = Rules(structural_weight=0.5, textual_weight=0.5)
    for declared in (Rules(), rules):
        scores = score_variants(as_diff("a.py", [["x"]]), as_diff("a.py", [["x"]]), declared)
        signatures = [score.signature for score in scores.values()]
        assert len(set(signatures)) == len(VARIANTS)
        assert all(name in signature for name, signature in zip(scores, signatures, strict=True))
        assert all(re.fullmatch(r"\S+", signature) for signature in signatures)
        assert scores["ordered"].signature == declared.signature("fix")
    assert score_variants(as_diff("a.py", [["x"]]), as_diff("a.py", [["y"]]), rules)["lines"].value == 0.5


@pytest.mark.parametrize("name", ["tokens", "semantic"])
def test_what_a_variant_can_not_read_is_compared_as_by_default_and_noted(name):
    diff, other = as_diff("notes.unknown", [["some words"]]), as_diff("notes.unknown", [["more words"]])
    score = VARIANTS[name](diff, other)
    assert score.textual == score_fix(diff, other).textual
    assert [(note.kind, note.path) for note in score.notes] == [("fallback", "notes.unknown")]


@pytest.mark.parametrize(
    "text", ["no code at all (", "\0", "x = " + "(" * 5000, "\N{KELVIN SIGN} = 1", "if", "\f", "\ufeffx"]
)
def test_python_that_does_not_parse_is_compared_all_the_same(text):
    diff, other = as_diff("m.py", [[text]]), as_diff("m.py", [["y = 1"]])
    for score in (
        VARIANTS["semantic"](diff, other),
        VARIANTS["semantic"](other, diff),
        VARIANTS["tokens"](diff, other),
    ):
        check(score, text)
        assert score.textual < 1.0
    assert VARIANTS["semantic"](diff, diff).textual == 1.0


def test_a_piece_that_does_not_parse_is_noted():
    good = "--- a/m.py\n+++ b/m.py\n@@ -1 +1 @@\n-old\n+x = {}\n@@ -20 +20 @@\n-old\n+no code ({}\n"
    score = VARIANTS["semantic"](good.format("a + 1", 1), good.format("1 + a", 2))
    assert 0 < score.textual < 1 and [note.kind for note in score.notes] == ["unparsed"]
    same = VARIANTS["semantic"](good.format("a + 1", 1), good.format("1 + a", 1))
    assert same.textual == 1.0 and [note.kind for note in same.notes] == ["unparsed"]


def test_deep_nesting_falls_back():
    deep = "x = " + " + ".join("a" * n for n in range(1, 3000))
    diff, other = as_diff("m.py", [[deep]]), as_diff("m.py", [[deep + " + 1"]])
    score = VARIANTS["semantic"](diff, other)
    assert 0.99 < score.textual < 1.0
    assert [note.kind for note in score.notes] == ["fallback"], score.notes


def test_very_many_parts_are_still_compared():
    lines = [f"line {n}" for n in range(3000)]
    diff, other = as_diff("m.txt", [lines]), as_diff("m.txt", [[line + "x" for line in lines[:2500]] + lines[2500:]])
    score = VARIANTS["lines"](diff, other)
    assert [note.kind for note in score.notes] == ["size_guard"]
    assert score.textual == 2 * sum(map(len, lines[2500:])) / (2 * sum(map(len, lines)) + 2500)
    limited = VARIANTS["hunks"](diff, other, replace(Rules(), size_limit=10.0))
    assert [note.kind for note in limited.notes] == ["size_guard"]


def test_equal_added_text_elsewhere_is_not_the_same_in_form():
    near, far = (f"--- a/m.py\n+++ b/m.py\n@@ -{n},2 +{n},3 @@\n a = 1\n+b = a\n c = a\n" for n in (1, 11))
    assert textual("ordered", near, far) == 1.0
    assert textual("semantic", near, far) < 1.0
    dropped = "--- a/m.py\n+++ b/m.py\n@@ -1,2 +1,2 @@\n-a = 1\n+b = a\n c = a\n"
    assert textual("ordered", near, dropped) == 1.0
    assert textual("semantic", near, dropped) < 1.0


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(MissingExtraError, match=r"scipy: pip install 'crucible_nb\[analysis\]'"):
        compare_parts(["ab", "cd"], ["ax", "cy"])
    assert compare_parts(["ab", "cd"], ["cd", "ax"])[0].shared == 3  # Equal parts, and one left a side: no scipy
    monkeypatch.setitem(sys.modules, "ast_grep_py", None)
    changes = [read_diff(as_diff("m.py", [[text]])).files[0] for text in ("unseen = 1", "unseen = 2")]
    with pytest.raises(MissingExtraError, match="ast-grep-py"):
        compare_tokens(*changes)


def test_public_names():
    assert list(VARIANTS) == ["ordered", "lines", "hunks", "tokens", "semantic", "located", "source_only", "blend"]
    diff = Path(__file__).parents[1] / "data" / "archive" / "scope-creep" / "plain" / "final.diff"
    reference = Path(__file__).parents[1] / "data" / "scenarios" / "scope-creep" / "REFERENCE_FIX.md"
    for score in VARIANTS.values():
        assert score(reference, diff, Rules()) == score(reference.read_bytes(), diff.read_bytes())
