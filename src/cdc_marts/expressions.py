"""Expressions that Spark has no function for, whatever they are of."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F


def let(value: Column, body: Callable[[Column], Column]) -> Column:
    """`body` of a variable: Spark copies an expression wherever it is named."""
    return F.get(F.transform(F.array(value), body), F.lit(0))
