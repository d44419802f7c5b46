"""Collected sequences: places in the log that Python compares."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Row

#: A sequence as a value that Python orders as Spark does: nulls come first.
Order = tuple[tuple[bool, Any], ...]


def order_of(sequence: Row) -> Order:
    return tuple((value is not None, value) for value in sequence)
