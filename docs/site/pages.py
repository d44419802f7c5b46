"""How the pages of the project become pages of the site, as an extension of Sphinx.

The pages are Markdown as code hosts read it.  Here they get what a site has beside its pages: a
navigation, diagrams, the language of a page, a start page, and dbt's lineage site.
"""

from __future__ import annotations

import html
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]

ROOT_PAGE = "README"

#: Page -> the pages below it, in groups by their captions.  An entry is a page, by its path in the
#: project without `.md`, or a title with such a path in angle brackets, or a pattern, for pages in
#: the order of their names.
NAVIGATION: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    ROOT_PAGE: {
        "Understand": (
            "/docs/how-it-works",
            "/docs/semantics",
            "/docs/formats/README",
            "/docs/glossary",
            "/docs/lineage",
        ),
        "Use": (
            "/docs/first-steps",
            "/docs/operations",
            "/docs/scheduling",
            "/docs/use-as-a-package",
            "/docs/asking-from-elsewhere",
            "/docs/reference",
        ),
        "Judge": ("/docs/benchmarks/README", "/docs/scale", "/docs/decisions/README"),
        "Take part": (
            "/CONTRIBUTING",
            "/CHANGELOG",
            "/packages/dbt-spark-session/README",
            "/packages/cdc-marts-profiling/README",
        ),
        "中文": (
            "概览 </README.zh-CN>",
            "/docs/zh/how-it-works",
            "/docs/zh/formats",
            "/docs/zh/operations",
        ),
    },
    "docs/formats/README": {"": ("/docs/formats/*",)},
    "docs/benchmarks/README": {
        "": (
            "/docs/benchmarks/*",
            "New messages, with rare changes </docs/benchmarks/rare/incremental>",
            "New messages, on a long history </docs/benchmarks/long/incremental>",
        )
    },
    # The page itself lists the decisions by subject.
    "docs/decisions/README": {"Decisions": ("/docs/decisions/*",)},
    "packages/dbt-spark-session/README": {"": ("/packages/dbt-spark-session/CHANGELOG",)},
}

#: Where dbt writes its site, and where it stands in ours.
_LINEAGE = ROOT / "target/static_index.html"
_LINEAGE_PAGE = "docs/lineage"
_LINEAGE_ON_SITE = "lineage/index.html"

_DIAGRAM = re.compile(r"^```mermaid\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_ANCHOR = re.compile(r'^<a id="([\w-]+)"></a>$', re.MULTILINE)


def for_sphinx(page: str, text: str) -> str:
    """The text of a page as Sphinx and MyST read it; its lines keep their numbers.

    `page`: its path in the project, without `.md`.
    """
    text = _DIAGRAM.sub(lambda found: f'<pre class="mermaid">\n{html.escape(found[1])}</pre>', text)
    text = _ANCHOR.sub(r"(\1)=", text)
    if page == _LINEAGE_PAGE:
        text += f'\n<a href="../{_LINEAGE_ON_SITE}">Open the lineage site</a>\n'
    return text + "".join(
        _table_of_contents(caption, pages) for caption, pages in NAVIGATION.get(page, {}).items()
    )


def _table_of_contents(caption: str, pages: tuple[str, ...]) -> str:
    entries = "\n".join(pages)
    # Groups stand beside the pages only; pages without a group also stand at the end of the text.
    options = f":hidden:\n:caption: {caption}\n" if caption else ""
    return f"\n```{{toctree}}\n:glob:\n{options}\n{entries}\n```\n"


def language_of(page: str) -> str:
    return "zh-CN" if page.startswith("docs/zh/") or page.endswith(".zh-CN") else "en"


def _read(app: Sphinx, page: str, source: list[str]) -> None:
    source[0] = for_sphinx(page, source[0])


def _lay_out(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    context["language"] = language_of(page)
    if 'class="mermaid"' in context.get("body", ""):
        app.add_js_file("mermaid.js")


def _finish(app: Sphinx, error: Exception | None) -> None:
    if error:
        return
    site = Path(app.outdir)
    shutil.copy(site / f"{ROOT_PAGE}.html", site / "index.html")
    lineage = site / _LINEAGE_ON_SITE
    lineage.parent.mkdir(exist_ok=True)
    shutil.copy(_LINEAGE, lineage)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", _read)
    app.connect("html-page-context", _lay_out)
    app.connect("build-finished", _finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
