"""DTS Avro: one bare Avro record per message, `com.alibaba.dts.formats.avro.Record`.

Source: DTS, "Data formats of a message queue", DTS Avro, and the schema definition it links.
"""

from __future__ import annotations

from decimal import Decimal

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from cdc_marts.formats.dts.schema import RECORD_SCHEMA, TRAILER
from cdc_marts.formats.dts.values import unreadable_value, value_of
from cdc_marts.parsing.images import column_names, image_of, names_left_out
from cdc_marts.parsing.messages import LANDED_COLUMNS, Check, rejection, unknown_op
from cdc_marts.parsing.ops import meaning_of
from cdc_marts.parsing.records import Record, to_staging
from cdc_marts.parsing.settings import KeySettings, key_columns_of
from cdc_marts.parsing.statements import named_table, table_changes
from cdc_marts.parsing.tables import table_id_of
from cdc_marts.parsing.values import (
    is_bad_millis,
    is_epoch_seconds,
    non_empty,
    timestamp_of_millis,
    timestamp_of_seconds,
)

SOURCE_FORMAT = "dts_avro"

#: The hexadecimal digits after the images: the trailer, with or without `bornTimestamp` before it.
#: This is a number of up to ten bytes. All of them except the last have their high bit set.
_WHOLE_TAIL = r"^(([89A-F].){0,9}[0-7].)?FE(FF)*$"

#: The number of PostgreSQL's type `jsonb`, and the kinds of databases that have it.
_JSONB = 3802
_WITH_JSONB = ("PostgreSQL", "PPAS")

#: A dot that is part of a name in `objectName`.
_ESCAPED_DOT = r"(?i)\\u002e"


def parse(messages: DataFrame, key_settings: KeySettings | None = None) -> DataFrame:
    """Turn landed DTS Avro messages into staging rows, one per message.

    `key_settings`: table_id -> key columns, for tables without `pk_uk_info`.
    The JVMs need Avro's limits (`org.apache.avro.limits.…`, see the profiles): without them,
    damaged bytes can take all memory.
    """
    checked = _named(_read_record(messages)).select(
        "*",
        F.coalesce("unreadable", _broken(), "unreadable_before", "unreadable_after").alias(
            "rejection"
        ),
    )
    return to_staging(_with_rows(checked, key_settings), SOURCE_FORMAT, _record())


def _read_record(messages: DataFrame) -> DataFrame:
    """Read landed messages: coordinates, `value`, `record`, `unreadable`."""
    record = from_avro(
        F.concat(F.col("value"), F.lit(TRAILER)),
        RECORD_SCHEMA,
        # The members of a union are named by their type, not by a number.
        {"mode": "PERMISSIVE", "enableStableIdentifiersForUnionType": "true"},
    )
    parsed = messages.select(*LANDED_COLUMNS, "value", record.alias("record"))
    unreadable = rejection(
        (F.col("value").isNull(), "tombstone", "a queue tombstone has no value"),
        (
            F.col("record.version").isNull() | ~F.hex("record.tail").rlike(_WHOLE_TAIL),
            "malformed_avro",
            "the value is not exactly one DTS Avro record (cut off, bytes after it, another format,"
            " or a text of more than 32 MiB)",
        ),
        (
            ~F.is_valid_utf8(_texts()),
            "not_utf8",
            "a name, tag or statement in the record is not valid UTF-8",
        ),
    )
    return parsed.select("*", unreadable.alias("unreadable"))


def _named(read: DataFrame) -> DataFrame:
    """Give the members of a record the names that staging has, and read its images."""
    tags = F.col("record.tags")
    keys_text = non_empty(tags["pk_uk_info"])
    return read.select(
        *LANDED_COLUMNS,
        "value",
        "unreadable",
        meaning_of(F.col("record.operation"), SOURCE_FORMAT).alias("meaning"),
        F.col("record.operation").alias("source_op"),
        F.lower("record.source.sourceType").alias("source_type"),
        *_names_of(F.col("record.objectName")),
        *(F.col(f"record.{member}") for member in ("id", "sourcePosition", "sourceTxid")),
        F.col("record.sourceTimestamp").alias("source_seconds"),
        _last(F.col("record.processTimestamps")).alias("processed_millis"),
        tags["readerThroughoutTime"].alias("read_millis"),
        tags["GTID"].alias("gtid"),
        keys_text.alias("keys_text"),
        F.from_json(keys_text, "map<string,array<string>>").alias("keys"),
        F.col("record.afterImages.member_string").alias("statement"),
        F.col("record.beforeImages.member_string").alias("text_before"),
        _columns()["name"].alias("columns"),
        _columns()["dataTypeNumber"].cast("array<string>").alias("types"),
        *_image("before"),
        *_image("after"),
    )


