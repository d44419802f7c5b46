"""Canal JSON as DTS and Canal servers write it.

Source: DTS, "Data formats of a message queue", Canal Json; Alibaba Canal 1.1.7.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.formats.canal.batch import ERASED, without_rows
from cdc_marts.formats.canal.type_systems import source_type
from cdc_marts.parsing.images import (
    are_objects,
    column_names,
    columns_of,
    image_of,
    names_left_out,
    overlay,
)
from cdc_marts.parsing.messages import (
    LANDED_COLUMNS,
    Check,
    lacking_key,
    read_json,
    rejection,
    unknown_op,
)
from cdc_marts.parsing.ops import meaning_of, source_ops
from cdc_marts.parsing.records import Record, to_staging
from cdc_marts.parsing.settings import KeySettings, key_columns_of, key_setting
from cdc_marts.parsing.statements import change_of, changes_rows, named_table, table_changes
from cdc_marts.parsing.tables import table_id_of
from cdc_marts.parsing.values import is_bad_millis, non_empty, position, timestamp_of_millis
from cdc_marts.parsing.variants import may_hold_text

__all__ = ["SOURCE_FORMAT", "parse", "without_rows"]

SOURCE_FORMAT = "canal_json"

ENVELOPE = f"""
    database string, table string, type string, isDdl string, sql string,
    es string, ts string, gtid string,
    pkNames array<string>, mysqlType map<string,string>,
    data variant, old variant, {ERASED} string
