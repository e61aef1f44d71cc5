"""Canonical forms: what must hold for any program."""

import ast
import contextlib
import random
import re
import time
from pathlib import Path

import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mutants import mutant

from crucible_nb.canonical.algebra import canonical_arithmetic
from crucible_nb.canonical.expressions import canonical_expression
from crucible_nb.canonical.kinds import Scope
from crucible_nb.canonical.programs import canonical_form, same_but_names
from crucible_nb.fix.diffs import read_diff
from crucible_nb.fix.images import images, parse_piece, piece_form

PACKAGE = Path(__file__).parents[1] / "crucible_nb"
SOURCES = sorted(PACKAGE.rglob("*.py"))


def form(source: str, **options) -> list[str]:
    """The lines of a source's canonical form."""
    return canonical_form(ast.parse(source), **options).lines


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_real_modules_have_a_form_of_their_own(path):
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    before = ast.dump(tree)
    lines = canonical_form(tree).lines
    assert ast.dump(tree) == before  # The tree that was given stays as it is
    assert lines == form(ast.unparse(ast.parse(source)))  # Layout and comments say nothing
    pieces = source.split("\n")
    draw = random.Random(path.name)
    for _ in range(12):  # Cut anywhere, a piece is read without raising, and no line gets lost
        start = draw.randrange(len(pieces))
        cut = pieces[start : start + draw.randrange(1, 25)]
        parsed = parse_piece(cut)
        assert (parsed.tree is None) or len(parsed.head) + len(parsed.tail) < len(cut)
        assert [*parsed.head, *parsed.tail] == cut[: len(parsed.head)] + cut[len(cut) - len(parsed.tail) :]
        assert piece_form(tuple(cut), True).lines == piece_form(tuple(cut), True).lines


@given(st.text(max_size=80))
@settings(deadline=None)
def test_a_piece_of_anything_is_read(text):
    lines = tuple(text.split("\n"))
    parsed = parse_piece(lines)
    if parsed.tree is None:
        assert parsed.head == lines
    piece_form(lines, False)


PIECES = st.lists(
    st.sampled_from(
        [
            "if a:",
            "else:",
            "    b = 1",
            "  c(",
            ")",
            '"""',
            "    return b",
            "x = [",
            "]",
            "# n",
            "",
            "try:",
            "@d",
            "\tpass",
        ]
    ),
    max_size=9,
)


@given(PIECES)
@settings(max_examples=150, deadline=None)
def test_a_piece_of_code_is_read(lines):
    parsed = parse_piece(lines)
    kept = len(lines) - len(parsed.head) - len(parsed.tail)
    assert kept >= 0 and (parsed.tree is not None or kept == 0)
    for open_end in (False, True):
        piece_form(tuple(lines), open_end)


@pytest.mark.parametrize(
    "source",
    [
        "x = " + "(" * 90 + "1" + ")" * 90,
        "x = " + "-" * 400 + "1",
        "x = " + " + ".join(f"a{n}" for n in range(300)),
        "x = " + " and ".join(f"a{n}" for n in range(300)),
        "x = " + " if a else ".join("b" * n for n in range(1, 60)),
        "x = (a + b) ** 4 * (a - b) ** 4 * (c - d) ** 4",
        "".join(f"{'    ' * n}if a{n}:\n" for n in range(60)) + "    " * 60 + "pass",
        "\n".join(f"if a{n}: return {n}" for n in range(120)),
        "f" + "(f" * 80 + ")" * 80,
        "x = '%s' % (a, b, c)",
        "x = '{' .format(a)",
        "x = '%' % a",
        "x = '%(a)s' % b",
        "x = f'{a!r:>{w}}{b:{c}.{d}f}'",
        "lambda *a, b=1, **k: (a, b, k)",
        "[x async for x in y]",
        "match a:\n    case [1, *r] if r: pass\n    case {'a': b, **k}: pass\n    case C(x=1) | None: pass",
        "try:\n    a\nexcept* E as e:\n    raise\nelse:\n    b\nfinally:\n    c",
        "async def f():\n    async with a as b, c:\n"
        "        async for x in y:\n            await x\n            yield x",
        "class A(B, metaclass=C):\n    x: int\n    y: int = 1\n    def f(self): ...",
        "global a\ndel b, c[0]\nassert a, b\nimport x.y as z, q\nfrom . import *",
        "x = y = z = []\na, *b = c\n(d := 1)\ne[1:2, ::3] = f",
    ],
)
def test_no_program_is_too_odd(source):
    try:
        assert form(source) == form(source)
        assert form(source, open_end=True) == form(source, open_end=True)
    except RecursionError:
        assert source.count("(") + source.count("-") + source.count("+") > 50  # Its callers fall back


def test_forms_of_changed_programs_differ_far_more_often_than_not():
    draw = random.Random(1)
    functions = [
        ast.unparse(node) + "\n"
        for path in SOURCES
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    ]
    same = changed = 0
    for source in draw.sample(functions, 60):
        other = mutant(source, draw)
        if other is not None and other != source:
            changed += 1
            same += form(source) == form(other)
    assert changed > 50 and same < changed / 2


