"""The pairs of data/pairs do what is said of them, and canonical forms tell them apart."""

import random
import re
import warnings
from collections import Counter
from pathlib import Path

import pytest
from mutants import mutant
from pairkit import INPUTS, differing, does, load, shown, witness

from crucible_nb.fix.diffs import read_diff
from crucible_nb.fix.pairs import Pair, PairError, read_pairs
from crucible_nb.fix.variants import VARIANTS, compare_canonical

FOLDER = Path(__file__).parents[1] / "data" / "pairs"
PAIRS = read_pairs(FOLDER)
EQUIVALENT = [pair for pair in PAIRS if pair.equivalent]
MISSES = [pair for pair in PAIRS if not pair.equivalent]


def name(pair: Pair) -> str:
    """What pytest calls a pair."""
    return pair.id


def test_there_are_many_of_many_kinds():
    assert len(EQUIVALENT) >= 60 and len(MISSES) >= 60
    assert len({pair.kind for pair in EQUIVALENT}) >= 8 and len({pair.kind for pair in MISSES}) >= 8
    assert {sort for pair in PAIRS for sort in pair.inputs} <= INPUTS.keys()


@pytest.mark.parametrize("pair", EQUIVALENT, ids=name)
def test_no_input_tells_an_equivalent_apart(pair):
    assert differing(pair.reference, pair.candidate, pair.inputs, tries=60) is None


@pytest.mark.parametrize("pair", MISSES, ids=name)
def test_the_witness_tells_a_near_miss_apart(pair):
    arguments = witness(pair.witness)
    assert len(arguments) == len(pair.inputs)
    done = [does(load(source), arguments) for source in (pair.reference, pair.candidate)]
    assert done[0] != done[1]
    assert [shown(each) for each in done] == [pair.reference_does, pair.candidate_does]


def semantic(pair: Pair) -> float:
    """Textual of the candidate, in canonical form."""
    return VARIANTS["semantic"](*pair.diffs()).textual


def test_most_equivalents_are_the_same_in_form():
    same = [pair.id for pair in EQUIVALENT if semantic(pair) == 1.0]
    assert len(same) >= 0.85 * len(EQUIVALENT), sorted({pair.id for pair in EQUIVALENT} - set(same))


def test_no_near_miss_is_the_same_in_form():
    assert [pair.id for pair in MISSES if semantic(pair) == 1.0] == []


def test_sides_can_be_exchanged():
    for pair in PAIRS:
        reference, candidate = pair.diffs()
        assert (VARIANTS["semantic"](candidate, reference).textual == 1.0) is (semantic(pair) == 1.0), pair.id


def test_a_pair_against_itself_is_the_same():
    for pair in PAIRS:
        for diff in pair.diffs():
            for variant, score in VARIANTS.items():
                assert score(diff, diff).value == 1.0, (pair.id, variant)


def as_change(source: str) -> str:
    """A source as a new file."""
    lines = source.split("\n")[:-1]
    body = "".join(f"+{line}\n" for line in lines)
    return (
        f"diff --git a/m.py b/m.py\nnew file mode 100644\n--- /dev/null\n+++ b/m.py\n@@ -0,0 +1,{len(lines)} @@\n{body}"
    )


def test_small_changes_that_keep_the_form_keep_the_behaviour():
    """Random small changes of many functions: where the form stays the same, no input tells them apart."""
    draw = random.Random(0)
    kept = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for pair in draw.sample(PAIRS, 300):
            if re.search(r"while|async", pair.reference + pair.candidate):
                continue  # A changed loop may never end
            for source in (pair.reference, pair.candidate):
                for _ in range(4):
                    other = mutant(source, draw)
                    if other is None or not compiles(other):
                        continue
                    changes = [read_diff(as_change(text)).files[0] for text in (source, other)]
                    same = compare_canonical(*changes)[0].value == 1.0
                    kept[same] += 1
                    if same:
                        assert differing(source, other, pair.inputs, tries=30) is None, (pair.id, other)
    assert kept[True] > 20 and kept[False] > 500, kept


def compiles(source: str) -> bool:
    """Whether a source has a function `f`."""
    try:
        load(source)
    except (SyntaxError, NameError, TypeError):
        return False
    return True


# Files of pairs that can not be used


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "found none"),
        ("[[pair]]\nid = 'a'\n", "kind: Field required"),
        ("pair = 1", "x.toml"),
        ("[[pair]\n", "x.toml"),
        ("[[pair]]\nid='a'\nkind='k'\nwhy='w'\ninputs=[]\nreference=''\ncandidate=''\nmore=1\n", "more"),
        ("[[pair]]\nid='a'\nkind='k'\nwhy='w'\ninputs=[]\nreference=''\ncandidate=''\n" * 2, "'a' is there twice"),
    ],
)
def test_bad_files_are_named(tmp_path, text, message):
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(PairError, match=message):
        read_pairs(tmp_path)
