"""Markdown on which an earlier reading lost, added or changed a reference without a word."""

import time

import pytest

from crucible_nb.fix.reference import ReferenceFixError, read_reference
from crucible_nb.fix.score import score_fix

DIFF = "--- a/m.py\n+++ b/m.py\n@@ -1,3 +1,3 @@\n items:\n-- b\n+- c\n + d\n"
OTHER = DIFF.replace("m.py", "n.py")
FENCE = f"```diff\n{DIFF}```\n"
BAD = f"```diff\n{OTHER}```\n"


def indented(prefix: str, text: str) -> str:
    return "".join(f"{prefix}{line}\n" for line in text.splitlines())


@pytest.mark.parametrize(
    "markdown",
    [
        indented("> ", FENCE),
        indented("> > ", FENCE),
        "1. Fix\n\n" + indented("   ", FENCE),
        "- Fix:\n\n" + indented("  ", FENCE),
        "-\tFix:\n\n" + indented("\t", FENCE),
        "- " + indented("  ", FENCE)[2:],
        f"<!--\n{BAD}-->\n{FENCE}",
        f"<!-- one line -->\n{FENCE}",
        f"- the wrong rounding is gone\n---\n\n{FENCE}",
        f"> was wrong before\n\n---\n{FENCE}",
        f"## Wrong\n\n{BAD}\n##\n\n{FENCE}",
        f"Do not\nuse this\n---\n\n{BAD}\nThe fix\n-------\n\n{FENCE}",
        f"# How to avoid it\n\n## Fix\n\n{FENCE}",
        f"````md\n{BAD}````\n{FENCE}",
        f"~~~ Diff\n{DIFF}~~~~\n",
        f"```diff\n{DIFF} ```\n+ next step\n",
        f"```diff\n{DIFF} ```\n- next step\n",
        f"{FENCE}\n## Tempting\n\n### Why\n\n{BAD}",
    ],
)
def test_the_fence_that_counts_is_read_to_the_letter(markdown):
    reference = read_reference(markdown)
    assert [[change.path for change in diff.files] for diff in reference.alternatives] == [["m.py"]]
    assert reference.alternatives[0].files[0].added == ("- c",)
    assert reference.alternatives[0].notes == ()
    assert score_fix(reference, DIFF).value == 1.0


@pytest.mark.parametrize("title", ["Alternative\nfix two\n---", "### Alternative: two", "**Alternative** two\n==="])
def test_a_heading_of_any_kind_begins_an_alternative(title):
    reference = read_reference(f"{FENCE}\n{title}\n\n{BAD}")
    assert [diff.files[0].path for diff in reference.alternatives] == ["m.py", "n.py"]


def test_what_is_commented_out_is_noted():
    assert [note.kind for note in read_reference(f"<!--\n{BAD}-->\n{FENCE}").notes] == ["left_out"]


@pytest.mark.parametrize(
    "markdown",
    [
        "# a" + " " * 100_000 + "b\n",
        ">" * 10_000 + "```diff\n" + "x\n" * 10_000,
        "<!--\n" * 100_000,
        "word\n" * 300_000,
        "- " * 100_000 + "x\n",
    ],
    ids=["heading", "quotes", "comments", "paragraph", "list"],
)
def test_time_grows_with_size_only(markdown):
    """A quadratic reading of these would take minutes."""
    start = time.perf_counter()
    with pytest.raises(ReferenceFixError):
        read_reference(markdown)
    assert read_reference(FENCE + "\n" + markdown).alternatives
    assert time.perf_counter() - start < 20
