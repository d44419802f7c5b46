"""Which columns of their table the images of a schema version lack, by parts of the log."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from cdc_marts.fold.missing_columns import missing_columns
from tests.python.fold.frames import frame

VERSIONS = "source_format table_id schema_id column_names last_sequence"
COLUMNS = "source_format table_id column_name first_sequence lost_sequence dropped_sequence"
ORDERS = {"source_format": "canal_json", "table_id": "shop.orders"}


def version(schema_id: int, names: str | None, last: int, **table: str) -> dict[str, Any]:
    """A schema version with these columns, last seen at an offset; of `shop.orders`."""
    column_names = None if names is None else names.split()
    return {
        **ORDERS,
        **table,
        "schema_id": schema_id,
        "column_names": column_names,
        "last_sequence": at(last),
    }


def column(
    name: str, first: int, lost: int | None = None, dropped: int | None = None, **table: str
) -> dict[str, Any]:
    """A column of `shop.orders`, with the offsets at which it came and went."""
    return {
        **ORDERS,
        **table,
        "column_name": name,
        "first_sequence": at(first),
        "lost_sequence": at(lost),
        "dropped_sequence": at(dropped),
    }


def at(offset: int | None) -> tuple[int, int, int] | None:
    return None if offset is None else (offset, 0, offset)


def missing(
    spark: SparkSession, versions: list[dict[str, Any]], columns: list[dict[str, Any]]
) -> list[tuple[str, int, int, int | None, str]]:
    """Table, version, from which offset to which one, and the missing columns, by blanks."""
    found = missing_columns(frame(spark, VERSIONS, versions), frame(spark, COLUMNS, columns))
    return sorted(
        (
            row.table_id,
            row.schema_id,
            row.from_sequence.offset,
            row.to_sequence and row.to_sequence.offset,
            " ".join(row.column_names),
        )
        for row in found.collect()
    )


def test_a_column_is_missing_from_where_it_is_seen_until_it_is_lost(spark: SparkSession) -> None:
    versions = [version(1, "id", 9), version(2, "id note body", 10)]
    columns = [column("id", 1), column("body", 2), column("note", 1, lost=5, dropped=6)]
    assert missing(spark, versions, columns) == [
        ("shop.orders", 1, 1, 2, "note"),
        ("shop.orders", 1, 2, 5, "body note"),
        # A list shows the loss, which a later message may refute: the stretch is kept.
        ("shop.orders", 1, 5, 6, "body"),
        ("shop.orders", 1, 6, None, "body"),
    ]


def test_a_stretch_without_a_missing_column_is_kept_after_a_list(spark: SparkSession) -> None:
    versions = [version(1, "id", 9), version(2, "id note", 2)]
    assert missing(spark, versions, [column("id", 1), column("note", 1, lost=5)]) == [
        ("shop.orders", 1, 1, 5, "note"),
        ("shop.orders", 1, 5, None, ""),
    ]


def test_after_a_statement_no_stretch_is_kept(spark: SparkSession) -> None:
    versions = [version(1, "id", 9), version(2, "id note", 2)]
    dropped = column("note", 1, lost=5, dropped=5)
    assert missing(spark, versions, [column("id", 1), dropped]) == [
        ("shop.orders", 1, 1, 5, "note")
    ]


def test_a_column_that_came_after_the_last_event_is_not_missing(spark: SparkSession) -> None:
    versions = [version(1, "id", 9), version(2, "id note", 12)]
    assert missing(spark, versions, [column("id", 1), column("note", 9)]) == []
    assert missing(spark, versions, [column("id", 1), column("note", 8)]) == [
        ("shop.orders", 1, 8, None, "note")
    ]


def test_each_table_has_its_own_columns(spark: SparkSession) -> None:
    carts = {"table_id": "shop.carts"}
    versions = [
        version(1, "id", 9),
        version(2, "id note", 9),
        version(3, "id", 9, **carts),
        version(4, "id body", 9, **carts),
        # Of the same name as a table of another format.
        version(5, "id", 9, source_format="lindorm_debezium"),
        version(6, "id body", 9, source_format="lindorm_debezium"),
    ]
    columns = [column("id", 1), column("note", 1), column("body", 2, **carts)]
    assert missing(spark, versions, columns) == [
        ("shop.carts", 3, 2, None, "body"),
        ("shop.orders", 1, 1, None, "note"),
    ]


def test_versions_with_the_same_columns_end_without_a_query(spark: SparkSession) -> None:
    """Their types differ, so they are two versions; a version without a list shows nothing."""
    versions = [version(1, "id note", 9), version(2, "note id", 9), version(3, None, 9)]
    found = missing_columns(frame(spark, VERSIONS, versions), _unreadable(spark))
    assert found.collect() == []


def _unreadable(spark: SparkSession) -> DataFrame:
    """A relation of the columns of `int_table_columns`, which fails when it is read."""
    columns = frame(spark, COLUMNS, [column("id", 1)])
    return columns.where("cast(raise_error('the columns were read') as boolean)")
