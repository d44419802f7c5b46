"""Debezium messages of Alibaba Lindorm's data subscription.

Source: Lindorm, "Data consumption format", Debezium Format V1.0. Its table confuses `before` and
`after`, but its examples are right.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.formats.connect.envelope import (
    checks_of_images,
    columns_of_types,
    fields_of,
    read_payload,
)
from cdc_marts.parsing.images import columns_of, has_columns, image_hashes, with_images
from cdc_marts.parsing.messages import rejection, unknown_op
from cdc_marts.parsing.ops import meaning_of
from cdc_marts.parsing.records import Record, to_staging
from cdc_marts.parsing.settings import KeySettings, key_columns_of
from cdc_marts.parsing.tables import table_id_of
from cdc_marts.parsing.values import is_bad_millis, non_empty, position, timestamp_of_millis

SOURCE_FORMAT = "lindorm_debezium"

PAYLOAD = """
    source struct<db: string, namespace: string, table: string, ts_ms: string>,
    op string, ts_ms string, before variant, after variant
"""


def parse(messages: DataFrame, key_settings: KeySettings | None = None) -> DataFrame:
    """Turn landed Lindorm messages into staging rows, one per message.

    `key_settings`: table_id -> key columns, for tables whose record keys are no JSON objects of
    columns. The messages themselves do not contain the key.
    """
    typed = _with_types(read_payload(messages, PAYLOAD))
    named = _named(_with_record_key(typed))
    known = named.withColumn("op", _op())
    imaged = with_images(known, F.col("payload.before"), F.col("payload.after"))
    return to_staging(imaged, SOURCE_FORMAT, _record(key_settings))


def _with_types(read: DataFrame) -> DataFrame:
    """Add the types that the schema of a message gives the columns of a row."""
    described = read.select(
        "*", fields_of(F.col("connect_schema"), "after", "before").alias("fields")
    )
    # Lambdas come first, so that Spark compiles the rest into one loop.
    return described.select(
        *described.drop("connect_schema", "fields").columns,
        *columns_of_types(F.col("fields")),
    )


def _with_record_key(typed: DataFrame) -> DataFrame:
    """Add `record_key`, the columns in the key of the Kafka record."""
    return typed.withColumn("key_and_end", _read_key(F.col("key"))).withColumn(
        "record_key", _only_object(F.col("key_and_end"), F.col("key"))
    )


def _named(keyed: DataFrame) -> DataFrame:
    """Give the members of the payload the names that staging has."""
    source = F.col("payload.source")
    return keyed.select(
        "*",
        non_empty(source.db).alias("database_name"),
        non_empty(source.namespace).alias("schema_name"),
        non_empty(source.table).alias("table_name"),
        F.col("payload.op").alias("source_op"),
        meaning_of(F.col("payload.op"), SOURCE_FORMAT).alias("meaning"),
        columns_of(F.col("payload.before")).alias("columns_before"),
        columns_of(F.col("payload.after")).alias("columns_after"),
        source.ts_ms.alias("event_millis"),
        F.col("payload.ts_ms").alias("published_millis"),
        _names_in(F.col("record_key")).alias("record_key_names"),
    )


def _op() -> Column:
    """Return the op: a delete with both images deleted only columns, so it updates its row."""
    has_before, has_after = F.size("columns_before") > 0, F.size("columns_after") > 0
    deletes_columns = (F.col("meaning.op") == "delete") & has_before & has_after
    return F.when(deletes_columns, "update").otherwise(F.col("meaning.op"))


def _record(key_settings: KeySettings | None) -> Record:
    """Return the record of a message with its images."""
    op = F.col("op")
    at = F.nullif("event_millis", F.lit("-1"))
    return Record(
        rejection=F.coalesce("unreadable", _broken()),
        record_type=F.col("meaning.record_type"),
        source_type=F.lit("lindorm"),
        database_name=F.col("database_name"),
        schema_name=F.col("schema_name"),
        table_name=F.col("table_name"),
        op=op,
        source_op=F.col("source_op"),
        key_columns=key_columns_of(
            _key_of_row(F.col("record_key_names"), op),
            key_settings,
            table_id_of(),
        ),
        whole_number_columns=F.col("whole_number_columns"),
        before=F.col("before"),
        after=F.col("after"),
        columns_before=F.col("columns_before"),
        columns_after=F.col("columns_after"),
        # Rows are sparse, and the schema describes only this row.
        lists_all_columns=F.lit(False),
        column_types=F.col("column_types"),
        column_parameters=F.col("column_parameters"),
        event_at=timestamp_of_millis(F.col("event_millis")),
        published_at=timestamp_of_millis(F.col("published_millis")),
        position=position(at),
        # Two writes of a row within a millisecond differ in their images.
        identity=F.array(at, "source_op", *image_hashes()),
    )


def _read_key(key: Column) -> Column:
    """Return a record key as array<variant>, with its hash at the end; null if it is no JSON."""
    json = F.concat(F.lit("["), key.cast("string"), F.lit(',"'), F.md5(key), F.lit('"]'))
    return F.try_parse_json(json).try_cast("array<variant>")


def _only_object(key_and_end: Column, key: Column) -> Column:
    """Return a record key as map<column, variant>; null if it is not exactly one JSON object."""
    # If there is more text after the object, the array does not end with the hash of the key.
    is_whole = (F.size(key_and_end) == 2) & (F.get(key_and_end, 1).try_cast("string") == F.md5(key))
    return F.when(is_whole, columns_of(F.get(key_and_end, 0)))


def _names_in(record_key: Column) -> Column:
    """Return the sorted names in a record key, or in the payload of its `{schema, payload}`."""
    schema, payload = record_key["schema"], record_key["payload"]
    # In a key of two columns with these names, no value is an object.
    is_enveloped = (
        (F.size(record_key) == 2)
        & payload.isNotNull()
        & schema.isNotNull()
        & (F.is_variant_null(schema) | columns_of(schema).isNotNull())
    )
    columns = F.when(is_enveloped, columns_of(payload)).otherwise(record_key)
    return F.sort_array(F.map_keys(columns))


def _key_of_row(names: Column, op: Column) -> Column:
    """Return the names in the record key; null if the row lacks one of them as a column."""
    columns = F.when(op == "delete", F.col("columns_before")).otherwise(F.col("columns_after"))
    return F.when(has_columns(columns, names), names)


def _broken() -> Column:
    is_snapshot = F.col("op").eqNullSafe("snapshot")
    is_known = F.col("event_millis") != "-1"
    return rejection(
        (F.col("source_op").isNull(), "missing_field", "the payload has no `op`"),
        unknown_op("Lindorm operation", "op"),
        (F.col("table_name").isNull(), "missing_field", "the payload has no `source.table`"),
        (
            ~is_snapshot & F.col("event_millis").isNull(),
            "missing_field",
            "a row change needs `source.ts_ms`, which orders it",
        ),
        (
            is_bad_millis(F.col("event_millis")),
            "bad_timestamp",
            "`source.ts_ms` is not epoch milliseconds",
        ),
        (
            is_bad_millis(F.col("published_millis")),
            "bad_timestamp",
            "`ts_ms` is not epoch milliseconds",
        ),
        (
            ~is_snapshot & ~is_known,
            "bad_sequence",
            "`source.ts_ms` is -1 (unknown), but it orders the changes of a row",
        ),
        *checks_of_images(
            "after",
            is_row=F.lit(True),
            is_empty=lambda side: F.col(side).isNull(),
        ),
    )
