"""What becomes of notebooks and markdown on their way to the site; the browser's part is in tests/site."""

import ast
import importlib
import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted(path for path in (ROOT / "nbs").rglob("*.ipynb") if not re.search(r"/[._]", path.as_posix()))


@pytest.fixture(scope="module")
def docs():
    """The modules `build`, `api` and `check` of docs/."""
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        yield {name: importlib.import_module(name) for name in ("api", "check", "build")}
    finally:
        sys.path.remove(str(ROOT / "docs"))


@pytest.fixture(scope="module")
def build(docs):
    return docs["build"]


@pytest.fixture(scope="module")
def pages(build, tmp_path_factory):
    """All pages of this project."""
    return build.read_pages(tmp_path_factory.mktemp("pictures"))


def cell(source, kind="code", **more):
    """A cell of a notebook."""
    return {"cell_type": kind, "source": source, "metadata": {}, **more}


def output(**data):
    """An output with the given forms; `_` stands for `/` in their names."""
    return {"output_type": "execute_result", "data": {key.replace("_", "/", 1): value for key, value in data.items()}}


# API tables

CODE = """
@dataclass(frozen=True)
class Rules:
    "The rules."

    weight: float = 1e11  # In [0, 1] | or more
    name: str = field(default="x", metadata={"section": "fix"})  # A name
    _hidden: int = 0

    @classmethod
    def read(cls, path: "Path | str") -> "Rules":  # What the file says
        "Read them."

    def _private(self) -> None: ...


def score(
    a: str,  # One text
    b: Source,
    rules: Rules = Rules(),  # noqa: B008  # The rules
    *,
    deep: Annotated[bool, typer.Option(help="Look deeper.")] = False,
) -> float | None:  # In [0, 1]
    "A score."


class View:
    "A view."

    def __init__(
        self,
        runs: list[str],  # One a run
    ) -> None:
        self.runs = runs


class LostError(ValueError):
    "Lost."
"""


def test_names_types_and_docments(docs):
    known = docs["api"].aliases('Source = Annotated[Path, typer.Argument(help="A file.")]')
    rules, score, view, lost = docs["api"].entries(CODE, known)
    assert rules.rows == (("weight", "float = 1e11", "In [0, 1] | or more"), ("name", 'str = "x"', "A name"))
    (read,) = rules.members
    assert (read.name, read.kind, read.signature) == ("Rules.read", "classmethod", "(path)")
    assert read.rows == (("path", "Path | str", ""), ("returns", "Rules", "What the file says"))
    assert score.signature == "(a, b, rules=Rules(), *, deep=False)"
    assert score.rows == (
        ("a", "str", "One text"),
        ("b", "Path", "A file."),
        ("rules", "Rules = Rules()", "The rules"),
        ("deep", "bool = False", "Look deeper."),
        ("returns", "float | None", "In [0, 1]"),
    )
    assert (view.signature, view.rows) == ("(runs)", (("runs", "list[str]", "One a run"),))
    assert (lost.kind, lost.rows) == ("exception", ())
    assert docs["api"].defined(CODE)[:3] == ["Rules", "Rules.read", "Rules._private"]


def test_every_argument_of_the_package_has_a_type(docs):
    untyped = []
    for path in NOTEBOOKS:
        for code in exported(path):
            for entry in docs["api"].entries(code):
                rows = [*entry.rows, *(row for member in entry.members for row in member.rows)]
                untyped += [f"{path.stem}: {entry.name}: {name}" for name, typed, _ in rows if not typed]
    assert untyped == []


def exported(path):
    """The code of a notebook's exported cells."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return [source for source in sources if re.match(r"#\|\s*export\b", source)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_nbdev_can_evaluate_every_annotation(path):
    """nbdev-docs runs import cells and evaluates annotations: a name for type checkers alone has to be imported too."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    trees = [ast.parse(source) for cell in cells if (source := "".join(cell["source"])) and cell["cell_type"] == "code"]
    guarded = [node for tree in trees for node in tree.body if isinstance(node, ast.If)]
    guarded = {alias.asname or alias.name for node in guarded for alias in imports(node.body)}
    imported = {alias.asname or alias.name for tree in trees for alias in imports(tree.body)}
    functions = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    public = [node for node in functions if not node.name.startswith("_") or node.name == "__init__"]
    notes = [arg.annotation for node in public for arg in ast.walk(node.args) if isinstance(arg, ast.arg)]
    text = " ".join(ast.unparse(note) for note in [*notes, *(node.returns for node in public)] if note is not None)
    used = {name for name in guarded if re.search(rf"\b{name}\b", text)}
    if path.stem.endswith("_cli"):
        used = set()
    assert used - imported == set()


def imports(body):
    """Names that statements import."""
    return [alias for node in body if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names]


# Pages


def test_every_notebook_has_a_page(pages):
    names = [page.name for page in pages]
    assert len(set(names)) == len(names)
    assert names[0] == "index" and {"fix_score", "methodology_record", "changelog", "data/index"} <= set(names)
    assert len([page for page in pages if page.source.endswith(".ipynb")]) == len(NOTEBOOKS)
    assert [page.name for page in pages if not page.title or not page.body.startswith("# ")] == []


def test_pages_are_the_same_again(build, pages, tmp_path):
    again = build.read_pages(tmp_path)
    assert [(page.body, page.twin) for page in again] == [(page.body, page.twin) for page in pages]


def test_a_notebook_without_title_is_refused(build):
    with pytest.raises(build.PageError, match="expected a first cell"):
        build._notebook_page(ROOT / "nbs" / "x.ipynb", [cell("no title", "markdown")])


