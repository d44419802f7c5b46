"""The StreamX envelope: one JSON structure in Kafka topics and DataHub BLOB topics.

Sources: DataWorks, "Appendix: message formats" (Kafka) and "Appendix: DataHub message
formats" (BLOB). If a member is null, a Kafka message has it, and a BLOB message leaves it out.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.parsing.images import (
    column_names,
    columns_of,
    filled_with_nulls,
    image_of,
    is_no_row,
    no_columns,
    row_or_null,
)
from cdc_marts.parsing.messages import LANDED_COLUMNS, Check, read_json, rejection, unknown_op
from cdc_marts.parsing.ops import ROW_RECORDS, meaning_of, source_ops
from cdc_marts.parsing.records import Record, to_staging
from cdc_marts.parsing.row_keys import MYSQL_ROW_IDS, ORACLE_ROW_ID
from cdc_marts.parsing.settings import KeySettings, key_setting
from cdc_marts.parsing.statements import (
    change_of,
    is_applied,
    named_table,
    table_changes,
    takes_all_rows,
)
from cdc_marts.parsing.tables import table_id_of
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
        ddl variant
    >
"""

_SIDES = ("before", "after")
_FULL_LOAD = "-1"
_SEQUENCE_ID = rf"^({_FULL_LOAD}|[0-9]{{1,38}})$"


def parse_envelope(
    messages: DataFrame,
    source_format: str,
    key_settings: KeySettings | None = None,
    *,
    leaves_out_nulls: bool = False,
) -> DataFrame:
    """Turn landed StreamX messages into staging rows, one per message.

    `key_settings`: table_id -> key columns, for tables that publish no primary key.
    `leaves_out_nulls`: a column that the schema lists and an image lacks is NULL in it.
    """
    keyed = _keyed(_read_envelope(messages, source_format), key_settings)
    whole = _with_nulls(keyed) if leaves_out_nulls else keyed
    imaged = _imaged(_with_kind(whole, source_format))
    return to_staging(imaged, source_format, _record(source_format))


def _read_envelope(messages: DataFrame, source_format: str) -> DataFrame:
    """Read messages, and give the members of their envelope the names that staging has."""
    columns = F.col("message.schema.dataColumn")
    return read_json(messages, ENVELOPE).select(
        *LANDED_COLUMNS,
        "value",
        "unreadable",
        F.lower(non_empty(F.col("message.schema.source.dbType"))).alias("source_type"),
        non_empty(F.col("message.schema.source.dbName")).alias("database_name"),
        non_empty(F.col("message.schema.source.schemaName")).alias("schema_name"),
        non_empty(F.col("message.schema.source.tableName")).alias("table_name"),
        F.array_compact("message.schema.primaryKey").alias("primary_key"),
        _column_types(columns).alias("column_types"),
        _whole_number_columns(columns).alias("whole_number_columns"),
        F.col("message.payload.op").alias("source_op"),
        non_empty(F.col("message.payload.sequenceId")).alias("sequence_id"),
        F.col("message.payload.timestamp").alias("times"),
        F.col("message.payload.ddl").alias("ddl"),
        _table_changes(F.col("message"), source_format).alias("table_changes"),
        *(F.col(f"message.payload.{side}.dataColumn").alias(f"image_{side}") for side in _SIDES),
    )


def _keyed(envelope: DataFrame, key_settings: KeySettings | None) -> DataFrame:
    """Add the columns of the images, of the schema and of the key."""
    read = envelope.select(
        "*",
        *(columns_of(F.col(f"image_{side}")).alias(f"image_columns_{side}") for side in _SIDES),
    )
    listed = read.select("*", column_names(F.col("column_types")).alias("source_columns"))
    return listed.select("*", _key_columns(key_settings).alias("key_columns"))


def _with_kind(keyed: DataFrame, source_format: str) -> DataFrame:
    """Add the rows in the images, and what kind of record the operation makes of them."""
    rows = keyed.select(
        "*",
        *(row_or_null(F.col(f"image_columns_{side}")).alias(f"row_{side}") for side in _SIDES),
    )
    coded = rows.select("*", _code().alias("code"))
    known = coded.select("*", meaning_of(F.col("code"), source_format).alias("meaning"))
    return known.select("*", *record_kind(F.col("meaning"), F.col("sequence_id")))


def _imaged(known: DataFrame) -> DataFrame:
    """Add `before` and `after`, the images that count for the op, with their columns."""
    is_update = F.col("op") == "update"
    has_before = (F.col("needs_before") | is_update) & F.col("row_before").isNotNull()
    has_after = F.col("needs_after") & F.col("row_after").isNotNull()
    return known.select(
        "*",
        F.when(has_before, F.col("image_before")).alias("before"),
        F.when(has_after, F.col("image_after")).alias("after"),
        F.when(has_before, F.col("row_before")).alias("columns_before"),
        F.when(has_after, F.col("row_after")).alias("columns_after"),
    )


