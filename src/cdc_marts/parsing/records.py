"""The contract of staging: what every parser returns, whatever its format."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc_marts.parsing.images import column_names, columns_of, json_text, key_of, no_columns
from cdc_marts.parsing.messages import COORDINATES, lacking_key, rejection
from cdc_marts.parsing.session import check_session

#: What a statement does to tables.  `truncation`: every row with a smaller sequence is gone
#: (TRUNCATE, DROP TABLE).  `column_drop`: so are the values of `column_names` in these rows (a
#: column that is dropped or renamed).  `not_applied`: rows change in a way that no message can
#: replay (RENAME TABLE, TRUNCATE PARTITION, ...).  A null name matches any: a null `table_name`
#: means all tables of the database or schema.
TABLE_CHANGES = (
    "array<struct<change: string, database_name: string, schema_name: string, table_name: string,"
    " column_names: array<string>>>"
)

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
    # A name twice counts once.
    "key_columns": "array<string>",
    # Columns whose published type is a whole number: in a key "1" and 1 are the same there.
    "whole_number_columns": "array<string>",
    # The value of a key that is in no image: a physical row address; its name is in key_columns.
    "row_id": "string",
    "before": "variant",
    "after": "variant",
    "unavailable_columns": "array<string>",
    # Whether the columns that the message lists are all that the table has; where the parser does
    # not know, those of inserts and snapshot rows are.
    "lists_all_columns": "boolean",
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
    # A number that all deliveries of a record share, and that grows with the log, to look for them
    # near it; where the parser gives none, its position, else its time.
    "delivery_position": "decimal(38,0)",
    "pairing_id": "string",
    "ddl_text": "string",
    "ddl_meta": "string",
    "ends_rows": "boolean",
    # Of a statement whose text was read; else `ends_rows` says it of the record's own table.
    "table_changes": TABLE_CHANGES,
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
    "lists_all_columns": "boolean",
    "column_types": "map<string,string>",
    "column_parameters": "map<string,string>",
    "schema_id": "bigint",
    "lob_columns": "string",
    "event_at": "timestamp",
    "published_at": "timestamp",
    "checkpoint_at": "timestamp",
    "landed_at": "timestamp",
    "landing_commit": "bigint",
    "transaction_id": "string",
    "sequence": _SEQUENCE,
    "delivery_position": "decimal(38,0)",
    "pairing_id": "string",
    "ddl_text": "string",
    "ddl_meta": "string",
    "ends_rows": "boolean",
    "table_changes": TABLE_CHANGES,
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
    has_sparse_rows: bool = False,
    has_texts_only: bool = False,
    **record: Column,
) -> DataFrame:
    """Parsed messages -> staging rows (`STAGING_COLUMNS`), one per row of `messages`.

    `messages` has the landing coordinates and `value`; `record` names what the
    format tells (`RECORD`).  `columns_before`, `columns_after`: the columns of
    the images, null with them, where the parser has read them anyway.  `has_sparse_rows`: the
    columns of an image say nothing about those of its table.  `has_texts_only`: the format writes
    all values as texts, and so are those of its row keys, whatever a producer writes.  Added here,
    alike for all formats:

    - a rejected message keeps its bytes and loses everything else;
    - `row_key` and `previous_row_key` from the images and the key columns, or
      from `row_id`, by which a row is known that has no key in its image; in a
      keyless table an update takes away the row before, equal or not;
    - `event_id`: from the parser's `identity`, by which a redelivery is known
      (with format, table, op and row key), else from the coordinates; a
      statement has one only from an identity;
    - `schema_id`: a hash of the columns' names, types and parameters; where no
      types are published, of the names in the images, unless rows are sparse;
    - to `column_types` the columns of the image that the message lists no type of, with a
      null, where it lists types at all;
    - to `unavailable_columns` those that the row had before an update and its
      image lacks, as no update takes a column away;
    - `sequence`: log position first, then the place in the transaction or the topic, then the
      coordinates: no two events share it;
    - `delivery_position`: where the record may be delivered again.

    Raises SessionError where the session lacks a setting that the parsers need.
    """
    check_session(messages.sparkSession)
    unknown = record.keys() - RECORD.keys()
    if unknown:
        raise TypeError(f"not a member of a record: {sorted(unknown)}")
    known = dict(record)
    if "key_columns" in record:
        known["key_columns"] = F.array_distinct(record["key_columns"])
    columns = {"columns_before": columns_before, "columns_after": columns_after}
    named = messages.select(
        *COORDINATES,
        "value",
        *(_member(name, type_, known.get(name)) for name, type_ in RECORD.items()),
        *(read.alias(name) for name, read in columns.items() if read is not None),
    ).select(
        "*",
        *(
            columns_of(F.col(name.removeprefix("columns_"))).alias(name)
            for name, read in columns.items()
            if read is None
        ),
    )
    described = _compiled_apart(named).withColumn("column_types", _types_of_columns())
    keyed = described.select(
        "*",
        _row_key(
            F.coalesce("columns_after", "columns_before"),
            F.coalesce("after", "before"),
            has_texts_only,
        ).alias("row_key"),
        F.when(
            F.col("op") == "update",
            _row_key(F.col("columns_before"), F.col("before"), has_texts_only),
        ).alias("row_key_before"),
        F.nullif(F.concat_ws(".", "database_name", "schema_name", "table_name"), F.lit("")).alias(
            "table_id"
        ),
        _schema_id(has_sparse_rows).alias("schema_id"),
        *([] if has_sparse_rows else [_columns_left_out().alias("columns_left_out")]),
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
        "landing_commit": F.col("landing_commit"),
        "previous_row_key": _if_read(
            F.when(
                (F.col("row_key_before") != F.col("row_key")) | (F.size("key_columns") == 0),
                F.col("row_key_before"),
            )
        ),
        "row_key": _if_read(F.when(is_row, F.col("row_key"))),
        "op": _if_read(F.when(is_row, F.col("op"))),
        "key_columns": _if_read(F.when(is_row, F.col("key_columns"))),
        "unavailable_columns": _if_read(F.when(is_row, _unavailable_columns(has_sparse_rows))),
        "lists_all_columns": _if_read(F.when(is_row, _lists_all_columns())),
        "schema_id": _if_read(F.when(is_row, F.col("schema_id"))),
        "ends_rows": _if_read(F.coalesce("ends_rows", _truncates())),
        "table_changes": _if_read(
            F.coalesce("table_changes", F.when(F.col("ends_rows"), _own_truncation()))
        ),
        "sequence": _if_read(_sequence()),
        "delivery_position": _if_read(F.when(is_row, _delivery_position())),
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


def _row_key(columns: Column, image: Column, has_texts_only: bool) -> Column:
    name, row_id = json_text(F.get("key_columns", 0)), json_text(F.col("row_id"))
    of_row_id = F.concat(F.lit("{"), name, F.lit(":"), row_id, F.lit("}"))
    return F.when(F.col("row_id").isNotNull(), of_row_id).otherwise(
        key_of(
            columns,
            image,
            F.col("key_columns"),
            F.col("whole_number_columns"),
            of_texts=has_texts_only,
        )
    )


def _row_index() -> Column:
    return F.coalesce("row_index", F.lit(0))


def _schema_id(has_sparse_rows: bool) -> Column:
    """Null where neither the message nor its image lists the columns of the table."""
    described = [
        part(F.col(described))
        for described in ("column_types", "column_parameters")
        for part in (F.map_keys, F.map_values)
    ]
    of_types = F.when(F.size("column_types") > 0, F.xxhash64(*described))
    if has_sparse_rows:
        return of_types
    # An unavailable column is listed too.
    in_images = F.array_union(
        column_names(F.col("columns_before")), column_names(F.col("columns_after"))
    )
    names = F.array_union(in_images, F.coalesce("unavailable_columns", no_columns()))
    return F.coalesce(of_types, F.xxhash64(F.sort_array(names)))


def _types_of_columns() -> Column:
    """`column_types`, with a null for a column of the image that the message names no type of."""
    listed = F.map_keys("column_types")
    in_image = F.map_keys(F.coalesce("columns_after", "columns_before"))
    without_type = F.array_except(in_image, listed)
    nulls = F.array_repeat(F.lit(None).cast("string"), F.size(without_type))
    # Nearly all messages list the columns of their image, in its order.
    is_needed = (F.size(listed) > 0) & (in_image != listed) & (F.size(without_type) > 0)
    return F.when(
        is_needed, F.map_concat("column_types", F.map_from_arrays(without_type, nulls))
    ).otherwise(F.col("column_types"))


def _columns_left_out() -> Column:
    """The columns that an update's image before has and its image after lacks, else null."""
    before, after = F.map_keys("columns_before"), F.map_keys("columns_after")
    is_update = (F.col("op") == "update") & ~_lists_all_columns()
    # Nearly all updates have the same columns in both images, in one order.
    return F.when(is_update & (before != after), F.array_except(before, after))


