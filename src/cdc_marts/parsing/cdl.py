"""What both formats of Huawei CDL share: they differ in the names of their fields.

Source: MapReduce Service, "CDL JSON and open source Debezium JSON data formats".
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.parsing.connect import (
    carried,
    carried_image,
    column_parameters,
    column_types,
    field_names,
    fields_of,
    is_no_row,
    may_hold_placeholders,
    unavailable_columns,
)
from cdc_marts.parsing.images import columns_of, row_or_null
from cdc_marts.parsing.messages import rejection
from cdc_marts.parsing.ops import meaning_of
from cdc_marts.parsing.records import to_staging
from cdc_marts.parsing.settings import KeySettings, key_columns_of
from cdc_marts.parsing.values import (
    is_bad_millis,
    is_bad_position,
    non_empty,
    position,
    timestamp_of_millis,
)

#: The fields that both formats have under one name, besides `before`.
COMMON_PAYLOAD = """
    unique map<string,string>, LOB_COLUMNS string,
    message_version string, message_type string, HEARTBEAT_IDENTIFIER string
"""


@dataclass(frozen=True)
class Dialect:
    """One of the two formats: its version, and what it calls the fields of both."""

    source_format: str
    message_version: str
    source_op: str
    table_name: str
    after: str
    lsn: str
    event_millis: str
    published_millis: str | None = None


def stage(named: DataFrame, dialect: Dialect, key_settings: KeySettings | None) -> DataFrame:
    """Payloads whose fields a parser has named -> staging rows, one per message.

    `named` is what `read_payload` gives, with the columns `source_type`,
    `database_name`, `schema_name`, `table_name`, `source_op`, `before`, `after`,
    `is_snapshot`, `lsn`, `transaction_id`, `event_millis`, `published_millis`.
    """
    known = named.select(
        "*",
        meaning_of(F.col("source_op"), dialect.source_format).alias("meaning"),
        fields_of(F.col("connect_schema"), dialect.after, "before").alias("fields"),
        columns_of(F.col("before")).alias("columns_before"),
        columns_of(F.col("after")).alias("columns_after"),
        may_hold_placeholders(F.col("value")).alias("may_hold"),
    )
    kinds = known.select(
        "*",
        _is_heartbeat().alias("is_heartbeat"),
        F.when(F.col("is_snapshot") & (F.col("meaning.op") == "insert"), "snapshot")
        .otherwise(F.col("meaning.op"))
        .alias("op"),
        carried(F.col("columns_before"), F.col("may_hold")).alias("carried_before"),
        carried(F.col("columns_after"), F.col("may_hold")).alias("carried_after"),
    )
    op = F.col("op")
    before = carried_image(F.col("before"), F.col("carried_before"), F.col("may_hold"))
    after = carried_image(F.col("after"), F.col("carried_after"), F.col("may_hold"))
    # The image of the row as it is, or for a delete as it was.
    row_unavailable = F.when(
        op == "delete",
        unavailable_columns(F.col("fields"), F.col("columns_before"), F.col("carried_before")),
    ).otherwise(
        unavailable_columns(F.col("fields"), F.col("columns_after"), F.col("carried_after"))
    )
    key_columns = key_columns_of(
        _published_key(),
        key_settings,
        F.concat_ws(".", "database_name", "schema_name", "table_name"),
    )
    return to_staging(
        kinds,
        dialect.source_format,
        rejection=F.coalesce("unreadable", _broken(dialect)),
        record_type=F.when(F.col("is_heartbeat"), "heartbeat").otherwise(
            F.col("meaning.record_type")
        ),
        source_type=F.col("source_type"),
        database_name=F.col("database_name"),
        schema_name=F.col("schema_name"),
        table_name=F.col("table_name"),
        op=op,
        source_op=F.col("source_op"),
        key_columns=key_columns,
        before=F.when(op.isin("update", "delete"), before),
        after=F.when(op != "delete", after),
        columns_before=F.when(op.isin("update", "delete"), row_or_null(F.col("carried_before"))),
        columns_after=F.when(op != "delete", row_or_null(F.col("carried_after"))),
        unavailable_columns=row_unavailable,
        column_types=column_types(F.col("fields")),
        column_parameters=column_parameters(F.col("fields")),
        lob_columns=non_empty(F.col("payload.LOB_COLUMNS")),
        event_at=timestamp_of_millis(F.col("event_millis")),
        published_at=timestamp_of_millis(F.col("published_millis")),
        transaction_id=F.col("transaction_id"),
        position=position(F.col("lsn")),
        identity=_identity(op, key_columns),
        ends_rows=F.when(~F.col("is_heartbeat"), F.col("meaning.ends_rows")),
    )


def _is_heartbeat() -> Column:
    """By `message_type`, or a heartbeat's identifier on a message that is about no row."""
    is_about_no_row = (
        F.col("table_name").isNull()
        & F.col("columns_before").isNull()
        & F.col("columns_after").isNull()
    )
    has_identifier = non_empty(F.col("payload.HEARTBEAT_IDENTIFIER")).isNotNull()
    is_typed = F.contains(F.lower("payload.message_type"), F.lit("heartbeat"))
    return F.coalesce(is_typed, F.lit(False)) | (is_about_no_row & has_identifier)


