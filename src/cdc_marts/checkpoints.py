"""Rows that Spark computes once and keeps, for DataFrames that are used several times."""

from __future__ import annotations

import time

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from cdc_marts.local_rows import held_by_driver

#: Bytes in Java's memory: about 10,000 rows of keys.
_MOST_HELD_BY_DRIVER = 4 * 2**20
#: Rows of keys: about 100 bytes each.
_MOST_BROADCAST = 200_000
#: How often Spark is asked for the sizes of blocks, and the seconds in between.
_MOST_LOOKS, _BETWEEN_LOOKS = 100, 0.02


def checkpointed(frame: DataFrame) -> DataFrame:
    """Return the rows of a DataFrame, computed now. They can be joined with the DataFrame's inputs.

    The driver holds a few rows. Then Spark knows how few they are: it shuffles nothing to join
    them, and leaves out what reads an empty DataFrame. More rows stay a local checkpoint.

    The columns of Spark's own checkpoint are also those of the DataFrame. If the rows are sorted,
    Spark 4.1 may not distinguish the two, and a join of them fails with "Failure when resolving
    conflicting references". So the columns get new ids.
    """
    kept = frame.localCheckpoint()
    size = _bytes_of(kept)
    if size is not None and size <= _MOST_HELD_BY_DRIVER:
        return held_by_driver(kept)
    return kept.select(*(kept[f"`{name}`"].alias(name) for name in kept.columns))


def broadcast_if_few(kept: DataFrame) -> DataFrame:
    """Return the rows of a checkpoint, for a join; broadcast if there are few.

    Spark does not know how few rows executors hold.
    """
    if kept.isLocal():
        return kept
    return F.broadcast(kept) if kept.count() <= _MOST_BROADCAST else kept


def _bytes_of(checkpoint: DataFrame) -> int | None:
    """Return the bytes of a local checkpoint's blocks in memory and on disk; None if unknown.

    Spark notes the size of a block a moment after it stores the block, or later if it is busy.
    """
    rdd = checkpoint._jdf.queryExecution().analyzed().rdd()
    number, partitions = rdd.id(), rdd.getNumPartitions()
    context = checkpoint.sparkSession._jsparkSession.sparkContext()
    for look in range(_MOST_LOOKS):
        if look:
            time.sleep(_BETWEEN_LOOKS)
        noted = [one for one in context.getRDDStorageInfo() if one.id() == number]
        if sum(one.numCachedPartitions() for one in noted) >= partitions:
            return sum(one.memSize() + one.diskSize() for one in noted)
    return None
