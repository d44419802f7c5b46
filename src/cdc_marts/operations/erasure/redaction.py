"""Redaction: messages lose rows in landing, and tombstones replace rows in staging."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence

from dbt.adapters.spark_session.api import rewrite_rows
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, IntegerType, LongType, StringType, StructField, StructType

from cdc_marts.coordinates import COORDINATES
from cdc_marts.local_rows import local_rows
from cdc_marts.offset_blocks import in_blocks, removed_of
from cdc_marts.operations.erasure.erased_table import (
    COORDINATES_SCHEMA,
    Coordinates,
    ErasedTable,
    ErasureError,
    MessageRows,
    coordinates_frame,
)
from cdc_marts.operations.erasure.keys import has_values_of
from cdc_marts.operations.erasure.progress import REDACTED
from cdc_marts.parsing.records import STAGING_COLUMNS
from cdc_marts.printing import printable

#: Coordinates of a message -> its new value.
Replacements = Mapping[Coordinates, bytes | None]

_REPLACEMENT = StructType([*COORDINATES_SCHEMA.fields, StructField("replacement", BinaryType())])
#: A row to erase, by the coordinates of its message. A null index means all rows of the message.
_ROW_TO_ERASE = (
    StructType()
    .add("erased_topic", StringType())
    .add("erased_partition", IntegerType())
    .add("erased_offset", LongType())
    .add("erased_row", IntegerType())
)
#: The columns that a tombstone has in staging.
_OF_TOMBSTONES = ("source_format", *COORDINATES, "row_index", "landed_at", "landing_commit")


def replacements_of(
    table: ErasedTable,
    whole: Sequence[MessageRows],
    shared: Sequence[MessageRows],
    row_keys: Sequence[str],
) -> Replacements:
    """Return the new values of messages in landing, and of the queue tombstones of their keys.

    `whole`: messages that are erased. `shared`: messages that lose some of their rows. `row_keys`:
    the keys of the rows. Raise ErasureError if a message can't be split.
    """
    rows_of = {message.coordinates: message.rows for message in shared}
    of_shared = table.session.table(table.landing).join(
        coordinates_frame(table.session, rows_of), list(COORDINATES), "left_semi"
    )
    messages = of_shared.where("value is not null").select(*COORDINATES, "value")
    replacements: dict[Coordinates, bytes | None] = {}
    for topic, partition, offset, value in messages.collect():
        rows = rows_of[topic, partition, offset]
        message = MessageRows(topic, partition, offset, rows)
        replacements[message.coordinates] = _without_rows(table, message, bytes(value))
    replacements |= dict.fromkeys(message.coordinates for message in whole)
    replacements |= dict.fromkeys(_tombstones(table, list(replacements)))
    return replacements | dict.fromkeys(_lone_tombstones(table, whole, row_keys))


def redact(table: ErasedTable, replacements: Replacements) -> None:
    """Delete keys of messages and replace their values. They do not count as new messages."""
    rows = [(*coordinates, value) for coordinates, value in replacements.items()]
    redacted = local_rows(table.session, rows, _REPLACEMENT).withColumn("is_redacted", F.lit(True))

    def of_redacted(rows: DataFrame) -> DataFrame:
        joined = rows.join(F.broadcast(redacted), list(COORDINATES), "left")
        is_redacted = F.col("is_redacted").isNotNull()
        return joined.withColumns(
            {
                "key": F.when(~is_redacted, F.col("key")),
                "value": F.when(is_redacted, F.col("replacement")).otherwise(F.col("value")),
            }
        )

    landed = table.session.table(table.landing).select(*COORDINATES, "_file")
    files = landed.join(F.broadcast(redacted), list(COORDINATES), "left_semi").select("_file")
    paths = {row["_file"] for row in files.distinct().collect()}
    rewrite_rows(table.session, table.landing, paths, of_redacted, {REDACTED: "true"})


def redact_irreplaceable_rows(table: ErasedTable, messages: Sequence[MessageRows]) -> None:
    """Replace rows in staging by tombstones if their messages were removed from landing."""
    files = _irreplaceable(table, messages).select("_file").distinct().collect()
    if not files:
        return
    rows = [(*message.coordinates, row) for message in messages for row in message.rows or (None,)]
    redacted = F.broadcast(
        local_rows(table.session, rows, _ROW_TO_ERASE).withColumn("is_redacted", F.lit(True))
    )
    is_same_row = F.coalesce(F.col("row_index") == F.col("erased_row"), F.lit(True))
    for name in COORDINATES:
        is_same_row = is_same_row & (F.col(name) == F.col(f"erased_{name}"))

    def of_redacted(records: DataFrame) -> DataFrame:
        is_redacted = F.col("is_redacted").isNotNull()
        emptied = {
            name: F.when(~is_redacted, F.col(name))
            for name in STAGING_COLUMNS
            if name not in _OF_TOMBSTONES
        }
        record_type = F.when(is_redacted, "tombstone").otherwise(F.col("record_type"))
        return records.join(redacted, is_same_row, "left").withColumns(
            {**emptied, "record_type": record_type}
        )

    rewrite_rows(table.session, table.staging, {row["_file"] for row in files}, of_redacted)


def _without_rows(table: ErasedTable, message: MessageRows, value: bytes) -> bytes:
    """Return the value of a message without its rows to erase."""
    parser = importlib.import_module(f"cdc_marts.formats.{table.source_format}")
    try:
        return bytes(parser.without_rows(value, message.rows))
    except ValueError as error:
        name = f"{printable(message.topic)} {message.partition} {message.offset}"
        raise ErasureError(
            f"The message {name} holds other rows too, and can't be split: {error}."
        ) from error


def _tombstones(table: ErasedTable, messages: Iterable[Coordinates]) -> list[Coordinates]:
    """Return the coordinates of queue tombstones with the record key of one of `messages`."""
    landed = table.session.table(table.landing)
    keys = (
        landed.join(coordinates_frame(table.session, messages), list(COORDINATES), "left_semi")
        .where("key is not null")
        .select("topic", "key")
        .distinct()
    )
    found = landed.where("value is null").join(F.broadcast(keys), ["topic", "key"], "left_semi")
    return _coordinates_in(found)


def _lone_tombstones(
    table: ErasedTable, messages: Sequence[MessageRows], row_keys: Sequence[str]
) -> list[Coordinates]:
    """Return the coordinates of queue tombstones whose record key has the values of a row key.

    They are in the topics of `messages` that were removed from landing. The record keys of
    removed messages are unknown.
    """
    topics = {row["topic"] for row in _irreplaceable(table, messages).select("topic").collect()}
    is_of_row = has_values_of(F.decode("key", "ISO-8859-1"), row_keys)
    if not topics or is_of_row is None:
        return []
    without_value = table.session.table(table.landing).where("value is null")
    return _coordinates_in(without_value.where(F.col("topic").isin(*topics) & is_of_row))


def _irreplaceable(table: ErasedTable, messages: Sequence[MessageRows]) -> DataFrame:
    """Return `topic` and `_file` of the staging rows of messages that landing no longer has."""
    staged = table.session.table(table.staging).select(*COORDINATES, "_file")
    if not table.session.catalog.tableExists(table.relations.removed_messages):
        return staged.where("false")
    removed = table.session.table(table.relations.removed_messages)
    coordinates = coordinates_frame(table.session, [message.coordinates for message in messages])
    of_messages = staged.join(coordinates, list(COORDINATES), "left_semi")
    return in_blocks(of_messages, removed_of(removed, table.source_format))


def _coordinates_in(messages: DataFrame) -> list[Coordinates]:
    rows = messages.select(*COORDINATES).collect()
    return [(topic, partition, offset) for topic, partition, offset in rows]