@pytest.fixture
def links(build):
    """Two pages, one of them in a folder, and one public function."""
    pages = {
        "nbs/12_fix_score.ipynb": build.Page(
            "fix_score", "nbs/12_fix_score.ipynb", "Score", "", "Reference-fix scorer"
        ),
        "nbs/analysis/order.ipynb": build.Page("analysis/order", "nbs/analysis/order.ipynb", "Order", "", "Analysis"),
    }
    source = "#| export\ndef score_fix() -> None: ..."
    cells = {ROOT / "nbs/12_fix_score.ipynb": [cell(source)], ROOT / "nbs/analysis/order.ipynb": []}
    return build.Links(pages, cells)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("[a](../12_fix_score.ipynb)", "[a](../fix_score.html)"),
        ("[`a`](../12_fix_score.ipynb#limits)", "[`a`](../fix_score.html#limits)"),
        ("see `score_fix` and `score_fix()`", "see [`score_fix`](../fix_score.html#score_fix) and "),
        ("`12_fix_score` says", "[`12_fix_score`](../fix_score.html) says"),
        ("`other` and ``score_fix``", "`other` and ``score_fix``"),
        ("# `score_fix`", "# `score_fix`"),
        ("```\n`score_fix`\n```", "```\n`score_fix`\n```"),
        ("[x](https://a.b/c) [y](#z)", "[x](https://a.b/c) [y](#z)"),
        ("[the rules](../../settings.ini)", "the rules"),
    ],
)
def test_links(links, text, made):
    assert links.relink(text, links.pages["nbs/analysis/order.ipynb"]).startswith(made)


def test_a_link_to_nothing_is_refused(build, links):
    with pytest.raises(build.PageError, match="no such target: gone.ipynb"):
        links.relink("[x](gone.ipynb)", links.pages["nbs/12_fix_score.ipynb"])


# Outputs


def test_a_figure_needs_an_alt_text(build, tmp_path):
    page = build.Page("p", "nbs/p.ipynb", "P", "", "Tools")
    figure = output(image_png="aGk=", text_plain="<Figure size 600x320 with 1 Axes>")
    with pytest.raises(build.PageError, match="no alt text"):
        build.show_output(figure, {}, page, tmp_path)
    shown, _ = build.show_output(figure, {"fig-alt": "Scores rise"}, page, tmp_path)
    assert ":alt: Scores rise" in shown
    titled = output(image_png="aGk=", text_plain="Right runs score 0.76")
    assert ":alt: Right runs score 0.76" in build.show_output(titled, {}, page, tmp_path)[0]
    assert len(list(tmp_path.rglob("*.png"))) == 2


def test_a_widget_without_a_picture_is_refused(build, tmp_path):
    page = build.Page("p", "nbs/p.ipynb", "P", "", "Tools")
    live = output(**{"application_vnd.jupyter.widget-view+json": "{}", "text_plain": "VBox()"})
    with pytest.raises(build.PageError, match="a widget has no picture"):
        build.show_output(live, {}, page, tmp_path)


def test_fences_in_outputs_do_not_end_them(build):
    assert build._fence("text", "a\n````\nb") == "`````text\na\n````\nb\n`````"


# The methodology record


def test_each_open_choice_has_its_place(build):
    page = build.Page("analysis/p", "nbs/analysis/p.ipynb", "P", "", "Analysis")
    text = "## ⚠ A heading\n\nWhy.\n\nOne ⚠ here, ⚠ twice.\n\n- plain\n- ⚠ an item\n\n```\n⚠ code\n```"
    made = build.mark_open(text, page, "")
    assert [anchor for anchor, _, _ in page.open] == ["open-1", "open-2", "open-3"]
    assert [text for _, _, text in page.open] == ["**A heading.** Why.", "One ⚠ here, ⚠ twice.", "⚠ an item"]
    assert made.count('id="open-') == 3 and 'href="../methodology_record.html#analysis-p-open-2"' in made
    assert "```\n⚠ code\n```" in made


def test_the_record_holds_every_sign_of_the_notebooks(pages):
    signs = 0
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
        signs += sum("⚠" in block for text in texts for block in re.split(r"\n{2,}|\n(?=[-*] |\d+\. )", text))
    record = next(page for page in pages if page.name == "methodology_record")
    assert record.body.count('<span class="anchor"') == signs >= 12


# The check of the finished pages


def test_broken_pages_are_found(docs, tmp_path):
    (tmp_path / "a.html").write_text('<p id="x"></p><p id="x"></p><a href="b.html#no">1</a><a href="c.html">2</a>')
    (tmp_path / "b.html").write_text(
        '<script src="https://cdn/x.js"></script><img src="gone.png"><a href="a.html#x">3</a>'
    )
    assert docs["check"].broken_links(tmp_path) == [
        "a.html: id x stands twice",
        "a.html: no anchor b.html#no",
        "a.html: no page c.html",
        "b.html: loads https://cdn/x.js",
        "b.html: no page gone.png",
    ]


def test_one_anchor_a_page(docs, tmp_path):
    text = '<section id="hunk"><h1>Hunk<a class="headerlink" href="#hunk">#</a></h1>'
    text += '<span class="anchor" id="hunk"></span><span class="anchor" id="hunk"></span></section>'
    (tmp_path / "a.html").write_text(text)
    docs["check"].tidy(tmp_path)
    assert (tmp_path / "a.html").read_text().count('id="hunk"') == 1
    assert '<span class="anchor" id="hunk">' in (tmp_path / "a.html").read_text()
