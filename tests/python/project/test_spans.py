"""Spans of time as `cdc-marts status` shows them."""

from __future__ import annotations

import datetime as dt

import pytest

from cdc_marts.operations.status import span


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(-5, "0s"), (59, "59s"), (600, "10m"), (7_500, "2h 5m"), (86_401, "1d"), (90_000, "1d 1h")],
)
def test_a_span_is_shown_in_its_two_largest_units(seconds: int, shown: str) -> None:
    assert span(dt.timedelta(seconds=seconds)) == shown
