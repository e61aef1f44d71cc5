"""What is published holds nothing of the key, is the same each time, and can be made again."""

import html
import json
import shutil
import textwrap

import pytest
from reviewkit import BENCH, copy_deck, write

from crucible_nb.review.bench import BenchError, read_bench
from crucible_nb.review.citations import LiveTree
from crucible_nb.review.leaks import LeakError, find_leaks, key_texts, views
from crucible_nb.review.publish import check_outputs, gather, publish, render, twin_of, verify
from crucible_nb.rules import Rules


@pytest.fixture(scope="module")
def bench():
    return read_bench(BENCH)


@pytest.fixture(scope="module")
def facts(bench):
    return gather(bench, LiveTree(bench.tree), notes="One model plays everybody.")


@pytest.fixture(scope="module")
def outputs(facts):
    return render(facts, figures=False)


@pytest.fixture(scope="module")
def twin(facts):
    return render(twin_of(facts), figures=False)


def pieces(bench):
    """Every text of the key that must not appear, by owner and field."""
    for thing in (*bench.musts.values(), *bench.anti_hits.values()):
        for field in ("id", "claim", "why", "why_wrong", "symbol", "path", "evidence"):
            text = getattr(thing, field, None)
            if text and (field != "evidence" or "\n" in text.strip() or len(text.strip()) > 60):
                yield thing.id, field, text


WRAP = textwrap.TextWrapper(width=30)
WAYS = {
    "as it is": lambda text: text,
    "capitals": str.upper,
    "wrapped": lambda text: "\n".join(WRAP.wrap(text)),
    "wrapped in a quote": lambda text: "\n".join(f"> {line}" for line in WRAP.wrap(text)),
    "small, with blanks": lambda text: "  ".join(text.lower().split(" ")),
}


def slip(name, data, text):
    """An output with a text in it, as its kind of file would hold it."""
    if name.endswith(".json"):
        return json.dumps({**json.loads(data), "remark": text}).encode()
    if name.endswith(".html"):
        return data.replace(b"</body>", f"<p>{html.escape(text)}</p></body>".encode())
    if name.endswith(".csv"):
        return data + ('x,"' + text.replace('"', '""') + '",y\n').encode()
    return data + f"\n\n{text}\n".encode()


PAGES = {
    "methodology.md": b"# How it was measured\n",
    "methodology.html": b"<html><body><h1>How it was measured</h1></body></html>",
    "scores.csv": b"arm,cell,weighted_recall\n",
    "manifest.json": b"{}",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PAGES)
def test_each_text_of_the_key_is_found(name, way, bench):
    texts, page = key_texts(bench), PAGES[name]
    missed = []
    for owner, field, text in pieces(bench):
        changed = slip(name, page, WAYS[way](text))
        own = [piece for piece in texts if piece.owner == owner or piece.text.strip() == text.strip()]
        if not find_leaks({name: changed}, own, {name: page}):
            missed.append((owner, field))
    assert missed == []
    assert len(list(pieces(bench))) > 200


def test_nothing_is_found_where_nothing_is(bench, outputs, twin):
    check_outputs(bench, outputs, twin)
    assert find_leaks(outputs, key_texts(bench)) == []


def test_names_of_files_are_read_too(bench, outputs):
    must = bench.musts["c1-m1"]
    assert find_leaks({f"{must.id}.svg": b"<svg/>"}, key_texts(bench))


def test_tags_and_escapes_hide_nothing():
    for name, data in (
        ("a.html", b"page<b>_</b>of"),
        ("a.html", b"page&#95;of"),
        ("a.svg", b"<text>page</text><text>_of</text>"),
        ("a.md", rb"page\_of"),
        ("a.json", rb'{"x": "page\u005fof"}'),
    ):
        assert any("page_of" in view for view in views(name, data)), (name, data)


@pytest.fixture
def small(tmp_path):
    """A bench of one arm and one cell, quick to publish."""
    return read_bench(copy_deck("anti-hit-and-fabricated", tmp_path))


def test_a_leak_writes_nothing(small, tmp_path):
    must, anti = small.musts["k1-m2"], small.anti_hits["k1-a1"]
    evidence = small.musts["k1-m3"].evidence
    for text in (must.claim.upper(), "\n".join(textwrap.wrap(must.claim, 12)), must.path, evidence, anti.why_wrong):
        with pytest.raises(LeakError) as caught:
            publish(small, LiveTree(small.tree), tmp_path / "out", notes=f"Look: {text}.", figures=False)
        assert must.claim not in str(caught.value)
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("where", ["arm", "cell", "overseer", "bench"])
def test_names_that_somebody_chose(where, tmp_path):
    folder = copy_deck("all-musts", tmp_path)
    bad = "shop_cart" if where != "bench" else "The total ignores the quantity."
    write(folder / "bench.json", {"bench": bad if where == "bench" else "b"})
    names = {"arm": "a", "cell": "k1-cart", "overseer": "o1"}
    if where != "bench":
        names[where] = "k1-m1"
    for file in [*folder.rglob("k1-cart.json"), *folder.rglob("cell.json")]:
        content = json.loads(file.read_bytes())
        for field in names:
            if field in content:
                content[field] = names[field]
        write(file, content)
    if where == "arm":
        (folder / "arms" / "a").rename(folder / "arms" / "k1-m1")
        (folder / "verdicts" / "o1" / "a").rename(folder / "verdicts" / "o1" / "k1-m1")
    elif where == "overseer":
        (folder / "verdicts" / "o1").rename(folder / "verdicts" / "k1-m1")
    elif where == "cell":
        (folder / "cells" / "k1-cart").rename(folder / "cells" / "k1-m1")
        for file in sorted(folder.rglob("k1-cart.json")):
            file.rename(file.with_name("k1-m1.json"))
    bench = read_bench(folder)
    with pytest.raises(LeakError):
        publish(bench, LiveTree(folder / "tree"), tmp_path / "out", figures=False)


