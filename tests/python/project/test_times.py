"""Times as other programs have them, and spans: in `cdc-marts status`, and before a time."""

from __future__ import annotations

import datetime as dt

import pytest

from cdc_marts.times import days_before, micros_of, millis_of, span, timestamp_literal

NOW = dt.datetime(2026, 11, 28, 12, tzinfo=dt.timezone.utc)


def test_a_time_is_counted_exactly() -> None:
    # A float cannot hold the microseconds of this time.
    time = dt.datetime(9999, 1, 2, 3, 4, 5, 678_999, tzinfo=dt.timezone.utc)
    assert micros_of(time) == 253_370_862_245_678_999
    assert millis_of(time) == 253_370_862_245_678


def test_a_literal_is_in_utc() -> None:
    in_shanghai = NOW.astimezone(dt.timezone(dt.timedelta(hours=8)))
    assert timestamp_literal(in_shanghai) == "timestamp '2026-11-28 12:00:00'"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(-5, "0s"), (59, "59s"), (600, "10m"), (7_500, "2h 5m"), (86_401, "1d"), (90_000, "1d 1h")],
)
def test_a_span_is_shown_in_its_two_largest_units(seconds: int, shown: str) -> None:
    assert span(dt.timedelta(seconds=seconds)) == shown


def test_no_time_is_before_the_year_1() -> None:
    assert days_before(NOW, 0) == NOW
    assert days_before(NOW, 365) == NOW.replace(year=2025)
    for days in (9_999 * 365, 10**12):
        assert days_before(NOW, days) == dt.datetime(1, 1, 1, 12, tzinfo=dt.timezone.utc)
