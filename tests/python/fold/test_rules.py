"""Rules that Python models share with SQL models."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc_marts.fold.rules import (
    MACROS,
    count_truncations_before,
    filled_row_key,
    is_row_of_full_load,
    lacks_columns_of,
    last_truncations_of_tables,
    sorted_row_key,
    takes_columns_of_half,
    transaction_of_effect,
    truncations_of_tables,
)
from tests.python.fold.frames import MISSING_COLUMNS, frame


def column(rows: DataFrame, expression: Any) -> list[Any]:
    return [row[0] for row in rows.select(expression).collect()]


@pytest.mark.parametrize(
    ("row_key", "old_row_key", "takes_columns", "filled"),
    [
        ('{"a":1}', '{"a":0,"b":"x"}', True, '{"a":1,"b":"x"}'),
        ('{"a":1}', '{"a":0,"b":"x"}', False, '{"a":1}'),
        ('{"a":1,"b":null}', '{"a":0,"b":"x"}', True, '{"a":1,"b":null}'),
        ('{"a":1.10}', '{"a":1.2,"b":2.20}', True, '{"a":1.1,"b":2.2}'),
        ('{"a":1}', None, True, '{"a":1}'),
        ('{"a":1}', "{}", True, '{"a":1}'),
        # A VARIANT holds no column twice.
        ('{"a":1}', '{"b":1,"b":2}', True, '{"a":1}'),
        (None, '{"a":1}', True, None),
    ],
)
def test_filled_row_key(
    spark: SparkSession,
    row_key: str | None,
    old_row_key: str | None,
    takes_columns: bool,
    filled: str | None,
) -> None:
    rows = spark.createDataFrame(
        [(row_key, old_row_key, takes_columns)],
        "row_key string, old_row_key string, takes_columns boolean",
    )
    assert column(rows, filled_row_key(*rows.columns)) == [filled]


def test_takes_columns_of_half(spark: SparkSession) -> None:
    records = spark.createDataFrame(
        [
            (name, is_keyless)
            for name in ("datahub_tuple", "dataworks_json", "other")
            for is_keyless in (False, True)
        ],
        "source_format string, is_keyless boolean",
    )
    expected = [False, False, False, True, False, True]
    assert column(records, takes_columns_of_half()) == expected


def test_is_row_of_full_load(spark: SparkSession) -> None:
    """A format without an operation for such rows has inserts."""
    records = spark.createDataFrame(
        [
            ("change", "canal_json", "snapshot"),
            ("change", "canal_json", "insert"),
            ("change", "cdl_json", "snapshot"),
            ("change", "cdl_json", "insert"),
            ("change", "cdl_json", "update"),
            ("update_before", "cdl_json", "insert"),
        ],
        "record_type string, source_format string, op string",
    )
    expected = [True, False, True, True, False, False]
    assert column(records, is_row_of_full_load()) == expected


def test_sorted_row_key(spark: SparkSession) -> None:
    keys = ['{"b":1,"a":"x"}', '{"a":1.10}', '{"a":1,"a":2}', None]
    rows = spark.createDataFrame([(key,) for key in keys], "row_key string")
    expected = ['{"a":"x","b":1}', '{"a":1.1}', None, None]
    assert column(rows, sorted_row_key("row_key")) == expected


def test_transaction_of_effect(spark: SparkSession) -> None:
    noon = dt.datetime(2024, 3, 1, 12, 0, 0, 123456)
    effects = frame(
        spark,
        "transaction_id event_at",
        [{"transaction_id": "t", "event_at": noon}, {"event_at": noon}, {}],
    )
    expected = ["t", "2024-03-01 12:00:00.123456", None]
    assert column(effects, transaction_of_effect()) == expected


def test_order_on_key(spark: SparkSession) -> None:
    own, other = (3, 0, 3), (5, 0, 5)
    effects = frame(
        spark,
        "sequence stands_before",
        [{"sequence": own, "stands_before": (other, 1)}, {"sequence": own}],
    )
    order_on_key = F.expr(MACROS.order_on_key("effects", "effects"))
    orders = column(effects.alias("effects"), order_on_key)
    assert [(order.sequence.position, order["index"]) for order in orders] == [
        (5, 1),
        (3, 2**31 - 1),
    ]


def test_count_truncations_before(spark: SparkSession) -> None:
    """A truncation that was found to be of another table has no sequence."""
    table = {"source_format": "cdl_json", "table_id": "orders"}
    sequences = [(1, 0, 1), (5, 0, 5), (5, 1, 0), (9, 0, 9)]
    effects = frame(
        spark,
        "source_format table_id sequence",
        [
            *({**table, "sequence": sequence} for sequence in sequences),
            {**table, "table_id": "others", "sequence": (9, 0, 9)},
        ],
    )
    truncations = frame(
        spark,
        "source_format table_id sequence event_at",
        [{**table, "sequence": s} for s in ((0, 0, 0), (5, 0, 5), (8, 0, 8), None)],
    )
    of_tables = truncations_of_tables(truncations)
    rows = effects.join(of_tables, ["source_format", "table_id"], "left").alias("effects")
    rows = rows.orderBy("table_id", "sequence")
    counts = column(rows, count_truncations_before("effects", "truncations"))
    assert counts == [1, 2, 2, 3, 0]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 8, 9])
def test_any_number_of_truncations_is_counted(spark: SparkSession, count: int) -> None:
    table = {"source_format": "cdl_json", "table_id": "orders"}
    places = range(2 * count + 2)
    effects = frame(
        spark,
        "source_format table_id sequence",
        [{**table, "sequence": (place, 0, place)} for place in places],
    )
    truncations = frame(
        spark,
        "source_format table_id sequence event_at",
        [{**table, "sequence": (place, 0, place)} for place in places[1::2][:count]],
    )
    of_tables = truncations_of_tables(truncations)
    rows = effects.join(of_tables, ["source_format", "table_id"]).alias("effects")
    counts = column(rows.orderBy("sequence"), count_truncations_before("effects", "truncations"))
    assert counts == [min((place + 1) // 2, count) for place in places]


def test_last_truncations_of_tables(spark: SparkSession) -> None:
    """A truncation that was found to be of another table has no sequence."""
    truncations = frame(
        spark,
        "source_format table_id sequence",
        [
            {"source_format": "cdl_json", "table_id": table_id, "sequence": sequence}
            for table_id, sequences in {
                "orders": [(5, 0, 5), (8, 0, 1), None],
                "others": [None],
            }.items()
            for sequence in sequences
        ],
    )
    newest = last_truncations_of_tables(truncations).collect()
    found = {row.table_id: row.sequence and row.sequence.position for row in newest}
    assert found == {"orders": 8, "others": None}


def test_lacks_columns_of(spark: SparkSession) -> None:
    version = {"source_format": "canal_json", "table_id": "orders", "schema_id": 7}
    effects = frame(
        spark,
        "source_format table_id schema_id event_id lists_all_columns effect is_partial sequence",
        [
            {
                **version,
                "event_id": name,
                "lists_all_columns": False,
                "effect": "upsert",
                "is_partial": False,
                "sequence": (3, 0, 3),
                **other,
            }
            for name, other in {
                "between": {},
                "at the first place": {"sequence": (2, 0, 2)},
                "at the last place": {"sequence": (5, 0, 5)},
                "behind": {"sequence": (6, 0, 6)},
                "whole": {"lists_all_columns": True},
                "of another version": {"schema_id": 8},
                "until now": {"schema_id": 9, "sequence": (6, 0, 6)},
            }.items()
        ],
    )
    missing = frame(
        spark,
        MISSING_COLUMNS,
        [
            {**version, "from_sequence": (2, 0, 2), "to_sequence": (5, 0, 5)},
            {**version, "schema_id": 9, "from_sequence": (2, 0, 2)},
        ],
    )
    events, missing = effects.alias("events"), missing.alias("missing")
    lacking = events.join(missing, lacks_columns_of("events", "missing"), "left_semi")
    expected = ["at the last place", "between", "until now"]
    assert sorted(column(lacking, "event_id")) == expected
