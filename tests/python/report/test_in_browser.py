"""The page in a browser: light and dark, wide and narrow, without a word on the console."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdc_marts.report.page import page
from tests.python.report.browser import BROWSER, console_of, visit
from tests.python.report.made_up import HOSTILE, facts

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(
        BROWSER is None,
        reason="there is no Chromium here (Debian: apt-get install chromium)",
    ),
]

LOOKS = """({
    title: document.title,
    text: document.querySelector('main').textContent,
    page: getComputedStyle(document.body).backgroundColor,
    ink: getComputedStyle(document.querySelector('.plot text')).fill,
    bars: [...new Set([...document.querySelectorAll('#runs svg path')]
        .map((path) => getComputedStyle(path).fill))],
    wide: [...document.querySelectorAll('.wide')].filter((plot) => plot.offsetWidth).length,
    narrow: [...document.querySelectorAll('.narrow')].filter((plot) => plot.offsetWidth).length,
    window: innerWidth,
    content: document.documentElement.scrollWidth,
    asked: performance.getEntriesByType('resource').map((entry) => entry.name),
})"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page(facts()), "utf-8")
    return path


def test_the_console_is_silent(report: Path) -> None:
    assert console_of(report) == []


def test_what_the_console_says_would_be_seen(report: Path) -> None:
    """The page forbids scripts, so a browser complains of one that gets in."""
    broken = report.with_name("broken.html")
    broken.write_text(report.read_text("utf-8").replace("<main>", "<main><script>1</script>"))
    assert console_of(broken)


@pytest.mark.parametrize("width", [1280, 500])
def test_the_page_is_as_wide_as_its_window(report: Path, width: int) -> None:
    visited = visit(report, LOOKS, width=width)
    seen = visited.answer
    assert visited.console == []
    assert seen["window"] == width
    assert seen["content"] == width
    assert (seen["wide"], seen["narrow"]) == ((10, 0) if width == 1280 else (0, 10))


def test_colours_follow_what_the_reader_prefers(report: Path) -> None:
    light, dark = (visit(report, LOOKS, scheme).answer for scheme in ("light", "dark"))
    assert light["page"] == "rgb(245, 246, 248)"
    assert dark["page"] == "rgb(18, 22, 27)"
    assert light["ink"] != dark["ink"]
    # Plots take their colours from the page: green, amber and red, in both.
    assert {"rgb(26, 127, 75)", "rgb(161, 92, 0)", "rgb(194, 47, 47)"} <= set(light["bars"])
    assert {"rgb(76, 195, 138)", "rgb(240, 176, 80)", "rgb(255, 123, 123)"} <= set(dark["bars"])


def test_names_from_messages_neither_run_nor_load(report: Path) -> None:
    seen = visit(report, LOOKS).answer
    assert HOSTILE.split("\u202e")[0] in seen["text"]
    assert seen["title"].startswith("cdc_marts: local")
    assert seen["asked"] == []
