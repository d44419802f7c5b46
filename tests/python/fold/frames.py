"""Small DataFrames for the functions of the fold."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Set
from decimal import Decimal
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc_marts.parsing.records import SEQUENCE

_TYPES = {
    "partition": "int",
    "offset": "bigint",
    "row_index": "int",
    "schema_id": "bigint",
    "row_count": "bigint",
    "last_event_at": "timestamp",
    "first_event_at": "timestamp",
    "delete_offset": "bigint",
    "insert_offset": "bigint",
    "landing_commit": "bigint",
    "delivery_position": "decimal(38,0)",
    "message_position": "decimal(38,0)",
    "position": "decimal(38,0)",
    "event_at": "timestamp",
    "unavailable_columns": "array<string>",
    "column_names": "array<string>",
    "row_keys": "array<string>",
    "column_types": "map<string,string>",
    "column_parameters": "map<string,string>",
    "stands_before": f"struct<sequence: {SEQUENCE}, index: int>",
}
#: Columns of `int_message_places`.
PLACES = "source_format topic partition offset position"
#: Columns of `int_missing_columns`.
MISSING_COLUMNS = "source_format table_id schema_id from_sequence to_sequence"
#: Columns of `int_split_key_changes`.
SPLIT_KEY_CHANGES = (
    "source_format table_id delete_id insert_id old_key new_key topic partition delete_offset"
    " insert_offset"
)
#: Columns of `int_superseded_effects`.
SUPERSEDED_EFFECTS = (
    "source_format table_id row_key event_id effect last_write_id is_of_older_row row_left"
    " stands_before"
)
#: Columns of `int_truncations`.
TRUNCATIONS = "source_format table_id sequence event_at is_revision"
_IMAGES = ("before", "after")
_FLAGS = ("is_", "has_", "lists_", "took_", "row_left")


def frame(spark: SparkSession, columns: str, rows: Iterable[Mapping[str, Any]]) -> DataFrame:
    """Rows by column; a column that a row leaves out is null.

    `columns`: names, by blanks; their types are those that the models give them.  An image is a
    dict, a sequence (position, partition, offset), with a transaction index behind them or without,
    a place before others (sequence, index).
    """
    names = columns.split()
    schema = ", ".join(f"`{name}` {_type(name)}" for name in names)
    table = spark.createDataFrame(
        [tuple(_value(name, row.get(name)) for name in names) for row in rows], schema
    )
    for image in set(names) & set(_IMAGES):
        table = table.withColumn(image, F.parse_json(image))
    return table.select(*names)


def effects_at_positions(
    spark: SparkSession, columns: str, rows: Iterable[Mapping[str, Any]]
) -> DataFrame:
    """Effects with the coordinates of their messages; a row may give its `message_position`."""
    return frame(spark, f"{columns} message_position", rows).withColumns(
        {
            "partition": F.col("sequence.partition"),
            "offset": F.col("sequence.offset"),
            "message_position": F.coalesce("message_position", "sequence.position"),
        }
    )


def rows_of_cases(
    rows: Mapping[str, Iterable[Mapping[str, Any]]], own: Set[str]
) -> list[dict[str, Any]]:
    """Case -> its rows, as the rows of one frame.

    `own`: columns whose values each case has for itself; the name of the case stands before them.
    """
    return [
        {**row, **{column: f"{case}/{row[column]}" for column in own & row.keys()}}
        for case, of_case in rows.items()
        for row in of_case
    ]


def case_and_value(value: str) -> tuple[str, str]:
    """The value of such a column, apart from the name of its case."""
    case, _, of_case = value.rpartition("/")
    return case, of_case


def _type(name: str) -> str:
    if name.endswith("sequence"):
        return SEQUENCE
    return _TYPES.get(name, "boolean" if name.startswith(_FLAGS) else "string")


def _value(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in _IMAGES:
        return json.dumps(value)
    if _type(name) == SEQUENCE:
        return _sequence(*value)
    if name == "stands_before":
        sequence, index = value
        return (_sequence(*sequence), index)
    if _type(name).startswith("decimal"):
        return Decimal(value)
    return value


def _sequence(
    position: int, partition: int, offset: int, transaction_index: int | None = None
) -> tuple[Decimal, int | None, int, int, int]:
    return (Decimal(position), transaction_index, partition, offset, 0)
