"""The docs site: its navigation, and how a page becomes a page of the site.

`./run docs` builds it, and fails at broken links; CI does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.python.harness.manifest import ROOT
from tests.python.harness.scripts import module_of

SITE = module_of(ROOT / "docs/site/pages.py")


def pages_below(page: str) -> Iterator[str]:
    """The pages that the navigation has directly below a page."""
    for entries in SITE.NAVIGATION[page].values():
        for entry in entries:
            path = re.sub(r".*<(.*)>", r"\1", entry).removeprefix("/")
            found = {str(file.relative_to(ROOT))[: -len(".md")] for file in ROOT.glob(f"{path}.md")}
            assert found, entry
            yield from found - {page}


def test_the_navigation_has_every_page_once() -> None:
    files = {*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("packages/*/*.md")}
    pages = {str(file.relative_to(ROOT))[: -len(".md")] for file in files}
    listed = Counter(below for page in SITE.NAVIGATION for below in pages_below(page))
    assert listed == Counter(pages - {SITE.ROOT_PAGE})


def test_a_page_keeps_its_lines() -> None:
    page = (
        "# Title\n\n"
        '```mermaid\nflowchart LR\n    a --> b["<br>"]\n```\n\n'
        '<a id="late-update"></a>\n## 迟到的更新\n\n'
        'An anchor in a line, `<a id="late-update"></a>`.\n'
    )
    assert SITE.for_sphinx("docs/zh/how-it-works", page) == (
        "# Title\n\n"
        '<pre class="mermaid">\nflowchart LR\n    a --&gt; b[&quot;&lt;br&gt;&quot;]\n</pre>\n\n'
        "(late-update)=\n## 迟到的更新\n\n"
        'An anchor in a line, `<a id="late-update"></a>`.\n'
    )


def test_the_navigation_stands_at_the_end_of_a_page() -> None:
    assert SITE.for_sphinx("docs/formats/README", "# The nine formats\n") == (
        "# The nine formats\n\n```{toctree}\n:glob:\n\n/docs/formats/*\n```\n"
    )
    assert "\n:caption: 中文\n\n概览 </README.zh-CN>\n" in SITE.for_sphinx("README", "")


def test_the_page_of_the_lineage_leads_to_it() -> None:
    assert '<a href="../lineage/index.html">' in SITE.for_sphinx("docs/lineage", "# Lineage\n")


@pytest.mark.parametrize(
    ("page", "language"),
    [
        ("README", "en"),
        ("docs/operations", "en"),
        ("README.zh-CN", "zh-CN"),
        ("docs/zh/operations", "zh-CN"),
    ],
)
def test_chinese_pages_say_so(page: str, language: str) -> None:
    assert SITE.language_of(page) == language
