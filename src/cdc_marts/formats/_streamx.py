"""The StreamX envelope: one JSON shape that Kafka and DataHub BLOB topics carry.

Sources: DataWorks, "Appendix: message formats" (Kafka) and "Appendix: DataHub message
formats" (BLOB).  A Kafka message writes null where a BLOB message leaves a member out.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.parsing.images import column_names, columns_of, no_columns, row_or_null
from cdc_marts.parsing.messages import COORDINATES, read_json, rejection
from cdc_marts.parsing.ops import meaning_of
from cdc_marts.parsing.records import to_staging
from cdc_marts.parsing.settings import KeySettings, key_setting
from cdc_marts.parsing.values import (
    is_bad_millis,
    non_empty,
    position,
    timestamp_of_millis,
)

ENVELOPE = """
    schema struct<
        dataColumn array<struct<name string, type string>>,
        primaryKey array<string>,
        source struct<dbType string, dbName string, schemaName string, tableName string>
    >,
    payload struct<
        before struct<dataColumn variant>,
        after struct<dataColumn variant>,
        sequenceId string,
        op string,
        timestamp struct<eventTime string, systemTime string, checkpointTime string>,
        ddl struct<text string, ddlMeta string>
    >
"""

#: The hidden row number that MySQL on RDS gives a table without a key.
_MYSQL_ROW_ID = "#alibaba_rds_row_id#"
#: The row address that comes among the columns of an Oracle table.
_ORACLE_ROW_ID = "rowid"

_FULL_LOAD = "-1"
_SEQUENCE_ID = rf"^({_FULL_LOAD}|[0-9]{{1,38}})$"


def parse_envelope(
    messages: DataFrame, source_format: str, key_settings: KeySettings | None = None
) -> DataFrame:
    """Landed StreamX messages -> staging rows, one a message.

    `key_settings`: table_id -> key columns, for tables that publish no primary key.
    """
    envelope = read_json(messages, ENVELOPE).select(
        *COORDINATES,
        "value",
        "unreadable",
        F.lower("message.schema.source.dbType").alias("source_type"),
        non_empty(F.col("message.schema.source.dbName")).alias("database_name"),
        non_empty(F.col("message.schema.source.schemaName")).alias("schema_name"),
        non_empty(F.col("message.schema.source.tableName")).alias("table_name"),
        F.col("message.schema.primaryKey").alias("primary_key"),
        _column_types(F.col("message.schema.dataColumn")).alias("column_types"),
        F.col("message.payload.op").alias("source_op"),
        non_empty(F.col("message.payload.sequenceId")).alias("sequence_id"),
        *_image(F.col("message.payload.before.dataColumn"), "before"),
        *_image(F.col("message.payload.after.dataColumn"), "after"),
        F.col("message.payload.timestamp").alias("times"),
        F.col("message.payload.ddl").alias("ddl"),
        meaning_of(F.col("message.payload.op"), source_format).alias("meaning"),
    )
    named = envelope.select("*", *record_kind(F.col("meaning"), F.col("sequence_id")))
    is_update = F.col("op") == "update"
    has_before = (F.col("needs_before") | is_update) & F.col("sent_columns_before").isNotNull()
    has_after = F.col("needs_after") & F.col("sent_columns_after").isNotNull()
    imaged = named.select(
        "*",
        F.when(has_before, F.col("sent_before")).alias("before"),
        F.when(has_after, F.col("sent_after")).alias("after"),
        F.when(has_before, F.col("sent_columns_before")).alias("columns_before"),
        F.when(has_after, F.col("sent_columns_after")).alias("columns_after"),
    )
    listed = imaged.select(
        "*",
        column_names(F.coalesce("columns_after", "columns_before")).alias("carried_columns"),
        column_names(F.col("column_types")).alias("source_columns"),
    )
    keyed = listed.select("*", _key_columns(key_settings).alias("key_columns"))
    is_half = (F.col("record_type") == "update_before") | (
        (F.col("source_op") == "UPDATE_AFTER") & is_update & F.col("before").isNull()
    )
    return to_staging(
        keyed,
        source_format,
        rejection=F.coalesce("unreadable", _broken()),
        record_type=F.col("record_type"),
        source_type=F.col("source_type"),
        database_name=F.col("database_name"),
        schema_name=F.col("schema_name"),
        table_name=F.col("table_name"),
        op=F.col("op"),
        source_op=F.col("source_op"),
        key_columns=F.col("key_columns"),
        before=F.col("before"),
        after=F.col("after"),
        columns_before=F.col("columns_before"),
        columns_after=F.col("columns_after"),
        unavailable_columns=F.array_except("source_columns", "carried_columns"),
        column_types=F.col("column_types"),
        event_at=timestamp_of_millis(F.col("times.eventTime")),
        published_at=timestamp_of_millis(F.col("times.systemTime")),
        checkpoint_at=timestamp_of_millis(F.col("times.checkpointTime")),
        position=position(F.col("sequence_id")),
        identity=identity(F.col("source_op")),
        pairing_id=F.when(is_half, pairing_id(source_format)),
        ddl_text=F.when(~F.col("is_row"), non_empty(F.col("ddl.text"))),
        # A serialized Java object: it stays text.
        ddl_meta=F.when(~F.col("is_row"), non_empty(F.col("ddl.ddlMeta"))),
        ends_rows=F.col("meaning.ends_rows"),
    )


def record_kind(meaning: Column, sequence_id: Column) -> tuple[Column, ...]:
    """`record_type`, `op`, `is_row`, `needs_before`, `needs_after` of a StreamX record.

    A row of the full load has no place in the log: whatever its op, it is a snapshot.
    """
    is_row = meaning["record_type"].isin("change", "update_before")
    is_snapshot = is_row & sequence_id.eqNullSafe(_FULL_LOAD)
    record_type = F.when(is_snapshot, "change").otherwise(meaning["record_type"])
    op = F.when(is_snapshot, "snapshot").otherwise(meaning["op"])
    return (
        record_type.alias("record_type"),
        op.alias("op"),
        is_row.alias("is_row"),
        ((op == "delete") | (record_type == "update_before")).alias("needs_before"),
        op.isin("insert", "update", "snapshot").alias("needs_after"),
    )


def _image(image: Column, side: str) -> tuple[Column, Column]:
    """An image as sent, and its columns: null where it is no object or has no column in it."""
    return image.alias(f"sent_{side}"), row_or_null(columns_of(image)).alias(f"sent_columns_{side}")


def is_bad_sequence_id(sequence_id: Column) -> Column:
    """True where a sequence id is there but neither digits nor the full load's -1."""
    return sequence_id.isNotNull() & ~sequence_id.rlike(_SEQUENCE_ID)


