"""This module has the contract of staging: what the parser of every format returns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, get_type_hints

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc_marts.identifying_columns import COORDINATES
from cdc_marts.parsing.images import (
    are_the_same_names,
    column_names,
    columns_of,
    image_of,
    names_with,
    no_columns,
    with_columns_of,
)
from cdc_marts.parsing.messages import LANDED_COLUMNS, lacking_key, rejection
from cdc_marts.parsing.ops import COLUMN_DROP, ROW_RECORDS, TABLE_DROPS
from cdc_marts.parsing.row_keys import with_row_keys
from cdc_marts.parsing.session import check_session
from cdc_marts.parsing.statements import TABLE_CHANGES, takes_all_rows
from cdc_marts.parsing.tables import table_id_of
from cdc_marts.source_formats import has_trait

SEQUENCE = (
    "struct<position: decimal(38,0), transaction_index: bigint, partition: int, offset: bigint,"
    " row_index: int>"
)

#: The columns of every staging model, in order. Iceberg reads columns of plain types in batches,
#: but rows with an array, a map or a struct one by one. So the fold reads plain columns instead:
#: `is_keyless`, `unavailable_names` and the members of the sequence.
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
    "is_keyless": "boolean",
    "row_key": "string",
    "previous_row_key": "string",
    "before": "variant",
    "after": "variant",
    "unavailable_columns": "array<string>",
    "unavailable_names": "string",
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
    "sequence": SEQUENCE,
    "message_position": "decimal(38,0)",
    "message_transaction_index": "bigint",
    "message_row_index": "int",
    "delivery_position": "decimal(38,0)",
    "pairing_id": "string",
    "ddl_text": "string",
    "ddl_meta": "string",
    "is_truncation": "boolean",
    "table_changes": TABLE_CHANGES,
    "value": "binary",
}

#: The columns that say where a record comes from. A message that could not be read has them too,
#: and so has a tombstone.
KEPT_UNREAD = ("source_format", *COORDINATES, "row_index", "landed_at", "landing_commit")

#: A character between the members of an identity, which JSON text can't contain unescaped.
_SEPARATOR = "\x1f"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The members of a record that a parser may fill, with their types in Spark."""

    rejection: Annotated[Column | None, "struct<code: string, reason: string>"] = None
    record_type: Annotated[Column | None, "string"] = None
    row_index: Annotated[Column | None, "int"] = None
    source_type: Annotated[Column | None, "string"] = None
    database_name: Annotated[Column | None, "string"] = None
    schema_name: Annotated[Column | None, "string"] = None
    table_name: Annotated[Column | None, "string"] = None
    op: Annotated[Column | None, "string"] = None
    source_op: Annotated[Column | None, "string"] = None
    # A repeated name counts once.
    key_columns: Annotated[Column | None, "array<string>"] = None
    # Columns whose published type is a whole number: in a key "1" and 1 are the same there.
    whole_number_columns: Annotated[Column | None, "array<string>"] = None
    # The value of a key that is in no image: a row address. Its name is in key_columns.
    row_id: Annotated[Column | None, "string"] = None
    before: Annotated[Column | None, "variant"] = None
    after: Annotated[Column | None, "variant"] = None
    unavailable_columns: Annotated[Column | None, "array<string>"] = None
    # Whether the message lists all columns of the table. If the parser does not know, inserts and
    # snapshot rows do.
    lists_all_columns: Annotated[Column | None, "boolean"] = None
    column_types: Annotated[Column | None, "map<string,string>"] = None
    # Details that a type name lacks, as JSON: the scale of a decimal, the items of an array.
    column_parameters: Annotated[Column | None, "map<string,string>"] = None
    lob_columns: Annotated[Column | None, "string"] = None
    event_at: Annotated[Column | None, "timestamp"] = None
    published_at: Annotated[Column | None, "timestamp"] = None
    checkpoint_at: Annotated[Column | None, "timestamp"] = None
    transaction_id: Annotated[Column | None, "string"] = None
    position: Annotated[Column | None, "decimal(38,0)"] = None
    transaction_index: Annotated[Column | None, "bigint"] = None
    identity: Annotated[Column | None, "array<string>"] = None
    # A number that is the same in all deliveries of a record and grows with the log, to find other
    # deliveries near it. If the parser gives none, it is the position, or else the time.
    delivery_position: Annotated[Column | None, "decimal(38,0)"] = None
    pairing_id: Annotated[Column | None, "string"] = None
    ddl_text: Annotated[Column | None, "string"] = None
    ddl_meta: Annotated[Column | None, "string"] = None
    is_truncation: Annotated[Column | None, "boolean"] = None
    # Only from the text of a statement. Otherwise, `is_truncation` is about the record's own table.
    table_changes: Annotated[Column | None, TABLE_CHANGES] = None
    # The columns of the images if the parser has read them anyway; null if the image is null.
    columns_before: Annotated[Column | None, "map<string,variant>"] = None
    columns_after: Annotated[Column | None, "map<string,variant>"] = None


