"""API tables from source: names, types and docments, read from the code of an exported cell and never imported."""

import ast
import io
import re
import tokenize
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Entry:
    """A public function or class as a page shows it."""

    name: str  # Dotted below its module: `FixScore.to_dict`
    kind: str  # function, class, method, classmethod, property, exception
    signature: str  # Names and defaults in brackets; empty for a property
    doc: str
    rows: tuple[tuple[str, str, str], ...]  # Name, type with default, meaning; the result under the name `returns`
    members: tuple["Entry", ...] = field(default=())


class _Cell:
    """The code of a cell, with its comments and the names that stand for annotated types."""

    def __init__(self, code: str, aliases: dict[str, ast.expr] | None = None):
        self.code = code
        self.tree = ast.parse(code)
        self.own = set(ast.walk(self.tree))
        self.aliases = aliases or {}
        self.comments = {}
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.COMMENT:
                text = re.sub(r"#\s*(?:noqa|type|ruff)\s*:[^#]*", "", token.string)
                self.comments[token.start[0]] = text.lstrip("# ").strip()

    def source(self, node: ast.AST) -> str:
        """A node as it is written, on one line."""
        return " ".join((ast.get_source_segment(self.code, node) or ast.unparse(node)).split())

    def typed(self, annotation: ast.expr | None, default: ast.expr | None) -> str:
        """An annotation and a default as one would write them, without what typer and dataclasses need to know."""
        annotated, _ = self._annotated(annotation)
        text = "" if annotated is None else self.source(annotated) if annotated in self.own else ast.unparse(annotated)
        text = text[1:-1] if text[:1] in ("'", '"') and text[:1] == text[-1:] else text
        value = "" if default is None else self.source(default)
        if value.startswith(("field(", "Field(")):
            made = re.search(r"\bdefault=([^,()]+)", value)
            value = made[1] if made else ""
        return f"{text} = {value}" if value else text

    def meaning(self, annotation: ast.expr | None, line: int | None) -> str:
        """What the comment at the end of a line says, or the help text of an annotated type."""
        _, notes = self._annotated(annotation)
        calls = [note for note in notes if isinstance(note, ast.Call)]
        helps = [word.value.value for call in calls for word in call.keywords if word.arg == "help"]
        return self.comments.get(line, "") or next(iter(helps), "")

    def _annotated(self, node: ast.expr | None) -> tuple[ast.expr | None, list[ast.expr]]:
        """The type that `Annotated` wraps, and what it says of it."""
        node = self.aliases.get(node.id, node) if isinstance(node, ast.Name) else node
        if isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("Annotated"):
            return node.slice.elts[0], node.slice.elts[1:]
        return node, []


def aliases(code: str) -> dict[str, ast.expr]:
    """Names that a cell gives to annotated types: `Source = Annotated[...]`."""
    found = {}
    for node in ast.parse(code).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("Annotated["):
            found[node.targets[0].id] = node.value
    return found


def entries(code: str, known: dict[str, ast.expr] | None = None) -> list[Entry]:
    """The public functions and classes that a cell defines; `known` holds aliases of annotated types."""
    cell = _Cell(code, known)
    return [_entry(node, cell) for node in cell.tree.body if _is_public(node)]


def defined(code: str) -> list[str]:
    """All that a cell defines at its top, private names too, and the methods of its classes, as nbdev names them."""
    names = []
    for node in ast.parse(code).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
            inner = node.body if isinstance(node, ast.ClassDef) else []
            names += [f"{node.name}.{child.name}" for child in inner if isinstance(child, ast.FunctionDef)]
    return names


def only_imports(code: str) -> bool:
    """True where a cell holds nothing but imports."""
    body = ast.parse(code).body
    return bool(body) and all(_is_import(node) for node in body)


def _is_import(node: ast.stmt) -> bool:
    if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        return all(isinstance(child, ast.Import | ast.ImportFrom) for child in node.body)
    return isinstance(node, ast.Import | ast.ImportFrom)


def _is_public(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")


def _entry(node: ast.FunctionDef | ast.ClassDef, cell: _Cell, owner: str = "") -> Entry:
    name = f"{owner}{node.name}"
    doc = ast.get_docstring(node) or ""
    if isinstance(node, ast.FunctionDef):
        decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
        kind = next((word for word in decorators if word in ("property", "classmethod", "staticmethod")), "")
        skip = int(bool(owner) and kind != "staticmethod")
        parameters = _parameters(node.args)[skip:]
        rows = [
            (
                stars + arg.arg,
                cell.typed(arg.annotation, default),
                cell.meaning(arg.annotation, _own_line(node, default or arg)),
            )
            for stars, arg, default in parameters
        ]
        result = cell.comments.get(node.body[0].lineno - 1, "")
        if node.returns is not None and (result or ast.unparse(node.returns) != "None"):
            rows.append(("returns", cell.typed(node.returns, None), result))
        signature = "" if kind == "property" else _signature(node.args, parameters, cell)
        return Entry(name, kind or ("method" if owner else "function"), signature, doc, tuple(rows))
    fields = [child for child in node.body if isinstance(child, ast.AnnAssign) and child.target.id[0] != "_"]
    rows = [
        (child.target.id, cell.typed(child.annotation, child.value), cell.meaning(child.annotation, child.end_lineno))
        for child in fields
    ]
    made = next((child for child in node.body if getattr(child, "name", "") == "__init__"), None)
    made = _entry(made, cell, f"{name}.") if made else None
    members = [_entry(child, cell, f"{name}.") for child in node.body if _is_public(child)]
    raised = any(ast.unparse(base).endswith(("Error", "Exception")) for base in node.bases)
    kind = "exception" if raised else "class"
    return Entry(name, kind, made.signature if made else "", doc, tuple(made.rows if made else rows), tuple(members))


def _own_line(node: ast.FunctionDef, part: ast.AST) -> int | None:
    """The line that a parameter has for itself; None where it shares the line of `def`."""
    return part.end_lineno if part.end_lineno > node.lineno else None


def _parameters(args: ast.arguments) -> list[tuple[str, ast.arg, ast.expr | None]]:
    """Stars, argument and default of each parameter."""
    plain = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(plain) - len(args.defaults)) + args.defaults
    found = [("", arg, default) for arg, default in zip(plain, defaults, strict=True)]
    found += [("*", args.vararg, None)] if args.vararg else []
    found += [("", arg, default) for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    return found + ([("**", args.kwarg, None)] if args.kwarg else [])


def _signature(args: ast.arguments, parameters: list[tuple[str, ast.arg, ast.expr | None]], cell: _Cell) -> str:
    parts = []
    for stars, arg, default in parameters:
        if args.kwonlyargs and arg is args.kwonlyargs[0] and not args.vararg:
            parts.append("*")
        parts.append(f"{stars}{arg.arg}" + ("" if default is None else f"={cell.source(default)}"))
    return f"({', '.join(parts)})"
