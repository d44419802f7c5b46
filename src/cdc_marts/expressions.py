"""Expressions that Spark has no function for, whatever they are of."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F


def let(value: Column, body: Callable[[Column], Column]) -> Column:
    """`body` of a variable: Spark copies an expression wherever it is named."""
    # Spark copies, member by member, what a lambda makes of an element.  What it makes of an
    # accumulator in the end it does not copy, and an empty array has no elements.
    nothing = F.array().cast("array<int>")
    return F.aggregate(nothing, value, lambda accumulator, _: accumulator, body)


def base64_text(data: Column) -> Column:
    """Bytes as base64 in one line; Spark begins a new line after 76 characters."""
    return F.translate(F.base64(data), "\r\n", "")
