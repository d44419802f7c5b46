"""SharePlex JSON as DTS writes it.

Source: DTS, "Data formats of a message queue", Shareplex Json.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.parsing.images import columns_of, image_of, overlay
from cdc_marts.parsing.messages import COORDINATES, read_json, rejection
from cdc_marts.parsing.ops import meaning_of
from cdc_marts.parsing.records import to_staging
from cdc_marts.parsing.settings import KeySettings, key_setting
from cdc_marts.parsing.values import (
    is_bad_iso,
    is_bad_position,
    non_empty,
    position,
    timestamp_of_iso,
)

SOURCE_FORMAT = "shareplex_json"

ENVELOPE = """
    meta struct<
        time string, op string, scn string, rowid string, trans string, seq string,
        `table` string, posttime string
    >,
    data variant, key variant
"""

_ROW_ID = "rowid"
_BEFORE_HALF, _AFTER_HALF = "UPDATE BEFORE", "UPDATE AFTER"


def parse(messages: DataFrame, key_settings: KeySettings | None = None) -> DataFrame:
    """Landed SharePlex JSON -> staging rows, one a message.

    `key_settings`: table_id -> key columns; a table without has its row
    address (`rowid`) as key, which is no column of the row.
    """
    envelope = read_json(messages, ENVELOPE).select(
        *COORDINATES,
        "value",
        "unreadable",
        "message.meta.*",
        columns_of(F.col("message.data")).alias("data"),
        columns_of(F.col("message.key")).alias("row_before"),
    ).withColumn("code", F.upper(F.trim("op")))
    named = envelope.select(
        "*",
        meaning_of(F.col("code"), SOURCE_FORMAT).alias("meaning"),
        non_empty(F.col("table")).alias("table_id"),
        non_empty(F.col(_ROW_ID)).alias("row_address"),
    ).select("*", key_setting(key_settings, F.col("table_id")).alias("key_setting"))

    op = F.col("meaning.op")
    is_before_half = F.col("meaning.record_type") == "update_before"
    is_half = F.col("code").isin(_BEFORE_HALF, _AFTER_HALF)
    before = F.when(is_before_half | (op == "delete"), F.col("data")).when(
        (op == "update") & ~is_half, F.col("row_before")
    )
    after = F.when(op.isin("insert", "snapshot") | (F.col("code") == _AFTER_HALF), F.col("data")).when(
        op == "update", overlay(F.col("row_before"), F.col("data"))
    )
    owner_and_name = F.split("table_id", r"\.", 2)
    has_owner = F.size(owner_and_name) == 2
    return to_staging(
        named,
        SOURCE_FORMAT,
        rejection=F.coalesce("unreadable", _broken()),
        record_type=F.col("meaning.record_type"),
        row_id=F.when(F.col("key_setting").isNull(), F.col("row_address")),
        source_type=F.lit("oracle"),
        schema_name=F.when(has_owner, F.get(owner_and_name, 0)),
        table_name=F.when(has_owner, F.get(owner_and_name, 1)).otherwise(F.col("table_id")),
        op=op,
        source_op=F.col("op"),
        key_columns=F.coalesce(
            "key_setting",
            F.when(F.col("row_address").isNotNull(), F.array(F.lit(_ROW_ID))),
            F.array().cast("array<string>"),
        ),
        before=image_of(before),
        after=image_of(after),
        event_at=timestamp_of_iso(F.col("time")),
        published_at=timestamp_of_iso(F.col("posttime")),
        transaction_id=non_empty(F.col("trans")),
        position=position(F.col("scn")),
        transaction_index=F.col("seq").try_cast("bigint"),
        identity=F.array(
            F.col("scn"),
            F.coalesce("trans", F.lit("")),
            F.coalesce("seq", F.lit("")),
            F.when(is_before_half, "before").otherwise(""),
        ),
        pairing_id=F.when(
            is_half, F.concat_ws(":", F.lit(SOURCE_FORMAT), "table_id", "scn", "trans", "seq")
        ),
        ends_rows=F.col("meaning.ends_rows"),
    )


def _broken() -> Column:
    op = F.col("meaning.op")
    is_row = F.col("meaning.record_type").isin("change", "update_before")
    is_whole_update = (op == "update") & (F.col("code") != _AFTER_HALF)
    return rejection(
        (non_empty(F.col("op")).isNull(), "missing_field", "the message has no `meta.op`"),
        (
            F.col("meaning").isNull(),
            "unknown_op",
            F.concat(F.lit("`meta.op` is no operation of SharePlex JSON: "), F.col("op")),
        ),
        (F.col("table_id").isNull(), "missing_field", "the message has no `meta.table`"),
        (non_empty(F.col("scn")).isNull(), "missing_field", "the message has no `meta.scn`"),
        (is_bad_position(F.col("scn")), "bad_sequence", "`meta.scn` is not a number"),
        (
            F.col("seq").isNotNull() & F.col("seq").try_cast("bigint").isNull(),
            "bad_sequence",
            "`meta.seq` is not a number",
        ),
        (is_bad_iso(F.col("time")), "bad_timestamp", "`meta.time` is no ISO time in UTC"),
        (is_bad_iso(F.col("posttime")), "bad_timestamp", "`meta.posttime` is no ISO time in UTC"),
        (
            is_row & F.col("data").isNull(),
            "missing_image",
            "a row change needs the row, or what changed in it, in `data`",
        ),
        (
            is_whole_update & F.col("row_before").isNull(),
            "missing_image",
            "an update needs the row before in `key`",
        ),
    )
