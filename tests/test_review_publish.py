"""What is published holds nothing of the key, is the same each time, and can be made again."""

import csv
import html
import io
import json
import os
import re
import shutil
import textwrap
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from reviewkit import BENCH, change, copy_deck, write

from crucible_nb.review.bench import BenchError, read_bench
from crucible_nb.review.citations import LiveTree
from crucible_nb.review.leaks import LeakError, find_leaks, key_texts, views
from crucible_nb.review.publication import draw_figures
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
            if text := getattr(thing, field, None):
                yield thing.id, field, text


WRAP = textwrap.TextWrapper(width=30)
WAYS = {
    "as it is": lambda text: text,
    "capitals": str.upper,
    "title": str.title,
    "wrapped": lambda text: "\n".join(WRAP.wrap(text)),
    "wrapped with CR": lambda text: "\r\n".join(WRAP.wrap(text)),
    "wrapped in a quote": lambda text: "\n".join(f"> {line}" for line in WRAP.wrap(text)),
    "cut": lambda text: "\n".join(text[at : at + 9] for at in range(0, len(text), 9)),
    "small, with blanks": lambda text: "  ".join(text.lower().split(" ")),
    "no-break blanks": lambda text: text.replace(" ", "\u00a0"),
    "soft hyphens": lambda text: "\u00ad".join(text),
    "joiners": lambda text: "\u200d".join(text),
    "full width": lambda text: "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text),
    "accents": lambda text: re.sub("([aeiou])", "\\1\u0301", text),
    "backslashes": lambda text: text.replace("/", "\\"),
}


def slip(name, data, text):
    """An output with a text in it, as its kind of file would hold it."""
    if name.endswith(".json"):
        return json.dumps({**json.loads(data), "remark": text}).encode()
    if name.endswith((".html", ".svg")):
        tag = "text" if name.endswith(".svg") else "p"
        return re.sub(rb"(</\w+>)\s*$", lambda end: f"<{tag}>{html.escape(text)}</{tag}>".encode() + end[1], data)
    if name.endswith(".csv"):
        return data + ('x,"' + text.replace('"', '""') + '",y\n').encode()
    return data + f"\n\n{text}\n".encode()


def slip_deeper(name, data, text):
    """The same with tags, escapes or words around it."""
    if name.endswith(".json"):
        return json.dumps({**json.loads(data), f"x {text} y": [{text: 1}]}).encode()
    if name.endswith(".html"):
        bold = "".join(
            f"<b>{html.escape(sign)}</b>" if at % 5 == 0 else html.escape(sign) for at, sign in enumerate(text)
        )
        return data.replace(b"</body>", f"<p>{bold}</p></body>".encode())
    if name.endswith(".svg"):
        return data.replace(b"</svg>", f"<desc>{''.join(f'&#{ord(sign)};' for sign in text)}</desc></svg>".encode())
    if name.endswith(".csv"):
        return data + f"x,{text} and more,y\n".encode()
    return data + ("\n| a | " + re.sub(r"([\\`*<>\[\]|_])", r"\\\1", text) + " | b |\n").encode()


PAGES = {
    "methodology.md": b"# How it was measured\n",
    "methodology.html": b"<html><body><h1>How it was measured</h1></body></html>",
    "recall.svg": b"<svg><text>Recall</text></svg>",
    "scores.csv": b"arm,cell,weighted_recall\n",
    "manifest.json": b"{}",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PAGES)
def test_each_text_of_the_key_is_found(name, way, bench, own):
    page = PAGES[name]
    missed = [
        (owner, field, put.__name__)
        for owner, field, text in pieces(bench)
        for put in (slip, slip_deeper)
        if not find_leaks({name: put(name, page, WAYS[way](text))}, own[owner, field], {name: page})
    ]
    assert missed == []
    assert len(list(pieces(bench))) == 45 * 5 + 30


@pytest.fixture(scope="module")
def own(bench):
    """The pieces of the key that a field of a must or anti-hit gives, or another one with the same text."""
    texts, found = key_texts(bench), {}
    for owner, field, text in pieces(bench):
        mine = [piece for piece in texts if piece.owner == owner and piece.field.startswith(field)]
        found[owner, field] = mine or [piece for piece in texts if piece.text.strip() == text.strip()]
    return found


