"""The page in a browser: light and dark, wide and narrow, without a word on the console."""

from __future__ import annotations

import base64
import html
from pathlib import Path

import pytest

from cdc_marts.operations.report.page import page
from tests.python.report.browser import BROWSER, console_of, screenshot, visit
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

#: The page in a frame that is as wide as a phone: a window can't be as narrow.
PHONE = 360
ON_A_PHONE = """((frame) => ({
    window: frame.contentWindow.innerWidth,
    content: frame.contentDocument.documentElement.scrollWidth,
    plots: [...frame.contentDocument.querySelectorAll('.narrow svg')]
        .map((plot) => plot.getBoundingClientRect())
        .filter((box) => box.width && box.left >= 0 && box.right <= frame.contentWindow.innerWidth)
        .length,
    text: Math.min(...[...frame.contentDocument.querySelectorAll('.narrow text')]
        .filter((text) => text.textContent.trim())
        .map((text) => text.getBoundingClientRect().height)),
}))(document.querySelector('iframe'))"""
#: Colour -> pixels of an image that have it.
PIXELS = """(() => {
    const image = document.querySelector('img');
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const data = context.getImageData(0, 0, canvas.width, canvas.height).data, found = {};
    for (let at = 0; at < data.length; at += 4) {
        const colour = `${data[at]} ${data[at + 1]} ${data[at + 2]}`;
        found[colour] = (found[colour] || 0) + 1;
    }
    return found;
})()"""
#: What each screenshot has: the page, the first two series, and runs that went well or failed.
COLOURS = {
    "light": ["245 246 248", "31 111 178", "217 115 13", "26 127 75", "194 47 47"],
    "dark": ["18 22 27", "98 174 240", "245 154 74", "76 195 138", "255 123 123"],
}


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


def test_on_a_phone_nothing_is_cut_off_and_plots_can_be_read(report: Path) -> None:
    outer = report.with_name("phone.html")
    framed = html.escape(report.read_text("utf-8"), quote=True)
    outer.write_text(
        f"<html><body><iframe style='width:{PHONE}px;height:800px;border:0' srcdoc=\"{framed}\">"
        "</iframe></body></html>",
        "utf-8",
    )

    seen = visit(outer, ON_A_PHONE).answer

    assert (seen["window"], seen["content"]) == (PHONE, PHONE)
    assert seen["plots"] == 10
    # Pixels of the smallest text, a line of 12 as a phone has it elsewhere.
    assert seen["text"] >= 9


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 500])
def test_a_screenshot_has_plots_in_the_colours_of_the_page(
    report: Path, scheme: str, width: int
) -> None:
    height = visit(report, "document.documentElement.scrollHeight", scheme, width).answer
    image = report.with_name(f"{scheme}-{width}.png")
    screenshot(report, image, scheme, width, height)
    shown = report.with_name("image.html")
    encoded = base64.b64encode(image.read_bytes()).decode()
    shown.write_text(f"<html><body><img src='data:image/png;base64,{encoded}'></body></html>")

    pixels = visit(shown, PIXELS).answer

    other = COLOURS["light" if scheme == "dark" else "dark"]
    assert sum(pixels.values()) == width * height
    background, *of_plots = COLOURS[scheme]
    assert pixels[background] > 0.05 * width * height
    assert all(pixels.get(colour, 0) > 500 for colour in of_plots), pixels
    assert not any(pixels.get(colour, 0) > 500 for colour in other)
