"""Rules that Python models share with SQL models give the same in both."""

from __future__ import annotations

import datetime as dt
from typing import Any

import jinja2
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc_marts.fold.rules import (
    count_truncations_before,
    filled_row_key,
    lacks_columns_of,
    last_truncations_of_tables,
    order_on_key,
    sorted_row_key,
    takes_columns_of_half,
    transaction_of_effect,
    truncations_of_tables,
)
from cdc_marts.source_formats import formats_that
from tests.python.fold.frames import frame
from tests.python.harness.manifest import ROOT

_MACROS = (
    *("fold/filled_row_key", "fold/is_of_format_that", "fold/lacks_columns_of"),
    *("fold/order_on_key", "fold/sorted_row_key", "fold/transaction_of_effect"),
    *("fold/truncations", "sql/matches"),
)


def sql(expression: str) -> str:
    """What dbt makes of a call of a macro."""
    macros = ((ROOT / "macros" / f"{name}.sql").read_text("utf-8") for name in _MACROS)
    template = jinja2.Template("".join(macros) + "{{ " + expression + " }}")
    return template.render(formats_that=formats_that).strip()


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
    names = ("row_key", "old_row_key", "takes_columns")
    of_sql = F.expr(sql(f"filled_row_key{names}"))
    assert column(rows, of_sql) == column(rows, filled_row_key(*names)) == [filled]


def test_takes_columns_of_half(spark: SparkSession) -> None:
    records = spark.createDataFrame(
        [
            (name, is_keyless)
            for name in ("datahub_tuple", "dataworks_json", "other")
            for is_keyless in (False, True)
        ],
        "source_format string, is_keyless boolean",
    )
    of_sql = F.expr(sql("takes_columns_of_half()"))
    expected = [False, False, False, True, False, True]
    assert column(records, of_sql) == column(records, takes_columns_of_half()) == expected


def test_sorted_row_key(spark: SparkSession) -> None:
    keys = ['{"b":1,"a":"x"}', '{"a":1.10}', '{"a":1,"a":2}', None]
    rows = spark.createDataFrame([(key,) for key in keys], "row_key string")
    of_sql = F.expr(sql("sorted_row_key('row_key')"))
    expected = ['{"a":"x","b":1}', '{"a":1.1}', None, None]
    assert column(rows, of_sql) == column(rows, sorted_row_key("row_key")) == expected


def test_transaction_of_effect(spark: SparkSession) -> None:
    noon = dt.datetime(2024, 3, 1, 12, 0, 0, 123456)
    effects = frame(
        spark,
        "transaction_id event_at",
        [{"transaction_id": "t", "event_at": noon}, {"event_at": noon}, {}],
    )
    of_sql = F.expr(sql("transaction_of_effect()"))
    expected = ["t", "2024-03-01 12:00:00.123456", None]
    assert column(effects, of_sql) == column(effects, transaction_of_effect()) == expected


def test_order_on_key(spark: SparkSession) -> None:
    own, other = (3, 0, 3), (5, 0, 5)
    effects = frame(
        spark,
        "sequence stands_before",
        [{"sequence": own, "stands_before": (other, 1)}, {"sequence": own}],
    )
    of_sql = F.expr(sql("order_on_key('effects', 'effects')"))
    orders = column(effects.alias("effects"), of_sql)
    assert orders == column(effects, order_on_key())
    assert [(order.sequence.position, order["index"]) for order in orders] == [
        (5, 1),
        (3, 2**31 - 1),
    ]


def test_count_truncations_before(spark: SparkSession) -> None:
    """A truncation that was found to be of another table has no sequence.

    The macro also gets the times of the truncations.
    """
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
        "source_format table_id sequence",
        [{**table, "sequence": s} for s in ((0, 0, 0), (5, 0, 5), (8, 0, 8), None)],
    )
    of_tables = truncations_of_tables(truncations)
    rows = effects.join(of_tables, ["source_format", "table_id"], "left").alias("effects")
    rows = rows.orderBy("table_id", "sequence")
    structs = "transform(truncations, sequence -> named_struct('sequence', sequence))"
    of_sql = F.expr(sql(f'count_truncations_before("effects", "{structs}")'))
    assert column(rows, of_sql) == column(rows, count_truncations_before()) == [1, 2, 2, 3, 0]


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
    query = sql("last_truncations_of_tables_sql('{truncations}')")
    of_sql = spark.sql(query, truncations=truncations)
    of_python = last_truncations_of_tables(truncations)
    found = {row.table_id: row.sequence and row.sequence.position for row in of_python.collect()}
    assert sorted(of_sql.collect()) == sorted(of_python.collect())
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
        "source_format table_id schema_id from_sequence to_sequence",
        [
            {**version, "from_sequence": (2, 0, 2), "to_sequence": (5, 0, 5)},
            {**version, "schema_id": 9, "from_sequence": (2, 0, 2)},
        ],
    )
    condition = F.expr(sql("lacks_columns_of('events', 'missing')"))
    events, missing = effects.alias("events"), missing.alias("missing")
    of_sql = events.join(missing, condition, "left_semi")
    of_python = events.join(missing, lacks_columns_of("events", "missing"), "left_semi")
    expected = ["at the last place", "between", "until now"]
    assert sorted(column(of_sql, "event_id")) == expected
    assert sorted(column(of_python, "event_id")) == expected
