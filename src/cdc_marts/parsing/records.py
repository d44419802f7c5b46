"""The contract of staging: what every parser returns, whatever its format."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc_marts.parsing.images import columns_of, json_text, key_of, no_columns
from cdc_marts.parsing.messages import COORDINATES, lacking_key, rejection

#: What a parser may know of a record, with its type.  What it leaves out is null.
RECORD = {
    "rejection": "struct<code: string, reason: string>",
    "record_type": "string",
    "row_index": "int",
    "source_type": "string",
    "database_name": "string",
    "schema_name": "string",
    "table_name": "string",
    "op": "string",
    "source_op": "string",
    "key_columns": "array<string>",
    # The value of a key that is in no image: a physical row address; its name is in key_columns.
    "row_id": "string",
    "before": "variant",
    "after": "variant",
    "unavailable_columns": "array<string>",
    "column_types": "map<string,string>",
    # What a type name leaves open, by column, as JSON: the scale of a decimal, items of an array.
    "column_parameters": "map<string,string>",
    "lob_columns": "string",
    "event_at": "timestamp",
    "published_at": "timestamp",
    "checkpoint_at": "timestamp",
    "transaction_id": "string",
    "position": "decimal(38,0)",
    "transaction_index": "bigint",
    "identity": "array<string>",
    "pairing_id": "string",
    "ddl_text": "string",
    "ddl_meta": "string",
    "ends_rows": "boolean",
}

_SEQUENCE = (
    "struct<position: decimal(38,0), transaction_index: bigint, partition: int, offset: bigint,"
    " row_index: int>"
)

#: The columns of every staging model, in order.
STAGING_COLUMNS = {
    "record_type": "string",
    "reject_code": "string",
    "reject_reason": "string",
    "event_id": "string",
    "source_format": "string",
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "row_index": "int",
    "source_type": "string",
    "database_name": "string",
    "schema_name": "string",
    "table_name": "string",
    "table_id": "string",
    "op": "string",
    "source_op": "string",
    "key_columns": "array<string>",
    "row_key": "string",
    "previous_row_key": "string",
    "before": "variant",
    "after": "variant",
    "unavailable_columns": "array<string>",
    "column_types": "map<string,string>",
    "column_parameters": "map<string,string>",
    "schema_id": "bigint",
    "lob_columns": "string",
    "event_at": "timestamp",
    "published_at": "timestamp",
    "checkpoint_at": "timestamp",
    "landed_at": "timestamp",
    "transaction_id": "string",
    "sequence": _SEQUENCE,
    "pairing_id": "string",
    "ddl_text": "string",
    "ddl_meta": "string",
    "ends_rows": "boolean",
    "value": "binary",
}

_ROW_RECORDS = ("change", "update_before")
#: Members of an identity are joined by a character that JSON text cannot hold raw.
_SEPARATOR = "\x1f"


def to_staging(
    messages: DataFrame,
    source_format: str,
    *,
    columns_before: Column | None = None,
    columns_after: Column | None = None,
    **record: Column,
) -> DataFrame:
    """Parsed messages -> staging rows (`STAGING_COLUMNS`), one per row of `messages`.

    `messages` has the landing coordinates and `value`; `record` names what the
    format tells (`RECORD`).  `columns_before`, `columns_after`: the columns of
    the images, null with them, where the parser has read them anyway.  Added here, alike for
    all formats:

    - a rejected message keeps its bytes and loses everything else;
    - `row_key` and `previous_row_key` from the images and the key columns, or
      from `row_id`, by which a row is known that has no key in its image; in a
      keyless table an update takes away the row before, equal or not;
    - `event_id`: from the parser's `identity`, by which a redelivery is known
      (with format, table, op and row key), else from the coordinates; a
      statement has one only from an identity;
    - `schema_id`: a hash of the columns' names, types and parameters;
    - `sequence`: log position first, then the coordinates.
    """
    unknown = record.keys() - RECORD.keys()
    if unknown:
        raise TypeError(f"not a member of a record: {sorted(unknown)}")
    columns = {"columns_before": columns_before, "columns_after": columns_after}
    named = messages.select(
        *COORDINATES,
        "value",
        *(_member(name, type_, record.get(name)) for name, type_ in RECORD.items()),
        *(read.alias(name) for name, read in columns.items() if read is not None),
    ).select(
        "*",
        *(
            columns_of(F.col(name.removeprefix("columns_"))).alias(name)
            for name, read in columns.items()
            if read is None
        ),
    )
    keyed = _compiled_apart(named).select(
        "*",
        _row_key(
            F.coalesce("columns_after", "columns_before"), F.coalesce("after", "before")
        ).alias("row_key"),
        F.when(F.col("op") == "update", _row_key(F.col("columns_before"), F.col("before"))).alias(
            "row_key_before"
        ),
        F.nullif(F.concat_ws(".", "database_name", "schema_name", "table_name"), F.lit("")).alias(
            "table_id"
        ),
    )
    is_row = F.col("record_type").isin(*_ROW_RECORDS)
    checked = keyed.withColumn(
        "rejection",
        F.coalesce(
            "rejection",
            rejection(
                (
                    is_row & F.col("row_key").isNull(),
                    "missing_field",
                    lacking_key(F.col("key_columns")),
                ),
            ),
        ),
    )
    is_known_statement = (F.col("record_type") == "ddl") & F.col("identity").isNotNull()
    is_tombstone = F.col("rejection.code").eqNullSafe("tombstone")
    is_rejected = F.col("rejection").isNotNull() & ~is_tombstone
    staging = {
        "record_type": F.when(is_tombstone, "tombstone")
        .when(is_rejected, "rejected")
        .otherwise(F.col("record_type")),
        "reject_code": F.when(is_rejected, F.col("rejection.code")),
        "reject_reason": F.when(is_rejected, F.col("rejection.reason")),
        "event_id": _if_read(F.when(is_row | is_known_statement, _event_id(source_format))),
        "source_format": F.lit(source_format),
        "topic": F.col("topic"),
        "partition": F.col("partition"),
        "offset": F.col("offset"),
        "row_index": _row_index(),
        "landed_at": F.col("landed_at"),
        "previous_row_key": _if_read(
            F.when(
                (F.col("row_key_before") != F.col("row_key")) | (F.size("key_columns") == 0),
                F.col("row_key_before"),
            )
        ),
        "row_key": _if_read(F.when(is_row, F.col("row_key"))),
        "op": _if_read(F.when(is_row, F.col("op"))),
        "key_columns": _if_read(F.when(is_row, F.col("key_columns"))),
        "unavailable_columns": _if_read(
            F.when(is_row, F.coalesce("unavailable_columns", no_columns()))
        ),
        "schema_id": _if_read(F.when(is_row, _schema_id())),
        "sequence": _if_read(_sequence()),
        "value": F.when(is_rejected, F.col("value")),
    }
    # The message and the columns of its images are as large as all else together.
    kept = checked.withColumn("value", F.when(F.col("rejection").isNotNull(), F.col("value")))
    return _compiled_apart(kept.drop("columns_before", "columns_after")).select(
        *(
            staging.get(name, _if_read(F.col(name))).cast(type_).alias(name)
            for name, type_ in STAGING_COLUMNS.items()
        )
    )


def no_records(session: SparkSession) -> DataFrame:
    """Staging rows of no message."""
    nulls = (f"cast(null as {type_}) as `{name}`" for name, type_ in STAGING_COLUMNS.items())
    return session.sql(f"select {', '.join(nulls)} where false")


def _compiled_apart(rows: DataFrame) -> DataFrame:
    """The same rows; what follows is compiled as a method of its own.

    Java's optimizing compiler gives up on a method that is too long, or has too many
    parameters, and interprets it until it has.  Behind a generator, of one row here, Spark
    begins a new method, and the row is one parameter of it.
    """
    whole = rows.select(F.struct("*").alias("row"))
    return whole.select("row", F.explode(F.array(F.lit(0)))).select("row.*")


def _member(name: str, type_: str, column: Column | None) -> Column:
    return (F.lit(None).cast(type_) if column is None else column).alias(name)


def _if_read(column: Column) -> Column:
    return F.when(F.col("rejection").isNull(), column)


def _row_key(columns: Column, image: Column) -> Column:
    name, row_id = json_text(F.get("key_columns", 0)), json_text(F.col("row_id"))
    of_row_id = F.concat(F.lit("{"), name, F.lit(":"), row_id, F.lit("}"))
    return F.when(F.col("row_id").isNotNull(), of_row_id).otherwise(
        key_of(columns, image, F.col("key_columns"))
    )


def _row_index() -> Column:
    return F.coalesce("row_index", F.lit(0))


def _schema_id() -> Column:
    """Null where the message lists no columns."""
    described = [
        part(F.col(described))
        for described in ("column_types", "column_parameters")
        for part in (F.map_keys, F.map_values)
    ]
    return F.when(F.size("column_types") > 0, F.xxhash64(*described))


def _sequence() -> Column:
    return F.struct(
        "position", "transaction_index", "partition", "offset", _row_index().alias("row_index")
    )


def _event_id(source_format: str) -> Column:
    by_coordinates = F.concat_ws(
        ":", F.lit(source_format), "topic", "partition", "offset", _row_index()
    )
    by_identity = F.md5(
        F.concat_ws(
            _SEPARATOR,
            F.lit(source_format),
            F.coalesce("table_id", F.lit("")),
            "row_key",
            "op",
            F.array_join("identity", _SEPARATOR, ""),
        )
    )
    return F.when(F.col("identity").isNull(), by_coordinates).otherwise(by_identity)
