"""Build the site: `make docs`. Notebooks and markdown become MyST pages, Sphinx renders them, every link is checked.

Nothing is run and nothing is fetched: outputs are the ones stored in the notebooks, API tables come from their source.
A figure without alt text, a formula that MathML can not show, and a link without a target end the build.
"""

import argparse
import base64
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import api
from check import broken_links, tidy

ROOT = Path(__file__).resolve().parents[1]
DIRECTIVE = re.compile(r"#\|[ \t]*([\w-]+)[ \t]*:?[ \t]*(.*)\n?")
SIGN = "⚠"
PACKAGES = {"fix": "Reference-fix scorer", "review": "Findings scoring"}
SECTIONS = ["Shared foundations", *PACKAGES.values(), "Tools", "Analysis", "Record", "Data"]


class PageError(ValueError):
    """Something in a source that no page can be made from."""


@dataclass
class Page:
    """One page, from a notebook, from a markdown file, or written here."""

    name: str  # Path in the site without its suffix: `analysis/reordering`
    source: str  # Path in the project, for links; empty where the page is made here
    title: str
    about: str  # One line, plain
    section: str  # Caption in the sidebar
    body: str = ""  # MyST
    twin: str = ""  # Plain markdown
    open: list[tuple[str, str, str]] = field(default_factory=list)  # Anchor, heading and paragraph of each open choice


def main() -> None:
    """Write the site to the folder that the command line names, else to `_site`."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "_site")
    out = parser.parse_args().out.resolve()
    work = ROOT / "build" / ("docs-" + re.sub(r"\W+", "-", os.fspath(out)).strip("-"))
    shutil.rmtree(work, ignore_errors=True)
    try:
        pages = read_pages(work / "src")
        for page in pages:
            write(work / "src" / f"{page.name}.md", page.body)
        shutil.rmtree(out, ignore_errors=True)
        code = subprocess.call(
            [sys.executable, "-m", "sphinx", "-b", "html", "-c", str(ROOT / "docs"), "-d", str(work / "trees")]
            + ["-E", "-W", "--keep-going", "-q", str(work / "src"), str(out)]
        )
        if code:
            sys.exit(code)
        for page in pages:
            write(out / f"{page.name}.html.md", page.twin)
        write(out / "llms.txt", llms(pages))
        (out / ".buildinfo").unlink(missing_ok=True)
        (out / "objects.inv").unlink(missing_ok=True)
        tidy(out)
        if broken := broken_links(out):
            raise PageError("\n".join(broken))
    except PageError as problem:
        sys.exit(f"docs: {problem}")
    print(f"{len(pages)} pages in {os.path.relpath(out)}")


def write(path: Path, text: str) -> None:
    """Write a file and the folders that it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


# What the site is made of


