"""What must hold for every input: bounds, symmetry, what may not move a score, and nothing lost in silence."""

import json
import math
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from diffkit import (
    DECK,
    Change,
    Style,
    archive_pairs,
    git,
    hunks,
    needs_git,
    write_diff,
    write_section,
    write_trees,
)
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from crucible_nb.fix.diffs import Diff, DiffError, read_diff, read_ordinary
from crucible_nb.fix.explain import explain_fix
from crucible_nb.fix.reference import read_reference
from crucible_nb.fix.score import FixScore, score_fix
from crucible_nb.rules import Rules
from crucible_nb.similarity import compare_texts, indel, jaccard

settings.register_profile(
    "crucible",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=60,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("crucible")

SEPARATORS = ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\r"]
# Content that looks like a diff, a fence or a remark once it has its sign
TRICKY = [
    "",
    " ",
    "+",
    "-",
    "-- ",
    "--",
    "- a",
    "-- a/src/tax.py",
    "++ b/src/tax.py",
    "@@ -1 +1 @@",
    "diff --git a/x b/x",
    "index 1234567..89abcde 100644",
    "Binary files a/x and b/x differ",
    "Subproject commit 0123456789012345678901234567890123456789 is old",
    "Submodule x 1234567..89abcde:",
    "* Unmerged path x",
    "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001",
    "\\ No newline at end of file",
    "```",
    "```diff",
    "~~~~",
    "# Alternative",
    "2.39.5",
    "~",
    "\ttab = 'x'",
]
CODE = [
    "def tax(amount):",
    "    return amount * rate",
    "    return raw * (1 - pct)",
    "x = 1",
    "größe = '日本'",
    "😀",
]
PATHS = ["a.py", "src/tax.py", "src/rates.py", "a/b.py", "b/a.py", "i/w", "with blank.py", "x b/y.py", "größe.py"]
PATHS += ['quo"te.py', "tab\tname", "back\\slash", "LICENSE", ".hidden", "-dash", "deep/er/still/f.txt"]

letters = st.characters(codec="utf-8", exclude_characters="\n\r\x1b\0")
words = st.text(letters, max_size=12)
lines = st.one_of(st.sampled_from(CODE), st.sampled_from(CODE), st.sampled_from(TRICKY), words)
small_texts = st.text("abc\n", max_size=24)


@st.composite
def edited(draw, before: Sequence[str], own_lines=lines) -> list[str]:
    """The lines of a file after an edit: most of them kept, some dropped, replaced or put in."""
    after = []
    for line in before:
        match draw(st.sampled_from(["keep", "keep", "keep", "drop", "replace", "insert"])):
            case "keep":
                after.append(line)
            case "replace":
                after.append(draw(own_lines))
            case "insert":
                after += [line, draw(own_lines)]
    return after + draw(st.lists(own_lines, max_size=2))


def as_text(file_lines: Sequence[str], final_newline: bool) -> str:
    """Lines as the text of a file."""
    return "\n".join(file_lines) + "\n" * (final_newline and bool(file_lines))


@st.composite
def change_sets(draw, paths: Sequence[str] = PATHS, min_size: int = 1, own_lines=lines) -> list[Change]:
    """Changes to different files: edits, new files, deletions."""
    chosen = draw(st.lists(st.sampled_from(paths), min_size=min_size, max_size=4, unique=True))
    changes = []
    for path in chosen:
        before = draw(st.lists(own_lines, max_size=10))
        after = draw(edited(before, own_lines))
        texts = [as_text(before, draw(st.booleans())), as_text(after, draw(st.booleans()))]
        missing = draw(st.sampled_from([None, None, None, 0, 1]))
        if missing is not None:
            texts[missing] = None
        change = Change(path, *texts)
        if write_section(change):
            changes.append(change)
    assume(len(changes) >= min_size)
    return changes


@st.composite
def rivals(draw, **options) -> tuple[list[Change], list[Change]]:
    """A reference's and a candidate's changes to the same files, partly the same."""
    reference = draw(change_sets(**options))
    candidate = []
    for change in reference:
        what = draw(st.sampled_from(["same", "other", "other", "leave"]))
        if what == "other" and change.before is not None and change.after is not None:
            after = draw(edited(change.after.split("\n"), options.get("own_lines", lines)))
            change = replace(change, after="\n".join(after))
        if what != "leave" and write_section(change):
            candidate.append(change)
    taken = {change.path for change in reference}
    candidate += [change for change in draw(change_sets(min_size=0)) if change.path not in taken][:2]
    return reference, candidate


def touched(diff: Diff) -> list[tuple[object, ...]]:
    """What a score is made from, file by file."""
    return [(f.path, f.old_path, f.status, f.kind, f.added, f.removed) for f in diff.files]


def numbers(score: FixScore) -> tuple[object, ...]:
    """All of a score but its notes."""
    return (
        score.value,
        score.structural,
        score.textual,
        score.matched_files,
        score.missing_files,
        score.extra_files,
        score.files,
    )


def lcs(a: Sequence[object], b: Sequence[object]) -> int:
    """Length of the longest common subsequence, by the textbook's table."""
    row = [0] * (len(b) + 1)
    for x in a:
        above = row[:]
        for j, y in enumerate(b, 1):
            row[j] = above[j - 1] + 1 if x == y else max(above[j], row[j - 1])
    return row[-1]


# Similarity


@given(small_texts, small_texts)
def test_indel_is_the_textbooks_lcs(a, b):
    expected = 2 * lcs(a, b) / (len(a) + len(b)) if a or b else 1.0
    assert indel(a, b) == expected
    assert compare_texts(a, b).shared == lcs(a, b)


@given(st.text(max_size=40), st.text(max_size=40))
def test_indel_is_bounded_symmetric_and_1_for_equal_texts(a, b):
    assert 0.0 <= indel(a, b) <= 1.0
    assert indel(a, b) == indel(b, a)
    assert (indel(a, b) == 1.0) == (a == b)
    assert indel(a, a) == 1.0


@given(small_texts, small_texts, st.sampled_from([1, 4, 20, 100, 1e11]))
def test_compare_texts_is_symmetric_and_counts_what_it_says(a, b, limit):
    there, back = compare_texts(a, b, limit), compare_texts(b, a, limit)
    assert there == back
    units = (a, b) if there.unit == "character" else (a.split("\n"), b.split("\n"))
    assert there.length == len(units[0]) + len(units[1])
    if there.value is None:
        assert there.shared is None
        assert len(units[0]) * len(units[1]) > limit
    else:
        assert there.shared == lcs(*units)
        assert there.value == (2 * there.shared / there.length if there.length else 1.0)


@given(st.text("ab", min_size=300, max_size=400), st.integers(0, 2**32), st.integers(0, 60))
@settings(max_examples=8)
def test_long_texts_have_the_same_similarity_as_short_ones(text, seed, edits):
    draw = random.Random(seed)
    letters = list(text * 4)
    for _ in range(edits):
        letters[draw.randrange(len(letters))] = draw.choice("abc")
    other = "".join(letters)
    assert len(text) * 4 * len(other) > 1_000_000  # where a first guess is made
    assert compare_texts(text * 4, other).shared == lcs(text * 4, other)


@given(st.sets(st.integers(0, 9)), st.sets(st.integers(0, 9)))
def test_jaccard_is_shared_over_united(a, b):
    assert jaccard(a, b) == jaccard(b, a) == (len(a & b) / len(a | b) if a | b else None)


# One diff


@given(change_sets(), st.integers(0, 5), st.booleans())
def test_reading_gives_back_what_was_written(changes, context, with_git):
    written = [change for change in changes if with_git or hunks(change, context)]
    assume(written)
    diff = read_diff(write_diff(written, Style(context=context, git=with_git)))
    assert [(f.path, f.added, f.removed) for f in diff.files] == [
        (change.path, change.added, change.removed) for change in written
    ]
    assert [note.kind for note in diff.notes if note.kind != "eol_folded"] == []


@given(change_sets())
def test_text_bytes_and_file_are_the_same_input(tmp_path_factory, changes):
    text = write_diff(changes)
    path = tmp_path_factory.mktemp("diff") / "final.diff"
    path.write_bytes(text.encode())
    assert read_diff(text) == read_diff(text.encode()) == read_diff(path)


@given(change_sets(), st.sampled_from(SEPARATORS), st.data())
def test_no_separator_but_lf_ends_a_line(changes, separator, data):
    counts = {change.path: len(change.added) for change in changes}
    body = write_diff(changes).split("\n")
    places = [at for at, line in enumerate(body) if read_as_added(body, at)]
    assume(places)
    at = data.draw(st.sampled_from(places))
    column = data.draw(st.integers(1, len(body[at])))
    body[at] = body[at][:column] + separator + body[at][column:]
    for source in ("\n".join(body), "\n".join(body).encode()):
        found = {file.path: len(file.added) for file in read_diff(source).files}
        assert found == counts


def read_as_added(body: Sequence[str], at: int) -> bool:
    """True where line `at` of a diff is an added line: taking it away takes one away."""
    if not body[at].startswith("+") or body[at].startswith("+++ "):
        return False
    return at > 0 and not body[at - 1].startswith("--- ")


@given(change_sets(min_size=2), st.data())
def test_a_whole_earlier_section_survives_any_cut(changes, data):
    text, kept = cut_behind_a_section([write_section(change) for change in changes], data)
    assert touched(read_diff(text))[:kept] == touched(read_diff(write_diff(changes)))[:kept]


@given(change_sets(min_size=2), st.data())
def test_a_whole_earlier_section_without_diff_git_survives_any_cut(changes, data):
    written = [change for change in changes if hunks(change, 3)]
    assume(len(written) > 1)
    text, kept = cut_behind_a_section([write_section(change, Style(git=False)) for change in written], data)
    found = [(file.path, file.added) for file in read_diff(text).files]
    assert found[:kept] == [(change.path, change.added) for change in written[:kept]]


@pytest.mark.parametrize("style", [Style(), Style(git=False), Style(index_width=None)])
@pytest.mark.parametrize("second", [Change("y", "a\n", "b\n"), Change("y", None, "b\n"), Change("y", "a\n", None)])
def test_no_cut_at_all_moves_the_first_section(style, second):
    first = write_section(Change("x", "a\n", "b\n"), style)
    text = first + write_section(second, style)
    for cut in range(len(first), len(text)):
        file = read_diff(text[:cut]).files[0]
        assert (file.path, file.added) == ("x", ("b",)), text[len(first) : cut]


def cut_behind_a_section(sections: Sequence[str], data: st.DataObject) -> tuple[str, int]:
    """A diff that ends somewhere behind its first section, and how many sections are whole in it."""
    kept = data.draw(st.integers(1, len(sections) - 1))
    whole = "".join(sections[:kept])
    return whole + sections[kept][: data.draw(st.integers(0, len(sections[kept])))], kept


@given(change_sets(min_size=2), st.data())
def test_a_broken_section_loses_no_other(changes, data):
    sections = [write_section(change) for change in changes]
    whole = touched(read_diff("".join(sections)))
    broken = data.draw(st.integers(0, len(sections) - 1))
    count = sections[broken].count("@@ -")
    assume(count)
    sections[broken] = sections[broken].replace("@@ -", data.draw(st.sampled_from(["@@ x", "@@ -9,", "@@"])))
    diff = read_diff("".join(sections))
    assert len(diff.files) == len(whole)
    for at, file in enumerate(touched(diff)):
        assert file == whole[at] if at != broken else file[0] == whole[at][0]


DECK_DIFFS = sorted((DECK / "diffs").glob("*.diff"))
INSERTED = [b"\n", b"\r", b"\0", b"\xff", b"\x1b[m", b"+", b"-", b" ", b"@@ ", b"--- ", b"+++ ", b'"', b"\\"]
INSERTED += [b"diff --git ", b"/dev/null", b"rename to ", b"\xef\xbb\xbf", b"99999999999999999999", "\u2028".encode()]


def mutated(data: bytes, draw: random.Random) -> bytes:
    """A diff with one to six accidents."""
    for _ in range(draw.randint(1, 6)):
        rows = data.split(b"\n")
        at, row = draw.randint(0, len(data)), draw.randrange(len(rows))
        match draw.randrange(9):
            case 0:
                data = data[:at]
            case 1:
                data = data[at:]
            case 2:
                data = data[:at] + draw.choice(INSERTED) + data[at:]
            case 3:
                data = data[:at] + data[at + draw.randint(1, 9) :]
            case 4:
                data = b"\n".join(rows[:row] + rows[row + 1 :])
            case 5:
                data = b"\n".join(rows[:row] + rows[draw.randrange(len(rows)) :])
            case 6:
                rows[row] = draw.choice(rows)
                data = b"\n".join(rows)
            case 7:
                data += draw.choice(rows) + b"\n" + data[-2000:]
            case 8:
                data += draw.choice(DECK_DIFFS[:20]).read_bytes()[:2000]
    return data


@pytest.mark.parametrize("path", DECK_DIFFS, ids=lambda path: path.stem)
def test_reading_is_total(path):
    draw = random.Random(path.stem)
    original = path.read_bytes()
    reference = read_diff(b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")
    rounds = 100 if len(original) < 50_000 else 3
    for _ in range(rounds):
        check_total(mutated(original, draw), reference)


RENAMED = b"diff --git a/x b/x\nrename from x\nrename to x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"


HARD_ONCE = {
    "renamed to its own name, twice": RENAMED * 2,
    "renamed, then copied": RENAMED.replace(b"from x", b"from y") + RENAMED.replace(b"rename", b"copy"),
    "no old name, twice": b"--- \n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n" * 2,
    "deleted and added, twice": (
        b"--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n" * 2
    ),
    "no names at all": b"diff --git \n@@\n",
    "empty names": b"diff --git a b c d\nrename from \nrename to \n@@ -1 +1 @@\n-a\n+b\n",
    "nothing to nothing": b"--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n",
    "nothing to nothing, by git": (
        b"diff --git a/dev/null b/dev/null\n--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n"
    ),
    "hunk headers alone": b"@@ -1 +1 @@\n" * 3,
    "a number too large": b"--- a/x\n+++ b/x\n@@ -99999999999999999999 +1 @@\n-a\n+b\n",
    "a hunk of nothing": b"--- a/x\n+++ b/x\n@@ -0 +0,0 @@\n",
    "merges without a body": b"diff --cc x\n" * 3,
    "remarks everywhere": b"\\ No newline\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n\\ No newline\n-a\n\\\n+b\n",
}


@pytest.mark.parametrize("name", HARD_ONCE)
def test_reading_is_total_on_what_was_hard_once(name):
    check_total(HARD_ONCE[name], read_diff(b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"))


def check_total(data: bytes, reference: Diff) -> None:
    """Read, score and explain an input, whatever it is."""
    diff = read_or_error(data)
    assert diff == read_carefully(data)
    if isinstance(diff, str):
        assert "\n" not in diff
        return
    check_sound(data, diff)
    score = score_fix(reference, diff)
    assert 0 <= score.value <= 1
    assert FixScore.from_json(score.to_json()) == score
    explain_fix(reference, diff)
    if diff.files:
        assert score_fix(diff, diff).structural == 1.0


def read_or_error(data: bytes) -> Diff | str:
    """What is read, or why nothing is."""
    try:
        return read_diff(data)
    except DiffError as problem:
        return str(problem)


def read_carefully(data: bytes) -> Diff | str:
    """The same, with no short way for ordinary edits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crucible_nb.fix.diffs.read_ordinary", lambda lines: ([], 0))
        return read_or_error(data)


@given(change_sets(min_size=2), st.integers(0, 2**32))
@settings(max_examples=400)
def test_the_short_way_reads_what_the_careful_one_reads(changes, seed):
    data = write_diff(changes).encode()
    assert read_or_error(data) == read_carefully(data)
    broken = mutated(data, random.Random(seed))
    assert read_or_error(broken) == read_carefully(broken)


ORDINARY = "diff --git a/m.py b/m.py\nindex 7898192..e61ef7b 100644\n--- a/m.py\n+++ b/m.py\n@@ -1 +1 @@\n-a\n+A\n"
NOT_IN_ORDER = {
    "the names of the next file are counted": ORDINARY.replace("1 +1", "1,2 +1,2")
    + "--- a/n.py\n+++ b/n.py\n@@ -1 +1 @@\n-b\n+B\n",
    "prose behind a blank line": ORDINARY + "\nThanks!\n",
    "a line to add behind a blank line": ORDINARY + "\n+B\n",
    "a remark": ORDINARY + "\\ No newline at end of file\n",
    "no line end": ORDINARY[:-1],
    "one line too few": ORDINARY.replace("+1 @@", "+1,2 @@"),
    "one line too many": ORDINARY + "+B\n",
    "another file's header": ORDINARY + ORDINARY.replace("+++ b/m.py", "+++ b/n.py"),
    "a combined diff behind": ORDINARY + "diff --cc m.py\n@@@ -1,1 -1,1 +1,1 @@@\n++x\n",
    "a symbolic link": ORDINARY.replace("100644", "120000"),
    "a name that climbs": ORDINARY.replace("m.py", "./m.py"),
    "a name with an escape": ORDINARY.replace("m.py", "m\\tn.py"),
    "nothing changes": ORDINARY.replace("-a\n+A", " a"),
    "the same path twice": ORDINARY * 2,
}


@pytest.mark.parametrize("name", NOT_IN_ORDER)
def test_the_short_way_knows_what_it_must_not_read(name):
    data = NOT_IN_ORDER[name].encode()
    assert read_or_error(data) == read_carefully(data)


def test_the_short_way_reads_most_files_of_the_archive():
    diffs = [path.read_bytes() for _, _, path in archive_pairs()]
    assert all(read_diff(data) == read_carefully(data) for data in diffs)
    short = sum(len(read_ordinary(data.decode().split("\n"))[0]) for data in diffs)
    assert short > 0.5 * sum(len(read_diff(data).files) for data in diffs)


def check_sound(data: bytes, diff: Diff) -> None:
    """What holds for every diff that can be read at all."""
    paths = [file.path for file in diff.files]
    assert len(set(paths)) == len(paths)
    assert "" not in paths
    assert "/dev/null" not in paths
    for note in diff.notes:
        assert note.line is None or 1 <= note.line <= data.count(b"\n") + 1
        assert note.message
        assert "\n" not in note.message
    for file in diff.files:
        assert file.status in ("modified", "added", "deleted", "renamed", "copied", "mode", "type")
        assert file.kind in ("text", "binary", "submodule", "symlink", "combined")
        assert (file.added is None) == (file.removed is None)
        assert file.kind == "text" or file.added is None
        for sign, kept in (("+", file.added), ("-", file.removed)):
            body = [line for hunk in file.hunks for line in hunk.lines]
            assert kept is None or list(kept) == [line[1:] for line in body if line[0] == sign]
        assert all("\n" not in line for line in file.added or ())


@pytest.mark.parametrize("data", [b"", b"\n", b" \n\t\n", b"\xef\xbb\xbf"])
def test_empty_input_is_a_diff_without_files(data):
    assert read_diff(data).files == ()


# Scores


@given(change_sets())
def test_a_diff_against_itself_scores_1(changes):
    text = write_diff(changes)
    score = score_fix(read_diff(text), read_diff(text))
    assert (score.value, score.structural) == (1.0, 1.0)
    assert score.textual == 1.0
    assert score.missing_files == score.extra_files == ()


@given(change_sets(), st.sampled_from(["\n", "\r\n"]))
def test_a_reference_file_against_its_own_diff_scores_1(changes, line_end):
    text = write_diff(changes).replace("\n", line_end)
    assert score_fix(f"# Fix\n\n```diff\n{text}```\n", read_diff(text)).value == 1.0
    assert score_fix(text, read_diff(text)).value == 1.0


@pytest.mark.parametrize("ends", ["\r", "\r\r"])
def test_one_cr_before_a_line_end_is_dropped_on_both_sides(ends):
    text = f"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b{ends}\n"
    left = "b" + ends[1:]
    assert read_diff(text).files[0].added == (left,)
    for source in (text, f"```diff\n{text}```\n", f"```diff\n{text}```\n".encode()):
        reference = read_reference(source)
        assert reference.alternatives[0].files[0].added == (left,)
        kinds = [note.kind for note in score_fix(reference, read_diff(text.replace(ends, ""))).notes]
        assert "eol_folded" in kinds


@given(rivals())
def test_scores_are_bounded_and_made_from_their_counts(pair):
    reference, candidate = (read_diff(write_diff(side)) for side in pair)
    score = score_fix(reference, candidate)
    matched, missing, extra = (len(x) for x in (score.matched_files, score.missing_files, score.extra_files))
    assert matched + missing == len(reference.files)
    assert matched + extra == len(candidate.files)
    structural = matched / (matched + missing + extra)
    ratios = [2 * file.shared / file.length if file.length else 1.0 for file in score.files]
    textual = math.fsum(ratios) / len(ratios) if ratios else 0.0
    assert (score.structural, score.textual) == (structural, textual)
    assert score.value == 0.6 * structural + 0.4 * textual
    assert 0 <= score.structural <= 1 and 0 <= score.textual <= 1 and 0 <= score.value <= 1

    exact = [Fraction(2 * file.shared, file.length) if file.length else Fraction(1) for file in score.files]
    mean = sum(exact) / len(exact) if exact else Fraction(0)
    value = Fraction(6, 10) * Fraction(matched, matched + missing + extra) + Fraction(4, 10) * mean
    assert abs(score.value - value) < 1e-12


@given(rivals(), st.integers(0, 1000))
def test_declared_weights_are_those_of_the_value(pair, thousandths):
    weights = thousandths / 1000, 1 - thousandths / 1000
    rules = Rules(structural_weight=weights[0], textual_weight=weights[1])
    score = score_fix(read_diff(write_diff(pair[0])), read_diff(write_diff(pair[1])), rules)
    assert score.value == weights[0] * score.structural + weights[1] * score.textual
    assert 0 <= score.value <= 1
    assert (rules.signature("fix") == Rules().signature("fix")) == (weights == (0.6, 0.4))


@given(rivals())
def test_the_text_behind_a_similarity_is_the_added_lines_in_order(pair):
    reference, candidate = pair
    score = score_fix(read_diff(write_diff(reference)), read_diff(write_diff(candidate)))
    added = [{c.path: "\n".join(c.added) for c in side} for side in pair]
    for file in score.files:
        assert file.shared == lcs(*(side[file.path] for side in added))
        assert file.length == sum(len(side[file.path]) for side in added)
    united = {c.path for c in reference} | {c.path for c in candidate}
    assert united == {*score.matched_files, *score.missing_files, *score.extra_files}
    for paths in (score.matched_files, score.missing_files, score.extra_files):
        assert list(paths) == sorted(paths)


@given(rivals(), st.randoms(use_true_random=False))
def test_the_order_of_sections_never_moves_a_score(pair, draw):
    reference, candidate = pair
    before = score_fix(read_diff(write_diff(reference)), read_diff(write_diff(candidate)))
    draw.shuffle(reference)
    draw.shuffle(candidate)
    assert numbers(score_fix(read_diff(write_diff(reference)), read_diff(write_diff(candidate)))) == numbers(before)


@given(rivals())
def test_taking_over_a_missing_file_raises_structural_and_an_extra_one_lowers_it(pair):
    reference, candidate = pair
    score = score_fix(read_diff(write_diff(reference)), read_diff(write_diff(candidate)))
    more = [change for change in reference if change.path in score.missing_files][:1]
    if more:
        better = score_fix(read_diff(write_diff(reference)), read_diff(write_diff([*candidate, *more])))
        assert better.structural > score.structural
    extra = Change("not/in/the/reference", None, "x\n")
    worse = score_fix(read_diff(write_diff(reference)), read_diff(write_diff([*candidate, extra])))
    assert worse.structural < score.structural or score.structural == 0
    assert worse.textual == score.textual


@given(rivals())
def test_json_gives_the_same_score_back(pair):
    score = score_fix(read_diff(write_diff(pair[0])), read_diff(write_diff(pair[1])))
    text = score.to_json()
    assert FixScore.from_json(text) == score
    assert FixScore.from_json(text.encode()).to_json() == text
    assert FixScore.from_json(score.to_json(indent=None)) == score
    assert text.isascii()
    assert "NaN" not in text
    head = ["value", "structural", "textual", "matched_files", "missing_files", "extra_files", "notes", "signature"]
    assert list(json.loads(text))[:8] == head


@given(rivals())
def test_the_parts_of_an_explanation_sum_to_value(pair):
    reference, candidate = pair
    explanation = explain_fix(read_diff(write_diff(reference)), read_diff(write_diff(candidate)))
    parts = [part for file in explanation.files for part in (file.structural_part, file.textual_part)]
    assert math.isclose(math.fsum(parts), explanation.score.value, rel_tol=0, abs_tol=1e-12)
    assert explanation.score == score_fix(read_diff(write_diff(reference)), read_diff(write_diff(candidate)))
    str(explanation), explanation._repr_html_()


@given(rivals())
def test_an_explanation_shows_every_line_once_and_every_matched_character(pair):
    reference, candidate = pair
    added = [{c.path: c.added for c in side} for side in pair]
    explanation = explain_fix(read_diff(write_diff(reference)), read_diff(write_diff(candidate)))
    for file in explanation.files:
        if file.role != "matched":
            continue
        assert tuple(p.candidate for p in file.lines if p.candidate_line is not None) == added[1][file.path]
        shown = {}
        for pair_ in file.lines:
            if pair_.reference_line is not None and pair_.reference_line not in shown:
                shown[pair_.reference_line] = pair_.reference
            else:
                assert pair_.reference == ""
        assert list(shown) == list(range(1, len(shown) + 1))
        assert tuple(shown.values()) == added[0][file.path]
        marked = [p.reference[a:b] for p in file.lines for a, b in p.reference_spans]
        assert "".join(marked) == "".join(p.candidate[a:b] for p in file.lines for a, b in p.candidate_spans)
        line_ends = max(min(len(side[file.path]) for side in added) - 1, 0)
        assert file.shared - line_ends <= len("".join(marked)) <= file.shared


# What may not move a score


PROSE = ["Here is the fix:", "", "1. the tax was rounded too early", "> as asked", "# Done", "Good luck!", "\u2028"]


def coloured(text: str) -> str:
    """A diff as `git diff --color=always` prints it."""
    rows = text.split("\n")
    out = []
    for row in rows:
        colour = {"+": "32", "-": "31", "@": "36"}.get(row[:1])
        if row.startswith(("diff ", "index ", "--- ", "+++ ", "new ", "deleted ")):
            colour = "1"
        out.append(f"\x1b[{colour}m{row}\x1b[m" if colour else row)
    return "\n".join(out)


def crlf(text: str) -> str:
    """A diff whose every line ends in CR LF."""
    return text.replace("\n", "\r\n")


def stripped_context(text: str) -> str:
    """A diff out of an editor that takes blanks at the end of a line away, from context lines at least."""
    return text.replace("\n \n", "\n\n").replace("\n \n", "\n\n")


def stripped_tail(text: str) -> str:
    """A diff without the blanks and line ends behind its last line, where that line is context."""
    last = text.removesuffix("\n").rpartition("\n")[2]
    return text.rstrip(" \n") if last.startswith(" ") else text.removesuffix("\n")


RESPELL = {
    "no context": lambda changes: write_diff(changes, Style(context=0)),
    "one line of context": lambda changes: write_diff(changes, Style(context=1)),
    "much context": lambda changes: write_diff(changes, Style(context=25)),
    "no prefix": lambda changes: write_diff(changes, Style(prefixes=("", ""))),
    "mnemonic prefixes": lambda changes: write_diff(changes, Style(prefixes=("i/", "w/"))),
    "mnemonic prefixes, against a commit": lambda changes: write_diff(changes, Style(prefixes=("c/", "w/"))),
    "no index prefixes": lambda changes: write_diff(changes, Style(prefixes=("1/", "2/"))),
    "prefixes turned round": lambda changes: write_diff(changes, Style(prefixes=("b/", "a/"))),
    "other prefixes": lambda changes: write_diff(changes, Style(prefixes=("old/", "new/"))),
    "long prefixes": lambda changes: write_diff(changes, Style(prefixes=("was/it/", "is/now/"))),
    "full object names": lambda changes: write_diff(changes, Style(index_width=40)),
    "short object names": lambda changes: write_diff(changes, Style(index_width=4)),
    "no index line": lambda changes: write_diff(changes, Style(index_width=None)),
    "headings": lambda changes: write_diff(changes, Style(heading="def tax(amount): # @@ -1 +1 @@")),
    "CR LF": lambda changes: crlf(write_diff(changes)),
    "byte order mark": lambda changes: "\ufeff" + write_diff(changes),
    "colour": lambda changes: coloured(write_diff(changes)),
    "prose before": lambda changes: "\n".join(PROSE) + "\n" + write_diff(changes),
    "prose after": lambda changes: write_diff(changes) + "\n" + "\n".join(PROSE),
    "prose between": lambda changes: "\n".join(write_section(change) + "\n" + PROSE[0] + "\n" for change in changes),
    "blank tail": lambda changes: write_diff(changes) + "\n\n\n",
    "blank head": lambda changes: "\n \n" + write_diff(changes),
    "blank line between": lambda changes: "\n".join(write_section(change) for change in changes),
    "no final line end": lambda changes: write_diff(changes).removesuffix("\n"),
    "stripped tail": lambda changes: stripped_tail(write_diff(changes)),
    "stripped context": lambda changes: stripped_context(write_diff(changes)),
    "set in": lambda changes: "".join(f"    {row}\n" for row in write_diff(changes).split("\n")[:-1]),
}


@pytest.mark.parametrize("name", RESPELL)
@given(pair=rivals())
@settings(max_examples=30)
def test_spelling_never_moves_a_score(name, pair):
    reference, candidate = pair
    assume(candidate)
    before = score_fix(read_diff(write_diff(reference)), read_diff(write_diff(candidate)))
    text = RESPELL[name](candidate)
    assert numbers(score_fix(read_diff(write_diff(reference)), read_diff(text))) == numbers(before)
    assert numbers(score_fix(read_diff(write_diff(reference)), read_diff(text.encode()))) == numbers(before)


@given(pair=rivals())
def test_a_diff_without_git_headers_scores_the_same(pair):
    reference, candidate = ([change for change in side if hunks(change, 3)] for side in pair)
    assume(reference)
    before = score_fix(read_diff(write_diff(reference)), read_diff(write_diff(candidate)))
    plain = write_diff(candidate, Style(git=False))
    stamped = re.sub(r"(?m)^((?:---|\+\+\+) [ab]/.*?)\t?\n(?=\+\+\+|@@)", r"\1\t2026-11-30 13:34:00.5 +0100\n", plain)
    for text in (plain, crlf(plain), stamped):
        assert numbers(score_fix(read_diff(write_diff(reference)), read_diff(text))) == numbers(before)


@pytest.mark.parametrize("name", sorted(RESPELL.keys() - {"byte order mark"}))
@given(pair=rivals())
@settings(max_examples=15)
def test_spelling_of_a_fenced_reference_never_moves_a_score(name, pair):
    reference, candidate = pair
    before = score_fix(read_diff(write_diff(reference)), read_diff(write_diff(candidate)))
    text = RESPELL[name](reference)
    fenced = f"# Fix\n\nBecause.\n\n```diff\n{text}\n```\n\nThat is all.\n"
    assert numbers(score_fix(fenced, read_diff(write_diff(candidate)))) == numbers(before)


@pytest.mark.parametrize("fence", ["```", "~~~", "`````", "~~~~~~"])
@pytest.mark.parametrize("indent", ["", "  ", "    ", "- ", "1. "])
@given(changes=change_sets())
@settings(max_examples=15)
def test_a_fence_gives_its_diff_back(fence, indent, changes):
    text = write_diff(changes)
    inner = " " * len(indent)
    rows = [f"{indent}{fence}diff", *(inner + row for row in text.split("\n")[:-1]), f"{inner}{fence}"]
    reference = read_reference("Text.\n\n" + "\n".join(rows) + "\n\nMore text.\n")
    assert [touched(diff) for diff in reference.alternatives] == [touched(read_diff(text))]
    assert "diff --git" not in reference.prose


GIT_SPELLINGS = [
    ["--unified=0"],
    ["--unified=1"],
    ["--unified=40"],
    ["--no-prefix"],
    ["--src-prefix=old/", "--dst-prefix=new/"],
    ["--color=always"],
    ["--color=always", "--ws-error-highlight=all"],
    ["--full-index"],
    ["--abbrev=4"],
    ["--inter-hunk-context=9"],
    ["--function-context"],
    ["--patch-with-stat"],
    ["--patch-with-raw"],
    ["-c", "core.quotePath=false"],
    ["-c", "diff.mnemonicPrefix=true"],
    ["-c", "diff.suppressBlankEmpty=true"],
]


@needs_git
@given(changes=change_sets(own_lines=st.one_of(st.sampled_from(CODE), st.sampled_from(TRICKY))))
@settings(max_examples=15)
def test_spellings_of_git_itself_never_move_a_file(tmp_path_factory, changes):
    sides = [
        {c.path: getattr(c, side).encode() for c in changes if getattr(c, side) is not None}
        for side in ("before", "after")
    ]
    repo, before, after = write_trees(tmp_path_factory.mktemp("repo"), *sides)
    plain = touched(read_diff(git("diff", before, after, cwd=repo)))
    assert {file[0] for file in plain} == {change.path for change in changes}
    for options in GIT_SPELLINGS:
        settings_, flags = (options, []) if options[0] == "-c" else ([], options)
        printed = git(*settings_, "diff", *flags, before, after, cwd=repo)
        assert touched(read_diff(printed)) == plain, options


# Where textual is undefined, and where it is not


TEXT = write_section(Change("x", "a\n", "b\n"))
BINARY = "diff --git a/x b/x\nindex 1234567..89abcde 100644\nBinary files a/x and b/x differ\n"
SYMLINK = "diff --git a/x b/x\nindex 1234567..89abcde 120000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
SUBMODULE = (
    "diff --git a/x b/x\nindex 1234567..89abcde 160000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n"
    f"-Subproject commit {'1' * 40}\n+Subproject commit {'2' * 40}\n"
)
MODE = "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n"
DELETION = write_section(Change("x", "a\nb\n", "a\n"))
OTHER = write_section(Change("y", "a\n", "b\n"))


@pytest.mark.parametrize("no_text", [BINARY, SYMLINK, SUBMODULE])
def test_textual_is_undefined_where_no_matched_file_has_text(no_text):
    for reference, candidate in ((TEXT, no_text), (no_text, TEXT), (no_text, no_text)):
        score = score_fix(reference, read_diff(candidate))
        assert score.textual is None
        assert score.value == score.structural == 1.0
        kinds = [note.kind for note in score.notes]
        assert "no_text" in kinds and "textual_undefined" in kinds
        assert json.loads(score.to_json())["textual"] is None
    with_extra = score_fix(no_text, read_diff(TEXT + OTHER))
    assert (with_extra.value, with_extra.structural, with_extra.textual) == (0.5, 0.5, None)


@pytest.mark.parametrize("no_text", [BINARY, SYMLINK, SUBMODULE])
def test_a_file_without_text_leaves_the_mean_alone(no_text):
    score = score_fix(no_text + OTHER, read_diff(no_text + OTHER.replace("+b", "+bb")))
    assert score.structural == 1.0
    assert score.textual == 2 / 3
    assert score.matched_files == ("x", "y")


def test_textual_is_0_where_nothing_matches():
    for candidate in (OTHER, ""):
        score = score_fix(TEXT, read_diff(candidate))
        assert (score.value, score.structural, score.textual) == (0.0, 0.0, 0.0)
        assert score.missing_files == ("x",)
    assert "empty_candidate" in [note.kind for note in score.notes]


@pytest.mark.parametrize(("reference", "candidate"), [(DELETION, DELETION), (MODE, MODE), (DELETION, MODE)])
def test_two_empty_texts_are_alike_and_noted(reference, candidate):
    score = score_fix(reference, read_diff(candidate))
    assert (score.value, score.textual) == (1.0, 1.0)
    assert "both_empty" in [note.kind for note in score.notes]


def test_an_empty_text_against_a_text_is_0():
    score = score_fix(DELETION, read_diff(TEXT))
    assert (score.structural, score.textual) == (1.0, 0.0)