#: The members of a record, in order, with their types in Spark.
_MEMBERS: dict[str, str] = {
    name: hint.__metadata__[0] for name, hint in get_type_hints(Record, include_extras=True).items()
}


def to_staging(
    messages: DataFrame,
    source_format: str,
    record: Record,
    *,
    has_texts_only: bool = False,
) -> DataFrame:
    """Turn parsed messages into staging rows (`STAGING_COLUMNS`), one per row of `messages`.

    `messages` has the landing coordinates and `value`. `record` is what the format says, in columns
    of `messages`; a member that the parser leaves out is null. `has_texts_only` means that the
    format writes all values as texts; then the values of row keys are texts too, whatever a
    producer writes. This function adds the following, in the same way for all formats:

    - A rejected message keeps its bytes and loses everything else.
    - `row_key` and `previous_row_key` come from the images and the key columns. If the image
      contains no key, they come from `row_id`. In a keyless table, an update removes the row of its
      before image, even if both images are equal.
    - In a keyless table, the whole image is the key. So the after image of an update gets the
      columns that only the before image has.
    - `event_id` comes from the parser's `identity`, by which a redelivery is recognized, together
      with format, table, op and row key. Without an identity, it comes from the coordinates. A
      statement has an id only if it has an identity.
    - `schema_id` is a hash of the names, types and parameters of the columns. If no types are
      published, it is a hash of the names in the images, unless rows are sparse.
    - If the message lists types, `column_types` gets the columns of the image for which it lists
      none, with a null.
    - `unavailable_columns` gets the columns that the before image of an update has and its after
      image lacks, because no update removes a column.
    - `sequence` consists of the log position, the place in the transaction or a hash of the topic,
      and the coordinates. No two events have the same one.
    - `delivery_position` is a number near which another delivery of the record may be found.

    Raise SessionSettingsError if the session lacks a setting that the parsers need.
    """
    check_session(messages.sparkSession)
    named = _compiled_apart(_named(messages, record))
    # If rows are sparse, an image does not show which columns its table has.
    has_sparse_rows = has_trait(source_format, "has_sparse_rows")
    filled = _filled(named, has_sparse_rows)
    described = filled.withColumn("column_types", _types_of_columns())
    keyed = _keyed(described, has_sparse_rows, has_texts_only)
    checked = keyed.withColumn("rejection", F.coalesce("rejection", _without_key()))
    # The message and the columns of its images are as large as everything else together.
    kept = checked.withColumn("value", F.when(F.col("rejection").isNotNull(), F.col("value")))
    verdict = _verdict()
    added = {
        **_origin(source_format),
        **_of_rows(has_sparse_rows),
        **_table_changes(),
    }

    def column_of(name: str) -> Column:
        if name in verdict:
            return verdict[name]
        column = added.get(name, F.col(name))
        return column if name in KEPT_UNREAD else _if_read(column)

    return _compiled_apart(kept.drop("columns_before", "columns_after")).select(
        *(column_of(name).cast(type_).alias(name) for name, type_ in STAGING_COLUMNS.items())
    )


def as_tombstones(records: DataFrame, is_redacted: Column) -> DataFrame:
    """Return the same staging rows, with tombstones in place of the redacted ones."""
    emptied = {
        name: F.when(~is_redacted, F.col(name))
        for name in STAGING_COLUMNS
        if name not in KEPT_UNREAD
    }
    record_type = F.when(is_redacted, "tombstone").otherwise(F.col("record_type"))
    return records.withColumns({**emptied, "record_type": record_type})


def no_records(session: SparkSession) -> DataFrame:
    """Return a DataFrame with the columns of staging and no rows."""
    nulls = (f"cast(null as {type_}) as `{name}`" for name, type_ in STAGING_COLUMNS.items())
    return session.sql(f"select {', '.join(nulls)} where false")


def _compiled_apart(rows: DataFrame) -> DataFrame:
    """Return the same rows, so that Java compiles what follows as a method of its own.

    Java's second compiler gives up on a method that is too long or has too many parameters, and
    until then the method is interpreted. After a generator, which returns one row here, Spark
    begins a new method, and the row is its only parameter.
    """
    whole = rows.select(F.struct("*").alias("row"))
    return whole.select("row", F.explode(F.array(F.lit(0)))).select("row.*")