def read_pages(pictures: Path) -> list[Page]:
    """All pages, the index first; figures are written below `pictures`."""
    files = sorted(path for path in (ROOT / "nbs").rglob("*.ipynb") if not re.search(r"/[._]", path.as_posix()))
    files.sort(key=lambda path: (path.name != "index.ipynb", len(path.parts)))
    notebooks = {path: json.loads(path.read_text(encoding="utf-8"))["cells"] for path in files}
    pages = {path: _notebook_page(path, cells) for path, cells in notebooks.items()}
    texts = [path for path in sorted((ROOT / "data").rglob("*.md")) if len(path.relative_to(ROOT).parts) < 4]
    pages |= {path: _text_page(path) for path in texts}
    links = Links({page.source: page for page in pages.values()}, notebooks)
    for path, page in pages.items():
        if path in notebooks:
            render(page, notebooks[path], links, pictures)
        else:
            text = path.read_text(encoding="utf-8")
            text = text if text.startswith("# ") else f"# {page.title}\n\n{text}"
            page.body, page.twin = links.relink(text, page), links.relink(text, page, ".html.md")
    found = list(pages.values())
    found += [methodology(found), changelog(links)]
    names = [page.name for page in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise PageError(f"{', '.join(twice)}: a page of two sources")
    found[0].body += "\n\n" + toctree(found[1:])
    return found


def _notebook_page(path: Path, cells: list[dict]) -> Page:
    """The page of a notebook, still empty: its name as nbdev's links spell it, its title and its question."""
    inside = path.relative_to(ROOT / "nbs")
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    if not texts or not (found := re.match(r"# (.+)\n*(?:> (.+))?", texts[0])):
        raise PageError(f"{path.relative_to(ROOT)}: expected a first cell `# Title` and `> question`")
    name = inside.with_name(re.sub(r"^\d+[a-z]?_", "", inside.stem)).as_posix()
    section = _section(cells, inside.name) if len(inside.parts) == 1 else inside.parts[0].capitalize()
    return Page(name, f"nbs/{inside.as_posix()}", found[1].strip(), plain(found[2] or ""), section)


def _section(cells: list[dict], name: str) -> str:
    """The sidebar's caption for a chapter: its system, or what is below or above both."""
    module = next((value for cell in cells if (value := directives(cell)[0].get("default_exp"))), "")
    package = module.rpartition(".")[0]
    if package:
        return PACKAGES.get(package, package.capitalize())
    return "Shared foundations" if name[:2] < "30" else "Tools"


def _text_page(path: Path) -> Page:
    """The page of a markdown file below data/."""
    inside = path.relative_to(ROOT)
    text = path.read_text(encoding="utf-8")
    name = inside.with_name("index" if inside.stem == "README" else inside.stem.lower()).as_posix()
    title = found[1] if (found := re.match(r"# (.+)", text)) else inside.parent.as_posix()
    first = re.sub(r"\A# .+\n+", "", text).partition("\n\n")[0]
    return Page(name, inside.as_posix(), title, plain(" ".join(first.split())), "Data")


def plain(text: str) -> str:
    """Markdown of one line without its marks."""
    return re.sub(r"[*`]|\[([^\]]*)\]\([^)]*\)", r"\1", text).strip()


def toctree(pages: list[Page]) -> str:
    """The sidebar: one list a section, in the order of the project."""
    known = {name: at for at, name in enumerate(SECTIONS)}
    sections = sorted(sorted({page.section for page in pages}), key=lambda name: known.get(name, 2.5))
    trees = []
    for section in sections:
        names = "\n".join(f"/{page.name}" for page in pages if page.section == section)
        trees.append(f"```{{toctree}}\n:hidden:\n:caption: {section}\n\n{names}\n```")
    return "\n\n".join(trees)


def llms(pages: list[Page]) -> str:
    """The list of pages for language models, each as plain markdown (llmstxt.org)."""
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["description"]
    lines = ["# crucible_nb", "", f"> {about}.", ""]
    for section in dict.fromkeys(page.section for page in pages):
        lines += [f"## {section}", ""]
        lines += [
            f"- [{page.title}]({page.name}.html.md)" + (f": {page.about}" if page.about else "")
            for page in pages
            if page.section == section
        ]
        lines.append("")
    return "\n".join(lines)


# Links


class Links:
    """Where things are: pages by their source, public names by what nbdev calls their anchors."""

    def __init__(self, pages: dict[str, Page], notebooks: dict[Path, list[dict]]):
        self.pages = pages
        # What stands in inline code, to `page` or `page#anchor`
        self.symbols = {source: page.name for source, page in pages.items() if source.endswith(".md")}
        for path, cells in notebooks.items():
            page = pages[f"nbs/{path.relative_to(ROOT / 'nbs').as_posix()}"]
            if path.parent.name != "nbs":
                self.symbols |= {f"{path.parent.name}/{path.stem}": page.name, path.stem: page.name}
            elif path.stem[:1].isdigit():
                self.symbols[path.stem] = page.name
            if page.name == "cli":
                continue
            for cell in cells:
                head, code = directives(cell)
                if "export" in head:
                    for name in api.defined(code):
                        if not name.rpartition(".")[2].startswith("_"):
                            self.symbols.setdefault(name, f"{page.name}#{name.lower()}")

    def relink(self, text: str, page: Page, suffix: str = ".html") -> str:
        """Markdown with links to sources and names of public things leading to their pages."""
        return _outside_fences(text, lambda part: self._relink(part, page, suffix))

    def _relink(self, text: str, page: Page, suffix: str) -> str:
        def target(found: re.Match) -> str:
            label, link = found[1], found[2]
            if re.match(r"\w+:|#", link):
                return found[0]
            file, _, anchor = link.partition("#")
            path = posixpath.normpath(posixpath.join(posixpath.dirname(page.source), file))
            if path in self.pages:
                return f"[{label}]({self.url(page, self.pages[path].name, anchor, suffix)})"
            if not (ROOT / path).exists():
                raise PageError(f"{page.source}: no such target: {link}")
            return label

        def symbol(found: re.Match) -> str:
            name, _, anchor = self.symbols.get(found[1], "").partition("#")
            if not name or (name == page.name and not anchor):
                return found[0]
            return f"[{found[0]}]({self.url(page, name, anchor, suffix)})"

        linked = re.compile(r"(?<!!)\[((?:[^\[\]`]|`[^`]*`)+)\]\(([^()\s]+)\)")
        parts, at = [], 0
        for found in linked.finditer(text):
            parts += [_names(text[at : found.start()], symbol), target(found)]
            at = found.end()
        return "".join([*parts, _names(text[at:], symbol)])

    def url(self, page: Page, name: str, anchor: str = "", suffix: str = ".html") -> str:
        """The address of a page, seen from another."""
        file = posixpath.relpath(f"{name}{suffix}", posixpath.dirname(page.name) or ".")
        return f"{file}#{anchor}" if anchor and suffix == ".html" else file


def _names(text: str, symbol: Callable[[re.Match], str]) -> str:
    """Text whose inline code is linked, headings and code of several ticks left alone."""
    lines = text.split("\n")
    pattern = re.compile(r"(?<![`\w])`([\w./]+)(?:\(\))?`(?!`)")
    return "\n".join(line if line.startswith("#") else pattern.sub(symbol, line) for line in lines)


def _outside_fences(text: str, change: Callable[[str], str]) -> str:
    """Markdown of which all but fenced blocks is changed."""
    parts = re.split(r"(?ms)(^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?^ {0,3}\2[`~]*[ \t]*$)", text)
    return "".join(part if at % 3 == 1 else "" if at % 3 == 2 else change(part) for at, part in enumerate(parts))


# Notebooks


def directives(cell: dict) -> tuple[dict[str, str], str]:
    """The `#|` lines that a code cell begins with, and its code without them."""
    code = "".join(cell["source"])
    head = {}
    while cell["cell_type"] == "code" and (found := DIRECTIVE.match(code)):
        head[found[1]] = found[2].strip().strip("\"'")
        code = code[found.end() :]
    return head, code.strip("\n")


def render(page: Page, cells: list[dict], links: Links, pictures: Path) -> None:
    """Fill in the page of a notebook and its plain twin."""
    body, twin, heading = [], [], ""
    module = next((value for cell in cells if (value := directives(cell)[0].get("default_exp"))), "")
    known: dict = {}
    for cell in cells:
        head, code = directives(cell)
        if cell["cell_type"] == "markdown":
            found = re.findall(r"^#+ (.+)$", code, re.M)
            twin.append(links.relink(code, page, ".html.md"))
            body.append(mark_open(links.relink(code, page), page, heading))
            heading = found[-1] if found else heading
            if len(body) == 1 and module:
                where = f"Module `crucible_nb.{module}`, written in `{page.source}`."
                body.append(f"{{.origin}}\n{where}")
                twin.append(where)
            continue
        if cell["cell_type"] != "code" or not code or "hide" in head or "default_exp" in head:
            continue
        if api.only_imports(code):
            twin += [_fence("python", code)] if "export" in head else []
            continue
        if "export" in head:
            known |= api.aliases(code)
            body.append(exported(code, module, known, links, page))
            twin.append(_fence("python", code))
        elif head.get("echo") != "false":
            body.append(_fence("python", code))
            twin.append(_fence("python", code))
        if head.get("output") == "false":
            continue
        for output in cell.get("outputs", []):
            shown, simple = show_output(output, head, page, pictures)
            body.append(shown)
            twin.append(simple)
    page.body = "\n\n".join(body) + "\n"
    page.twin = "\n\n".join(twin) + "\n"


def _fence(info: str, text: str, options: str = "") -> str:
    """A fenced block, longer than any fence in it."""
    ticks = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{ticks}{info}\n{options}{text}\n{ticks}"


def exported(code: str, module: str, known: dict, links: Links, page: Page) -> str:
    """An exported cell: what it offers as tables, its source below, folded."""
    dotted = f"crucible_nb.{module}"
    entries = api.entries(code, known)
    public = {name for entry in entries for name in (entry.name, *(member.name for member in entry.members))}
    private = [name for name in api.defined(code) if name not in public]
    blocks = [_entry(entry, dotted, links, page) for entry in entries]
    if private:
        blocks.append("".join(_anchor(name) for name in private))
    lines = code.count("\n") + 1
    tops = ", ".join(f"<code>{name}</code>" for name in api.defined(code) if "." not in name)
    summary = f"Source{f' of {tops}' if tops and not entries else ''} ({lines} line{'s' if lines > 1 else ''})"
    blocks += [f'<details class="source"><summary>{summary}</summary>', _fence("python", code), "</details>"]
    return "\n\n".join(blocks)


def _anchor(name: str) -> str:
    return f'<span class="anchor" id="{name.lower()}"></span>'


def _entry(entry: api.Entry, module: str, links: Links, page: Page, ticks: str = "``````") -> str:
    """A function or class as a directive of Sphinx's Python domain, with its table and its methods."""
    kind = {"classmethod": "method", "staticmethod": "method"}.get(entry.kind, entry.kind)
    options = f":module: {module}\n" + (f":{entry.kind}:\n" if entry.kind != kind else "")
    inside = [links.relink(entry.doc, page)]
    if entry.rows:
        first = "field" if kind in ("class", "exception") and not entry.signature else "argument"
        rows = "\n".join(
            f"| {'*returns*' if name == 'returns' else _code(name)} | {_code(typed)} | {_cell(meaning, links, page)} |"
            for name, typed, meaning in entry.rows
        )
        inside.append(f"| {first} | type | meaning |\n|---|---|---|\n{rows}")
    inside += [_entry(member, module, links, page, ticks[1:]) for member in entry.members]
    text = "\n\n".join(part for part in inside if part)
    return f"{_anchor(entry.name)}\n\n{ticks}{{py:{kind}}} {entry.name}{entry.signature}\n{options}\n{text}\n{ticks}"


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|") if text else ""


def _cell(text: str, links: Links, page: Page) -> str:
    """A comment as the cell of a table: its inline code stays, all other marks are letters."""
    parts = re.split(r"(`[^`]+`)", text)
    escaped = [part if part.startswith("`") else re.sub(r"([\\*_\[\]<>#$~])", r"\\\1", part) for part in parts]
    return links.relink("".join(escaped), page).replace("|", "\\|")


def show_output(output: dict, head: dict[str, str], page: Page, pictures: Path) -> tuple[str, str]:
    """A stored output as MyST and as plain markdown."""
    if output["output_type"] in ("stream", "error"):
        text = "".join(output.get("text") or ["\n".join(output.get("traceback", []))])
        return _text_output(text)
    data = {kind: "".join(value) for kind, value in output["data"].items() if kind != "application/json"}
    simple = data.get("text/plain", "")
    if "image/png" in data:
        alt = head.get("fig-alt") or head.get("fig-cap") or simple
        if not alt or alt.startswith("<"):
            remedy = "draw it with plots.new_axes and a title, or say `#| fig-alt: ...`"
            raise PageError(f"{page.source}: a figure has no alt text: {remedy}")
        return _picture(data["image/png"], " ".join(alt.split()), page, pictures)
    if "text/markdown" in data:
        return data["text/markdown"], data["text/markdown"]
    if "text/html" in data:
        made = re.sub(r"<style scoped>.*?</style>\s*", "", data["text/html"], flags=re.S).strip()
        made = re.sub(r"<td>(?=[^<]{48})", '<td class="long">', made)
        return _fence("{raw} html", f'<div class="output html">\n{made}\n</div>'), _text_output(simple)[1]
    if "application/vnd.jupyter.widget-view+json" in data:
        raise PageError(f"{page.source}: a widget has no picture: run the notebook with make check")
    if "text/latex" in data:
        return data["text/latex"], data["text/latex"]
    return _text_output(simple)


def _text_output(text: str) -> tuple[str, str]:
    """Printed text, in a block of its own."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text).rstrip("\n")
    return _fence("{code-block} text", text, ":class: output\n\n"), _fence("text", text)


def _picture(data: str, alt: str, page: Page, pictures: Path) -> tuple[str, str]:
    """A figure, written beside its page."""
    folder = pictures / "figures"
    stem = page.name.replace("/", "-")
    number = len(list(folder.glob(f"{stem}-[0-9]*.png"))) + 1
    path = folder / f"{stem}-{number}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(base64.b64decode(data))
    image = _fence("{image}", "", f"/figures/{path.name}\n:alt: {alt}\n:class: figure")
    return image.replace("{image}\n", "{image} "), f"*Figure: {alt}*"


# What the sources leave open


def mark_open(text: str, page: Page, heading: str) -> str:
    """Markdown of a cell in which each open choice has an anchor and leads to the methodology record."""
    blocks = re.split(r"(\n{2,})", text)
    for at, block in enumerate(blocks):
        if block.startswith("#"):
            heading = block.lstrip("# ").partition("\n")[0]
        if SIGN not in block or block.startswith(("```", "~~~")):
            continue
        anchor = f"open-{len(page.open) + 1}"
        if block.startswith("#"):
            following = blocks[at + 2] if at + 2 < len(blocks) else ""
            page.open.append((anchor, heading, f"**{heading.replace(SIGN, '').strip()}.** {following}"))
            blocks[at] = f'<span class="anchor" id="{anchor}"></span>\n\n{block}'
            continue
        for item in re.split(r"\n(?=[-*] |\d+\. )", block):
            if SIGN in item:
                anchor = f"open-{len(page.open) + 1}"
                page.open.append((anchor, heading, re.sub(r"^(?:[-*]|\d+\.) ", "", item)))
                record = posixpath.relpath("methodology_record.html", posixpath.dirname(page.name) or ".")
                record += f"#{page.name.replace('/', '-')}-{anchor}"
                label = f'<a class="open" id="{anchor}" href="{record}" title="left open by its source">{SIGN}</a>'
                blocks[at] = blocks[at].replace(item, item.replace(SIGN, label, 1), 1)
    return "".join(blocks)


RECORD = """# Methodology record

> Which choices do the source documents leave open or contradict, and what did this kit choose?

Every place in the chapters that carries the sign {sign} stands here, in the words of its chapter: {total} in all. The
list is made from the notebooks when the site is built, so it can not fall behind them. Each entry links to its place,
where the reason and, if there is one, the measurement stand.
"""


def methodology(pages: list[Page]) -> Page:
    """Every open choice of both systems in one list."""
    page = Page(
        "methodology_record", "", "Methodology record", "Every choice that a source leaves open, in one list.", "Record"
    )
    total = sum(len(other.open) for other in pages)
    body = [RECORD.format(sign=SIGN, total=total)]
    twin = list(body)
    for section in dict.fromkeys(other.section for other in pages if other.open):
        body.append(f"## {section}")
        twin.append(f"## {section}")
        for other in (other for other in pages if other.section == section and other.open):
            body.append(f"### {other.title}")
            twin.append(f"### {other.title}")
            for anchor, heading, text in other.open:
                words = _moved_links(re.sub(r"\n+", " ", text).replace(SIGN, "").replace("  ", " "), other)
                own = f"{other.name.replace('/', '-')}-{anchor}"
                where = f"{other.name}.html"
                label = heading.replace(SIGN, "").strip() or other.title
                body.append(f'- <span class="anchor" id="{own}"></span>{words.strip()} [{label}]({where}#{anchor})')
                twin.append(f"- {words.strip()} [{label}]({where}.md)")
    page.body, page.twin = "\n\n".join(body) + "\n", "\n\n".join(twin) + "\n"
    return page


def _moved_links(text: str, page: Page) -> str:
    """Links of a page in a folder, as they are from the top."""
    folder = posixpath.dirname(page.name)
    moved = lambda found: f"]({posixpath.normpath(posixpath.join(folder, found[1]))}"  # noqa: E731
    return re.sub(r"\]\((?!\w+:|#)([^()\s#]+)", moved, text)


def changelog(links: Links) -> Page:
    """What moved a number, release by release, and then everything else."""
    page = Page(
        "changelog", "CHANGELOG.md", "Changelog of scores", "What moved a number, and what else changed.", "Record"
    )
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    intro, *releases = re.split(r"(?m)^## ", text)
    scores, rest = [], []
    for release in releases:
        name, _, parts = release.partition("\n")
        for part in re.split(r"(?m)^### ", parts)[1:]:
            kind, _, body = part.partition("\n")
            (scores if kind.strip() == "Scores" else rest).append((name.strip(), kind.strip(), body.strip()))
    moved = "\n\n".join(f"### {name}\n\n{body}" for name, _, body in scores)
    other = "\n\n".join(f"### {kind}, {name}\n\n{body}" for name, kind, body in rest)
    about = intro.partition("\n")[2].strip()
    text = f"# {page.title}\n\n{about}\n\n## Scores\n\n{moved}\n\n## Everything else\n\n{other}\n"
    page.body, page.twin = links.relink(text, page), links.relink(text, page, ".html.md")
    return page


if __name__ == "__main__":
    main()
