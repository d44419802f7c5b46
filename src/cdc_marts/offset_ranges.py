"""Ranges of offsets, one for each partition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple, Protocol

from pyspark.sql import Column
from pyspark.sql import functions as F

#: If there are more partitions, several with similar offsets share a condition.
_MOST_CONDITIONS = 200


class HasOffsets(Protocol):
    """A partition and the first and the last offset of a range in it."""

    @property
    def topic(self) -> str: ...
    @property
    def partition(self) -> int: ...
    @property
    def first(self) -> int: ...
    @property
    def last(self) -> int: ...


class OffsetRange(NamedTuple):
    """The offsets from `first` to `last` in a partition."""

    topic: str
    partition: int
    first: int
    last: int


def within(ranges: Sequence[HasOffsets]) -> Column:
    """Return whether a message is in one of the ranges; it may be true of other messages too.

    `ranges`: at least one.
    """
    by_offset = sorted(ranges, key=lambda range_: range_.first)
    size = math.ceil(len(ranges) / _MOST_CONDITIONS)
    return reduce(
        Column.__or__,
        (_within_all(by_offset[start : start + size]) for start in range(0, len(ranges), size)),
    )


def _within_all(ranges: Sequence[HasOffsets]) -> Column:
    """Return whether a message is in the topics, partitions and offsets that the ranges span."""
    return (
        F.col("topic").isin({range_.topic for range_ in ranges})
        & F.col("partition").isin({range_.partition for range_ in ranges})
        & F.col("offset").between(
            min(range_.first for range_ in ranges), max(range_.last for range_ in ranges)
        )
    )