def _unavailable_columns(has_sparse_rows: bool) -> Column:
    published = F.coalesce("unavailable_columns", no_columns())
    if has_sparse_rows:
        return published
    left_out = F.col("columns_left_out")
    return F.when(F.size(left_out) > 0, F.array_union(published, left_out)).otherwise(published)


def _lists_all_columns() -> Column:
    return F.coalesce("lists_all_columns", F.col("op").isin("insert", "snapshot"))


def _truncates() -> Column:
    return F.coalesce(F.array_contains("table_changes.change", "truncation"), F.lit(False))


def _own_truncation() -> Column:
    """The truncation of the record's own table, where the operation alone says it."""
    return F.array(
        F.struct(
            F.lit("truncation").alias("change"),
            "database_name",
            "schema_name",
            "table_name",
            F.lit(None).cast("array<string>").alias("column_names"),
        )
    )


def _sequence() -> Column:
    """Two topics may have events at one position, in partitions and offsets of one number."""
    return F.struct(
        "position",
        F.coalesce("transaction_index", F.xxhash64("topic")).alias("transaction_index"),
        "partition",
        "offset",
        _row_index().alias("row_index"),
    )


def _delivery_position() -> Column:
    """Null where only its coordinates tell a record apart."""
    place = F.coalesce("delivery_position", "position", F.unix_millis("event_at"))
    return F.when(F.col("identity").isNotNull() | F.col("pairing_id").isNotNull(), place)


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
