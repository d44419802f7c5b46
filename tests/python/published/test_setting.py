"""The var `published_marts`, and the models that it switches on."""

from __future__ import annotations

import re
from typing import Any

import pytest
from dbt_common.exceptions import CompilationError

from cdc_marts.published.mart import GRAINS
from cdc_marts.published.setting import check_published_marts
from tests.python.harness.manifest import ROOT

MARTS = ["change_events", "latest_state"]


@pytest.mark.parametrize("named", [[], ["latest_state"], ["latest_state", "change_events"]])
def test_the_setting_is_a_list_of_marts(named: list[str]) -> None:
    check_published_marts(named, MARTS)


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ("latest_state", "it must be a list of marts, such as [latest_state], not 'latest_state'"),
        (None, "it must be a list of marts, such as [latest_state], not None"),
        (["latest"], "there is no mart latest; there are change_events, latest_state"),
        (["a", "latest_state", 3], "there is no mart a, 3; there are change_events, latest_state"),
    ],
)
def test_anything_else_is_refused_in_a_sentence(named: Any, problem: str) -> None:
    with pytest.raises(CompilationError) as raised:
        check_published_marts(named, MARTS)
    assert f"The var `published_marts`: {problem}." in str(raised.value)


def test_every_mart_can_be_published() -> None:
    marts = {model.stem for model in (ROOT / "models/marts").glob("*.sql")}
    published = {}
    for model in (ROOT / "models/published").glob("*.sql"):
        text = model.read_text("utf-8")
        [(mart, grain)] = re.findall(r"published_mart\('(\w+)', '(\w+)'\)", text)
        assert model.stem == f"published_{mart}"
        assert f"alias='{mart}'" in text
        assert f"enabled='{mart}' in var('published_marts')" in text
        published[mart] = grain
    assert published.keys() == marts
    assert set(published.values()) == set(GRAINS)
