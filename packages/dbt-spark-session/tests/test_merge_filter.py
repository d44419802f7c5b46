"""Which rows of a large table a merge shuffles."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pytest
from dbt.adapters.spark_session import hash_set, merge_filter
from dbt.adapters.spark_session.merge_filter import possible_matches
from dbt.tests.util import run_dbt
from pyspark.sql import SparkSession

ORDERS = ("concat('order ', id) as order_id", "cast(id % 3 as int) as line")
KEYS = ["order_id", "line"]


@pytest.fixture
def orders(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A table of 2,000 rows, which counts as large."""
    monkeypatch.setattr(merge_filter, "_FEWEST_ROWS", 2_000)
    spark.sql("create namespace if not exists large")
    spark.range(2_000).selectExpr(*ORDERS).writeTo("large.orders").createOrReplace()
    yield "large.orders"
    spark.sql("drop table large.orders purge")


def of_new_keys(spark: SparkSession, first: int, last: int, columns: Sequence[str] = ORDERS) -> str:
    spark.range(first, last).selectExpr(*columns).createOrReplaceTempView("new_orders")
    return "new_orders"


def test_rows_with_new_keys_pass_and_few_others(spark: SparkSession, orders: str) -> None:
    new = of_new_keys(spark, 1_990, 2_100)
    condition = possible_matches(spark, orders, new, KEYS, "held")
    passed = spark.sql(f"select * from {orders} as held where {condition}")
    matched = spark.table(orders).join(spark.table(new), KEYS)
    assert matched.count() == 10
    assert matched.join(passed, KEYS, "left_anti").isEmpty()
    assert passed.count() < 50


@pytest.mark.parametrize(
    "columns",
    [
        pytest.param((ORDERS[0], "id % 3 as line"), id="another type"),
        pytest.param(
            ("concat('order ', id) collate unicode_ci as order_id", ORDERS[1]), id="collated"
        ),
    ],
)
def test_keys_of_other_types_are_not_hashed(
    spark: SparkSession, orders: str, columns: Sequence[str]
) -> None:
    new = of_new_keys(spark, 0, 10, columns)
    assert possible_matches(spark, orders, new, KEYS, "held") is None


def test_doubles_are_not_hashed(spark: SparkSession, orders: str) -> None:
    spark.sql(f"alter table {orders} add column amount double")
    new = of_new_keys(spark, 0, 10, ["cast(id as double) as amount"])
    assert possible_matches(spark, orders, new, ["amount"], "held") is None


def test_a_small_table_is_joined_whole(
    spark: SparkSession, orders: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merge_filter, "_FEWEST_ROWS", 2_001)
    assert possible_matches(spark, orders, of_new_keys(spark, 0, 10), KEYS, "held") is None


def test_too_many_new_keys_leave_out_nothing(
    spark: SparkSession, orders: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hash_set, "_MOST_BITS", 9)
    assert possible_matches(spark, orders, of_new_keys(spark, 0, 10), KEYS, "held") is None
    assert possible_matches(spark, orders, of_new_keys(spark, 0, 9), KEYS, "held") is not None


MERGED = """
{{ config(
    materialized='incremental', incremental_strategy='merge', unique_key='id',
    repeatable=var('repeatable')
) }}
select id, {{ var('amount') }} as amount from range({{ var('first') }}, {{ var('last') }})
"""


class TestMerge:
    @pytest.fixture(scope="class")
    def models(self):
        return {"merged.sql": MERGED}

    def run(self, *arguments: str, **variables: int | bool) -> None:
        run_dbt(["run", *arguments, "--vars", json.dumps(variables)])

    @pytest.mark.parametrize("repeatable", [True, False])
    def test_a_large_table_is_merged_as_a_small_one(
        self, project, spark, monkeypatch, repeatable: bool
    ):
        monkeypatch.setattr(merge_filter, "_FEWEST_ROWS", 100)
        found = []
        find = merge_filter.possible_matches

        def noted(*arguments):
            found.append(find(*arguments))
            return found[-1]

        monkeypatch.setattr("dbt.adapters.spark_session.impl.possible_matches", noted)
        self.run("--full-refresh", first=0, last=100, amount=1, repeatable=repeatable)
        self.run(first=90, last=120, amount=2, repeatable=repeatable)
        assert ["getbit" in condition for condition in found] == [True] * repeatable
        rows = spark.table(f"{project.test_schema}.merged").collect()
        assert sorted(tuple(row) for row in rows) == [
            (id_, 1 if id_ < 90 else 2) for id_ in range(120)
        ]