"""

#: The beginning of a partial change of a JSON value in MySQL, as Canal's server writes it.
_JSON_CHANGE = r"^JSON_(?:REPLACE|INSERT|ARRAY_INSERT|REMOVE)\("


def parse(
    messages: DataFrame,
    key_settings: KeySettings | None = None,
    swapped_topics: Mapping[str, dt.datetime | None] | None = None,
) -> DataFrame:
    """Turn landed Canal JSON into staging rows, one per row of a message.

    `key_settings`: table_id -> key columns, for tables whose `pkNames` is null or lacks some of
    them. `swapped_topics`: topic -> time from which its updates are no longer swapped, None if they
    still are. Updates that were written (`ts`) before have the new row in `old` and the old row in
    `data` (DTS instances that were created before 2022-03-20, until they are restarted).
    """
    is_swapped = _is_update() & _is_swapped(swapped_topics or {})
    envelope = _read_envelope(messages, key_settings)
    oriented = _oriented(envelope, is_swapped, key_settings)
    checked = oriented.select("*", F.coalesce("unreadable", _broken(is_swapped)).alias("rejection"))
    return to_staging(_imaged(checked), SOURCE_FORMAT, _record(), has_texts_only=True)


def _read_envelope(messages: DataFrame, key_settings: KeySettings | None) -> DataFrame:
    """Read messages, with the members of their envelope and everything that needs lambdas."""
    envelope = read_json(
        messages,
        ENVELOPE,
        seen_in=lambda message: F.struct(
            _unidentified_rows(message, key_settings).alias("unidentified"),
            _has_partial_json(message).alias("has_partial_json"),
            _table_changes(message).alias("table_changes"),
            F.when(_is_unparsed(message), changes_rows(message["sql"])).alias("is_row_statement"),
        ),
    ).select(*LANDED_COLUMNS, "value", "unreadable", "message.*", "seen.*")
    return envelope.select(
        "*",
        meaning_of(_op_code(), SOURCE_FORMAT).alias("meaning"),
        _rows(F.col("data")).alias("data_rows"),
        _rows(F.col("old")).alias("old_rows"),
        timestamp_of_millis(F.col("ts")).alias("published_at"),
        source_type(F.map_values("mysqlType")).alias("source_type"),
    )


def _oriented(
    envelope: DataFrame, is_swapped: Column, key_settings: KeySettings | None
) -> DataFrame:
    """Add `rows` (before a delete, after other changes) and `changes` (old values of updates)."""
    has_data = F.coalesce(F.size("data_rows") > 0, F.lit(False))
    is_old_delete = (F.col("meaning.op") == "delete") & ~has_data & (F.size("old_rows") > 0)
    return envelope.select(
        "*",
        F.when(is_old_delete | is_swapped, F.col("old_rows"))
        .otherwise(F.col("data_rows"))
        .alias("rows"),
        F.when(is_swapped, F.col("data_rows"))
        .when(_is_update(), F.col("old_rows"))
        .alias("changes"),
        F.when(is_old_delete | is_swapped, F.col("unidentified.old"))
        .otherwise(F.col("unidentified.data"))
        .alias("has_unidentified_row"),
        _key_columns(envelope, key_settings).alias("key_columns"),
    )


def _imaged(checked: DataFrame) -> DataFrame:
    """Return one row per row of a message, with `index`, `row` and its columns after and before."""
    exploded = checked.select(
        "*",
        F.posexplode_outer(
            F.when(_is_row_message() & F.col("rejection").isNull(), _paired_rows())
        ).alias("index", "row"),
    )
    read = exploded.select("*", columns_of(F.col("row.image")).alias("columns"))
    updated = overlay(F.col("columns"), columns_of(F.col("row.changes")))
    return read.select(
        "*",
        F.when(_is_update(), updated)
        .when(F.col("meaning.op") == "delete", F.col("columns"))
        .alias("columns_before"),
        names_left_out(column_names(F.col("mysqlType")), column_names(F.col("columns"))).alias(
            "unavailable_columns"
        ),
    )


def _record() -> Record:
    """Return the record of a row of `_imaged`."""
    op = F.col("meaning.op")
    is_statement = F.col("meaning.record_type") != "change"
    # The server publishes a statement that it could not parse as a QUERY, not as a schema change.
    is_schema_change = (F.col("type") == "QUERY") & F.col("table_changes").isNotNull()
    before = F.when(op == "update", image_of(F.col("columns_before"))).when(
        op == "delete", F.col("row.image")
    )
    return Record(
        rejection=F.coalesce("rejection", _erased_row(), _without_columns()),
        record_type=F.when(is_schema_change, "ddl").otherwise(F.col("meaning.record_type")),
        row_index=F.col("index"),
        # The types show the kind of database; a statement has none.
        source_type=F.when(_is_row_message(), F.col("source_type")),
        database_name=non_empty(F.col("database")),
        table_name=F.coalesce(
            non_empty(F.col("table")),
            named_table(F.col("table_changes"), F.col("database"), F.lit(None).cast("string")),
        ),
        op=op,
        source_op=F.col("type"),
        key_columns=F.col("key_columns"),
        before=before,
        after=F.when(op != "delete", F.col("row.image")),
        columns_before=F.col("columns_before"),
        columns_after=F.when(op != "delete", F.col("columns")),
        unavailable_columns=F.col("unavailable_columns"),
        lists_all_columns=_lists_all_columns(),
        column_types=F.col("mysqlType"),
        event_at=timestamp_of_millis(F.col("es")),
        published_at=F.col("published_at"),
        # Offsets order a partition. The write time orders the events of several partitions.
        position=position(F.nullif("ts", F.lit("-1"))),
        transaction_id=non_empty(F.col("gtid")),
        ddl_text=F.when(is_statement, non_empty(F.col("sql"))),
        table_changes=F.col("table_changes"),
    )


def _is_update() -> Column:
    return F.col("meaning.op") == "update"


def _is_row_message() -> Column:
    return F.col("meaning.record_type").eqNullSafe("change")


def _op_code() -> Column:
    """Return `type`. A QUERY with `isDdl` false (MariaDB's annotation) has a code of its own."""
    is_statement = (F.col("type") == "QUERY") & ~F.col("isDdl").eqNullSafe("true")
    return F.when(is_statement, "QUERY (isDdl false)").otherwise(F.col("type"))


def _is_unparsed(message: Column) -> Column:
    """Return whether the message is a statement that a Canal server could not parse."""
    is_schema_change = (message["type"] == "QUERY") & message["isDdl"].eqNullSafe("true")
    return is_schema_change & non_empty(message["database"]).isNull()


def _key_columns(message: DataFrame | Column, key_settings: KeySettings | None) -> Column:
    """Return the published key, or the declared one if the message publishes none, or a part of it.

    `pkNames` has only those key columns that the image has. A server with MINIMAL images leaves the
    unchanged ones out of an update.
    """
    table_id = table_id_of(non_empty(message["database"]), non_empty(message["table"]))
    published = F.array_distinct(message["pkNames"])
    declared = key_setting(key_settings, table_id)
    is_part = (F.size(F.array_except(published, declared)) == 0) & (
        F.size(F.array_except(declared, published)) > 0
    )
    return F.when(is_part, declared).otherwise(key_columns_of(published, key_settings, table_id))


def _unidentified_rows(message: Column, key_settings: KeySettings | None) -> Column:
    """Return struct<data, old>: whether one of several rows lacks a key column, or all columns.

    If so, the whole message is rejected. For a single row, `to_staging` checks this with the key.
    """
    key_columns = _key_columns(message, key_settings)

    def is_unidentified(row: Column) -> Column:
        names = column_names(columns_of(row))
        lacks_its_key = (F.size(names) == 0) | (F.size(F.array_except(key_columns, names)) > 0)
        # A value that is no object is rejected by `are_objects`, or was erased.
        return ~F.is_variant_null(row) & lacks_its_key

    def has_unidentified(images: Column) -> Column:
        has_several = F.try_variant_get(images, "$[1]", "variant").isNotNull()
        return F.when(has_several, F.exists(images.try_cast("array<variant>"), is_unidentified))

    return F.struct(*(has_unidentified(message[side]).alias(side) for side in ("data", "old")))


def _has_partial_json(message: Column) -> Column:
    """Return whether a JSON column has a partial change, which MySQL's binary log may contain.

    Canal's server writes such a change as an expression, which is not JSON.
    """
    types, images = message["mysqlType"], message["data"]

    def is_json(type_name: Column) -> Column:
        # A server may publish a type as a statement has it.
        return F.lower(type_name) == "json"

    # Most tables have no JSON column, and a look at the types is quicker than at the images.
    has_json = F.exists(F.map_values(types), is_json)

    def has_change(row: Column) -> Column:
        return F.exists(
            F.map_entries(columns_of(row)),
            lambda column: (
                is_json(types[column["key"]])
                & column["value"].try_cast("string").rlike(_JSON_CHANGE)
            ),
        )

    may_have_change = has_json & may_hold_text(["JSON_"], images)
    return F.when(may_have_change, F.exists(_rows(images), has_change))


def _table_changes(message: Column) -> Column:
    """Return what a statement changes in tables; null for rows."""
    row_types = [
        code for code, (kind, _, _) in source_ops(SOURCE_FORMAT).items() if kind == "change"
    ]
    changes = table_changes(
        message["sql"],
        own_change=change_of(message["type"], SOURCE_FORMAT),
        # A statement has no column types, which would show the system.
        source_type=F.lit(None).cast("string"),
        database_name=non_empty(message["database"]),
        schema_name=F.lit(None).cast("string"),
        table_name=non_empty(message["table"]),
        is_unparsed=_is_unparsed(message),
    )
    return F.when(~message["type"].isin(*row_types), changes)


def _rows(images: Column) -> Column:
    """Turn `data` or `old` into an array<variant>; one object becomes an array of one."""
    return F.coalesce(
        images.try_cast("array<variant>"),
        F.when(images.isNotNull() & ~F.is_variant_null(images), F.array(images)),
    )


def _paired_rows() -> Column:
    """Return array<struct<image, changes>>: `old[i]` belongs to `data[i]`."""
    no_changes = F.array().cast("array<variant>")
    return F.arrays_zip(
        F.col("rows").alias("image"),
        F.coalesce("changes", no_changes).alias("changes"),
    )


def _is_swapped(swapped_topics: Mapping[str, dt.datetime | None]) -> Column:
    """Return whether updates have the new row in `old`; null if this depends on a missing `ts`."""
    swapped = F.lit(False)
    for topic, until in swapped_topics.items():
        in_time = F.lit(True) if until is None else F.col("published_at") < F.lit(until)
        swapped = swapped | ((F.col("topic") == topic) & in_time)
    return swapped


def _lists_all_columns() -> Column:
    """Return whether `mysqlType` lists all columns of the table; null if it lists nothing."""
    is_whole = F.col("meaning.op").isin("insert", "snapshot")
    listed_of_image = F.size("mysqlType") - F.size("unavailable_columns")
    return F.when(F.size("mysqlType") > 0, is_whole & (F.size("columns") == listed_of_image))


def _has_statement_for_rows() -> Column:
    """Return whether the message has a statement on rows, and not the rows.

    The server publishes such a statement as a schema change if it could not parse it.
    """
    has_statement = F.col("rows").isNull() & non_empty(F.col("sql")).isNotNull()
    return F.col("is_row_statement") | (_is_row_message() & has_statement)


def _has_lost_rows() -> Column:
    return F.col(ERASED).isNotNull()


def _erased_row() -> Column:
    """Return a rejection for a row that `cdc-marts erase` removed: it counts as a tombstone."""
    is_erased = _has_lost_rows() & _is_row_message() & F.col("columns").isNull()
    return rejection((is_erased, "tombstone", "the row was erased"))


def _without_columns() -> Column:
    return rejection(
        (
            (F.size("key_columns") == 0) & (F.size("columns") == 0),
            "missing_image",
            "a row in `data` has no columns",
        )
    )


def _broken(is_swapped: Column) -> Column:
    return rejection(*_checks_of_fields(is_swapped), *_checks_of_rows(is_swapped))


def _checks_of_fields(is_swapped: Column) -> tuple[Check, ...]:
    return (
        (F.col("type").isNull(), "missing_field", "the message lacks `type`"),
        unknown_op("Canal JSON operation", "type", source_op="type"),
        (
            _has_statement_for_rows(),
            "missing_image",
            "the message has a statement instead of rows: let the MySQL server log rows, by"
            " `binlog_format` ROW, and load the table again (`cdc-marts resync`)",
        ),
        (
            _is_row_message() & non_empty(F.col("table")).isNull(),
            "missing_field",
            "a row change needs `table`",
        ),
        (is_bad_millis(F.col("es")), "bad_timestamp", "`es` is not a time in epoch milliseconds"),
        (is_bad_millis(F.col("ts")), "bad_timestamp", "`ts` is not a time in epoch milliseconds"),
        (
            _is_update() & is_swapped.isNull(),
            "missing_field",
            "the message lacks `ts`, which decides whether `old` and `data` are swapped: the topic"
            " has a time in `swapped_canal_topics`",
        ),
    )


def _checks_of_rows(is_swapped: Column) -> tuple[Check, ...]:
    is_row_message, is_update = _is_row_message(), _is_update()
    is_keyless = F.size("key_columns") == 0

    def lacks_columns(row: Column) -> Column:
        # In a swapped topic, `rows` come from `old`, and `changes` from `data`.
        after, before = (column_names(columns_of(row[side])) for side in ("image", "changes"))
        return F.size(F.array_except(before, after)) > 0

    return (
        (
            is_row_message & (F.size("rows") < 1),
            "missing_image",
            F.when(
                is_swapped, "an update of a swapped topic needs at least one row in `old`"
            ).otherwise("a row change needs at least one row in `data`"),
        ),
        (
            is_swapped & F.col("changes").isNull(),
            "missing_image",
            "an update of a swapped topic needs its before images in `data`",
        ),
        (
            is_row_message & ~_has_lost_rows() & ~are_objects(F.col("rows")),
            "missing_image",
            "a row of the message is not an object of columns",
        ),
        (
            is_update & F.col("changes").isNotNull() & (F.size("changes") != F.size("rows")),
            "missing_image",
            "`old` and `data` have different numbers of rows, so they cannot be paired: Canal"
            " servers before 1.1.7 leave out rows of `old` without a visible change",
        ),
        (
            is_update & ~_has_lost_rows() & ~are_objects(F.col("changes")),
            "missing_image",
            "a row in `old` is not an object of columns",
        ),
        (
            is_row_message & F.col("has_partial_json"),
            "missing_image",
            "a JSON column holds a change of its value instead of the value: let the MySQL server"
            " log whole values, by an empty `binlog_row_value_options`",
        ),
        (
            is_row_message & F.col("has_unidentified_row") & is_keyless,
            "missing_image",
            "a row in `data` has no columns",
        ),
        (
            is_row_message & F.col("has_unidentified_row"),
            "missing_field",
            lacking_key(F.col("key_columns")),
        ),
        (
            is_swapped & F.exists(_paired_rows(), lacks_columns),
            "missing_image",
            "a row in `old` lacks columns of its row in `data`, so the topic is no longer swapped:"
            " set the time of this message in `swapped_canal_topics` and run `cdc-marts requeue`",
        ),
    )