@pytest.fixture(scope="module")
def drawn(facts):
    """The files and their twins, with figures."""
    return render(facts), render(twin_of(facts))


@pytest.mark.parametrize("name", ["methodology.md", "methodology.html", "totals.csv", "manifest.json", "recall.svg"])
def test_each_text_is_found_among_the_real_outputs(name, bench, own, drawn):
    """The twin of the kit's own pages excuses nothing of this key."""
    real, twin = ({name: outputs[name]} for outputs in drawn)
    for owner, field, text in [*pieces(bench)][::3]:
        assert find_leaks({name: slip(name, real[name], text)}, own[owner, field], twin), (owner, field)


def test_no_name_of_this_key_is_an_ordinary_word(bench, drawn):
    """Else it would be excused in sentences."""
    texts, (real, twin) = key_texts(bench), drawn
    assert find_leaks(real, texts, twin) == []
    for word in {text.text for text in texts if text.name and text.text.isalpha()}:
        found = find_leaks({"methodology.md": real["methodology.md"] + f"\n\nThey {word} it.\n".encode()}, texts, twin)
        assert found, word


def test_notes_reach_three_files(bench, facts, own, twin):
    """As notes, through every file that is made of them."""
    for owner, field, text in [*pieces(bench)][::12]:
        page = render(replace(facts, notes=f"We looked at {text} too."), figures=False)
        leaks = find_leaks(page, own[owner, field], twin)
        files = {leak.partition(":")[0] for leak in leaks}
        assert files >= {"methodology.md", "methodology.html", "manifest.json"}, (owner, field)


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


WORDS = ("total", "notes", "run", "main", "Notes", "silent", "scores", "test")


def words_deck(tmp_path, symbol, **fields):
    """A bench whose first must has a symbol."""
    folder = copy_deck("all-musts", tmp_path)
    key = json.loads((folder / "key" / "k1-cart.json").read_bytes())
    key["musts"][0].update(symbol=symbol, **fields)
    write(folder / "key" / "k1-cart.json", key)
    return folder


def leaks_of(bench, facts, notes):
    """What publish would refuse, in the files that hold notes."""
    facts = replace(facts, notes=notes)
    return find_leaks(render(facts, figures=False), key_texts(bench), render(twin_of(facts), figures=False))


@pytest.mark.parametrize("word", WORDS)
def test_a_symbol_that_is_a_word_does_not_stop_a_publication(word, tmp_path):
    folder = words_deck(tmp_path, word)
    bench = read_bench(folder)
    publish(bench, LiveTree(folder / "tree"), tmp_path / "out", notes="One model plays everybody.", figures=False)
    facts = gather(bench, LiveTree(folder / "tree"))
    prose = "In total we run each arm in the main test once; the notes and scores of a silent run count."
    for notes in ("", prose, f"{prose}\n\n{prose}"):
        assert leaks_of(bench, facts, notes) == []


CODE = (
    "`{}`",
    "{}()",
    "Cart.{}",
    "cart::{}",
    "See {}.",
    "the function {}",
    "the {} method",
    '"{}"',
    "{}",
    "- {}",
    "{}.py",
)


@pytest.mark.parametrize("word", ["total", "main"])
def test_a_word_that_is_written_as_code_stops_it(word, tmp_path):
    folder = words_deck(tmp_path, word)
    bench = read_bench(folder)
    facts = gather(bench, LiveTree(folder / "tree"))
    twin = render(twin_of(replace(facts, notes="Some.")), figures=False)
    for form in CODE:
        for spelled in (word.upper(), "\u00ad".join(word)):
            page = render(replace(facts, notes=form.format(spelled)), figures=False)
            leaks = find_leaks(page, key_texts(bench), twin)
            assert {"methodology.md: holds the symbol of k1-m1", "methodology.html: holds the symbol of k1-m1"} <= {
                *leaks
            }
    with pytest.raises(LeakError, match="symbol of k1-m1"):
        publish(bench, LiveTree(folder / "tree"), tmp_path / "out", notes=f"Look at {word}.", figures=False)


