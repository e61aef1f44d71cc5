"""The site that `make docs` wrote, in a browser: `make test-site`."""

import ast
import functools
import http.server
import os
import re
import shutil
import subprocess
import threading
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
SITE = Path(os.environ.get("CRUCIBLE_SITE", ROOT / "_site"))
AXE = ROOT / "build" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
WIDE, NARROW = {"width": 1366, "height": 768}, {"width": 390, "height": 844}


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="session")
def address():
    """Address of the site, served from this machine."""
    handler = functools.partial(Quiet, directory=os.fspath(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="session")
def browser():
    """Debian's chromium, or the one that CHROMIUM names."""
    names = [os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"]
    path = next((found for name in names if name and (found := shutil.which(name))), None)
    if path is None:
        pytest.fail("no chromium: apt-get install chromium, or CHROMIUM=/path/to/one", pytrace=False)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


class Visit:
    """A page in a window of its own, with what went wrong while it loaded."""

    def __init__(self, browser, address, name, size):
        self.context = browser.new_context(viewport=size, color_scheme="light")
        self.page = self.context.new_page()
        self.faults = []
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("requestfailed", lambda request: self.faults.append(f"failed: {request.url}"))
        self.page.on("response", lambda answer: answer.status >= 400 and self.faults.append(f"failed: {answer.url}"))
        self.page.on("request", lambda request: self._asked(request.url, address))
        self.page.goto(address + name, wait_until="load")

    def _said(self, message):
        if message.type in ("error", "warning"):
            self.faults.append(f"console: {message.text}")

    def _asked(self, url, address):
        if not url.startswith((address, "data:")):
            self.faults.append(f"external: {url}")

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.context.close()


def test_there_are_pages():
    assert {"index.html", "fix_score.html", "methodology_record.html", "changelog.html", "data/index.html"} <= set(
        PAGES
    )


SERIOUS = """async rules => (await axe.run(document, {resultTypes: ["violations"], ...rules})).violations
    .filter(fault => ["serious", "critical"].includes(fault.impact))
    .flatMap(fault => fault.nodes.map(node => `${fault.id}: ${node.html.slice(0, 200)} ${node.failureSummary}`))"""
# Code has the same colours on all pages and thousands of spans: it keeps them on one page, and is plain on the others
PLAIN_CODE = "document.querySelectorAll('.highlight pre').forEach(code => code.textContent = code.textContent)"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_loads_and_everyone_can_read_it(browser, address, name):
    """No error, no request elsewhere, alt texts, nothing too wide, no serious fault of accessibility; all unfolded."""
    with Visit(browser, address, name, WIDE) as visit:
        page = visit.page
        page.evaluate("document.querySelectorAll('details').forEach(box => box.open = true)")
        page.evaluate("document.querySelectorAll('img').forEach(image => image.loading = 'eager')")
        images = page.eval_on_selector_all("img", "all => all.map(i => [i.alt, i.src, i.naturalWidth])")
        page.add_script_tag(path=os.fspath(AXE))
        if name != "fix_score.html":
            page.evaluate(PLAIN_CODE)
        light = page.evaluate(SERIOUS, {})
        page.emulate_media(color_scheme="dark")
        dark = page.evaluate(SERIOUS, {"runOnly": ["color-contrast", "link-in-text-block"]})
        wide = page.evaluate("document.documentElement.scrollWidth")
        page.set_viewport_size(NARROW)
        narrow = page.evaluate("document.documentElement.scrollWidth")
        assert visit.faults == []
        assert [source for alt, source, width in images if not alt or not width] == []
        assert (light, dark) == ([], [])
        assert (wide, narrow) == (WIDE["width"], NARROW["width"])


@pytest.mark.parametrize("words", ["score_fix", "jaccard", "bootstrap"])
def test_search_finds(browser, address, words):
    with Visit(browser, address, f"search.html?q={words}", WIDE) as visit:
        visit.page.wait_for_selector("ul.search li a", timeout=10_000)
        links = visit.page.eval_on_selector_all("ul.search li a", "all => all.map(a => [a.innerText, a.href])")
        assert any(words in text or words in href for text, href in links), links
        assert visit.faults == []


def test_search_leads_to_the_definition(browser, address):
    with Visit(browser, address, "index.html", WIDE) as visit:
        visit.page.fill("input[name=q]", "score_fix")
        visit.page.press("input[name=q]", "Enter")
        visit.page.wait_for_selector("ul.search li a", timeout=10_000)
        visit.page.wait_for_load_state("networkidle")  # leaving earlier would break off the excerpts
        visit.page.click("ul.search li a >> text=/score_fix$/")
        assert re.search(r"fix_score\.html.*#crucible_nb\.fix\.score\.score_fix$", visit.page.url)
        assert visit.faults == []


def test_search_works_without_a_server(browser):
    """A browser forbids the excerpts there, and not the list."""
    with Visit(browser, SITE.as_uri() + "/", "search.html?q=score_fix", WIDE) as visit:
        visit.page.wait_for_selector("ul.search li a[href*=fix_score]", timeout=10_000)


def test_theme_toggle(browser, address):
    with Visit(browser, address, "fix_score.html", WIDE) as visit:
        shade = "getComputedStyle(document.body).backgroundColor"
        seen = {visit.page.evaluate(shade)}
        for _ in range(3):
            visit.page.locator(".theme-toggle:visible").first.click()
            seen.add(visit.page.evaluate(shade))
        assert len(seen) == 2
        themes = visit.page.evaluate("[document.body.dataset.theme, localStorage.getItem('theme')]")
        assert themes[0] == themes[1]
        visit.page.reload()
        assert visit.page.evaluate("document.body.dataset.theme") == themes[0]


def test_formulas_are_mathml(browser, address):
    with Visit(browser, address, "fix_score.html", WIDE) as visit:
        boxes = visit.page.eval_on_selector_all("math", "all => all.map(m => m.getBoundingClientRect().width)")
        assert len(boxes) > 3 and min(boxes) > 0


def test_phone_menu_leads_on(browser, address):
    with Visit(browser, address, "index.html", NARROW) as visit:
        visit.page.click("label[for=__navigation]:visible")
        visit.page.click(".sidebar-tree a >> text=Explanations")
        assert visit.page.url.endswith("/explain.html")


def test_every_link_of_nbdev_has_its_anchor():
    """`_modidx.py` says where nbdev links to; private names stand at their folded source."""
    tree = ast.parse((ROOT / "crucible_nb" / "_modidx.py").read_text(encoding="utf-8"))
    index = ast.literal_eval(tree.body[-1].value)["syms"]
    links = {link for names in index.values() for link, _ in names.values()}
    ids = {name: set(re.findall(r'\bid="([^"]+)"', (SITE / name).read_text(encoding="utf-8"))) for name in PAGES}
    assert len(links) > 100
    missing = [link for link in sorted(links) if link.partition("#")[2] not in ids.get(link.partition("#")[0], set())]
    assert missing == []


def test_every_page_has_a_twin_in_the_list():
    listed = re.findall(r"\]\(([^)]+)\)", (SITE / "llms.txt").read_text(encoding="utf-8"))
    twins = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html.md"))
    assert sorted(listed) == twins
    assert {name.removesuffix(".md") for name in twins} == set(PAGES) - {"search.html", "genindex.html"}


def contents(folder):
    """Bytes of every file below a folder."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_second_build_is_the_same(tmp_path):
    """Byte by byte, into another folder."""
    python = ROOT / "build" / "venv-docs" / "bin" / "python"
    command = [os.fspath(python), os.fspath(ROOT / "docs" / "build.py"), "--out", os.fspath(tmp_path / "again")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first, again = contents(SITE), contents(tmp_path / "again")
    assert sorted(first) == sorted(again)
    assert [name.as_posix() for name in first if first[name] != again[name]] == []
