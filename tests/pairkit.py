"""Runs both sides of a pair of functions on many inputs, and says what they do.

`python tests/pairkit.py` prints the witness of each near-miss in data/pairs anew.
"""

import ast
import asyncio
import contextlib
import copy
import inspect
import io
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from types import GeneratorType

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st


class Caller:
    """A function whose calls are remembered; it answers with the numbers that it was given, in turn."""

    def __init__(self, answers):
        self.answers, self.calls = list(answers), []

    def __call__(self, *arguments):
        self.calls.append(arguments)
        return self.answers[(len(self.calls) - 1) % len(self.answers)]

    def __repr__(self):
        return f"Caller({self.answers})"


@dataclass(repr=False)
class Row:
    """A thing with a name and a price."""

    name: str
    price: int

    def __repr__(self):
        return f"Row({self.name!r}, {self.price!r})"


class Odd:
    """A thing that is equal to everything."""

    def __eq__(self, other):
        return True

    __hash__ = None

    def __repr__(self):
        return "Odd()"


KNOWN = {"Caller": Caller, "Fraction": Fraction, "Odd": Odd, "Row": Row, "inf": math.inf, "nan": math.nan, "set": set}

small = st.integers(-12, 12)
text = st.text("ab c", max_size=4)
fraction = st.fractions(-5, 5, max_denominator=20)
number = st.one_of(small, fraction)
row = st.builds(Row, text, small)
scalar = st.one_of(st.none(), st.booleans(), small, text, st.sampled_from([0.0, 0.5, 2.0]))
INPUTS = {
    "any": st.one_of(
        scalar, st.lists(small, max_size=3), st.tuples(small, small), st.dictionaries(text, small, max_size=2)
    ),
    "bool": st.booleans(),
    "caller": st.builds(Caller, st.lists(st.integers(0, 3), min_size=2, max_size=4)),
    "counts": st.dictionaries(st.text("ab", max_size=2), st.integers(0, 3), max_size=4),
    "float": st.floats(-1000, 1000, allow_nan=False).map(lambda x: round(x, 3)),
    "fraction": fraction,
    "int": small,
    "int_or_none": st.one_of(st.none(), small),
    "ints": st.lists(small, max_size=6),
    "nat": st.integers(0, 9),
    "number": number,
    "number_or_inf": st.one_of(small, st.just(math.inf)),
    "number_or_nan": st.one_of(small, st.just(math.nan)),
    "odd": st.one_of(scalar, st.just(Odd())),
    "posint": st.integers(1, 9),
    "row": row,
    "rows": st.lists(row, max_size=4),
    "set": st.sets(small, max_size=5),
    "state": st.sampled_from(["", "closed", "held", "open", "other"]),
    "text": text,
    "three": st.lists(small, min_size=3, max_size=3),
    "words": st.lists(text, max_size=4),
}


def load(source: str) -> Callable:
    """The function `f` of a source text."""
    names: dict[str, object] = {"__name__": "pair"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(source, "<pair>", "exec"), names)
    return names["f"]


def does(function: Callable, arguments: tuple) -> tuple:
    """All that a call does: what it returns or raises, prints, and makes of its arguments."""
    arguments = copy.deepcopy(arguments)
    printed = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
        warnings.simplefilter("ignore")
        try:
            value = function(*arguments)
            if inspect.iscoroutine(value):
                value = asyncio.run(value)
            outcome = ("returns", frozen(value))
        except Exception as problem:
            outcome = ("raises", type(problem).__name__)
    return (*outcome, frozen(arguments), printed.getvalue())


def frozen(value: object, depth: int = 0) -> object:
    """A value as something that compares by content and type: 1, 1.0 and True differ, NaN is NaN."""
    if depth > 6:
        return "..."
    if isinstance(value, GeneratorType):
        value = list(value)
    if isinstance(value, (list, tuple)):
        return type(value).__name__, tuple(frozen(item, depth + 1) for item in value)
    if isinstance(value, (set, frozenset)):
        return type(value).__name__, tuple(sorted((frozen(item, depth + 1) for item in value), key=repr))
    if isinstance(value, dict):
        return "dict", tuple((frozen(k, depth + 1), frozen(v, depth + 1)) for k, v in value.items())
    if isinstance(value, Caller):
        return "Caller", frozen(value.calls, depth + 1)
    if isinstance(value, Row):
        return "Row", frozen(value.name), frozen(value.price)
    if callable(value) or inspect.iscoroutine(value):
        if inspect.iscoroutine(value):
            value.close()
        return type(value).__name__
    return type(value).__name__, repr(value)


def shown(done: tuple) -> str:
    """What a call does, in a few words."""
    how, what, arguments, printed = done
    said = f"{how} {plain(what)}"
    return said + (f", prints {printed}" if printed else "") + f", leaves {plain(arguments)}"


def plain(value: object) -> str:
    """A frozen value as Python would write it."""
    match value:
        case ("list" | "tuple" | "set" as kind, tuple(items)):
            left, right = {"list": "[]", "tuple": "()", "set": "{}"}[kind]
            comma = "," if kind == "tuple" and len(items) == 1 else ""
            return left + ", ".join(plain(item) for item in items) + comma + right
        case ("dict", tuple(items)):
            return "{" + ", ".join(f"{plain(k)}: {plain(v)}" for k, v in items) + "}"
        case ("Row", name, price):
            return f"Row({plain(name)}, {plain(price)})"
        case ("Caller", calls):
            return f"a caller called with {plain(calls)}"
        case (_, str(text)):
            return text
    return str(value)


def same(reference: Callable, candidate: Callable, arguments: tuple) -> bool:
    """Whether two functions do the same with the same arguments."""
    return does(reference, arguments) == does(candidate, arguments)


def differing(reference: str, candidate: str, inputs: tuple[str, ...], tries: int = 300) -> tuple | None:
    """Arguments that tell two sources apart, as small as they can be; None: none was found."""
    functions = load(reference), load(candidate)
    found: list[tuple] = []

    @seed(0)
    @settings(
        max_examples=tries,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @given(st.tuples(*(INPUTS[name] for name in inputs)))
    def agree(arguments):
        if not same(*functions, arguments):
            found.append(copy.deepcopy(arguments))
            raise AssertionError

    with contextlib.suppress(AssertionError):
        agree()
    return found[-1] if found else None


def witness(text: str) -> tuple:
    """The arguments that a stored witness names."""
    tree = ast.parse(text, mode="eval")
    allowed = (ast.Expression, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Constant, ast.Call, ast.Name, ast.Load)
    allowed += (ast.UnaryOp, ast.USub)
    for node in ast.walk(tree):
        assert isinstance(node, allowed), f"{text}: {type(node).__name__} is no part of a witness"
    return eval(compile(tree, "<witness>", "eval"), {"__builtins__": {}, **KNOWN})


def main() -> Iterator[str]:
    """Each near-miss with its witness and what both sides do."""
    from pathlib import Path

    from crucible_nb.fix.pairs import read_pairs

    for pair in read_pairs(Path(__file__).parents[1] / "data" / "pairs"):
        if not pair.equivalent:
            arguments = differing(pair.reference, pair.candidate, pair.inputs)
            yield f"{pair.id}: {arguments}"


if __name__ == "__main__":
    print("\n".join(main()))
