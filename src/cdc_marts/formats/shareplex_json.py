"""SharePlex JSON as DTS writes it.

Source: DTS, "Data formats of a message queue", Shareplex Json.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.parsing.images import columns_of, image_of, is_no_row, no_columns, overlay
from cdc_marts.parsing.messages import LANDED_COLUMNS, read_json, rejection, unknown_op
from cdc_marts.parsing.ops import ROW_RECORDS, meaning_of
from cdc_marts.parsing.records import Record, to_staging
from cdc_marts.parsing.row_keys import ORACLE_ROW_ID
from cdc_marts.parsing.settings import KeySettings, key_setting
from cdc_marts.parsing.tables import table_id_of
from cdc_marts.parsing.values import is_bad_iso, non_empty, position, timestamp_of_iso

SOURCE_FORMAT = "shareplex_json"

ENVELOPE = """
    meta struct<
        op string, table string, scn string, trans string, seq string, rowid string,
        time string, posttime string
    >,
    data variant, key variant
"""

_SCN = r"^[0-9]{1,38}$"
_SEQUENCE_IN_TRANSACTION = r"^[0-9]{1,18}$"


def parse(messages: DataFrame, key_settings: KeySettings | None = None) -> DataFrame:
    """Turn landed SharePlex JSON messages into staging rows, one per message.

    `key_settings`: table_id -> key columns. The rows of other tables are identified by their
    addresses (`meta.rowid`), which do not show changes of a key.
    """
    known = _with_kind(_read_envelope(messages))
    imaged = known.select(
        "*",
        _before().alias("row_before"),
        _after().alias("row_after"),
        key_setting(key_settings, F.col("table_id")).alias("set_key"),
    )
    return to_staging(imaged, SOURCE_FORMAT, _record())


def _read_envelope(messages: DataFrame) -> DataFrame:
    """Read messages, and give the members of their envelope the names that staging has."""
    return read_json(messages, ENVELOPE).select(
        *LANDED_COLUMNS,
        "value",
        "unreadable",
        non_empty(F.col("message.meta.op")).alias("source_op"),
        F.upper("message.meta.op").alias("code"),
        *_names_of(non_empty(F.col("message.meta.table"))),
        *(
            non_empty(F.col(f"message.meta.{member}")).alias(member)
            for member in ("scn", "trans", "seq", "rowid", "time", "posttime")
        ),
        F.col("message.data").alias("image"),
        columns_of(F.col("message.data")).alias("data"),
        columns_of(F.col("message.key")).alias("old_row"),
    )


def _with_kind(envelope: DataFrame) -> DataFrame:
    """Add what the operation means, and whether the message is a half of a split update."""
    return envelope.select(
        "*",
        meaning_of(F.col("code"), SOURCE_FORMAT).alias("meaning"),
        F.col("code").isin("UPDATE BEFORE", "UPDATE AFTER").alias("is_half"),
        table_id_of("schema_name", "table_name").alias("table_id"),
    )


def _record() -> Record:
    """Return the record of a message with its rows."""
    return Record(
        rejection=F.coalesce("unreadable", _broken()),
        record_type=F.col("meaning.record_type"),
        # Only Oracle has the SCN and ROWID of this format.
        source_type=F.lit("oracle"),
        schema_name=F.col("schema_name"),
        table_name=F.col("table_name"),
        op=F.col("meaning.op"),
        source_op=F.col("source_op"),
        key_columns=F.coalesce(
            "set_key",
            F.when(F.col("rowid").isNotNull(), F.array(F.lit(ORACLE_ROW_ID))),
            no_columns(),
        ),
        row_id=F.when(F.col("set_key").isNull(), F.col("rowid")),
        before=image_of(F.col("row_before")),
        after=image_of(F.col("row_after")),
        columns_before=F.col("row_before"),
        columns_after=F.col("row_after"),
        event_at=timestamp_of_iso(F.col("time")),
        published_at=timestamp_of_iso(F.col("posttime")),
        transaction_id=F.col("trans"),
        position=position(F.col("scn")),
        transaction_index=F.col("seq").cast("bigint"),
        identity=_identity(),
        pairing_id=F.when(
            F.col("is_half"),
            F.concat_ws(":", F.lit(SOURCE_FORMAT), "table_id", "scn", "trans", "seq"),
        ),
        is_truncation=F.col("meaning.is_truncation"),
    )


def _names_of(table: Column) -> tuple[Column, ...]:
    """Split `OWNER.TABLE` into schema_name and table_name."""
    parts = F.split(table, r"\.", 2)
    return (
        F.when(F.size(parts) == 2, non_empty(F.get(parts, 0))).alias("schema_name"),
        non_empty(F.get(parts, F.size(parts) - 1)).alias("table_name"),
    )


def _before() -> Column:
    """Return the old row: `key` in a whole update, otherwise `data`, over `key` if it has both."""
    is_whole_update = (F.col("meaning.op") == "update") & ~F.col("is_half")
    is_row_before = (F.col("meaning.op") == "delete") | (
        F.col("meaning.record_type") == "update_before"
    )
    return F.when(is_whole_update, F.col("old_row")).when(
        is_row_before, F.coalesce(overlay(F.col("old_row"), F.col("data")), "data", "old_row")
    )


def _after() -> Column:
    """Return the new row: `data`, and in an update, `data` over the old row in `key`.

    In an update, `data` has only the changed columns. `key` has all columns, or only the key
    columns; then the new row lacks the columns that are in neither.
    """
    updated = F.coalesce(overlay(F.col("old_row"), F.col("data")), "data")
    return F.when(F.col("meaning.op") == "update", updated).when(
        F.col("meaning.op") == "insert", F.col("data")
    )


def _identity() -> Column:
    """Return what identifies a change: its place in the transaction. Halves of updates differ."""
    place = F.array("scn", "trans", "seq", "meaning.record_type")
    return F.when(F.col("trans").isNotNull() & F.col("seq").isNotNull(), place)


def _broken() -> Column:
    op, record_type = F.col("meaning.op"), F.col("meaning.record_type")
    is_whole_update = (op == "update") & ~F.col("is_half")
    return rejection(
        (F.col("source_op").isNull(), "missing_field", "the message has no `meta.op`"),
        unknown_op("SharePlex operation", "meta.op"),
        (F.col("table_name").isNull(), "missing_field", "the message has no `meta.table`"),
        (
            F.col("scn").isNull(),
            "missing_field",
            "the message has no `meta.scn`, which orders it",
        ),
        (~F.col("scn").rlike(_SCN), "bad_sequence", "`meta.scn` is not 1 to 38 digits"),
        (
            ~F.col("seq").rlike(_SEQUENCE_IN_TRANSACTION),
            "bad_sequence",
            "`meta.seq` is not 1 to 18 digits",
        ),
        (
            F.col("is_half") & (F.col("trans").isNull() | F.col("seq").isNull()),
            "missing_field",
            "a half of a split update needs `meta.trans` and `meta.seq` to find its other half",
        ),
        *(
            (
                is_bad_iso(F.col(time)),
                "bad_timestamp",
                f"`meta.{time}` is not yyyy-MM-ddTHH:mm:ss in UTC",
            )
            for time in ("time", "posttime")
        ),
        (
            record_type.isin(*ROW_RECORDS) & is_no_row(F.col("image"), F.col("data")),
            "missing_image",
            "`data` is not an object of columns",
        ),
        (
            is_whole_update & (F.size("old_row") < 1),
            "missing_image",
            F.concat("source_op", F.lit(" needs the columns of the old row in `key`")),
        ),
        (
            # A whole update that changed nothing has an empty `data`.
            ((op == "update") & F.col("data").isNull())
            | (op.isin("insert", "update") & (F.size("row_after") < 1)),
            "missing_image",
            F.concat("source_op", F.lit(" needs columns in `data`")),
        ),
        (
            ((op == "delete") | (record_type == "update_before")) & (F.size("row_before") < 1),
            "missing_image",
            F.concat("source_op", F.lit(" needs the columns of the row in `data`")),
        ),
    )