def _with_rows(checked: DataFrame, key_settings: KeySettings | None) -> DataFrame:
    """Add the rows that the op has, their key, and what a statement does to tables."""
    op, is_read = F.col("meaning.op"), F.col("rejection").isNull()
    return checked.select(
        "*",
        F.when(is_read & op.isin("update", "delete"), _row_of(F.col("values_before"))).alias(
            "row_before"
        ),
        F.when(is_read & (op != "delete"), _row_of(_values_after(op))).alias("row_after"),
        key_columns_of(
            _published_key(F.col("keys")),
            key_settings,
            table_id_of(),
        ).alias("key_columns"),
        F.when(F.col("source_op") == "DDL", _table_changes()).alias("table_changes"),
    )


def _record() -> Record:
    """Return the record of a message with its rows."""
    op, seconds = F.col("meaning.op"), F.col("source_seconds")
    row = F.when(op == "delete", F.col("row_before")).otherwise(F.col("row_after"))
    return Record(
        rejection=F.col("rejection"),
        record_type=F.col("meaning.record_type"),
        source_type=F.col("source_type"),
        database_name=F.col("database_name"),
        schema_name=F.col("schema_name"),
        table_name=F.coalesce(
            "table_name",
            # The `objectName` of a statement may have only its database.
            named_table(F.col("table_changes"), F.col("database_name"), F.col("schema_name")),
        ),
        op=op,
        source_op=F.col("source_op"),
        key_columns=F.col("key_columns"),
        before=image_of(F.col("row_before")),
        after=image_of(F.col("row_after")),
        columns_before=F.col("row_before"),
        columns_after=F.col("row_after"),
        unavailable_columns=names_left_out(F.col("columns"), column_names(row)),
        # `fields` names all columns of the table, with and without values.
        lists_all_columns=F.lit(True),
        column_types=F.when(F.col("rejection").isNull(), F.map_from_arrays("columns", "types")),
        event_at=F.when(_is_time(seconds), timestamp_of_seconds(seconds)),
        published_at=_published_at(),
        transaction_id=_transaction_id(),
        position=_position(),
        identity=_identity(op),
        delivery_position=F.col("id").cast("decimal(38,0)"),
        ddl_text=F.when(op.isNull(), F.col("statement")),
        table_changes=F.col("table_changes"),
    )


def _texts() -> Column:
    """Return all texts of a record outside of its images."""
    return F.concat_ws(
        " ",
        "record.sourcePosition",
        "record.sourceTxid",
        "record.objectName",
        F.map_values("record.tags"),
        "record.fields.member_array.name",
        "record.afterImages.member_string",
    )


def _names_of(object_name: Column) -> tuple[Column, ...]:
    """Split `db`, `db.table` or `db.schema.table` into database, schema and table name."""
    parts = F.transform(
        F.split(object_name, r"\.", 3),
        lambda part: non_empty(F.regexp_replace(part, _ESCAPED_DOT, ".")),
    )
    return (
        F.get(parts, 0).alias("database_name"),
        F.when(F.size(parts) == 3, F.get(parts, 1)).alias("schema_name"),
        F.when(F.size(parts) > 1, F.get(parts, F.size(parts) - 1)).alias("table_name"),
    )


def _columns() -> Column:
    return F.col("record.fields.member_array")


def _image(side: str) -> tuple[Column, ...]:
    """Return `values_…` by position, their `hash_…`, and `unreadable_…`, a rejection of a value."""
    sent = F.col(f"record.{side}Images.member_array")
    # As in the SDK of DTS, an image without values is no image.
    values = F.when(F.array_size(sent) > 0, sent)
    return (
        F.transform(values, lambda value, index: value_of(value, _is_jsonb(index))).alias(
            f"values_{side}"
        ),
        F.xxhash64(values).cast("string").alias(f"hash_{side}"),
        unreadable_value(_columns()["name"], values).alias(f"unreadable_{side}"),
    )


def _is_jsonb(index: Column) -> Column:
    """Return whether a column is PostgreSQL's `jsonb`; Spark asks this only of binary objects."""
    number = F.get(_columns(), index)["dataTypeNumber"]
    return F.col("record.source.sourceType").isin(*_WITH_JSONB) & (number == _JSONB)


def _values_after(op: Column) -> Column:
    """Return the values after a change; an update keeps the values that its after image lacks."""
    before, after = F.col("values_before"), F.col("values_after")
    is_partial = F.exists(after, lambda value: value.isNull())
    filled = F.zip_with(after, before, lambda new, old: F.coalesce(new, old))
    return F.when((op == "update") & before.isNotNull() & is_partial, filled).otherwise(after)


def _row_of(values: Column) -> Column:
    """Return a map from columns to values, without the unavailable columns."""
    columns = F.map_from_arrays(F.col("columns"), values)
    return F.map_filter(columns, lambda _, value: value.isNotNull())


def _published_key(keys: Column) -> Column:
    """Return the primary key in `pk_uk_info`, or else the first unique key."""
    unique_keys = F.filter(F.map_values(keys), lambda columns: F.size(columns) > 0)
    primary_key = keys["PRIMARY"]
    published = F.when(F.size(primary_key) > 0, primary_key).otherwise(F.get(unique_keys, 0))
    return F.array_distinct(published)


