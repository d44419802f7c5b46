"""The places of messages that were removed from landing: a bit for each offset, in blocks of 64."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

_OFFSETS_IN_A_BLOCK = 64
_BLOCK = ("topic", "partition", "offset_block")


def blocks_of(messages: DataFrame) -> DataFrame:
    """`topic`, `partition`, `offset_block`, `offset_bits` of messages, one row per block."""
    bit = F.call_function("shiftleft", F.lit(1).cast("bigint"), _place_in_block())
    blocks = messages.withColumn("offset_block", _block()).groupBy(*_BLOCK)
    return blocks.agg(F.bit_or(bit).alias("offset_bits"))


def removed_of(removed: DataFrame, source_format: str) -> DataFrame:
    """The blocks of a format, of those in the table `removed_messages`."""
    return removed.where(F.col("source_format") == source_format).select(*_BLOCK, "offset_bits")


def in_blocks(messages: DataFrame, blocks: DataFrame) -> DataFrame:
    """The rows of messages that are in the blocks."""
    return messages.join(_named_apart(blocks), _is_in_block(), "left_semi")


def outside_blocks(messages: DataFrame, blocks: DataFrame) -> DataFrame:
    """The rows of messages that are not in the blocks."""
    return messages.join(_named_apart(blocks), _is_in_block(), "left_anti")


def _named_apart(blocks: DataFrame) -> DataFrame:
    return blocks.toDF("block_topic", "block_partition", "block", "bits")


def _is_in_block() -> Column:
    return (
        (F.col("topic") == F.col("block_topic"))
        & (F.col("partition") == F.col("block_partition"))
        & (_block() == F.col("block"))
        & (F.getbit(F.col("bits"), _place_in_block()) == 1)
    )


def _block() -> Column:
    return F.shiftright("offset", 6)


def _place_in_block() -> Column:
    return F.col("offset").bitwiseAND(F.lit(_OFFSETS_IN_A_BLOCK - 1)).cast("int")
