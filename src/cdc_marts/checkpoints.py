"""Rows that Spark computes once and keeps, for DataFrames that are used several times."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

#: Rows of keys: about 100 bytes each.
_MOST_BROADCAST = 200_000


def checkpointed(frame: DataFrame) -> DataFrame:
    """A local checkpoint of a DataFrame, which can be joined with what the DataFrame is made from.

    The columns of Spark's own checkpoint are also those of the DataFrame.  If the rows are sorted,
    Spark 4.1 may not distinguish the two, and a join of them fails with "Failure when resolving
    conflicting references".  So the columns get new ids.
    """
    kept = frame.localCheckpoint()
    return kept.select(*(kept[f"`{name}`"].alias(name) for name in kept.columns))


def broadcast_if_few(kept: DataFrame) -> DataFrame:
    """The rows of a checkpoint, for a join.  Spark does not know that a checkpoint is small."""
    return F.broadcast(kept) if kept.count() <= _MOST_BROADCAST else kept