RENAMED = "def f(a):\n    {x} = g(a)\n    for {y} in a:\n        {x} = h({x}, {y})\n    return {x}, {y}\n"


@given(st.permutations(["left", "right", "middle"]))
@settings(max_examples=6, deadline=None)
def test_local_names_do_not_matter_and_parameters_do(names):
    x, y, _ = names
    one, other = (ast.parse(RENAMED.format(x=a, y=b)).body[0] for a, b in ((x, y), ("p", "q")))
    assert same_but_names(one, other)
    crossed = ast.parse(RENAMED.format(x=x, y=y).replace(f"return {x}, {y}", f"return {y}, {x}")).body[0]
    assert not same_but_names(crossed, other)
    assert not same_but_names(ast.parse("def f(b): return b").body[0], ast.parse("def f(a): return a").body[0])


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    {x} = 1\n    return locals()",
        "def f():\n    global {x}\n    {x} = 1",
        "def f():\n    import {x}\n    return {x}.y",
        "def f():\n    class C:\n        {x} = 1\n    return C",
        "def f(a):\n    match a:\n        case {x}: return {x}",
        "def f():\n    {x} = 1\n    def g():\n        nonlocal {x}\n        {x} = 2\n    return g",
        "def f():\n    def {x}(): pass\n    return {x}",
        "def f():\n    {x} = 1\n    return f'{{{x}=}}'",
    ],
)
def test_names_that_others_can_see_are_kept(source):
    one, other = (ast.parse(source.format(x=name)).body[0] for name in ("p", "q"))
    assert not same_but_names(one, other)


# An independent answer


def arithmetic(code: str, kind: str) -> str:
    """An expression in x, y, z of one kind, with its sums collected."""
    scope = Scope(dict.fromkeys("xyz", kind), frozenset("xyz"))
    form = canonical_arithmetic(ast.parse(code, mode="eval").body, scope, lambda node: node)
    return code if form is None else ast.unparse(form)


def expressions(operators: str) -> st.SearchStrategy[str]:
    """Sums and products of three names and small numbers."""
    leaves = st.sampled_from(["x", "y", "z", "1", "2", "3"])
    both = st.tuples(leaves, st.sampled_from(operators), leaves).map(lambda parts: f"({' '.join(parts)})")
    parts = st.one_of(leaves, both)
    return st.tuples(parts, st.sampled_from(operators), parts).map(" ".join)


@given(expressions("+-*"))
@settings(max_examples=150, deadline=None)
def test_a_polynomial_of_whole_numbers_is_what_sympy_makes_of_it(code):
    assume(not re.search(r"(\w) - \1", code))  # Nothing is made of a product with 0: it may be infinite
    for other in (sympy.expand(code), sympy.factor(code), sympy.collect(sympy.expand(code), sympy.Symbol("x"))):
        assert arithmetic(f"1 * {code}" if code in "xyz" else code, "int") == arithmetic(str(other), "int"), other


def test_equal_sums_are_equal_for_sympy():
    draw = random.Random(0)
    pick = draw.choice
    for kind in ("int", "number"):
        groups: dict[str, set[str]] = {}
        for _ in range(1500):
            left, right = (f"({pick('xyz123')} {pick('+-*/')} {pick('xyz123')})" for _ in range(2))
            code = f"{left} {pick('+-*/')} {pick([right, 'x', '2'])}"
            groups.setdefault(arithmetic(code, kind), set()).add(code)
        pairs = [(min(group), other) for group in groups.values() for other in sorted(group)[1:]]
        wrong = [pair for pair in pairs if sympy.simplify(f"({pair[0]}) - ({pair[1]})") not in (0, sympy.nan)]
        assert wrong == [] and len(pairs) > 50, kind


@given(
    expressions(["+", "-", "*"]), st.sampled_from(["//", "%"]), st.integers(2, 7), st.tuples(*[st.integers(-9, 9)] * 3)
)
@settings(max_examples=150, deadline=None)
def test_whole_parts_and_rests_keep_their_value(code, operator, by, values):
    whole = f"({code}) {operator} {by}"
    scope = Scope(dict.fromkeys("xyz", "int"), frozenset("xyz"))
    form = ast.unparse(canonical_expression(ast.parse(whole, mode="eval").body, scope))
    names = dict(zip("xyz", values, strict=True))
    assert eval(whole, {}, names) == eval(form, {}, names), form


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("sum(xs, False)", "sum(xs)"),
        ("sum(xs, 0.0)", "sum(xs)"),
        ("enumerate(xs, False)", "enumerate(xs)"),
        ("range(False, n)", "range(n)"),
        ("range(0, n, True)", "range(n)"),
        ("x == 1 or x == True", "x in (1, True)"),
        ("{1: a, True: b}", "{True: a, 1: b}"),
        ("x * 1.0", "x * 1"),
        ("x + 0.0", "x + 0"),
        ("-0.0", "0.0"),
        ("True", "1"),
        ("x in (1, 2)", "x in (1, 2.0)"),
        ("xs[False:]", "xs[:]"),
        ("xs[::True]", "xs[::1]"),
    ],
)
def test_true_one_and_one_point_zero_are_three_things(one, other):
    assert form(f"def f(x, xs, n, a, b):\n    return {one}") != form(f"def f(x, xs, n, a, b):\n    return {other}")


