"""Exact casts: a value as another Spark type, or null if that type can't hold it.

Nothing is cut off or rounded, as Spark's own casts would do.
"""

from __future__ import annotations

from decimal import Decimal

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc_marts.expressions import base64_text, bytes_of_base64
from cdc_marts.typed.types import exact_digits

_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6}0*)?)?"
_MIDNIGHT = r"[ T]00:00(:00([.]0+)?)?"
#: The zones that DTS's own reader accepts, except names of regions: a time in the hour that a
#: region's clocks show twice has two meanings.
_ZONE = r" ?(Z|UTC|GMT|(UTC|GMT)?[+-][0-9]{1,2}(:?[0-9]{2})?)"
_TIME_PATTERNS = {
    "date": f"^{_DAY}({_MIDNIGHT})?$",
    "timestamp": f"^{_DAY}{_CLOCK}({_ZONE})?$",
    "timestamp_ntz": f"^{_DAY}({_CLOCK})?$",
}

_TIMES = ("date", "timestamp", "timestamp_ntz")
#: The type that holds the seconds since 1970 of each timestamp.
_SECONDS = "decimal(26,6)"


def cast_exactly(value: Column, from_type: str, to_type: str) -> Column:
    """Return a value of the Spark type `from_type` as `to_type`; null if that can't hold it.

    As in Spark, a timestamp as a number is the seconds since 1970.
    """
    if from_type == to_type:
        return value
    if from_type == "string":
        return _cast_text(value, to_type)
    if to_type == "string":
        return _text_of(value, from_type)
    if from_type == "variant":
        return _cast_text(value.try_cast("string"), to_type)
    if to_type == "variant":
        return value.cast("variant")
    if from_type == "timestamp" and is_number(to_type):
        return _cast_there_and_back(_seconds_of(value), _SECONDS, to_type)
    if {from_type, to_type} <= set(_TIMES) or (is_number(from_type) and is_number(to_type)):
        return _cast_there_and_back(value, from_type, to_type)
    return F.lit(None).cast(to_type)


def is_number(spark_type: str) -> bool:
    """Return whether a Spark type is one of numbers."""
    return spark_type in ("float", "double") or exact_digits(spark_type) is not None


def _text_of(value: Column, spark_type: str) -> Column:
    if spark_type == "binary":
        return base64_text(value)
    if spark_type == "variant":
        return F.to_json(value)
    return value.try_cast("string")


def _seconds_of(timestamp: Column) -> Column:
    """Return the exact seconds since 1970. Spark's own cast goes through a double."""
    micros = F.unix_micros(timestamp).cast("decimal(19,0)")
    return (micros * F.lit(Decimal("0.000001"))).cast(_SECONDS)


def _cast_there_and_back(value: Column, from_type: str, to_type: str) -> Column:
    """Return the value as Spark casts it; null if it differs when it is cast back."""
    cast = value.try_cast(to_type)
    return F.when(cast.try_cast(from_type) == value, cast)


def _cast_text(text: Column, spark_type: str) -> Column:
    if spark_type.startswith("decimal"):
        return text_to_decimal(text, spark_type)
    if spark_type == "double":
        return text_to_double(text)
    if spark_type == "float":
        return text_to_float(text)
    if spark_type in _TIME_PATTERNS:
        is_time = text.rlike(_TIME_PATTERNS[spark_type])
        return F.when(is_time, _in_calendar(text.try_cast(spark_type)))
    if spark_type == "binary":
        return bytes_of_base64(text)
    if spark_type == "variant":
        return F.try_parse_json(text)
    if exact_digits(spark_type) is not None:
        # Spark reads a point or an exponent as a decimal only.
        whole = text_to_decimal(text, "decimal(38,0)").try_cast(spark_type)
        return F.coalesce(text.try_cast(spark_type), whole)
    return text.try_cast(spark_type)


def text_to_double(text: Column) -> Column:
    """Return text as a double; null if Spark would print it as another number.

    Up to 15 digits are always printed again. More digits are right if the double is printed with
    them. They are also right if there are at most 17, as Java before 19 and PostgreSQL before 12
    print, and the double is within half of the last digit. If it is exactly half of that away, the
    last printed digit is even.
    """
    value = text.try_cast("double")
    digits = F.length(_significant_digits(text))
    is_normal = F.abs(value).between(1e-300, 1e300)
    last_place = _last_place(text)
    error = F.abs(
        text.try_cast("decimal(38,19)")
        - value.try_cast("bigint")
        - (value % 1).try_cast("decimal(38,19)")
    )
    half = last_place / 2
    is_close = (
        # A fraction of 16 digits is not known more exactly.
        F.when(last_place < 1e-12, error < half + 6e-17)
        .when(F.abs(error - half) < half * 1e-9, _mantissa(text).rlike("[02468]$"))
        .otherwise(error < half)
    )
    is_large_or_small = ~F.abs(value).between(1, 1e18)
    return (
        F.when((digits <= 15) & is_normal, value)
        .when(_is_printed_as(value, text), value)
        .when((digits <= 17) & is_normal & (is_large_or_small | is_close), value)
    )


def text_to_float(text: Column) -> Column:
    """Return text as a float, by the rules for doubles. Up to 6 digits are always printed again."""
    value = text.try_cast("float")
    has_few_digits = F.length(_significant_digits(text)) <= 6
    error = F.abs(text.try_cast("double") - value.cast("double"))
    return (
        F.when(has_few_digits & F.abs(value).between(1e-37, 1e38), value)
        .when(_is_printed_as(value, text), value)
        # Within half of the last digit. The rest allows for the rounding of doubles.
        .when(error <= _last_place(text) * 0.500001, value)
    )


def text_to_decimal(text: Column, spark_type: str) -> Column:
    """Return text as a decimal; null if it has more digits than the type."""
    digits = exact_digits(spark_type)
    if digits is None:
        raise ValueError(f"{spark_type} is no type of exact numbers")
    value = text.try_cast(spark_type)
    fits = text.rlike(rf"^[+-]?[0-9]*([.][0-9]{{0,{digits.scale}}}0*)?$")
    return F.when(fits, value).when(_is_printed_as(value, text), value)


def _is_printed_as(value: Column, text: Column) -> Column:
    """Return whether Spark prints a number as the text, apart from zeros and notation."""
    return _significant_digits(value.cast("string")) == _significant_digits(text)


def _significant_digits(text: Column) -> Column:
    """Return a number without sign, point, exponent and outer zeros, or a word such as `nan`."""
    small = F.replace(F.lower(text), F.lit("infinity"), F.lit("inf"))
    return F.btrim(F.translate(_mantissa(small), "+-.", ""), F.lit("0"))


def _mantissa(number: Column) -> Column:
    return F.split_part(F.lower(number), F.lit("e"), F.lit(1))


def _last_place(text: Column) -> Column:
    """Return what 1 in the last digit of a number stands for, as a double."""
    exponent = F.split_part(F.lower(text), F.lit("e"), F.lit(2))
    shift = F.coalesce(F.nullif(exponent, F.lit("")).try_cast("int"), F.lit(0))
    return F.pow(F.lit(10), shift - F.length(F.split_part(_mantissa(text), F.lit("."), F.lit(2))))


def _in_calendar(time: Column) -> Column:
    """Return the time; null outside the years 1 to 9999."""
    return F.when(F.year(time).between(1, 9999), time)