def _published_key() -> Column:
    """The names in `unique`; where it is null those that the schema gives it."""
    of_schema = field_names(fields_of(F.col("connect_schema"), "unique"))
    return F.coalesce(F.array_distinct(F.map_keys("payload.unique")), of_schema)


def _identity(op: Column, key_columns: Column) -> Column:
    """The log position; equal rows of a keyless snapshot share all but their coordinates."""
    is_keyless_snapshot = (op == "snapshot") & (F.size(key_columns) == 0)
    # Without a position another snapshot of the row is told apart by its time.
    at = F.coalesce(position(F.col("lsn")).cast("string"), F.concat(F.lit("@"), "event_millis"))
    return F.when(~is_keyless_snapshot, F.array(at))


def _broken(dialect: Dialect) -> Column:
    version = non_empty(F.col("payload.message_version"))
    is_heartbeat = F.col("is_heartbeat")
    is_row = ~is_heartbeat & F.col("meaning.record_type").eqNullSafe("change")
    is_of_table = is_row | (~is_heartbeat & F.col("meaning.record_type").eqNullSafe("ddl"))
    is_delete = F.col("op") == "delete"

    def is_empty(columns: str) -> Column:
        return F.coalesce(F.size(columns), F.lit(0)) < 1

    return rejection(
        (
            version != dialect.message_version,
            "wrong_format",
            F.concat(
                F.lit(f"`message_version` is not {dialect.message_version} but "),
                version,
                F.lit(": the topic carries the other format of CDL"),
            ),
        ),
        (
            ~is_heartbeat & version.isNull(),
            "missing_field",
            "the payload has no `message_version`, by which the formats of CDL are told apart",
        ),
        (
            ~is_heartbeat & F.col("source_op").isNull(),
            "missing_field",
            f"the payload has no `{dialect.source_op}`",
        ),
        (
            ~is_heartbeat & F.col("meaning").isNull(),
            "unknown_op",
            F.concat(
                F.lit(f"`{dialect.source_op}` is no operation of this format: "),
                "source_op",
            ),
        ),
        (
            is_of_table & F.col("table_name").isNull(),
            "missing_field",
            f"a row change needs `{dialect.table_name}`",
        ),
        (
            is_bad_millis(F.col("event_millis")),
            "bad_timestamp",
            f"`{dialect.event_millis}` is not epoch milliseconds",
        ),
        (
            is_bad_millis(F.col("published_millis")),
            "bad_timestamp",
            f"`{dialect.published_millis}` is not epoch milliseconds",
        ),
        (
            is_bad_position(F.col("lsn")) | F.col("lsn").startswith("-"),
            "bad_sequence",
            f"`{dialect.lsn}` is not a log position, a number of at most 38 digits",
        ),
        (
            is_of_table & F.col("lsn").isNull() & ~F.col("op").eqNullSafe("snapshot"),
            "missing_field",
            f"a change outside of a snapshot needs `{dialect.lsn}`, which orders it",
        ),
        (
            is_row & is_no_row(F.col("before"), F.col("columns_before")),
            "missing_image",
            "`before` is not an object of columns",
        ),
        (
            is_row & is_no_row(F.col("after"), F.col("columns_after")),
            "missing_image",
            f"`{dialect.after}` is not an object of columns",
        ),
        (
            is_row & is_delete & is_empty("columns_before"),
            "missing_image",
            "a delete needs the row in `before`",
        ),
        (
            is_row & ~is_delete & is_empty("columns_after"),
            "missing_image",
            f"an insert, update or snapshot row needs the row in `{dialect.after}`",
        ),
    )
