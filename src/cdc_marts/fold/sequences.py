"""Collected sequences: places in the log, as values of Python."""

from __future__ import annotations

from typing import Any, cast

from pyspark.sql import Column, Row
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructType

from cdc_marts.parsing.records import SEQUENCE

#: A sequence as a value that Python orders as Spark does: nulls come first.
Order = tuple[tuple[bool, Any], ...]


def order_of(sequence: Row) -> Order:
    return tuple((value is not None, value) for value in sequence)


def literal_of(sequence: Row) -> Column:
    """Return the sequence as a literal, to compare rows with it."""
    members = cast(StructType, DataType.fromDDL(SEQUENCE)).fields
    return F.struct(
        *(
            F.lit(value).cast(member.dataType).alias(member.name)
            for value, member in zip(sequence, members, strict=True)
        )
    )
