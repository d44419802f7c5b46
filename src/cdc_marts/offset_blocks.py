"""Coordinates of messages as blocks of offsets: one bit for each offset of a partition."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.package_macros import package_macro

#: The number of bits in a bigint. The macro `is_in_offset_block` has this number too.
OFFSETS_IN_A_BLOCK = 64
#: The columns of blocks.
BLOCK_COLUMNS = ("topic", "partition", "offset_block", "offset_bits")

_SHIFT = OFFSETS_IN_A_BLOCK.bit_length() - 1
_BLOCK = BLOCK_COLUMNS[:3]


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
    bit_index = F.explode(F.sequence(F.lit(0), F.lit(OFFSETS_IN_A_BLOCK - 1)))
    offset = F.col("offset_block") * OFFSETS_IN_A_BLOCK + F.col("bit_index")
    return (
        blocks.select("*", bit_index.alias("bit_index"))
        .where(F.getbit("offset_bits", "bit_index") == 1)
        .select("topic", "partition", offset.alias("offset"))
    )


def removed_of(removed: DataFrame, source_format: str) -> DataFrame:
    """Return the blocks of a format from the table `removed_messages`."""
    return removed.where(F.col("source_format") == source_format).select(*BLOCK_COLUMNS)


def in_blocks(messages: DataFrame, blocks: DataFrame) -> DataFrame:
    """Return the rows of messages that are in the blocks."""
    return messages.join(_named_apart(blocks), _is_in_block(), "left_semi")


def outside_blocks(messages: DataFrame, blocks: DataFrame) -> DataFrame:
    """Return the rows of messages that are not in the blocks."""
    return messages.join(_named_apart(blocks), _is_in_block(), "left_anti")


def block_number() -> Column:
    """Return the number of the block that `offset` is in."""
    return F.shiftright("offset", _SHIFT)


def offset_bits() -> Column:
    """Return an aggregate: the bits of all values of `offset` in a block."""
    bit = F.call_function("shiftleft", F.lit(1).cast("bigint"), _bit_index())
    return F.bit_or(bit)


def is_in_block_sql(message: str, block: str) -> str:
    """Return SQL for whether a message is in a block. Both arguments are aliases."""
    return package_macro("landing/is_in_offset_block.sql", "is_in_offset_block")(message, block)


def _named_apart(blocks: DataFrame) -> DataFrame:
    return blocks.toDF("block_topic", "block_partition", "block", "bits")


def _is_in_block() -> Column:
    return (
        (F.col("topic") == F.col("block_topic"))
        & (F.col("partition") == F.col("block_partition"))
        & (block_number() == F.col("block"))
        & (F.getbit(F.col("bits"), _bit_index()) == 1)
    )


def _bit_index() -> Column:
    return F.col("offset").bitwiseAND(F.lit(OFFSETS_IN_A_BLOCK - 1)).cast("int")