def identity(kind: Column) -> Column:
    """A record is known by its sequence id and kind, a half of an update on its own.

    The full load's keyless rows share one id, so that equal rows look like one:
    only their coordinates tell them apart.
    """
    is_keyless = F.size("key_columns") == 0
    return F.when(
        ~(is_keyless & (F.col("op").eqNullSafe("snapshot"))),
        F.array(_sequence_text(), kind),
    )


def pairing_id(source_format: str) -> Column:
    """What the halves of one update share, and no other update has."""
    table_id = F.concat_ws(".", "database_name", "schema_name", "table_name")
    return F.concat_ws(":", F.lit(source_format), table_id, _sequence_text())


def _sequence_text() -> Column:
    return position(F.col("sequence_id")).cast("string")


def _column_types(columns: Column) -> Column:
    """`schema.dataColumn` -> map<column, type>."""
    # A nameless column would be a null key, at which `map_from_entries` raises.
    return F.map_from_entries(F.filter(columns, lambda column: column["name"].isNotNull()))


def _key_columns(key_settings: KeySettings | None) -> Column:
    """The published key, else the project's, else the row id that the source adds."""
    table_id = F.concat_ws(".", "database_name", "schema_name", "table_name")
    columns = F.array_union("source_columns", "carried_columns")
    is_oracle = F.col("source_type").eqNullSafe("oracle")
    return F.coalesce(
        F.when(F.size("primary_key") > 0, F.col("primary_key")),
        key_setting(key_settings, table_id),
        F.when(F.array_contains(columns, _MYSQL_ROW_ID), F.array(F.lit(_MYSQL_ROW_ID))),
        F.when(
            is_oracle & F.array_contains(columns, _ORACLE_ROW_ID),
            F.array(F.lit(_ORACLE_ROW_ID)),
        ),
        no_columns(),
    )


def _broken() -> Column:
    # Rows end at a place in the log of one table: without either the end would be lost unseen.
    is_placed = F.col("is_row") | F.col("meaning.ends_rows")
    before_columns = column_names(F.col("columns_before"))
    return rejection(
        (
            F.col("source_op").isNull(),
            "missing_field",
            "the message has no `payload.op`",
        ),
        (
            F.col("meaning").isNull(),
            "unknown_op",
            F.concat(F.lit("`payload.op` is no operation of StreamX: "), F.col("source_op")),
        ),
        (
            is_placed & F.col("table_name").isNull(),
            "missing_field",
            F.concat(F.col("source_op"), F.lit(" needs `schema.source.tableName`")),
        ),
        (
            is_placed & F.col("sequence_id").isNull(),
            "missing_field",
            F.concat(F.col("source_op"), F.lit(" needs `payload.sequenceId`")),
        ),
        (
            is_bad_sequence_id(F.col("sequence_id")),
            "bad_sequence",
            "`payload.sequenceId` is neither 1 to 38 digits nor -1",
        ),
        *(
            (
                is_bad_millis(F.col(f"times.{time}")),
                "bad_timestamp",
                f"`payload.timestamp.{time}` is not epoch milliseconds",
            )
            for time in ("eventTime", "systemTime", "checkpointTime")
        ),
        (
            F.col("needs_before") & F.col("before").isNull(),
            "missing_image",
            F.concat(
                F.col("source_op"),
                F.lit(" needs columns in `payload.before.dataColumn`"),
            ),
        ),
        (
            F.col("needs_after") & F.col("after").isNull(),
            "missing_image",
            F.concat(
                F.col("source_op"),
                F.lit(" needs columns in `payload.after.dataColumn`"),
            ),
        ),
        (
            F.col("before").isNotNull()
            & (F.size(F.array_except("key_columns", before_columns)) > 0),
            "missing_field",
            F.concat(
                F.lit("the image before lacks a key column: the key is "),
                F.array_join("key_columns", ", "),
            ),
        ),
    )