@pytest.mark.parametrize("symbol", ["page_of", "Cart.total", "totalise", "runAll", "__main__", "x"])
def test_a_symbol_that_is_no_word_of_the_page_stops_it_anywhere(symbol, tmp_path):
    folder = words_deck(tmp_path, symbol)
    with pytest.raises(LeakError, match="symbol of k1-m1"):
        bench = read_bench(folder)
        publish(bench, LiveTree(folder / "tree"), tmp_path / "out", notes=f"One {symbol} or so.", figures=False)


def test_without_a_twin_no_word_is_excused(tmp_path):
    texts = key_texts(read_bench(words_deck(tmp_path, "total")))
    assert find_leaks({"a.md": b"in total"}, texts) == ["a.md: holds the symbol of k1-m1"]


@pytest.mark.parametrize(
    ("symbol", "arm", "refused"),
    [("main", "main", False), ("silent", "silent", False), ("render", "render", True), ("quick", "quick", True)],
)
def test_an_arm_that_is_called_as_a_symbol(symbol, arm, refused, tmp_path):
    folder = words_deck(tmp_path, symbol)
    for old in (folder / "arms" / "a", folder / "verdicts" / "o1" / "a"):
        file = old.rename(old.with_name(arm)) / "k1-cart.json"
        write(file, {**json.loads(file.read_bytes()), "arm": arm})
    bench = read_bench(folder)
    if refused:
        with pytest.raises(LeakError, match="symbol of k1-m1"):
            publish(bench, LiveTree(folder / "tree"), tmp_path / "out", figures=False)
    else:
        publish(bench, LiveTree(folder / "tree"), tmp_path / "out", figures=False)


@pytest.mark.parametrize("evidence", ["a\nb", "x = 1\ny = 2", "}\nelse:", "1\n2"])
def test_tiny_evidence(evidence, tmp_path):
    """It is everywhere as letters; with its signs, line by line, it is a leak."""
    folder = words_deck(tmp_path, "Basket", evidence=evidence)
    shutil.copytree(folder / "arms" / "a", folder / "arms" / "b")
    file = folder / "arms" / "b" / "k1-cart.json"
    write(file, {**json.loads(file.read_bytes()), "arm": "b"})
    bench, tree = read_bench(folder), LiveTree(folder / "tree")
    publish(bench, tree, tmp_path / "out", notes="An able table is a bench, or else: 1 of 2, x and y.")
    if evidence.startswith("}"):
        return
    for notes in (f"Look: {evidence} there.", evidence.upper().replace("\n", "\n\n"), evidence.replace("\n", "  ")):
        with pytest.raises(LeakError, match="evidence of k1-m1"):
            publish(bench, tree, tmp_path / "more", notes=notes, figures=False)


SCRIPTS = {
    "chinese": ("合计没有乘以数量", "参考：合计没有乘以数量，所以偏低。"),
    "chinese, short": ("合计错", "这里合计错了"),
    "japanese": ("数量を掛けていない", "注意数量を掛けていないので合計が低い"),
    "thai": ("ไม่คูณจำนวน", "หมายเหตุไม่คูณจำนวนสินค้า"),
    "korean": ("합계가 수량을 무시", "참고:합계가 수량을 무시한다"),
    "khmer": ("មិនគុណចំនួន", "ចំណាំមិនគុណចំនួនទេ"),
    "a part of a long one": (
        "合计没有把每一件商品的价格乘以它的数量，因此金额偏低",
        "见每一件商品的价格乘以它的数量处",
    ),
    "decomposed": ("Le total oublie la quantité", "le total oublie la quantite\u0301"),
    "sharp s": ("Die Straße fehlt", "DIE STRASSE FEHLT"),
    "capital sharp s": ("Straße", "STRA\u1e9eE"),
    "dotted i": ("İstanbul yok", "i̇stanbul yok"),
    "final sigma": ("Λάθος σύνολος", "ΛΆΘΟΣ ΣΎΝΟΛΟΣ"),
    "ligature": ("the file is offset", "the \ufb01le is o\ufb00set"),
    "soft hyphen": ("No lock", "no\u00ad lo\u200dck"),
    "short, wrapped": ("No lock", "No\nlock"),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_claims_in_any_script(name, tmp_path):
    claim, said = SCRIPTS[name]
    folder = words_deck(tmp_path, "Basket", claim=claim)
    texts = [text for text in key_texts(read_bench(folder)) if text.owner == "k1-m1" and "claim" in text.field]
    for file in PAGES:
        page = slip(file, PAGES[file], said)
        assert find_leaks({file: page}, texts, {file: PAGES[file]}), file
        assert not find_leaks({file: PAGES[file]}, texts)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("shop/cart.py", "shop\\cart.py"),
        ("shop/cart.py", "shop\\\\cart.py"),
        ("shop/cart.py", "SHOP/CART.PY"),
        ("shop/cart.py", "请看shop/cart.py处"),
        ("shop/cart.py", "./tree/shop/cart.py:12"),
        ("shop/cart.py", "https://x.org/shop%2Fcart.py"),
        ("laden/straße.py", "laden\\STRASSE.py"),
        ("店/合计.py", "在店\\合计.py里"),
    ],
)
def test_paths_of_any_system(path, said, tmp_path):
    texts = [text for text in key_texts(read_bench(words_deck(tmp_path, "Basket", path=path))) if text.field == "path"]
    for file in PAGES:
        assert find_leaks({file: slip(file, PAGES[file], said)}, texts, {file: PAGES[file]}), file


