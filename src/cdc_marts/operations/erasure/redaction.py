"""Redaction: messages lose rows in landing, and tombstones replace rows in staging."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence

from dbt.adapters.spark_session.api import rewrite_rows
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, IntegerType, LongType, StringType, StructField, StructType

from cdc_marts.identifying_columns import COORDINATES
from cdc_marts.local_rows import local_rows
from cdc_marts.operations.erasure.copies import counted_copies
from cdc_marts.operations.erasure.erased_table import (
    COORDINATES_SCHEMA,
    Content,
    Coordinates,
    ErasedTable,
    ErasureError,
    MessageRows,
    coordinates_frame,
)
from cdc_marts.operations.erasure.keys import has_values_of
from cdc_marts.operations.erasure.progress import REDACTED
from cdc_marts.parsing.records import as_tombstones
from cdc_marts.printing import printable

#: Coordinates of a message -> what replaces the content of all its copies.
Replacements = Mapping[Coordinates, Content]

_TOMBSTONE = Content()
_REPLACEMENT = StructType(
    [
        *COORDINATES_SCHEMA.fields,
        StructField("new_value", BinaryType()),
        StructField("new_key", BinaryType()),
    ]
)
#: A row to erase, by the coordinates of its message. A null index means all rows of the message.
_ROW_TO_ERASE = (
    StructType()
    .add("erased_topic", StringType())
    .add("erased_partition", IntegerType())
    .add("erased_offset", LongType())
    .add("erased_row", IntegerType())
)


def replacements_of(
    table: ErasedTable,
    whole: Sequence[MessageRows],
    shared: Sequence[MessageRows],
    copied: Sequence[MessageRows],
    row_keys: Sequence[str],
) -> Replacements:
    """Return the replacements of messages in landing, and of the queue tombstones of their keys.

    `whole`: messages that are erased. `shared`: messages that lose some of their rows. `copied`:
    messages whose copies get the content of the one that counts. `row_keys`: the keys of the rows.
    Raise ErasureError if a message can't be split.
    """
    contents = counted_copies(table, [message.coordinates for message in (*shared, *copied)])
    replacements = {
        message.coordinates: contents.get(message.coordinates, _TOMBSTONE) for message in copied
    }
    redacted = {
        message.coordinates: _without_rows(table, message, contents.get(message.coordinates))
        for message in shared
    }
    redacted |= dict.fromkeys((message.coordinates for message in whole), _TOMBSTONE)
    redacted |= dict.fromkeys(_tombstones(table, list(redacted)), _TOMBSTONE)
    redacted |= dict.fromkeys(_lone_tombstones(table, whole, row_keys), _TOMBSTONE)
    return replacements | redacted


def redact(table: ErasedTable, replacements: Replacements, id_: str) -> None:
    """Replace the contents of messages. They do not count as new messages.

    `id_`: that of the erasure, which the commit names.
    """
    rows = [(*coordinates, *new) for coordinates, new in replacements.items()]
    redacted = local_rows(table.session, rows, _REPLACEMENT).withColumn("is_redacted", F.lit(True))

    def of_redacted(rows: DataFrame) -> DataFrame:
        joined = rows.join(F.broadcast(redacted), list(COORDINATES), "left")
        is_redacted = F.col("is_redacted").isNotNull()
        return joined.withColumns(
            {
                "key": F.when(is_redacted, F.col("new_key")).otherwise(F.col("key")),
                "value": F.when(is_redacted, F.col("new_value")).otherwise(F.col("value")),
            }
        )

    landed = table.session.table(table.landing).select(*COORDINATES, "_file")
    files = landed.join(F.broadcast(redacted), list(COORDINATES), "left_semi").select("_file")
    paths = {row["_file"] for row in files.distinct().collect()}
    rewrite_rows(table.session, table.landing, paths, of_redacted, {REDACTED: id_})


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
        joined = records.join(redacted, is_same_row, "left")
        return as_tombstones(joined, F.col("is_redacted").isNotNull())

    rewrite_rows(table.session, table.staging, {row["_file"] for row in files}, of_redacted)


def _without_rows(table: ErasedTable, message: MessageRows, content: Content | None) -> Content:
    """Return the content of a message without its rows to erase, and without its key."""
    if content is None or content.value is None:
        return _TOMBSTONE
    parser = importlib.import_module(f"cdc_marts.formats.{table.source_format}")
    try:
        return Content(bytes(parser.without_rows(content.value, message.rows)))
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
    coordinates = coordinates_frame(table.session, [message.coordinates for message in messages])
    return table.removed_among(staged.join(coordinates, list(COORDINATES), "left_semi"))


def _coordinates_in(messages: DataFrame) -> list[Coordinates]:
    rows = messages.select(*COORDINATES).collect()
    return [(topic, partition, offset) for topic, partition, offset in rows]