def _published_at() -> Column:
    """Return when the record was written. A task on MySQL says this only in a tag.

    The tag is never a reason to reject a record: a text that is no time gives null.
    """
    return F.coalesce(
        timestamp_of_millis(F.col("processed_millis")), timestamp_of_millis(F.col("read_millis"))
    )


def _transaction_id() -> Column:
    """Return `sourceTxid`, or the GTID of a record without rows; null if it names none.

    All records of a task on MySQL have the `sourceTxid` "0". Their GTID is a tag of BEGIN and DDL,
    but not of rows. If only some rows of a transaction had one, the fold would take them for two
    transactions.
    """
    published = F.when(~F.col("sourceTxid").isin("", "0"), F.col("sourceTxid"))
    is_row = F.col("meaning.record_type") == "change"
    return F.coalesce(published, F.when(~is_row, non_empty(F.col("gtid"))))


def _position() -> Column:
    """Return `sourceTimestamp` and `id` as one number; null if one of them is unusable."""
    seconds = F.col("source_seconds").cast("decimal(12,0)")
    # A long has at most 19 digits.
    position = seconds * F.lit(Decimal(10**19)) + F.col("id").cast("decimal(19,0)")
    is_usable = _is_time(F.col("source_seconds")) & (F.col("id") >= 0)
    return F.when(is_usable, position.cast("decimal(38,0)"))


def _is_time(seconds: Column) -> Column:
    """Return whether there is a time: -1 and 0 mean that it is not known."""
    return is_epoch_seconds(seconds) & (seconds > 0)


def _identity(op: Column) -> Column:
    """Return the values that a redelivery repeats. `id` is unique in a stream.

    If a table is loaded again, its new rows have the same ids at another time. A change that is
    read again from the log after a failover may have another time, so its time does not count.
    """
    return F.array(
        F.col("id").cast("string"),
        "sourcePosition",
        "sourceTxid",
        "hash_before",
        "hash_after",
        "statement",
        F.when(op == "snapshot", F.col("source_seconds").cast("string")),
    )


def _table_changes() -> Column:
    names = ("source_type", "database_name", "schema_name", "table_name")
    no_change = F.lit(None).cast("string")
    return table_changes(
        F.col("statement"), own_change=no_change, **{name: F.col(name) for name in names}
    )


def _last(times: Column) -> Column:
    return F.get(F.reverse(times), 0).cast("string")


def _broken() -> Column:
    is_row = F.col("meaning.record_type") == "change"
    return rejection(*_checks_of_fields(is_row), *_checks_of_images(is_row), _check_of_keys(is_row))


def _checks_of_fields(is_row: Column) -> tuple[Check, ...]:
    columns, seconds = F.array_size("columns"), F.col("source_seconds")
    has_columns = F.coalesce(columns > 0, F.lit(False))
    return (
        unknown_op("DTS Avro operation", "operation"),
        (
            (seconds < -1) | ~is_epoch_seconds(seconds),
            "bad_timestamp",
            "`sourceTimestamp` is not epoch seconds",
        ),
        (
            is_bad_millis(F.col("processed_millis")),
            "bad_timestamp",
            "the last of `processTimestamps` is not epoch milliseconds",
        ),
        (
            is_row & F.col("table_name").isNull(),
            "missing_field",
            "a row change needs a table in `objectName`",
        ),
        (
            is_row & ~has_columns & (F.col("source_type") == "mongodb"),
            "wrong_format",
            "the source is MongoDB, whose documents are not read",
        ),
        (
            is_row & ~has_columns,
            "missing_field",
            "a row change needs its columns in `fields`",
        ),
        (
            columns > F.array_size(F.array_distinct("columns")),
            "malformed_avro",
            "`fields` lists a column more than once",
        ),
    )


def _checks_of_images(is_row: Column) -> tuple[Check, ...]:
    op, columns = F.col("meaning.op"), F.array_size("columns")
    before, after = F.col("values_before"), F.col("values_after")
    return (
        (
            is_row & (op != "delete") & after.isNull(),
            "missing_image",
            F.concat(F.col("source_op"), F.lit(" needs the row in `afterImages`")),
        ),
        (
            is_row & F.col("text_before").isNotNull(),
            "missing_image",
            "`beforeImages` is a text, not a row",
        ),
        (
            (op == "delete") & before.isNull(),
            "missing_image",
            "DELETE needs the row in `beforeImages`",
        ),
        (
            is_row & ((F.array_size(before) != columns) | (F.array_size(after) != columns)),
            "malformed_avro",
            "an image does not have one value for each column of `fields`",
        ),
    )


def _check_of_keys(is_row: Column) -> Check:
    return (
        is_row & F.col("keys_text").isNotNull() & F.col("keys").isNull(),
        "malformed_avro",
        F.concat(
            F.lit("the tag `pk_uk_info` is not a JSON object of keys with their columns: "),
            "keys_text",
        ),
    )
