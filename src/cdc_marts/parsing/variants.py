"""This module reads the bytes of a VARIANT. Spark has no function that returns or hashes them.

Source: Parquet, "Variant binary encoding"; Spark, `VariantVal`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

from dbt.adapters.spark_session.api import java_class
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

#: The byte before a number of one byte.
_INT8 = b"\x0c"
#: The first bytes of both infinite doubles in a VARIANT, where the lowest byte comes first. Among
#: finite doubles, only powers of two begin so. JSON has doubles only for numbers with an exponent.
_INFINITY = bytes.fromhex("000000000000f0")


def variant_hash(variant: Column) -> Column:
    """Return a bigint that is the same for equal VARIANTs that were read from JSON; null for null.

    Objects with the same columns in another order have another hash.
    """
    metadata, value = _bytes(variant, "getMetadata"), _bytes(variant, "getValue")
    return F.when(variant.isNotNull(), F.xxhash64(metadata, value))


def may_hold_infinity(*variants: Column) -> Column:
    """Return whether a VARIANT may contain an infinite double.

    It is always true if there is one, and rarely true if there is none.
    """
    return _may_hold(variants, [_INFINITY])


def may_hold_text(texts: Iterable[str], *variants: Column) -> Column:
    """Return whether a text in a VARIANT may contain one of these.

    It is always true if one does, and rarely true if none does.
    """
    return _may_hold(variants, [text.encode() for text in texts])


def may_hold_bytes(array: bytes, *variants: Column) -> Column:
    """Return whether a VARIANT may contain these bytes as an array of numbers.

    It is always true if it does, and rarely true if it does not.
    """
    return _may_hold(variants, [b"".join(_INT8 + bytes([byte]) for byte in array)])


def _may_hold(variants: Iterable[Column], patterns: Sequence[bytes]) -> Column:
    values = [_bytes(variant, "getValue") for variant in variants]
    found = (F.contains(value, F.lit(pattern)) for value in values for pattern in patterns)
    return reduce(Column.__or__, (F.coalesce(it, F.lit(False)) for it in found))


def _bytes(variant: Column, method: str) -> Column:
    """Call a method that returns bytes, of the Java object that holds a VARIANT."""
    session = SparkSession.active()
    java: Any = session._jsparkSession
    expressions = java_class(session, "org.apache.spark.sql.classic.ExpressionUtils")
    invoke = java_class(session, "org.apache.spark.sql.catalyst.expressions.objects.Invoke")
    nothing = java_class(session, "PythonUtils").toSeq([])
    binary = java.parseDataType('"binary"')
    target = expressions.expression(variant._jc)
    # No arguments and no types of them, null for null, may be null, deterministic.
    call = invoke(target, method, binary, nothing, nothing, True, True, True)
    return type(variant)(expressions.column(call))
