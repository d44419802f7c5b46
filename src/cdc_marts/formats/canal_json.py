"""Canal JSON as DTS and Canal servers write it.

Source: DTS, "Data formats of a message queue", Canal Json; Alibaba Canal 1.1.7.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.parsing.images import (
    are_objects,
    column_names,
    columns_of,
    image_of,
    overlay,
)
from cdc_marts.parsing.messages import COORDINATES, lacking_key, read_json, rejection
from cdc_marts.parsing.ops import meaning_of
from cdc_marts.parsing.records import to_staging
from cdc_marts.parsing.settings import KeySettings, key_columns_of
from cdc_marts.parsing.statements import ended_table, ends_rows
from cdc_marts.parsing.values import (
    is_bad_millis,
    is_bad_position,
    non_empty,
    position,
    timestamp_of_millis,
)

SOURCE_FORMAT = "canal_json"

ENVELOPE = """
    database string, table string, type string, isDdl string, sql string,
    es string, ts string, gtid string,
    pkNames array<string>, mysqlType map<string,string>,
    data variant, old variant
"""


def parse(
    messages: DataFrame,
    key_settings: KeySettings | None = None,
    swapped_topics: Mapping[str, str | None] | None = None,
) -> DataFrame:
    """Landed Canal JSON -> staging rows, one per row of a message.

    `key_settings`: table_id -> key columns, for tables whose `pkNames` is null.
    `swapped_topics`: topic -> ISO time (UTC) until which its updates carry
    the row after in `old` and the row before in `data` (DTS instances made
    before 2022-03-20), or None where that has no end.
    """
    envelope = read_json(
        messages, ENVELOPE, lambda message: _lacking_keys(message, key_settings)
    ).select(*COORDINATES, "value", "unreadable", "message.*", F.col("seen").alias("lacks_key"))
    named = envelope.select(
        "*",
        meaning_of(_op_code(), SOURCE_FORMAT).alias("meaning"),
        _rows(F.col("data")).alias("data_rows"),
        _rows(F.col("old")).alias("old_rows"),
        timestamp_of_millis(F.col("es")).alias("event_at"),
    )
    is_row_message = F.col("meaning.record_type").eqNullSafe("change")
    is_old_delete = (
        (F.col("meaning.op") == "delete")
        & F.col("data_rows").isNull()
        & F.col("old_rows").isNotNull()
    )
    is_swapped = (F.col("meaning.op") == "update") & _is_swapped(swapped_topics or {})
    oriented = named.select(
        "*",
        F.when(is_old_delete | is_swapped, F.col("old_rows"))
        .otherwise(F.col("data_rows"))
        .alias("rows"),
        F.when(is_swapped, F.col("data_rows"))
        .when(F.col("meaning.op") == "update", F.col("old_rows"))
        .alias("changes"),
        F.when(is_old_delete | is_swapped, F.col("lacks_key.old"))
        .otherwise(F.col("lacks_key.data"))
        .alias("rows_lack_key"),
        _key_columns(envelope, key_settings).alias("key_columns"),
    )
    checked = oriented.select(
        "*",
        F.coalesce("unreadable", _broken(is_row_message, is_swapped)).alias("rejection"),
    )
    exploded = checked.select(
        "*",
        F.posexplode_outer(
            F.when(is_row_message & F.col("rejection").isNull(), _paired_rows())
        ).alias("index", "row"),
    )
    read = exploded.select("*", columns_of(F.col("row.image")).alias("columns"))
    imaged = read.select(
        "*",
        F.when(
            F.col("meaning.op") == "update",
            overlay(F.col("columns"), columns_of(F.col("row.changes"))),
        )
        .when(F.col("meaning.op") == "delete", F.col("columns"))
        .alias("columns_before"),
    )
    op = F.col("meaning.op")
    is_statement = F.col("meaning.record_type") != "change"
    # A type that says only "DDL": the statement tells.
    is_end = F.col("meaning.ends_rows") | ((F.col("type") == "DDL") & ends_rows(F.col("sql")))
    before = F.when(op == "update", image_of(F.col("columns_before"))).when(
        op == "delete", F.col("row.image")
    )
    return to_staging(
        imaged,
        SOURCE_FORMAT,
        rejection=F.col("rejection"),
        record_type=F.col("meaning.record_type"),
        row_index=F.col("index"),
        source_type=F.lit("mysql"),
        database_name=non_empty(F.col("database")),
        table_name=F.coalesce(
            non_empty(F.col("table")),
            F.when(is_end, ended_table(F.col("sql"), F.col("database"))),
        ),
        op=op,
        source_op=F.col("type"),
        key_columns=F.col("key_columns"),
        before=before,
        after=F.when(op != "delete", F.col("row.image")),
        columns_before=F.col("columns_before"),
        columns_after=F.when(op != "delete", F.col("columns")),
        unavailable_columns=F.array_except(
            column_names(F.col("mysqlType")), column_names(F.col("columns"))
        ),
        column_types=F.col("mysqlType"),
        event_at=F.col("event_at"),
        published_at=timestamp_of_millis(F.col("ts")),
        # A partition is ordered by its offsets; the write time orders one against another.
        position=position(F.col("ts")),
        transaction_id=non_empty(F.col("gtid")),
        ddl_text=F.when(is_statement, non_empty(F.col("sql"))),
        ends_rows=is_end,
    )


def _op_code() -> Column:
    """`type`; MariaDB's annotated statements are QUERY too, but with `isDdl` false."""
    is_statement = (F.col("type") == "QUERY") & ~F.col("isDdl").eqNullSafe("true")
    return F.when(is_statement, "QUERY (isDdl false)").otherwise(F.col("type"))