@pytest.mark.parametrize(
    "source",
    [
        "def f(a):\n    return " + "[x for x in " * 30 + "a" + "]" * 30,
        "def f(a):\n    return " + "list(filter(g, " * 25 + "a" + "))" * 25,
        "def f(a: int):\n    return " + "(" * 60 + "a" + " + 1) % 7" * 60,
        "def f(a):\n    b = a + a\n" + "    b = b + b\n" * 25 + "    return b",
        "def f(a):\n" + "".join(f"    v{n} = {n}\n" for n in range(400)) + "    return v1",
    ],
)
def test_forms_of_nested_programs_are_made_in_time(source):
    start = time.process_time()
    assert form(source)
    assert time.process_time() - start < 10


@pytest.mark.parametrize(
    "source",
    [
        "def f(n: int):\n    return " + "(" * 60 + "n" + " * 3 + 1) // 2" * 60,
        "def f(a):\n    return " + "(" * 12 + "3*a" + ")**4" * 12,
        "def f(a, b):\n    return " + "abs(b - " * 20 + "a" + ")" * 20,
    ],
)
def test_arithmetic_that_grows_is_given_up_soon(source):
    start = time.process_time()
    with contextlib.suppress(RecursionError):
        assert form(source)
    assert time.process_time() - start < 3


def test_what_stands_around_a_function_counts_for_its_names():
    pieces = [
        f"def abs(x):\n    return x\n\n\ndef f(a, b):\n    c = {side}\n    print(c)\n    return c\n"
        for side in ("abs(a - b)", "abs(b - a)")
    ]
    forms = [canonical_form(ast.parse(piece.replace("c", name))) for piece, name in zip(pieces, "cd", strict=True)]
    functions = [each.functions["f",] for each in forms]
    around = [(done.outer, each.signatures) for each, (_, done) in zip(forms, functions, strict=True)]
    assert same_but_names(functions[0][0], functions[1][0])
    assert not same_but_names(functions[0][0], functions[1][0], around)


# Images


def change(text: str):
    """The one change of a diff."""
    return read_diff(text).files[0]


@st.composite
def edits(draw):
    """A file of numbered lines, and two edits of it, each as (first line, number of lines, new lines)."""
    lines = [f"line {n}" for n in range(draw(st.integers(1, 30)))]
    pair = []
    for _ in range(2):
        start = draw(st.integers(0, len(lines) - 1))
        count = draw(st.integers(0, min(3, len(lines) - start)))
        new = draw(st.lists(st.sampled_from(["new a", "new b"]), min_size=0 if count else 1, max_size=3))
        pair.append((start, count, new))
    return lines, pair


def as_diff(lines, edit, context):
    """An edit as a diff."""
    start, count, new = edit
    before = lines[max(0, start - context) : start]
    after = lines[start + count : start + count + context]
    old = len(before) + count + len(after)
    first = max(0, start - context) + (1 if old else 0)
    body = [f" {line}" for line in before] + [f"-{line}" for line in lines[start : start + count]]
    body += [f"+{line}" for line in new] + [f" {line}" for line in after]
    header = f"@@ -{first},{old} +{first},{old - count + len(new)} @@"
    return "\n".join(["--- a/m.py", "+++ b/m.py", header, *body, ""])


@given(edits(), st.integers(0, 4), st.integers(0, 4))
@settings(deadline=None)
def test_both_images_are_the_same_stretch_of_the_file(case, context, other_context):
    lines, pair = case
    changes = [change(as_diff(lines, e, c)) for e, c in zip(pair, (context, other_context), strict=True)]
    seen = images(*changes)
    assert seen.shared
    assert [p.before for p in seen.reference] == [p.before for p in seen.candidate]
    assert [p.open_end for p in seen.reference] == [p.open_end for p in seen.candidate]
    for side, (start, count, new) in zip((seen.reference, seen.candidate), pair, strict=True):
        after = lines[:start] + new + lines[start + count :]
        text = "\n".join(after) + "\n"
        assert all("\n".join(piece.after) in text for piece in side)
        added = sum(len(piece.after) - len(piece.before) for piece in side)
        assert added == len(new) - count


def test_pieces_end_openly_where_the_file_may_go_on():
    lines = [f"line {n}" for n in range(20)]
    for start, context, ends in ((5, 3, False), (18, 3, True), (5, 0, False), (18, 0, False), (19, 1, True)):
        both = change(as_diff(lines, (start, 1, ["new"]), context))
        assert [not piece.open_end for piece in images(both, both).reference] == [ends], (start, context)