def _named(messages: DataFrame, record: Record) -> DataFrame:
    """Return the landing coordinates, `value`, and one column for each member of the record.

    If the parser has not read the columns of an image, they are read here.
    """
    if record.key_columns is not None:
        record = replace(record, key_columns=F.array_distinct(record.key_columns))
    members: dict[str, Column | None] = {name: getattr(record, name) for name in _MEMBERS}
    unread = {
        f"columns_{side}": columns_of(F.col(side))
        for side in ("before", "after")
        if members[f"columns_{side}"] is None
    }
    return messages.select(
        *LANDED_COLUMNS,
        "value",
        *(
            (F.lit(None).cast(_MEMBERS[name]) if column is None else column).alias(name)
            for name, column in members.items()
            if name not in unread
        ),
    ).withColumns(unread)


def _filled(named: DataFrame, has_sparse_rows: bool) -> DataFrame:
    """Fill updates of keyless rows: the before image has the values of unavailable columns.

    The key of such a row is its whole image, so no earlier event can be found for it.
    """
    lacking = F.array_intersect(
        F.map_keys("columns_before"), _unavailable_columns(has_sparse_rows, _columns_left_out())
    )
    is_keyless = (F.size("key_columns") == 0) & (F.col("op") == "update")
    is_filled = F.size("lacking") > 0

    def where_filled(column: Column, otherwise: str) -> Column:
        return F.when(is_filled, column).otherwise(F.col(otherwise))

    columns_after = with_columns_of(
        F.col("columns_after"), F.col("columns_before"), F.col("lacking")
    )
    left = F.array_except("unavailable_columns", "lacking")
    return (
        named.withColumn("lacking", F.when(is_keyless, lacking))
        .withColumn("columns_after", where_filled(columns_after, "columns_after"))
        .withColumn("after", where_filled(image_of(F.col("columns_after")), "after"))
        .withColumn("unavailable_columns", where_filled(left, "unavailable_columns"))
        .drop("lacking")
    )


def _keyed(described: DataFrame, has_sparse_rows: bool, has_texts_only: bool) -> DataFrame:
    """Add the keys of records, the id of their table, and what their columns say of its schema."""
    return with_row_keys(described, has_texts_only=has_texts_only).select(
        "*",
        F.nullif(table_id_of(), F.lit("")).alias("table_id"),
        _schema_id(has_sparse_rows).alias("schema_id"),
        *([] if has_sparse_rows else [_columns_left_out().alias("columns_left_out")]),
    )


def _without_key() -> Column:
    """Reject a row whose image lacks a column of its key."""
    return rejection(
        (
            _is_row() & F.col("row_key").isNull(),
            "missing_field",
            lacking_key(F.col("key_columns")),
        ),
    )


def _verdict() -> dict[str, Column]:
    """Return the kind of the record.

    For a rejected record, also return the code, the reason and the bytes.
    """
    is_tombstone = F.col("rejection.code").eqNullSafe("tombstone")
    is_rejected = F.col("rejection").isNotNull() & ~is_tombstone
    return {
        "record_type": F.when(is_tombstone, "tombstone")
        .when(is_rejected, "rejected")
        .otherwise(F.col("record_type")),
        "reject_code": F.when(is_rejected, F.col("rejection.code")),
        "reject_reason": F.when(is_rejected, F.col("rejection.reason")),
        "value": F.when(is_rejected, F.col("value")),
    }


def _origin(source_format: str) -> dict[str, Column]:
    """Return what distinguishes a record from others: its format, index, id and place."""
    is_known_statement = (F.col("record_type") == "ddl") & F.col("identity").isNotNull()
    return {
        "source_format": F.lit(source_format),
        "row_index": _row_index(),
        "event_id": F.when(_is_row() | is_known_statement, _event_id(source_format)),
        "sequence": _sequence(),
        **{f"message_{member}": column for member, column in _place_in_log().items()},
    }


def _of_rows(has_sparse_rows: bool) -> dict[str, Column]:
    """Return the columns that only records of rows have; they are null in all other records."""
    unavailable_columns = _unavailable_columns(has_sparse_rows, F.col("columns_left_out"))
    of_rows = {
        "row_key": F.col("row_key"),
        "op": F.col("op"),
        "key_columns": F.col("key_columns"),
        "is_keyless": F.size("key_columns") == 0,
        "unavailable_columns": unavailable_columns,
        "unavailable_names": F.when(
            F.size(unavailable_columns) > 0, F.to_json(unavailable_columns)
        ),
        "lists_all_columns": _lists_all_columns(),
        "schema_id": F.col("schema_id"),
        "delivery_position": _delivery_position(),
    }
    has_other_key = (F.col("row_key_before") != F.col("row_key")) | (F.size("key_columns") == 0)
    return {
        "previous_row_key": F.when(has_other_key, F.col("row_key_before")),
        **{name: F.when(_is_row(), column) for name, column in of_rows.items()},
    }