def test_what_the_kit_says_anyway_is_no_leak(tmp_path):
    """A key about a scorer may hold sentences of the methodology."""
    sentence = "One finding earns at most one must, and a must is earned once."
    folder = words_deck(tmp_path, "Basket", claim=sentence)
    bench = read_bench(folder)
    publish(bench, LiveTree(folder / "tree"), tmp_path / "out", figures=False)
    with pytest.raises(LeakError, match="claim of k1-m1"):
        publish(bench, LiveTree(folder / "tree"), tmp_path / "more", notes=sentence, figures=False)


@pytest.mark.parametrize("name", ["a.json", "a.csv", "a.html", "a.svg", "a.md"])
def test_files_that_are_broken_are_read_as_they_stand(name):
    for data in (
        b"{page_of",
        b"[" * 100_000 + b" page_of",
        b'"\0" page_of',
        b"\xff\xfe page_of",
        b"x" * 200_000 + b" page_of",
    ):
        assert any("page_of" in view for view in views(name, data))


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
    assert "scores.csv: made again from the bench, line 2 differs in weighted_recall" in problems(worse)
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


@pytest.mark.parametrize(
    "rules",
    [
        {"severities": "critical>major>minor>nit>k1-m2"},
        {"severities": "critical>major>minor>k1-m2", "nice_band": "k1-m2"},
        {"aliases": "k1-m2=nit"},
    ],
)
def test_words_of_the_rules_are_somebodys_words(rules, small, tmp_path):
    with pytest.raises(LeakError, match=r"rule \w+: holds the id of k1-m2: choose another word"):
        publish(small, LiveTree(small.tree), tmp_path / "out", Rules(**rules), figures=False)
    assert not (tmp_path / "out").exists()


def test_harmless_words_of_the_rules(small, tmp_path):
    bands = {"critical_band": "major", "should_band": "minor", "nice_band": "trifle"}
    rules = Rules(severities="critical>major>minor>trifle", aliases="nit=trifle, blocker=critical", **bands)
    publish(small, LiveTree(small.tree), tmp_path / "out", rules, figures=False)
    assert verify(tmp_path / "out", small).problems == ()
    assert verify(tmp_path / "out").problems == ()


def test_what_a_killed_publish_left(small, tmp_path):
    out, tree = tmp_path / "out", LiveTree(small.tree)
    out.mkdir()
    left = (".readings.csv.999999999.part", ".manifest.json.999999999.a1b2c3d4.part")
    for name in left:
        (out / name).write_text("half")
    publish(small, tree, out, figures=False)
    for name in left:
        (out / name).write_text("half")
    publish(small, tree, out, figures=False)
    assert verify(out, small).ok
    (out / f".scores.csv.{os.getpid()}.x.part").write_text("half")
    with pytest.raises(BenchError, match=r"found \.scores\.csv\."):
        publish(small, tree, out, figures=False)