def _record(source_format: str) -> Record:
    """Return the record of a message with its images."""
    image_columns = column_names(F.coalesce("columns_after", "columns_before"))
    return Record(
        rejection=F.coalesce("unreadable", _broken()),
        record_type=F.col("record_type"),
        source_type=F.col("source_type"),
        database_name=F.col("database_name"),
        schema_name=F.col("schema_name"),
        table_name=F.coalesce(
            "table_name",
            named_table(F.col("table_changes"), F.col("database_name"), F.col("schema_name")),
        ),
        op=F.col("op"),
        source_op=F.col("source_op"),
        key_columns=F.col("key_columns"),
        whole_number_columns=F.col("whole_number_columns"),
        before=F.col("before"),
        after=F.col("after"),
        columns_before=F.col("columns_before"),
        columns_after=F.col("columns_after"),
        unavailable_columns=F.array_except("source_columns", image_columns),
        column_types=F.col("column_types"),
        event_at=timestamp_of_millis(F.col("times.eventTime")),
        published_at=timestamp_of_millis(F.col("times.systemTime")),
        checkpoint_at=timestamp_of_millis(F.col("times.checkpointTime")),
        position=position(F.col("sequence_id")),
        identity=identity(F.col("code"), F.col("after")),
        pairing_id=F.when(_is_half(), pairing_id(source_format)),
        ddl_text=F.when(~F.col("is_row"), _ddl_member(F.col("ddl"), "text")),
        # A serialized Java object, which stays text.
        ddl_meta=F.when(~F.col("is_row"), _ddl_member(F.col("ddl"), "ddlMeta")),
        table_changes=F.col("table_changes"),
    )


def _is_half() -> Column:
    """Return whether a message is a half of a split update."""
    is_update_after = (
        (F.col("code") == "UPDATE_AFTER") & (F.col("op") == "update") & F.col("before").isNull()
    )
    return (F.col("record_type") == "update_before") | is_update_after


def _table_changes(message: Column, source_format: str) -> Column:
    """Return what a statement changes in tables; null for rows."""
    source, op = message["schema"]["source"], message["payload"]["op"]
    row_ops = [
        code for code, (kind, _, _) in source_ops(source_format).items() if kind in ROW_RECORDS
    ]
    changes = table_changes(
        _ddl_member(message["payload"]["ddl"], "text"),
        own_change=change_of(op, source_format),
        source_type=F.lower(source["dbType"]),
        database_name=non_empty(source["dbName"]),
        schema_name=non_empty(source["schemaName"]),
        table_name=non_empty(source["tableName"]),
    )
    return F.when(~op.isin(*row_ops), changes)


def record_kind(meaning: Column, sequence_id: Column) -> tuple[Column, ...]:
    """Return `record_type`, `op`, `is_row`, `needs_before` and `needs_after` of a StreamX record.

    A row of the full load has no place in the log. It is a snapshot, whatever its op is.
    """
    is_row = meaning["record_type"].isin(*ROW_RECORDS)
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


def _code() -> Column:
    """Return the published operation; an UPDATE with one image is a half of an update."""
    is_plain_update = F.col("source_op") == "UPDATE"
    has_before, has_after = (F.col(f"row_{side}").isNotNull() for side in _SIDES)
    return (
        F.when(is_plain_update & has_before & ~has_after, "UPDATE_BEFOR")
        .when(is_plain_update & has_after & ~has_before, "UPDATE_AFTER")
        .otherwise(F.col("source_op"))
    )


def _with_nulls(keyed: DataFrame) -> DataFrame:
    """Add the NULLs that the images left out. A key is never left out.

    So an image without columns is a row of NULLs in a keyless table, and no row in others.
    """
    for side in _SIDES:
        image, columns = f"image_{side}", f"image_columns_{side}"
        names = F.concat(column_names(F.col(columns)), "key_columns")
        is_row = (F.size(columns) > 0) | (F.size("key_columns") == 0)
        lacking = F.when(
            F.col(columns).isNotNull() & is_row, F.array_except("source_columns", names)
        )
        keyed = keyed.withColumn("lacking", lacking).withColumn(
            columns,
            F.when(
                F.size("lacking") > 0, filled_with_nulls(F.col(columns), F.col("lacking"))
            ).otherwise(F.col(columns)),
        )
        keyed = keyed.withColumn(
            image, F.when(F.size("lacking") > 0, image_of(F.col(columns))).otherwise(F.col(image))
        )
    return keyed