def _table_changes() -> dict[str, Column]:
    """Return the columns that say how the record changes whole tables."""
    own_change = F.when(F.col("is_truncation") | _is_column_drop(), _own_change())
    return {
        "is_truncation": F.coalesce("is_truncation", takes_all_rows(F.col("table_changes"))),
        "table_changes": F.coalesce("table_changes", own_change),
    }


def _is_row() -> Column:
    return F.col("record_type").isin(*ROW_RECORDS)


def _if_read(column: Column) -> Column:
    return F.when(F.col("rejection").isNull(), column)


def _row_index() -> Column:
    return F.coalesce("row_index", F.lit(0))


def _schema_id(has_sparse_rows: bool) -> Column:
    """Return a hash of the table's columns, or null if neither message nor image lists them."""
    described = [
        part(F.col(described))
        for described in ("column_types", "column_parameters")
        for part in (F.map_keys, F.map_values)
    ]
    of_types = F.when(F.size("column_types") > 0, F.xxhash64(*described))
    if has_sparse_rows:
        return of_types
    # An unavailable column is listed too.
    in_images = names_with(
        column_names(F.col("columns_before")), column_names(F.col("columns_after"))
    )
    names = names_with(in_images, F.col("unavailable_columns"))
    return F.coalesce(of_types, F.xxhash64(F.sort_array(names)))


def _types_of_columns() -> Column:
    """Return `column_types`, with all columns of the image.

    If the message names no type for a column, its type is null.
    """
    listed = F.map_keys("column_types")
    in_image = F.map_keys(F.coalesce("columns_after", "columns_before"))
    without_type = F.array_except(in_image, listed)
    nulls = F.array_repeat(F.lit(None).cast("string"), F.size(without_type))
    is_needed = (
        (F.size(listed) > 0) & ~are_the_same_names(listed, in_image) & (F.size(without_type) > 0)
    )
    return F.when(
        is_needed, F.map_concat("column_types", F.map_from_arrays(without_type, nulls))
    ).otherwise(F.col("column_types"))


def _columns_left_out() -> Column:
    """Return the columns that the before image of an update has and its after image lacks.

    Null for other records.
    """
    before, after = F.map_keys("columns_before"), F.map_keys("columns_after")
    is_update = (F.col("op") == "update") & ~_lists_all_columns()
    # Nearly all updates have the same columns in both images, in one order.
    return F.when(is_update & (before != after), F.array_except(before, after))


def _unavailable_columns(has_sparse_rows: bool, left_out: Column) -> Column:
    published = F.coalesce("unavailable_columns", no_columns())
    if has_sparse_rows:
        return published
    return names_with(published, left_out)


def _lists_all_columns() -> Column:
    return F.coalesce("lists_all_columns", F.col("op").isin("insert", "snapshot"))


def _own_change() -> Column:
    """Return how a record changes its own table, if its operation alone shows that."""
    is_drop = F.upper("source_op").isin(*TABLE_DROPS)
    return F.array(
        F.struct(
            F.when(is_drop, "table_drop")
            .when(_is_column_drop(), "unnamed_column_drop")
            .otherwise("truncation")
            .alias("change"),
            "database_name",
            "schema_name",
            "table_name",
            F.lit(None).cast("array<string>").alias("column_names"),
        )
    )


def _is_column_drop() -> Column:
    return (F.upper("source_op") == COLUMN_DROP) & (F.col("record_type") == "ddl")


def _sequence() -> Column:
    place = _place_in_log()
    return F.struct(
        place["position"].alias("position"),
        place["transaction_index"].alias("transaction_index"),
        "partition",
        "offset",
        place["row_index"].alias("row_index"),
    )


def _place_in_log() -> dict[str, Column]:
    """Return the members of the sequence except partition and offset.

    Two topics may have events with the same position, partition and offset. So the sequence also
    has the hash of the topic. If a format numbers the changes of a transaction, the hash is the
    last member, because the messages of such a format have one row each.
    """
    is_numbered = F.col("transaction_index").isNotNull()
    return {
        "position": F.col("position"),
        "transaction_index": F.coalesce("transaction_index", F.xxhash64("topic")),
        "row_index": F.when(is_numbered, F.hash("topic")).otherwise(_row_index()),
    }


def _delivery_position() -> Column:
    """Return a number near which another delivery of the record may be found.

    Null if only its coordinates identify the record.
    """
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