def test_a_publish_that_fails_leaves_no_part_and_can_be_repeated(small, tmp_path, monkeypatch):
    out, tree, move, moved = tmp_path / "out", LiveTree(small.tree), os.replace, []

    def full(source, target):
        if len(moved) == 3:
            raise OSError(28, "No space left on device")
        moved.append(target)
        move(source, target)

    monkeypatch.setattr("crucible_nb.text.os.replace", full)
    with pytest.raises(BenchError, match="out: expected a folder that can be written, found: No space left"):
        publish(small, tree, out, figures=False)
    monkeypatch.undo()
    assert len(moved) == len(list(out.iterdir())) == 3
    publish(small, tree, out, figures=False)
    assert verify(out, small).ok


def test_figures_of_an_older_publication_go(small, tmp_path):
    out, tree = tmp_path / "out", LiveTree(small.tree)
    publish(small, tree, out)
    assert (out / "recall.svg").exists()
    publish(small, tree, out, figures=False)
    assert not list(out.glob("*.svg"))
    assert verify(out, small).ok


@pytest.mark.parametrize("kind", ["alone", "another manifest", "a folder", "a link"])
def test_files_that_are_called_as_ours(kind, small, tmp_path):
    out, tree = tmp_path / "out", LiveTree(small.tree)
    if kind.startswith("a "):
        publish(small, tree, out, figures=False)
        (out / "scores.csv").unlink()
    out.mkdir(exist_ok=True)
    if kind == "a folder":
        (out / "scores.csv").mkdir()
    elif kind == "a link":
        (tmp_path / "theirs.csv").write_text("years of work")
        (out / "scores.csv").symlink_to(tmp_path / "theirs.csv")
    else:
        (out / "scores.csv").write_text("years of work")
    if kind == "another manifest":
        (out / "manifest.json").write_text('{"name": "my app"}')
    before = sorted(path.name for path in out.iterdir())
    with pytest.raises(BenchError, match=r"expected an empty folder or an older publication, found \w+\.\w+"):
        publish(small, tree, out, figures=False)
    assert sorted(path.name for path in out.iterdir()) == before
    if kind in ("alone", "another manifest"):
        assert (out / "scores.csv").read_text() == "years of work"


@pytest.mark.parametrize("inner", ["arms/out", "out", "tree/out", "key", "../bench/verdicts/x"])
def test_no_publication_inside_the_bench(inner, small):
    with pytest.raises(BenchError, match="expected a folder outside the bench, found one inside"):
        publish(small, LiveTree(small.tree), small.folder / inner, figures=False)
    assert read_bench(small.folder).arms == small.arms


@pytest.mark.parametrize("kind", ["file", "dangling link", "below a file", "proc"])
def test_targets_that_can_not_be_folders(kind, small, tmp_path):
    out = tmp_path / "out"
    if kind == "dangling link":
        out.symlink_to(tmp_path / "nothing")
    elif kind != "proc":
        out.write_text("mine")
    target = {"below a file": out / "more", "proc": Path("/proc/crucible")}.get(kind, out)
    with pytest.raises(BenchError, match=r"^/\S+: expected a folder.*, found") as caught:
        publish(small, LiveTree(small.tree), target, figures=False)
    assert "Errno" not in str(caught.value)


def renamed(tmp_path, arm, folder=None):
    """A bench of two arms, one with another name."""
    folder = folder or copy_deck("failed-run", tmp_path)
    for old in (folder / "arms" / "a", folder / "verdicts" / "o1" / "a"):
        for file in shutil.copytree(old, old.with_name(arm)).iterdir():
            change(file, arm=arm)
    return read_bench(folder)


@pytest.mark.parametrize("arm", ["\x1b[31mred", "\x07bell", "a\u202eb"])
def test_names_that_can_not_be_seen(arm, tmp_path):
    bench = renamed(tmp_path, arm)
    with pytest.raises(BenchError, match=r"arm \S+: expected a name of characters that can be seen") as caught:
        publish(bench, LiveTree(bench.tree), tmp_path / "out")
    assert arm not in str(caught.value)
    drawn = draw_figures(gather(bench, LiveTree(bench.tree)))
    assert set(drawn) == {"recall.svg", "ranks.svg"}
    for picture in drawn.values():
        ElementTree.fromstring(picture)
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", picture.decode())