def test_a_symbol_that_is_a_word_does_not_stop_a_publication(tmp_path):
    """Must k1-m1 of the deck stands in `total`, and every page says total."""
    folder = copy_deck("all-musts", tmp_path)
    bench = read_bench(folder)
    assert "total" in {must.symbol for must in bench.musts.values()}
    publish(bench, LiveTree(folder / "tree"), tmp_path / "out", figures=False)
    assert b"weight_total" in (tmp_path / "out" / "scores.csv").read_bytes()
    with pytest.raises(LeakError, match="symbol of k1-m1"):
        publish(bench, LiveTree(folder / "tree"), tmp_path / "more", notes="See total.", figures=False)


def test_the_same_inputs_give_the_same_bytes(bench, outputs):
    again = render(
        gather(read_bench(BENCH), LiveTree(bench.history, bench.tree_commit), notes="One model plays everybody."),
        figures=False,
    )
    assert again == outputs


def test_every_sign_of_warning_is_on_the_page(outputs):
    """The choices that the contract marks, by a word of each."""
    page = outputs["methodology.md"].decode()
    marked = [line for line in page.split("\n") if "⚠" in line]
    for word in (
        "a duplicate: neither true nor false",
        "whose cite is off",
        "leave the denominator",
        "never against the merge commit",
        "Three buckets",
        "a suspect only",
        "moved to another file",
        "blanks or typography",
        "worst cite",
        "false_findings",
        "band of should",
    ):
        assert any(word in line for line in marked), word
    assert outputs["methodology.html"].decode().count("⚠") == page.count("⚠")


def test_the_figures_are_text_and_stable(facts):
    first, second = render(facts), render(facts)
    assert first == second
    assert "brief-only" in first["recall.svg"].decode()


def test_verify(bench, tmp_path):
    out = tmp_path / "out"
    publish(bench, LiveTree(bench.tree), out, Rules(nice_weight=0.5), overseer="second", figures=False)
    assert verify(out, BENCH).problems == ()
    assert verify(out / "manifest.json", bench, LiveTree(bench.tree)).ok


def test_what_verify_notices(small, tmp_path):
    out = tmp_path / "out"
    publish(small, LiveTree(small.tree), out, figures=False)
    assert verify(out, small).ok

    def problems(change):
        copy = shutil.copytree(out, tmp_path / "copy", dirs_exist_ok=True)
        change(copy)
        return " ".join(verify(copy, small).problems)

    def manifest(**fields):
        def change(copy):
            write(copy / "manifest.json", {**json.loads((copy / "manifest.json").read_bytes()), **fields})

        return change

    def worse(copy):
        table = (copy / "scores.csv").read_text()
        (copy / "scores.csv").write_text(table.replace(",0.5,", ",0.9,", 1))

    assert "methodology.md: changed" in problems(lambda copy: (copy / "methodology.md").write_text("better"))
    assert "totals.csv: expected a file" in problems(lambda copy: (copy / "totals.csv").unlink())
    assert "scores.csv: made again from the bench, line 2 differs" in problems(worse)
    assert "key_sha256" in problems(manifest(key_sha256="0" * 64))
    assert "verdicts_sha256" in problems(manifest(verdicts_sha256="0" * 64))
    assert "signature" in problems(manifest(rules={"nice_weight": 2}))
    assert "../x: expected a file" in problems(manifest(files={"../x": "0"}))
    assert "tree_commit" in problems(manifest(tree_commit="a" * 40))


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"manifest_version": 1}', '{"manifest_version": 2}'])
def test_a_manifest_that_is_none(content, tmp_path):
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(BenchError, match="manifest"):
        verify(tmp_path, BENCH)


def test_rules_that_are_none(small, tmp_path):
    publish(small, LiveTree(small.tree), tmp_path / "out", figures=False)
    file = tmp_path / "out" / "manifest.json"
    write(file, {**json.loads(file.read_bytes()), "rules": {"luck": 1}})
    with pytest.raises(BenchError, match="luck"):
        verify(tmp_path / "out", small)


def test_older_publications_are_replaced_and_nothing_else(small, tmp_path):
    tree = LiveTree(small.tree)
    publish(small, tree, tmp_path / "out", figures=False)
    publish(small, tree, tmp_path / "out", figures=False)
    (tmp_path / "out" / "diary.txt").write_text("mine")
    with pytest.raises(BenchError, match=r"diary\.txt"):
        publish(small, tree, tmp_path / "out", figures=False)
    assert (tmp_path / "out" / "diary.txt").read_text() == "mine"
