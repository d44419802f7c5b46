"""Facts in the text of a query."""

from __future__ import annotations

import pytest
from dbt.adapters.spark_session.queries import is_volatile


@pytest.mark.parametrize(
    "condition",
    [
        "at < now()",
        "at < current_timestamp",
        "at < timestamp 'now'",
        "at < TIMESTAMP 'Today'",
        "at < date ' tomorrow'",
        "at < 'yesterday'",
        "at < 'now Asia/Shanghai'",
        "at < cast('now' as timestamp)",
        "at < to_date('today')",
        "at < localtimestamp",
        "at < LocalTimestamp()",
        "id < rand()",
    ],
)
def test_a_query_that_depends_on_its_time_or_on_chance_is_volatile(condition: str) -> None:
    assert is_volatile(f"select * from shop.orders where {condition}")


@pytest.mark.parametrize(
    "condition",
    [
        "at < timestamp '2026-01-01 00:00:00'",
        "status = 'nowhere'",
        "today = 1",
        "orders.localtimestamp is null",
        "at < timestamp 'epoch'",
    ],
)
def test_a_query_that_depends_only_on_its_tables_is_not(condition: str) -> None:
    assert not is_volatile(f"select * from shop.orders where {condition}")


def test_a_query_of_a_sample_is_volatile() -> None:
    assert is_volatile("select * from shop.orders tablesample (10 percent)")
