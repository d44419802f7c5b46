"""The coordinates of removed messages, as bits of blocks of 64 offsets."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from cdc_marts.offset_blocks import (
    blocks_of,
    in_blocks,
    is_in_block_sql,
    messages_in,
    outside_blocks,
)

#: Around the ends of blocks, the highest bit of a block, and the largest offset.
OFFSETS = (0, 1, 62, 63, 64, 127, 128, 10**12, 2**63 - 1)
REMOVED = OFFSETS[::2]


def at(spark: SparkSession, *coordinates: tuple[str, int, int]) -> DataFrame:
    return spark.createDataFrame(coordinates, "topic string, partition int, offset bigint")


def found(messages: DataFrame) -> list[tuple[str, int, int]]:
    return sorted(tuple(row) for row in messages.select("topic", "partition", "offset").collect())


def test_blocks_name_exactly_their_messages(spark: SparkSession) -> None:
    everything = [
        (topic, partition, offset)
        for topic in ("orders", "customers")
        for partition in (0, 1)
        for offset in OFFSETS
    ]
    removed = [("orders", 1, offset) for offset in REMOVED]
    blocks = blocks_of(at(spark, *removed, *removed))
    assert blocks.count() == len({offset // 64 for offset in REMOVED})
    assert found(messages_in(blocks)) == sorted(removed)
    assert found(in_blocks(at(spark, *everything), blocks)) == sorted(removed)
    by_sql = spark.sql(
        "select messages.* from {messages} as messages left semi join {blocks} as blocks on "
        + is_in_block_sql("messages", "blocks"),
        messages=at(spark, *everything),
        blocks=blocks,
    )
    assert found(by_sql) == sorted(removed)
    others = sorted(set(everything) - set(removed))
    assert found(outside_blocks(at(spark, *everything), blocks)) == others


def test_two_blocks_of_the_same_offsets_repeat_no_message(spark: SparkSession) -> None:
    messages = at(spark, ("orders", 0, 1), ("orders", 0, 2))
    blocks = blocks_of(messages).union(blocks_of(messages.where("offset = 1")))
    assert found(in_blocks(messages, blocks)) == [("orders", 0, 1), ("orders", 0, 2)]
    assert found(outside_blocks(messages, blocks)) == []
