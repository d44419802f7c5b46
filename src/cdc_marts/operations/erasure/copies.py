"""Copies of landed messages: one of them counts, and no run reads the others."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pyspark.sql import functions as F

from cdc_marts.arrivals import with_arrival
from cdc_marts.identifying_columns import COORDINATES
from cdc_marts.offset_blocks import blocks_with_copies, in_blocks
from cdc_marts.operations.erasure.erased_table import (
    Content,
    Coordinates,
    ErasedTable,
    coordinates_frame,
)
from cdc_marts.operations.erasure.keys import has_values_of


def counted_copies(
    table: ErasedTable, messages: Collection[Coordinates]
) -> dict[Coordinates, Content]:
    """Return what runs read of these messages from landing.

    Landing lacks the copies that count of messages that were removed from it.
    """
    frame = coordinates_frame(table.session, messages)
    landed = table.messages().join(frame, list(COORDINATES), "left_semi")
    removed = table.removed_among(landed).select(*COORDINATES)
    counted = with_arrival(landed.join(removed, list(COORDINATES), "left_anti"))
    found = counted.where("arrival = 1").select(*COORDINATES, "value", "key").collect()
    return {
        (topic, partition, offset): Content(_bytes(value), _bytes(key))
        for topic, partition, offset, value, key in found
    }


def unread_mentions(table: ErasedTable, row_keys: Sequence[str]) -> set[Coordinates]:
    """Return the coordinates of copies that no run reads, and that have all values of a key.

    They differ from the copy that counts.
    """
    content = [F.decode(name, "ISO-8859-1") for name in ("key", "value")]
    is_mention = has_values_of(F.concat_ws(" ", *content), row_keys)
    if is_mention is None:
        return set()
    messages = table.messages()
    content_hash = F.xxhash64("key", "value")
    of_several_contents = (
        in_blocks(messages, blocks_with_copies(messages))
        .groupBy(*COORDINATES)
        .agg(F.min(content_hash).alias("one"), F.max(content_hash).alias("other"))
        .where("one <> other")
    )
    copies = messages.join(of_several_contents, list(COORDINATES), "left_semi")
    unread = with_arrival(copies).where("arrival > 1").drop("arrival")
    unread = unread.union(table.removed_among(messages))
    found = unread.where(is_mention).select(*COORDINATES).distinct().collect()
    return {(topic, partition, offset) for topic, partition, offset in found}


def _bytes(data: bytearray | None) -> bytes | None:
    return None if data is None else bytes(data)
