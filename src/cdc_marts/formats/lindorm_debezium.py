"""Debezium messages of Alibaba Lindorm's data subscription.

Source: Lindorm, "Data consumption format", Debezium Format V1.0.  Its table
describes `before` and `after` the wrong way round; its examples are right.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.parsing.connect import (
    column_parameters,
    column_types,
    fields_of,
    is_no_row,
    read_payload,
)
from cdc_marts.parsing.images import columns_as_text, columns_of, row_or_null
from cdc_marts.parsing.messages import rejection
from cdc_marts.parsing.ops import meaning_of
from cdc_marts.parsing.records import to_staging
from cdc_marts.parsing.settings import KeySettings, key_columns_of
from cdc_marts.parsing.values import is_bad_millis, non_empty, position, timestamp_of_millis

SOURCE_FORMAT = "lindorm_debezium"

PAYLOAD = """
    source struct<db: string, namespace: string, table: string, ts_ms: string>,
    op string, ts_ms string, before variant, after variant
"""


def parse(messages: DataFrame, key_settings: KeySettings | None = None) -> DataFrame:
    """Landed Lindorm messages -> staging rows, one per message.

    `key_settings`: table_id -> key columns, for topics whose record keys are
    no JSON objects.  The messages themselves do not tell the key.
    """
    source = F.col("payload.source")
    described = read_payload(messages, PAYLOAD).select(
        "*", fields_of(F.col("connect_schema"), "after", "before").alias("fields")
    )
    # What takes a lambda is done first: Spark compiles the rest into one loop.
    typed = described.select(
        *described.drop("connect_schema", "fields").columns,
        column_types(F.col("fields")).alias("column_types"),
        column_parameters(F.col("fields")).alias("column_parameters"),
    )
    named = typed.select(
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
    )
    has_before = F.size("columns_before") > 0
    has_after = F.size("columns_after") > 0
    kinds = named.select(
        "*",
        # The row lives on: it only lost the columns that `after` lacks.
        F.when((F.col("meaning.op") == "delete") & has_before & has_after, "update")
        .otherwise(F.col("meaning.op"))
        .alias("op"),
        F.when(has_before, F.col("payload.before")).alias("before"),
        F.when(has_after, F.col("payload.after")).alias("after"),
    )
    op = F.col("op")
    rows = kinds.select(
        *kinds.drop("before", "after").columns,
        F.when(op.isin("update", "delete"), F.col("before")).alias("before"),
        F.when(op != "delete", F.col("after")).alias("after"),
    )
    texts = rows.select(
        "*",
        *(columns_as_text(F.col(side)).alias(f"texts_{side}") for side in ("before", "after")),
    )
    at = F.nullif("event_millis", F.lit("-1"))
    return to_staging(
        texts,
        SOURCE_FORMAT,
        rejection=F.coalesce("unreadable", _broken()),
        record_type=F.col("meaning.record_type"),
        source_type=F.lit("lindorm"),
        database_name=F.col("database_name"),
        schema_name=F.col("schema_name"),
        table_name=F.col("table_name"),
        op=op,
        source_op=F.col("source_op"),
        key_columns=key_columns_of(
            _record_key_names(F.col("key").cast("string")),
            key_settings,
            F.concat_ws(".", "database_name", "schema_name", "table_name"),
        ),
        before=F.col("before"),
        after=F.col("after"),
        columns_before=F.when(op.isin("update", "delete"), row_or_null(F.col("columns_before"))),
        columns_after=F.when(op != "delete", row_or_null(F.col("columns_after"))),
        column_types=F.col("column_types"),
        column_parameters=F.col("column_parameters"),
        event_at=timestamp_of_millis(F.col("event_millis")),
        published_at=timestamp_of_millis(F.col("published_millis")),
        position=position(at),
        # Two writes of a row within a millisecond differ in their images.
        identity=F.array(at, "source_op", _digest("before"), _digest("after")),
    )


def _digest(side: str) -> Column:
    """A number of an image's names and values, as text; null without an image."""
    texts = F.col(f"texts_{side}")
    values = F.map_values(texts)
    # A hash of an array passes over nulls: the joined text tells where they stand.
    digest = F.xxhash64(F.map_keys(texts), values, F.array_join(values, ",", "\0"))
    return F.when(texts.isNotNull(), digest.cast("string"))


def _record_key_names(key: Column) -> Column:
    """The names in a record key, in order: a JSON object, or `{schema, payload}` of one.

    Null for any other key.
    """
    names = F.json_object_keys(key)
    schema, payload = (F.get_json_object(key, f"$.{part}") for part in ("schema", "payload"))
    has_both = F.array_contains(names, "schema") & F.array_contains(names, "payload")
    # A key of two columns with these names holds no object.
    is_enveloped = has_both & (F.size(names) == 2) & (schema.isNull() | schema.startswith("{"))
    return F.array_distinct(F.when(is_enveloped, F.json_object_keys(payload)).otherwise(names))


def _broken() -> Column:
    is_snapshot = F.col("op").eqNullSafe("snapshot")
    is_known = F.col("event_millis") != "-1"
    return rejection(
        (F.col("source_op").isNull(), "missing_field", "the payload has no `op`"),
        (
            F.col("meaning").isNull(),
            "unknown_op",
            F.concat(F.lit("`op` is no operation of Lindorm: "), "source_op"),
        ),
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
        (
            is_no_row(F.col("payload.before"), F.col("columns_before")),
            "missing_image",
            "`before` is not an object of columns",
        ),
        (
            is_no_row(F.col("payload.after"), F.col("columns_after")),
            "missing_image",
            "`after` is not an object of columns",
        ),
        (
            (F.col("op") == "delete") & F.col("before").isNull(),
            "missing_image",
            "a delete needs the row in `before`",
        ),
        (
            (F.col("op") != "delete") & F.col("after").isNull(),
            "missing_image",
            "an insert, update or snapshot row needs the row in `after`",
        ),
    )