def _ddl_member(ddl: Column, name: str) -> Column:
    """Return a member of `payload.ddl`; null if there is an empty text instead of an object."""
    return non_empty(F.try_variant_get(ddl, f"$.{name}", "string"))


def is_bad_sequence_id(sequence_id: Column) -> Column:
    """Return whether there is a sequence id that is neither digits nor the full load's -1."""
    return sequence_id.isNotNull() & ~sequence_id.rlike(_SEQUENCE_ID)


def identity(kind: Column, row: Column) -> Column:
    """Return what identifies a record: its sequence id and its kind. Halves of updates differ.

    All rows of full loads share one sequence id. So the image distinguishes a later load of a row.
    Keyless rows may be equal, so only coordinates identify them, and the result is null. It is null
    too for statements without a sequence id of their own.
    """
    is_snapshot = F.col("op").eqNullSafe("snapshot")
    is_keyless = F.size("key_columns") == 0
    of_snapshot = F.array(_sequence_text(), kind, F.xxhash64(F.to_json(row)).cast("string"))
    has_id = F.col("op").isNotNull() | (F.col("sequence_id") != _FULL_LOAD)
    return F.when(~is_snapshot & has_id, F.array(_sequence_text(), kind)).when(
        is_snapshot & ~is_keyless, of_snapshot
    )


def pairing_id(source_format: str) -> Column:
    """Return an id that both halves of an update have, and no other update has."""
    return F.concat_ws(":", F.lit(source_format), table_id_of(), _sequence_text())


def _sequence_text() -> Column:
    return position(F.col("sequence_id")).cast("string")


def _whole_number_columns(columns: Column) -> Column:
    """Return the names of the columns in `schema.dataColumn` that are LONG."""
    return F.filter(columns, lambda column: F.upper(column["type"]) == "LONG")["name"]


def _column_types(columns: Column) -> Column:
    """Turn `schema.dataColumn` into a map<column, type>."""
    # A column without a name would be a null key, for which `map_from_entries` raises an error.
    return F.map_from_entries(F.filter(columns, lambda column: column["name"].isNotNull()))


def _key_columns(key_settings: KeySettings | None) -> Column:
    """Return the published key, or else the project's, or else the row id of the source."""
    in_images = (column_names(F.col(f"image_columns_{side}")) for side in _SIDES)
    columns = F.concat("source_columns", *in_images)
    is_oracle = F.col("source_type").eqNullSafe("oracle")
    return F.coalesce(
        F.when(F.size("primary_key") > 0, F.col("primary_key")),
        key_setting(key_settings, table_id_of()),
        *(_row_id(name, columns) for name in MYSQL_ROW_IDS),
        F.when(is_oracle, _row_id(ORACLE_ROW_ID, columns)),
        no_columns(),
    )


def _row_id(name: str, columns: Column) -> Column:
    """Return the key of this one column, or null if the columns lack it."""
    return F.when(F.array_contains(columns, name), F.array(F.lit(name)))


def _broken() -> Column:
    return rejection(*_checks_of_fields(), *_checks_of_images())


def _checks_of_fields() -> tuple[Check, ...]:
    # Without these checks, a statement without a table or a place in the log would be lost.
    is_nameless_truncation = (
        F.col("meaning.is_truncation")
        & F.get("table_changes.table_name", F.lit(0)).isNull()
        & F.col("table_changes").isNotNull()
        # A statement on a database or schema means all its tables.
        & ~takes_all_rows(F.col("table_changes"))
    )
    is_placed = F.col("is_row") | is_applied(F.col("table_changes"))
    return (
        (
            F.col("source_op").isNull(),
            "missing_field",
            "the message has no `payload.op`",
        ),
        unknown_op("StreamX operation", "payload.op"),
        (
            (F.col("is_row") & F.col("table_name").isNull()) | is_nameless_truncation,
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
        (
            ~F.col("is_row") & is_placed & (F.col("sequence_id") == _FULL_LOAD),
            "bad_sequence",
            F.concat(
                F.col("source_op"),
                F.lit(
                    " has the `payload.sequenceId` of a full load, -1, and so no place in the log"
                ),
            ),
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
            is_no_row(F.col("ddl"), columns_of(F.col("ddl"))) & (F.col("ddl").cast("string") != ""),
            "malformed_json",
            "`payload.ddl` is not an object",
        ),
    )


def _checks_of_images() -> tuple[Check, ...]:
    before_columns = column_names(F.col("columns_before"))
    return (
        *(
            (
                F.col("is_row") & is_no_row(F.col(f"image_{side}"), F.col(f"image_columns_{side}")),
                "missing_image",
                f"`payload.{side}.dataColumn` is not an object of columns",
            )
            for side in _SIDES
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
                F.lit("the before image lacks a key column: the key is "),
                F.array_join("key_columns", ", "),
            ),
        ),
    )
