"""Expressions for which Spark has no function."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F


def let(value: Column, body: Callable[[Column], Column]) -> Column:
    """Bind `value` once and return `body(value)`: Spark would copy the expression into each use."""
    # Spark copies, member by member, what a lambda makes of an element. It does not copy what the
    # last lambda makes of the accumulator. An empty array has no elements.
    nothing = F.array().cast("array<int>")
    return F.aggregate(nothing, value, lambda accumulator, _: accumulator, body)


def base64_text(data: Column) -> Column:
    """Return bytes as base64 in one line: Spark begins a new line after 76 characters."""
    return F.translate(F.base64(data), "\r\n", "")


def bytes_of_base64(text: Column) -> Column:
    """Return the bytes of a base64 text; null if it is not base64."""
    return F.try_to_binary(text, F.lit("base64"))