def _key_columns(message: DataFrame | Column, key_settings: KeySettings | None) -> Column:
    table_id = F.concat_ws(".", non_empty(message["database"]), non_empty(message["table"]))
    return key_columns_of(message["pkNames"], key_settings, table_id)


def _lacking_keys(message: Column, key_settings: KeySettings | None) -> Column:
    """struct<data, old>: whether one of several rows lacks a key column, so that none is read.

    Of a single row that is seen where its key is made.
    """
    key_columns = _key_columns(message, key_settings)

    def lacks_key(row: Column) -> Column:
        return F.size(F.array_except(key_columns, column_names(columns_of(row)))) > 0

    def is_lacking(images: Column) -> Column:
        has_several = F.try_variant_get(images, "$[1]", "variant").isNotNull()
        return F.when(has_several, F.exists(images.try_cast("array<variant>"), lacks_key))

    return F.struct(*(is_lacking(message[side]).alias(side) for side in ("data", "old")))


def _rows(images: Column) -> Column:
    """`data` or `old` -> array<variant>; one object stands for an array of one."""
    return F.coalesce(
        images.try_cast("array<variant>"),
        F.when(images.isNotNull() & ~F.is_variant_null(images), F.array(images)),
    )


def _paired_rows() -> Column:
    """array<struct<image, changes>>: `old[i]` belongs to `data[i]`."""
    no_changes = F.array().cast("array<variant>")
    return F.arrays_zip(
        F.col("rows").alias("image"),
        F.coalesce("changes", no_changes).alias("changes"),
    )


def _is_swapped(swapped_topics: Mapping[str, str | None]) -> Column:
    """True for messages of a swapped topic from before the time it became standard."""
    swapped = F.lit(False)
    for topic, until in swapped_topics.items():
        in_time = (
            F.lit(True) if until is None else F.col("event_at") < F.lit(until).cast("timestamp")
        )
        swapped = swapped | ((F.col("topic") == topic) & in_time)
    return swapped


def _broken(is_row_message: Column, is_swapped: Column) -> Column:
    def lacks_columns(row: Column) -> Column:
        # Of a swapped topic `rows` are those in `old`, `changes` those in `data`.
        after, before = (column_names(columns_of(row[side])) for side in ("image", "changes"))
        return F.size(F.array_except(before, after)) > 0

    needs_changes = F.col("meaning.op") == "update"
    return rejection(
        (F.col("type").isNull(), "missing_field", "the message has no `type`"),
        (
            F.col("meaning").isNull(),
            "unknown_op",
            F.concat(F.lit("`type` is no operation of Canal JSON: "), F.col("type")),
        ),
        (
            is_row_message & non_empty(F.col("table")).isNull(),
            "missing_field",
            "a row change needs `table`",
        ),
        (is_bad_millis(F.col("es")), "bad_timestamp", "`es` is not epoch milliseconds"),
        (is_bad_millis(F.col("ts")), "bad_timestamp", "`ts` is not epoch milliseconds"),
        (is_bad_position(F.col("ts")), "bad_sequence", "`ts` is not a number"),
        (
            is_row_message & (F.coalesce(F.size("rows"), F.lit(0)) < 1),
            "missing_image",
            "a row change needs at least one row in `data`",
        ),
        (
            is_row_message & ~are_objects(F.col("rows")),
            "missing_image",
            "a row in `data` is not an object of columns",
        ),
        (
            is_row_message & needs_changes & (F.size("changes") > F.size("rows")),
            "missing_image",
            "`old` has more rows than `data`",
        ),
        (
            is_row_message & F.col("rows_lack_key"),
            "missing_field",
            lacking_key(F.col("key_columns")),
        ),
        (
            is_swapped & F.exists(_paired_rows(), lacks_columns),
            "missing_image",
            "a row in `old` lacks columns of its row in `data`, so the topic is not swapped any"
            " more: end it in `swapped_canal_topics`",
        ),
    )
