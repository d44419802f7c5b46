"""The two formats of Huawei CDL share this module: only the names of their fields differ.

Source: MapReduce Service, "CDL JSON and open source Debezium JSON data formats".
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.formats.connect.envelope import (
    checks_of_images,
    columns_of_types,
    field_names,
    fields_of,
    may_hold_placeholders,
    placeholder_columns,
    unavailable_columns,
    without_placeholders,
)
from cdc_marts.parsing.images import columns_of, image_hashes, with_images
from cdc_marts.parsing.messages import Check, rejection, unknown_op
from cdc_marts.parsing.ops import meaning_of
from cdc_marts.parsing.records import Record, to_staging
from cdc_marts.parsing.settings import KeySettings, key_columns_of
from cdc_marts.parsing.tables import table_id_of
from cdc_marts.parsing.values import (
    is_bad_millis,
    is_bad_position,
    non_empty,
    position,
    timestamp_of_millis,
)

#: The fields that have the same name in both formats, besides `before`.
COMMON_PAYLOAD = """
    unique map<string,string>, LOB_COLUMNS string,
    message_version string, message_type string, HEARTBEAT_IDENTIFIER string
"""


@dataclass(frozen=True)
class FieldNames:
    """The version of one of the two formats, and the names that it has for the fields of both."""

    source_format: str
    name: str
    message_version: str
    source_op: str
    table_name: str
    after: str
    lsn: str
    event_millis: str
    published_millis: str | None = None


def stage(named: DataFrame, names: FieldNames, key_settings: KeySettings | None) -> DataFrame:
    """Turn payloads whose fields a parser has named into staging rows, one per message.

    `named` is what `read_payload` returns, with the columns `source_type`, `database_name`,
    `schema_name`, `table_name`, `source_op`, `before`, `after`, `is_snapshot`, `lsn`,
    `transaction_id`, `event_millis` and `published_millis`.
    """
    known = _with_kind(_with_fields(named, names), names)
    imaged = with_images(known, F.col("image_before"), F.col("image_after"))
    rows = imaged.drop("image_before", "image_after")
    return to_staging(rows, names.source_format, _record(names, key_settings))


def _with_fields(named: DataFrame, names: FieldNames) -> DataFrame:
    """Add the columns that the schema describes, and take the placeholders out of the images."""
    described = named.select(
        "*",
        fields_of(F.col("connect_schema"), names.after, "before").alias("fields"),
        field_names(fields_of(F.col("connect_schema"), "unique")).alias("key_fields"),
        may_hold_placeholders(F.col("before"), F.col("after")).alias("may_hold"),
    )
    # All lambdas are here, so that Spark compiles the rest into one loop.
    return described.select(
        *named.drop("connect_schema", "before", "after").columns,
        "key_fields",
        field_names(F.col("fields")).alias("field_names"),
        *columns_of_types(F.col("fields")),
        *(
            column.alias(f"{name}_{side}")
            for side in ("before", "after")
            for name, column in (
                ("image", without_placeholders(F.col(side), F.col("may_hold"))),
                ("placeholders", placeholder_columns(F.col(side), F.col("may_hold"))),
            )
        ),
    )


def _with_kind(described: DataFrame, names: FieldNames) -> DataFrame:
    """Add the columns of the images, and what the operation means."""
    read = described.select(
        "*",
        meaning_of(F.col("source_op"), names.source_format).alias("meaning"),
        columns_of(F.col("image_before")).alias("columns_before"),
        columns_of(F.col("image_after")).alias("columns_after"),
    )
    return read.select(
        "*",
        _is_heartbeat().alias("is_heartbeat"),
        F.when(F.col("is_snapshot") & (F.col("meaning.op") == "insert"), "snapshot")
        .otherwise(F.col("meaning.op"))
        .alias("op"),
    )


def _record(names: FieldNames, key_settings: KeySettings | None) -> Record:
    """Return the record of a payload with its images."""
    op = F.col("op")
    key_columns = key_columns_of(
        _published_key(),
        key_settings,
        table_id_of(),
    )
    return Record(
        rejection=F.coalesce("unreadable", _broken(names)),
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
        whole_number_columns=F.col("whole_number_columns"),
        before=F.col("before"),
        after=F.col("after"),
        columns_before=F.col("columns_before"),
        columns_after=F.col("columns_after"),
        unavailable_columns=_unavailable_columns(op),
        lists_all_columns=F.when(F.size("field_names") > 0, F.lit(True)),
        column_types=F.col("column_types"),
        column_parameters=F.col("column_parameters"),
        lob_columns=non_empty(F.col("payload.LOB_COLUMNS")),
        event_at=timestamp_of_millis(F.col("event_millis")),
        published_at=timestamp_of_millis(F.col("published_millis")),
        transaction_id=non_empty(F.col("transaction_id")),
        position=position(F.col("lsn")),
        identity=_identity(op, key_columns),
        is_truncation=F.when(~F.col("is_heartbeat"), F.col("meaning.is_truncation")),
    )


def _is_heartbeat() -> Column:
    """Return whether a message is a heartbeat.

    Its `message_type` says so, or it has a heartbeat's identifier and no row of a table.
    """
    is_of_no_row = (
        F.col("table_name").isNull() & _is_absent("image_before") & _is_absent("image_after")
    )
    has_identifier = non_empty(F.col("payload.HEARTBEAT_IDENTIFIER")).isNotNull()
    is_typed = F.contains(F.lower("payload.message_type"), F.lit("heartbeat"))
    return F.coalesce(is_typed, F.lit(False)) | (is_of_no_row & has_identifier)


def _is_absent(image: str) -> Column:
    return F.col(image).isNull() | F.is_variant_null(image)


def _published_key() -> Column:
    """Return the names in `unique`, or if it is null, the names that the schema lists for it."""
    return F.coalesce(F.map_keys("payload.unique"), "key_fields")


def _unavailable_columns(op: Column) -> Column:
    """Return the unavailable columns of the row after the change, or before a delete."""

    def of_image(side: str) -> Column:
        return unavailable_columns(
            F.col("field_names"), F.col(f"placeholders_{side}"), F.col(f"columns_{side}")
        )

    return F.when(op == "delete", of_image("before")).otherwise(of_image("after"))


def _identity(op: Column, key_columns: Column) -> Column:
    """Return the values that a redelivery repeats: the log position and the hashes of the images.

    All changes of a transaction may share one position, so the position alone is not enough. Null
    for snapshot rows of keyless tables: equal rows differ only in their coordinates.
    """
    # A truncate has no op: it is known by its position, or a second delivery would end the rows
    # that came after it at that position.
    is_keyless_snapshot = op.eqNullSafe("snapshot") & (F.size(key_columns) == 0)
    # Without a position another snapshot of the row is distinguished by its time.
    at = F.coalesce(position(F.col("lsn")).cast("string"), F.concat(F.lit("@"), "event_millis"))
    return F.when(~is_keyless_snapshot, F.array(at, *image_hashes()))


def _versions(version: str) -> tuple[str, ...]:
    """Return how a message may write a version: 1.0 as a JSON number is read as `1`."""
    return (version, version.removesuffix(".0"))


def _broken(names: FieldNames) -> Column:
    return rejection(
        *_checks_of_fields(names),
        *checks_of_images(names.after, is_row=_is_record("change"), is_empty=_is_empty),
    )


def _is_record(record_type: str) -> Column:
    return ~F.col("is_heartbeat") & F.col("meaning.record_type").eqNullSafe(record_type)


def _checks_of_fields(names: FieldNames) -> tuple[Check, ...]:
    version = non_empty(F.col("payload.message_version"))
    is_heartbeat = F.col("is_heartbeat")
    is_of_table = _is_record("change") | _is_record("ddl")
    return (
        (
            ~version.isin(*_versions(names.message_version)),
            "wrong_format",
            F.concat(
                F.lit("the message has `message_version` "),
                version,
                F.lit(f", {names.name} has {names.message_version}"),
            ),
        ),
        (
            ~is_heartbeat & version.isNull(),
            "missing_field",
            "the payload has no `message_version`, by which the two formats of CDL differ",
        ),
        (
            ~is_heartbeat & F.col("source_op").isNull(),
            "missing_field",
            f"the payload has no `{names.source_op}`",
        ),
        unknown_op(f"{names.name} operation", names.source_op, unless=is_heartbeat),
        (
            is_of_table & F.col("table_name").isNull(),
            "missing_field",
            f"a row change needs `{names.table_name}`",
        ),
        (
            is_bad_millis(F.col("event_millis")),
            "bad_timestamp",
            f"`{names.event_millis}` is not epoch milliseconds",
        ),
        (
            is_bad_millis(F.col("published_millis")),
            "bad_timestamp",
            f"`{names.published_millis}` is not epoch milliseconds",
        ),
        (
            is_bad_position(F.col("lsn")) | F.col("lsn").startswith("-"),
            "bad_sequence",
            f"`{names.lsn}` is not a log position, a number of at most 38 digits",
        ),
        (
            is_of_table & F.col("lsn").isNull() & ~F.col("op").eqNullSafe("snapshot"),
            "missing_field",
            f"a change outside of a snapshot needs `{names.lsn}`, which orders it",
        ),
    )


def _is_empty(side: str) -> Column:
    has_columns = (F.size(f"columns_{side}") > 0) | (F.size(f"placeholders_{side}") > 0)
    return ~F.coalesce(has_columns, F.lit(False))
