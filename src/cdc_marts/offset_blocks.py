"""Coordinates of messages as blocks of offsets: one bit for each offset of a partition."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.package_macros import package_macros

#: The columns of blocks.
BLOCK_COLUMNS = ("topic", "partition", "offset_block", "offset_bits")

_BLOCK = BLOCK_COLUMNS[:3]
_MACROS = package_macros("landing/offset_blocks.sql")


def blocks_of(messages: DataFrame) -> DataFrame:
    """Return the blocks of messages (`BLOCK_COLUMNS`), one row per block."""
    blocks = messages.withColumn("offset_block", block_number()).groupBy(*_BLOCK)
    return blocks.agg(offset_bits().alias("offset_bits"))


def blocks_with_copies(messages: DataFrame) -> DataFrame:
    """Return the blocks in which a message occurs more than once."""
    blocks = messages.withColumn("offset_block", block_number()).groupBy(*_BLOCK)
    counted = blocks.agg(offset_bits().alias("offset_bits"), F.count("*").alias("messages"))
    return counted.where(F.col("messages") > F.bit_count("offset_bits")).select(*BLOCK_COLUMNS)


def messages_in(blocks: DataFrame) -> DataFrame:
    """Return `topic`, `partition` and `offset` of all messages in blocks."""
    return blocks.sparkSession.sql(_MACROS.messages_in_blocks_sql("{blocks}"), blocks=blocks)


def removed_of(removed: DataFrame, source_format: str) -> DataFrame:
    """Return the blocks of a format from the table `removed_messages`."""
    return removed.where(F.col("source_format") == source_format).select(*BLOCK_COLUMNS)


def in_blocks(messages: DataFrame, blocks: DataFrame) -> DataFrame:
    """Return the rows of messages that are in the blocks."""
    return _joined(messages, blocks, "left_semi")


def outside_blocks(messages: DataFrame, blocks: DataFrame) -> DataFrame:
    """Return the rows of messages that are not in the blocks."""
    return _joined(messages, blocks, "left_anti")


def block_number() -> Column:
    """Return the number of the block that `offset` is in."""
    return F.expr(_MACROS.block_of_offset("offset"))


def offset_bits() -> Column:
    """Return an aggregate: the bits of all values of `offset` in a block."""
    return F.expr(f"bit_or(shiftleft(1L, {_MACROS.bit_of_offset('offset')}))")


def is_in_block_sql(message: str, block: str) -> str:
    """Return SQL for whether a message is in a block. Both arguments are aliases."""
    condition: str = _MACROS.is_in_offset_block(message, block)
    return condition


def _joined(messages: DataFrame, blocks: DataFrame, how: str) -> DataFrame:
    is_in_block = F.expr(is_in_block_sql("messages", "blocks"))
    return messages.alias("messages").join(blocks.alias("blocks"), is_in_block, how)
