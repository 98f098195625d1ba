"""Check the built site: ``check.py FOLDER`` (``make site``).

Every link and picture within FOLDER/html must lead to a file, and its anchor to an element; links to other sites are
listed in FOLDER/external-links.txt, and nothing is fetched. With Chromium every page is opened at two widths, and may
not be wider than its window; its pictures must fit their column and be links to the whole ones; the search for a name
must find its own place first. FOLDER/screens gets pictures of a few pages. Without Chromium the step says so.
"""

from __future__ import annotations

import argparse
import sys
import time
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "unit"))

import browser

#: Of a phone and of a laptop, in points.
WIDTHS = (390, 1280)
SHOWN = (
    "index.html",
    "docs/tutorial.html",
    "reference/protocols/mesi.html",
    "docs/study.html",
    "notebooks/quickstart.html",
)


#: The pictures of a page that are cut, or are no links, by their texts.
CUT = """
    const right = one => one.getBoundingClientRect().right
    const column = document.querySelector("article") ?? document.body
    const cut = one => !one.closest("a") || right(one) > right(column) + 1
    const pictures = [...column.querySelectorAll("img:not(.toggler)")]
    return pictures.filter(cut).map(one => one.alt || one.src).join(", ")
"""

#: The main entries of the index of which the search, as Sphinx's searchtools.js ranks, shows another place first.
BELOW = """
    const {docnames, indexentries} = Search._index
    const first = name => Search._performSearch(...Search._parseQuery(name)).at(-1)
    const is = (one, [file, id, main]) => main && one[0] === docnames[file] && one[2] === "#" + id
    const named = Object.entries(indexentries).filter(([, places]) => places.some(place => place[2]))
    const below = named.filter(([name, places]) => !places.some(place => is(first(name), place)))
    return named.length ? below.map(([name]) => name) : ["any name"]
"""


class Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag names."""
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value or "")
            elif name in ("href", "src") and value and tag != "link":
                self.links.append(value)


def broken_links(folder: Path) -> tuple[list[str], list[str]]:
    """Links that lead nowhere, and those to other sites."""
    found = {
        path: Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))
    }
    broken: list[str] = []
    outside: set[str] = set()
    for path, page in found.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                outside.add(link)
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                broken.append(f"{path.relative_to(folder)}: {link}")
            elif (
                parts.fragment
                and target in found
                and unquote(parts.fragment) not in found[target].anchors
            ):
                broken.append(f"{path.relative_to(folder)}: {link} has no such anchor")
    return broken, sorted(link for link in outside if link.startswith("http"))


def shown_wrong(folder: Path, screens: Path) -> list[str]:
    """What Chromium shows wrong: too wide pages or pictures, and names that the search ranks too low."""
    wrong = []
    screens.mkdir(exist_ok=True)
    pages = sorted(folder.rglob("*.html"))
    with (
        # Chromium's helpers may write to it for a moment after Chromium has ended.
        TemporaryDirectory(ignore_cleanup_errors=True) as profile,
        browser.Browser(folder / "index.html", Path(profile)) as one,
    ):
        for width in WIDTHS:
            one.resize(width, 900)
            for page in pages:
                one.open(page)
                excess = one.js("document.documentElement.scrollWidth - window.innerWidth")
                name = str(page.relative_to(folder))
                if excess > 0:
                    wrong.append(f"{name} is {excess} points too wide at {width}")
                if cut := one.js(f"(() => {{{CUT}}})()"):
                    wrong.append(f"{name}: pictures are cut or no links at {width}: {cut}")
                if name in SHOWN:
                    one.screenshot(screens / f"{width}-{name.replace('/', '-')}.png")
        if (folder / "search.html").is_file():
            one.open(folder / "search.html")
            until = time.monotonic() + browser.PATIENCE
            while not one.js("typeof Stemmer != 'undefined' && Search.hasIndex()"):
                assert time.monotonic() < until, "the search does not load"
                time.sleep(0.05)
            below = one.js(f"(() => {{{BELOW}}})()")
            wrong += [f"the search for {name} shows another place first" for name in below]
    return wrong


def main() -> int:
    """Check. Exit status 1: something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder.resolve()
    wrong, outside = broken_links(folder / "html")
    (folder / "external-links.txt").write_text("\n".join(outside) + "\n", encoding="utf-8")
    print(
        f"{len(outside)} links to other sites are in {folder / 'external-links.txt'}, not followed"
    )
    if browser.FOUND:
        wrong += shown_wrong(folder / "html", folder / "screens")
    else:
        print("Chromium is not installed: no page was opened in a browser")
    for line in wrong:
        print(line)
    print(f"{len(wrong)} faults in {len(list((folder / 'html').rglob('*.html')))} pages")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