@pytest.mark.parametrize("arm", ["=cmd|calc", "@SUM(A1)", "+1+1", "-x", "'=x", "''-y", "'z"])
def test_names_that_a_spreadsheet_would_run(arm, tmp_path):
    bench = renamed(tmp_path, arm)
    publish(bench, LiveTree(bench.tree), tmp_path / "out", figures=arm == "=cmd|calc")
    for file in (tmp_path / "out").glob("*.csv"):
        for row in csv.reader(io.StringIO(file.read_text())):
            for cell in row:
                assert not re.match(r"[=+@]|-(?!\d)", cell), (file.name, cell)
    for again in (bench, None):
        assert verify(tmp_path / "out", again).problems == ()


SPELLED = {
    "hyphen": ("id", "k1\u2010m1"),
    "no-break hyphen": ("id", "k1\u2011m1"),
    "minus": ("id", "k1\u2212m1"),
    "dash": ("id", "k1\u2014m1"),
    "low line": ("id", "k1_m1"),
    "blank": ("id", "K1 m1"),
    "blank letter": ("id", "k1\u3164m1"),
    "blank braille": ("id", "k1\u2800m1"),
    "half-width blank": ("id", "k1\uffa0m1"),
    "division slash": ("path", "shop\u2215store\u2215cart.py"),
    "fraction slash": ("path", "shop\u2044store\u2044cart.py"),
    "big solidus": ("path", "shop\u29f8store\u29f8cart.py"),
    "module": ("path", "import shop.store.cart"),
    "module with a name": ("path", "shop.store.cart.Basket"),
    "module of another language": ("path", "shop::store::cart"),
    "blank letters in a symbol": ("symbol", "Basket\u1160.sum_up"),
    "blank letters in prose": ("claim", "The\u115ftotal\u2800ignores\u3164the quantity of things."),
    "numbers and colons": ("evidence", "12: x = first\n13: y = other\n14: return"),
    "numbers and bars": ("evidence", "12 | x = first\n13 | y = other\n14 | return"),
    "numbers and tabs": ("evidence", "   12\tx = first\n   13\ty = other"),
}


@pytest.mark.parametrize("name", SPELLED)
def test_other_spellings(name, tmp_path):
    field, said = SPELLED[name]
    own = {"path": "shop/store/cart.py", "claim": "The total ignores the quantity of things."}
    folder = words_deck(tmp_path, "Basket.sum_up", evidence="x = first\ny = other\nreturn", **own)
    bench = read_bench(folder)
    texts = [text for text in key_texts(bench) if text.owner == "k1-m1" and text.field.startswith(field)]
    for file in PAGES:
        assert find_leaks({file: slip(file, PAGES[file], said)}, texts, {file: PAGES[file]}), file
        assert not find_leaks({file: slip(file, PAGES[file], "12: x | 3 of k1 - or m1")}, texts, {file: PAGES[file]})
    if name in ("hyphen", "module", "numbers and bars"):
        with pytest.raises(LeakError, match=f"{field}.* of k1-m1"):
            publish(bench, LiveTree(folder / "tree"), tmp_path / "out", notes=said, figures=False)


def test_the_line_says_which_name_holds_it(tmp_path):
    folder = words_deck(tmp_path, "deep")
    bench = renamed(tmp_path, "deep-review", folder=folder)
    with pytest.raises(LeakError) as caught:
        publish(bench, LiveTree(folder / "tree"), tmp_path / "out", figures=False)
    assert caught.value.leaks == ("arm deep-review: holds the symbol of k1-m1: rename the arm",)
    with pytest.raises(LeakError) as caught:
        publish(bench, LiveTree(folder / "tree"), tmp_path / "out", notes="It is `deep`.", figures=False)
    assert caught.value.leaks[0].startswith("arm deep-review: ")
    assert "methodology.md: holds the symbol of k1-m1" in caught.value.leaks
