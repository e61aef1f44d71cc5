"""What is done to, and checked in, the finished pages, without a browser."""

import posixpath
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote


class _Page(HTMLParser):
    """Ids, links and things that a page loads."""

    def __init__(self, text: str):
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if known.get("id"):
            self.ids.append(known["id"])
        if tag == "a" and known.get("href"):
            self.links.append(known["href"])
        if tag in ("script", "img", "iframe", "source", "video", "audio") and known.get("src"):
            self.loads.append(known["src"])
        if tag == "link" and known.get("href") and known.get("rel") not in ("canonical",):
            self.loads.append(known["href"])


def tidy(site: Path) -> None:
    """One id a page: an anchor of nbdev's wins over the title's own id and yields to any other. Names for landmarks."""
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        text = text.replace('<p class="caption" role="heading">', '<p class="caption" role="heading" aria-level="2">')
        text = text.replace('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="Chapters">')
        text = text.replace('<aside class="toc-drawer', '<aside aria-label="On this page" class="toc-drawer')
        if title := re.search(r'<section id="([^"]+)">\s*<h1>', text):
            name = re.escape(title[1])
            if len(re.findall(f'id="{name}"', text)) > 1:
                text = text.replace(f'<section id="{title[1]}">', "<section>", 1)
                text = re.sub(f'(<h1>.*?)<a class="headerlink" href="#{name}"[^>]*>.*?</a>', r"\1", text, count=1)
        seen = set(re.findall(r'<(?!span class="anchor")[a-z0-9]+(?: [^<>]*?)? id="([^"]+)"', text))

        def once(found: re.Match, seen: set[str] = seen) -> str:
            known = found[1] in seen
            seen.add(found[1])
            return "" if known else found[0]

        text = re.sub(r'<span class="anchor" id="([^"]+)"></span>', once, text)
        path.write_text(text, encoding="utf-8")


def broken_links(site: Path) -> list[str]:
    """Links without a target, ids that stand twice, and assets from elsewhere, one a line."""
    pages = {
        path.relative_to(site).as_posix(): _Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")
    }
    faults = []
    for name, page in sorted(pages.items()):
        faults += [
            f"{name}: id {anchor} stands twice" for anchor in sorted(set(page.ids)) if page.ids.count(anchor) > 1
        ]
        faults += [f"{name}: loads {link}" for link in page.loads if re.match(r"(?:\w+:)?//", link)]
        for link in sorted({*page.links, *page.loads}):
            if re.match(r"\w+:|//", link):
                continue
            file, _, anchor = link.partition("#")
            path = posixpath.join(posixpath.dirname(name), unquote(file.partition("?")[0]))
            target = posixpath.normpath(path) if file else name
            if not (site / target).is_file():
                faults.append(f"{name}: no page {link}")
            elif anchor and target in pages and unquote(anchor) not in pages[target].ids:
                faults.append(f"{name}: no anchor {link}")
    return faults
