"""The page says what the target has, runs nothing, and shows what messages hold as text."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser

import pytest

from cdc_marts.operations.report.facts import Facts, StoredTable, Traffic
from cdc_marts.operations.report.figures import figures
from cdc_marts.operations.report.page import page
from cdc_marts.printing import printable
from cdc_marts.relations import Relations
from tests.python.report.made_up import HOSTILE, facts, nothing


class Content(HTMLParser):
    """Elements with their attributes, and all text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def of_a_week() -> Facts:
    return facts()


@pytest.fixture(scope="module")
def text(of_a_week: Facts) -> str:
    return page(of_a_week)


@pytest.fixture(scope="module")
def content(text: str) -> Content:
    return Content(text)


def test_each_figure_has_a_plot_for_wide_and_narrow_screens_and_its_numbers(
    content: Content, of_a_week: Facts
) -> None:
    count = len(list(figures(of_a_week)))
    tags = [tag for tag, _ in content.elements]
    assert count == tags.count("section") == tags.count("table") == 10
    assert tags.count("svg") == 2 * count
    for figure in figures(of_a_week):
        assert figure.title in content.text
        assert all(len(row) == len(figure.columns) for row in figure.rows)
        assert all(column in content.text for column in figure.columns)


def test_numbers_are_exact(content: Content, of_a_week: Facts) -> None:
    orders = next(topic for topic in of_a_week.status.topics if topic.topic == "orders")
    total = sum(topic.landed for topic in of_a_week.status.topics)
    assert f"{orders.landed:,}" in content.text
    assert f"{total:,}" in content.text


def test_names_from_messages_are_text_and_nothing_else(text: str, content: Content) -> None:
    tags = {tag for tag, _ in content.elements}
    attributes = {name for _, found in content.elements for name in found}
    assert printable(HOSTILE) in content.text
    assert not {"script", "img", "iframe", "object", "form"} & tags
    assert not [name for name in attributes if name.startswith("on")]
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_the_page_asks_for_nothing(text: str, content: Content) -> None:
    policy = next(found for _, found in content.elements if "http-equiv" in found)
    sources = [
        value
        for _, found in content.elements
        for name, value in found.items()
        if name in ("src", "href", "xlink:href", "action", "srcset")
    ]
    assert str(policy["content"]).startswith("default-src 'none'")
    assert sources == ["data:,"]
    assert re.findall(r"url\((?!#)|@import", text) == []
    assert len(text) < 1_000_000


def test_ids_of_drawings_are_not_those_of_others(content: Content) -> None:
    ids = [found["id"] for _, found in content.elements if "id" in found]
    assert len(ids) == len(set(ids))


def test_a_target_without_anything_says_so() -> None:
    empty = Content(page(nothing()))
    assert empty.text.count("There is nothing to show yet.") == 10
    assert "no run has been recorded yet" in empty.text


def test_captions_have_the_names_that_the_marts_have_on_the_target(of_a_week: Facts) -> None:
    marts = ("change_events", "latest_state", "quarantined_messages", "runs")
    relations = Relations({name: f"dev_cdc.{name}" for name in marts}, "raw", "codes")
    moved = dataclasses.replace(
        of_a_week, status=dataclasses.replace(of_a_week.status, relations=relations)
    )
    captions = " ".join(figure.caption for figure in figures(moved))
    assert set(re.findall(r"dev_cdc\.(\w+)", captions)) == set(marts)
    assert "marts." not in captions.replace("cdc-marts", "")


def test_sizes_are_summed_by_layer_in_the_direction_of_the_data(of_a_week: Facts) -> None:
    tables = [
        StoredTable("dev_reports.orders", "shop_analytics", 5, 1, 4_000),
        StoredTable("dev_cdc.orders", "marts", 5, 1, 3_000),
        StoredTable("raw.canal_json", "landing", 9, 1, 2_000),
        StoredTable("raw.run_results", "landing", 9, 1, 100),
    ]
    moved = dataclasses.replace(of_a_week, stored_tables=tables)
    storage = next(figure for figure in figures(moved) if figure.name == "storage")
    assert "landing 2.1 kB, marts 3.0 kB, shop_analytics 4.0 kB." in storage.caption
    assert storage.plot is not None
    scale = storage.plot.to_dict()["encoding"]["color"]["scale"]
    layers = {value["layer"] for value in storage.plot.data.values}
    assert scale["domain"] == ["landing", "marts", "shop_analytics"]
    assert layers == set(scale["domain"])


def test_topics_beyond_the_colours_share_one_and_stand_in_the_table(of_a_week: Facts) -> None:
    at = of_a_week.traffic[0].at
    small = [Traffic("canal_json", f"topic-{number}", at, 1, 1.0, 1.0) for number in range(30)]
    many = dataclasses.replace(of_a_week, traffic=[*of_a_week.traffic, *small])
    volume = next(figure for figure in figures(many) if figure.name == "volume")
    assert volume.plot is not None
    topics = {value["topic"] for value in volume.plot.data.values}
    assert "all other topics" in topics
    assert len(topics) == 7
    assert len(volume.rows) == len(many.traffic)
